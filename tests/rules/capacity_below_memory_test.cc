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
  hlo.Temp(500_MiB);
  return hlo;
}

TEST(CapacityBelowMemoryTest, RaisingItWouldHelpAFailedStep) {
  const HloBuilder hlo = Step();
  GpuStory story;
  story.Pool(0, 512_MiB, {.in_use_before = 128_MiB, .memory_bytes = 1_GiB}).Module(hlo, 7);
  story.FailStep("jit_step");
  RuleDatabase database;
  database.Ingest(story.Bytes());
  const std::vector<Finding> found = database.Findings("capacity_below_memory");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "warning");
  EXPECT_EQ(found[0].bytes, 512_MiB);
  const std::vector<Remedy> remedies = database.Remedies(found[0]);
  ASSERT_THAT(remedies, SizeIs(1));
  EXPECT_EQ(remedies[0].fits, 1);
  EXPECT_EQ(*remedies[0].needs_bytes,
            hlo.parameter_bytes() + hlo.output_bytes() + hlo.temp_bytes());
}

TEST(CapacityBelowMemoryTest, OnlyInfoWhenItWouldNotHelp) {
  // 629 MiB are more than 92 % of 660 MiB can give.
  GpuStory story;
  story.Pool(0, 400_MiB, {.in_use_before = 128_MiB, .memory_bytes = 660_MiB}).Module(Step(), 7);
  story.FailStep("jit_step");
  RuleDatabase database;
  database.Ingest(story.Bytes());
  const std::vector<Finding> found = database.Findings("capacity_below_memory");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "info");
  EXPECT_THAT(database.Remedies(found[0]), IsEmpty());
}

TEST(CapacityBelowMemoryTest, OnlyInfoWhenNothingFailed) {
  GpuStory story;
  story.Pool(0, 1_GiB, {.in_use_before = 128_MiB, .memory_bytes = 4_GiB}).Module(Step(), 7);
  story.Step("jit_step", {.free_outputs = true});
  RuleDatabase database;
  database.Ingest(story.Bytes());
  const std::vector<Finding> found = database.Findings("capacity_below_memory");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "info");
}

TEST(CapacityBelowMemoryTest, OnlyInfoWhenMemoryGrows) {
  HloBuilder hlo("jit_step");
  hlo.Parameter(128_MiB).Output(96_MiB);
  hlo.Temp(100_MiB);
  GpuStory story;
  story.Pool(0, 768_MiB, {.in_use_before = 128_MiB, .memory_bytes = 4_GiB}).Module(hlo, 7);
  for (int i = 0; i < 5; ++i) story.Step("jit_step");
  story.FailStep("jit_step");
  RuleDatabase database;
  database.Ingest(story.Bytes());
  EXPECT_THAT(database.Findings("grows_per_execution"), SizeIs(1));
  const std::vector<Finding> found = database.Findings("capacity_below_memory");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "info");
}

TEST(CapacityBelowMemoryTest, QuietAtTheUsualThreeQuarters) {
  GpuStory story;
  story.Pool(0, 768_MiB, {.in_use_before = 128_MiB, .memory_bytes = 1_GiB}).Module(Step(), 7);
  story.Step("jit_step", {.free_outputs = true});
  RuleDatabase database;
  database.Ingest(story.Bytes());
  EXPECT_THAT(database.Findings("capacity_below_memory"), IsEmpty());
}

}  // namespace
}  // namespace oomdb::queries
