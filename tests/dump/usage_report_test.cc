#include "ingest/dump/usage_report.h"

#include <gtest/gtest.h>

#include "tests/plan/text_proto.h"

namespace oomdb::ingest {
namespace {

TEST(UsageReportTest, OlderFormHasClassesAndSlots) {
  const Plan plan = ReadUsageReport(
      "Total bytes used: 3146240 (3.00MiB)\n\n"
      "Allocations sorted by size:\n\n"
      "cumulative_size; total_size - cumulative_size; allocation\n"
      "---------------\n"
      "   2.00MiB( 66%);    1.00MiB; allocation 4: size 2.00MiB, preallocated-temp:\n"
      "   3.00MiB( 99%);     512.0B; allocation 1: size 1.00MiB, parameter 0, shape |f32[8]| at "
      "ShapeIndex {}:\n"
      "   3.00MiB(100%);         0B; allocation 0: size 512B, maybe-live-out:\n"
      "\n\nAllocations sorted by size with their values:\n"
      "allocation 4: size 2.00MiB, preallocated-temp:\n\n"
      "\tcumulative_size;       size;       offset; used_by_n_values; shapes_list\n"
      "\t1.00MiB( 50%);    1.00MiB;      1048576;                3; f32[8,2], 2×f32[4,4]\n"
      "\t1.00MiB( 50%);       512B;            0;                1; (f32[2], s32[])\n"
      "\nallocation 1: size 1.00MiB, parameter 0, shape |f32[8]| at ShapeIndex {}:\n");
  EXPECT_TRUE(plan.classes_known);
  EXPECT_EQ(plan.temp_bytes, 2 << 20);
  EXPECT_EQ(plan.parameter_bytes, 1 << 20);
  EXPECT_EQ(plan.output_bytes, 512);
  EXPECT_EQ(plan.heap_peak_bytes, std::nullopt);
  ASSERT_EQ(plan.allocations.size(), 3u);
  ASSERT_EQ(plan.buffers.size(), 2u);
  EXPECT_EQ(plan.buffers[0].bytes, 1 << 20);
  EXPECT_EQ(plan.buffers[0].offset_bytes, 1048576);
  EXPECT_EQ(plan.buffers[0].shape, "f32[8,2], 2×f32[4,4]");
  EXPECT_EQ(plan.buffers[0].allocation_index, 4);
  EXPECT_EQ(plan.buffers[1].shape, "(f32[2], s32[])");
  EXPECT_TRUE(HasIssue(plan, "plan_sizes_rounded"));
  EXPECT_FALSE(HasIssue(plan, "plan_classes_unknown"));
}

TEST(UsageReportTest, NewerFormHasTotalsBySpace) {
  const Plan plan = ReadUsageReport(
      "Memory Space: default (color=0)\n"
      "Total bytes: 151459840 (144.44MiB)\n"
      "  cumulative_size;       size;       offset; used_by_n_values; shapes_list\n"
      "   16.00MiB(  9%);   16.00MiB;     30294016;                1; f32[8,8,256,256]\n"
      "  The rest 134 values are less than 5% of the total size and not shown.\n"
      "\nMemory Space: cmem (color=5)\n"
      "Total bytes: 20979712 (20.01MiB)\n"
      "   16.00MiB( 80%);   16.00MiB;            0;                1; f32[4]\n");
  EXPECT_FALSE(plan.classes_known);
  EXPECT_EQ(plan.plan_bytes, 151459840);
  EXPECT_TRUE(plan.allocations.empty());
  ASSERT_EQ(plan.buffers.size(), 2u);
  EXPECT_EQ(plan.buffers[0].memory_space, 0);
  EXPECT_EQ(plan.buffers[1].memory_space, 5);
  EXPECT_EQ(plan.buffers[1].allocation_class, std::nullopt);
  EXPECT_TRUE(HasIssue(plan, "plan_classes_unknown"));
  EXPECT_TRUE(HasIssue(plan, "plan_report_cut"));
}

TEST(UsageReportTest, OddLinesAreIssues) {
  const Plan plan = ReadUsageReport(
      "Memory Space: default (color=0)\n"
      "Total bytes: 99999999999999999999999 (1EiB)\n"
      "   16.00MiB(  9%);   99999999999999999999.00EiB;     1;   1; f32[8]\n"
      "   16.00MiB(  9%);   16.00XiB;     x;   1; f32[8]\n"
      "   16.00MiB(  9%);\n");
  EXPECT_TRUE(HasIssue(plan, "plan_size_impossible"));
  EXPECT_TRUE(HasIssue(plan, "plan_text_line"));
  EXPECT_FALSE(plan.has_buffer_assignment);  // So that nobody takes the total for 0.
  ASSERT_EQ(plan.buffers.size(), 1u);
  EXPECT_EQ(plan.buffers[0].bytes, 0);
}

}  // namespace
}  // namespace oomdb::ingest
