#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/rules/rule_database.h"
#include "tests/support/gpu_story.h"

namespace oomdb::queries {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

HloBuilder Step() {
  HloBuilder hlo("jit_step");
  hlo.Parameter(128_MiB).Output(1_MiB);
  hlo.Temp(64_MiB);
  return hlo;
}

TEST(TruncatedCaptureTest, ACutFileSaysSo) {
  GpuStory story;
  story.Pool(0, 1_GiB, {.in_use_before = 128_MiB}).Module(Step(), 7);
  story.Step("jit_step", {.free_outputs = true});
  const std::string bytes = story.capture().TruncatedBytes();
  RuleDatabase database;
  database.Ingest(bytes);
  const std::vector<Finding> found = database.Findings("truncated_capture");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "warning");
  EXPECT_EQ(found[0].bytes, static_cast<int64_t>(bytes.size()));
}

TEST(TruncatedCaptureTest, QuietForAWholeFile) {
  GpuStory story;
  story.Pool(0, 1_GiB, {.in_use_before = 128_MiB}).Module(Step(), 7);
  story.Step("jit_step", {.free_outputs = true});
  RuleDatabase database;
  database.Ingest(story.Bytes());
  EXPECT_THAT(database.Findings("truncated_capture"), IsEmpty());
  EXPECT_THAT(database.Summary(), IsEmpty());
}

}  // namespace
}  // namespace oomdb::queries
