#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/rules/error_logs.h"
#include "tests/rules/rule_database.h"

namespace oomdb::queries {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

TEST(OnChipOomTest, NeverPassesForDeviceMemory) {
  for (const char* text :
       {"RESOURCE_EXHAUSTED: Shared memory size limit exceeded: requested 73728, available: "
        "65536\n",
        "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space "
        "vmem. Used 29.95M of 16.00M vmem. Exceeded vmem capacity by 13.95M.\n",
        "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space "
        "smem. Used 1.00M of 1.00M smem. Exceeded smem capacity by 1.7K.\n"}) {
    RuleDatabase database;
    database.IngestText(text);
    const Finding finding = Only(database, "on_chip_oom");
    EXPECT_EQ(finding.severity, "error") << text;
    EXPECT_THAT(database.Summary(), SizeIs(1)) << text;
    EXPECT_THAT(database.Remedies(finding), Not(IsEmpty())) << text;
    // Nor is its limit the device's capacity.
    EXPECT_EQ(database.Integer("SELECT COUNT(*) FROM effective_capacity WHERE capacity_bytes > 0"),
              0)
        << text;
  }
}

TEST(OnChipOomTest, SpilledRegistersAreNoMatterOfBlocks) {
  RuleDatabase database;
  database.IngestText(
      "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space "
      "vmem. Used 29.95M of 16.00M vmem. Exceeded vmem capacity by 13.95M.\n\nProgram vmem "
      "requirement 29.95M:\n    scoped           29.95M\n\n  Largest program allocations in "
      "vmem:\n\n  1. Size: 29.66M\n     XLA label: register allocator spill slots call depth 2\n  "
      "   Allocation type: scoped\n     ==========================\n");
  EXPECT_THAT(Fixes(database, Only(database, "on_chip_oom")),
              ElementsAre(HasSubstr("registers spill")));
}

TEST(OnChipOomTest, QuietForDeviceMemory) {
  RuleDatabase database;
  database.IngestText(Headline("20.00G", "15.00G", "5.00G"));
  EXPECT_THAT(database.Findings("on_chip_oom"), IsEmpty());
}

}  // namespace
}  // namespace oomdb::queries
