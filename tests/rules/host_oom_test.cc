#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/rules/error_logs.h"
#include "tests/rules/rule_database.h"
#include "tests/support/gpu_story.h"

namespace oomdb::queries {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(HostOomTest, ThePinnedPoolIsNotTheDevice) {
  RuleDatabase database;
  database.IngestText(
      "RESOURCE_EXHAUSTED: Out of host memory while trying to allocate 15200000000 bytes. Please "
      "set the environment variable XLA_PJRT_GPU_HOST_MEMORY_LIMIT_GB to allocate larger host "
      "memory than the default 64 GB.\n");
  EXPECT_THAT(database.Summary(), ElementsAre("host_oom error"));
  const Finding finding = Only(database, "host_oom");
  EXPECT_THAT(finding.title, HasSubstr("not the device"));
  EXPECT_THAT(database.Remedies(finding)[0].fix, HasSubstr("XLA_PJRT_GPU_HOST_MEMORY_LIMIT_GB"));
  EXPECT_EQ(database.Integer("SELECT COUNT(*) FROM effective_capacity WHERE capacity_bytes > 0"),
            0);
}

TEST(HostOomTest, OnACpuTheMachinesMemoryRanOut) {
  RuleDatabase database;
  database.IngestText("RESOURCE_EXHAUSTED: Out of memory allocating 40000000000 bytes.\n");
  EXPECT_THAT(database.Summary(), ElementsAre("host_oom error"));
  EXPECT_THAT(database.Remedies(Only(database, "host_oom")), Not(IsEmpty()));
}

TEST(HostOomTest, QuietForTheDevice) {
  RuleDatabase database;
  database.IngestText(Request(18_GiB));
  EXPECT_THAT(database.Findings("host_oom"), IsEmpty());
}

TEST(HostOomTest, AKillWithoutACauseMayBeForMemory) {
  RuleDatabase database;
  database.IngestText("run.sh: line 12:  2201 Killed                  python train.py\n");
  EXPECT_THAT(database.Summary(), ElementsAre("host_oom warning"));
}

TEST(HostOomTest, QuietForAKillAfterTheFailure) {
  RuleDatabase database;
  database.IngestText(Request(18_GiB) + "trainer-0 exited with code 137\n");
  EXPECT_THAT(database.Findings("host_oom"), IsEmpty());
}

}  // namespace
}  // namespace oomdb::queries
