#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/rules/rule_database.h"
#include "tests/support/gpu_story.h"

namespace oomdb::queries {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// 64 MiB of parameters, 200 MiB of temps and holes of so many bytes.
HloBuilder StepWithHoles(int64_t bytes) {
  HloBuilder hlo("jit_train_step");
  hlo.Parameter(64_MiB);
  hlo.Temp(Value(200_MiB).Op("jit(f)/jvp()/dot_general"));
  hlo.TempPadding(bytes);
  return hlo;
}

RuleDatabase PlanOf(const HloBuilder& hlo, const schema::SettingOverrides& settings = {}) {
  RuleDatabase database(settings);
  database.IngestPlan(hlo.Bytes());
  return database;
}

TEST(PlanFragmentationTest, HolesThatDecideAreAWarning) {
  RuleDatabase database = PlanOf(StepWithHoles(100_MiB), {{"capacity_bytes", 300_MiB}});
  const std::vector<Finding> found = database.Findings("plan_fragmentation");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "warning");
  EXPECT_EQ(found[0].evidence, "read");
  EXPECT_EQ(found[0].bytes, 100_MiB);
  EXPECT_THAT(found[0].detail, HasSubstr("without the holes it would"));
  EXPECT_THAT(database.Remedies(found[0]),
              ElementsAre(Field(&Remedy::fits, std::nullopt), Field(&Remedy::fits, 1)));
}

TEST(PlanFragmentationTest, AnExecutionThatFailedForThemIsAnError) {
  GpuStory story;
  story.Pool(0, 300_MiB, {.in_use_before = 64_MiB}).Module(StepWithHoles(100_MiB), 1);
  story.FailStep("jit_train_step");
  RuleDatabase database;
  database.Ingest(story.Bytes());
  const std::vector<Finding> found = database.Findings("plan_fragmentation");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "error");
}

TEST(PlanFragmentationTest, OnlyInfoWhenTheyDoNotDecide) {
  for (const int64_t capacity : {200_MiB, 1024_MiB}) {
    RuleDatabase database = PlanOf(StepWithHoles(100_MiB), {{"capacity_bytes", capacity}});
    const std::vector<Finding> found = database.Findings("plan_fragmentation");
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].severity, "info");
  }
}

TEST(PlanFragmentationTest, QuietForTheUsualFewPerCent) {
  EXPECT_THAT(PlanOf(StepWithHoles(0)).Findings("plan_fragmentation"), IsEmpty());
  EXPECT_THAT(PlanOf(StepWithHoles(30_MiB)).Findings("plan_fragmentation"), IsEmpty());
}

TEST(PlanFragmentationTest, ThresholdsAreSettings) {
  EXPECT_THAT(
      PlanOf(StepWithHoles(30_MiB), {{"plan_holes_percent", 5}, {"plan_holes_min_bytes", 1_MiB}})
          .Findings("plan_fragmentation"),
      SizeIs(1));
}

}  // namespace
}  // namespace oomdb::queries
