#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/rules/rule_database.h"
#include "tests/support/gpu_story.h"

namespace oomdb::queries {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

HloBuilder LargeStep() {
  HloBuilder hlo("jit_train_step");
  hlo.Parameter(128_MiB).Output(32_MiB);
  hlo.Temp(Value(256_MiB)
               .Shape(11, {8, 8, 1024, 1024})
               .Op("jit(train_step)/jvp()/dot_general")
               .At("model.py", 17, "layer"));
  hlo.Temp(Value(256_MiB)
               .Shape(11, {8, 8, 1024, 1024})
               .Op("jit(train_step)/jvp()/dot_general")
               .At("model.py", 17, "layer"));
  hlo.Temp(Value(64_MiB).Op("jit(train_step)/transpose(jvp())/mul"));
  return hlo;
}

TEST(StepDoesNotFitTest, AFailedExecutionIsAnErrorWithItsParts) {
  const HloBuilder hlo = LargeStep();
  GpuStory story;
  story.Pool(0, 512_MiB, {.in_use_before = 128_MiB}).Module(hlo, 42);
  story.FailStep("jit_train_step");
  RuleDatabase database;
  database.Ingest(story.Bytes());

  const std::vector<Finding> found = database.Findings("step_does_not_fit");
  ASSERT_THAT(found, SizeIs(1));
  const int64_t plan = hlo.parameter_bytes() + hlo.output_bytes() + hlo.temp_bytes();
  EXPECT_EQ(found[0].severity, "error");
  EXPECT_EQ(found[0].bytes, plan);
  EXPECT_EQ(found[0].device, 0);
  EXPECT_EQ(found[0].title, "jit_train_step(42) does not fit: it needs " + std::to_string(plan) +
                                " bytes, the pool holds " + std::to_string(512_MiB) + " bytes");
  EXPECT_THAT(found[0].detail, HasSubstr("Short by " + std::to_string(plan - 512_MiB) + " bytes"));
  EXPECT_THAT(found[0].detail, HasSubstr("1 of 1 executions failed before launch (measured)"));
  EXPECT_THAT(found[0].detail, HasSubstr("2 × f32[8,8,1024,1024]"));

  const std::vector<Item> items = database.Items(found[0]);
  ASSERT_FALSE(items.empty());
  EXPECT_EQ(items[0].count, 2);
  EXPECT_EQ(items[0].bytes, 512_MiB);
  EXPECT_THAT(items[0].label, HasSubstr("forward"));
  EXPECT_THAT(items[0].label, HasSubstr("model.py:17 layer"));
  // Parameters and outputs are parts too.
  EXPECT_THAT(items, testing::Contains(testing::Field(&Item::kind, "parameter")));
  EXPECT_THAT(items, testing::Contains(testing::Field(&Item::kind, "output")));
}

TEST(StepDoesNotFitTest, RemediesSayWhatIsNeededThen) {
  const HloBuilder hlo = LargeStep();
  GpuStory story;
  story.Pool(0, 512_MiB, {.in_use_before = 128_MiB}).Module(hlo, 42);
  story.FailStep("jit_train_step");
  RuleDatabase database;
  database.Ingest(story.Bytes());
  const std::vector<Finding> found = database.Findings("step_does_not_fit");
  ASSERT_THAT(found, SizeIs(1));
  const std::vector<Remedy> remedies = database.Remedies(found[0]);
  ASSERT_FALSE(remedies.empty());
  for (const Remedy& remedy : remedies) {
    ASSERT_TRUE(remedy.saving_bytes.has_value()) << remedy.fix;
    EXPECT_EQ(*remedy.needs_bytes, *found[0].bytes - *remedy.saving_bytes) << remedy.fix;
    EXPECT_EQ(*remedy.fits, *remedy.needs_bytes <= 512_MiB ? 1 : 0) << remedy.fix;
  }
  // Two blocks of forward: recomputing holds one of them.
  EXPECT_THAT(remedies, testing::Contains(testing::AllOf(
                            testing::Field(&Remedy::fix, HasSubstr("jax.checkpoint")),
                            testing::Field(&Remedy::saving_bytes, 256_MiB))));
  EXPECT_THAT(remedies, testing::Contains(testing::AllOf(
                            testing::Field(&Remedy::fix, HasSubstr("f32[8,8,1024,1024] is gone")),
                            testing::Field(&Remedy::saving_bytes, 512_MiB))));
}

TEST(StepDoesNotFitTest, OneThatNeverRanIsAWarning) {
  GpuStory story;
  story.Pool(0, 512_MiB).Module(LargeStep(), 42);
  story.Transfer(0, 1_MiB, "f32[262144]");
  RuleDatabase database;
  database.Ingest(story.Bytes());
  const std::vector<Finding> found = database.Findings("step_does_not_fit");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "warning");
  EXPECT_THAT(found[0].detail, HasSubstr("It never ran in this capture"));
}

TEST(StepDoesNotFitTest, QuietWhenItFits) {
  GpuStory story;
  story.Pool(0, 1_GiB, {.in_use_before = 128_MiB}).Module(LargeStep(), 42);
  story.Step("jit_train_step", {.free_outputs = true});
  RuleDatabase database;
  database.Ingest(story.Bytes());
  EXPECT_THAT(database.Findings("step_does_not_fit"), IsEmpty());
}

TEST(StepDoesNotFitTest, QuietWhenItLaunchedAfterAll) {
  // The parameters are not on this device, so 608 MiB of outputs and temps find room in 640 MiB.
  GpuStory story;
  story.Pool(0, 640_MiB).Module(LargeStep(), 42);
  story.Step("jit_train_step", {.free_outputs = true});
  RuleDatabase database;
  database.Ingest(story.Bytes());
  EXPECT_THAT(database.Findings("step_does_not_fit"), IsEmpty());
}

TEST(StepDoesNotFitTest, APlanAloneNeedsACapacity) {
  const std::string plan = LargeStep().Bytes();
  RuleDatabase unknown;
  unknown.IngestPlan(plan);
  EXPECT_THAT(unknown.Findings("step_does_not_fit"), IsEmpty());

  RuleDatabase known({{"capacity_bytes", 512_MiB}});
  known.IngestPlan(plan);
  const std::vector<Finding> found = known.Findings("step_does_not_fit");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "warning");
  EXPECT_EQ(found[0].device, std::nullopt);
  EXPECT_THAT(found[0].title, HasSubstr("the capacity was set to"));
}

TEST(StepDoesNotFitTest, OneFindingADevice) {
  GpuStory story;
  story.Pool(0, 512_MiB, {.in_use_before = 128_MiB});
  story.Pool(1, 512_MiB, {.in_use_before = 128_MiB});
  story.Module(LargeStep(), 42);
  story.FailStep("jit_train_step", {.device = 0});
  story.FailStep("jit_train_step", {.device = 1});
  RuleDatabase database;
  database.Ingest(story.Bytes());
  const std::vector<Finding> found = database.Findings("step_does_not_fit");
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].device, 0);
  EXPECT_EQ(found[1].device, 1);
}

TEST(StepDoesNotFitTest, ATruncatedCaptureClaimsNoFailure) {
  GpuStory story;
  story.Pool(0, 512_MiB, {.in_use_before = 128_MiB}).Module(LargeStep(), 42);
  story.FailStep("jit_train_step");
  RuleDatabase database;
  database.Ingest(story.Bytes());
  ASSERT_THAT(database.Findings("step_does_not_fit"), SizeIs(1));
  database.Execute("UPDATE captures SET status = 'truncated'");
  for (const char* const rule : {"step_does_not_fit", "forward_dominates", "allocator_retry"}) {
    for (const Finding& finding : database.Findings(rule)) {
      EXPECT_NE(finding.severity, "error") << rule;
      EXPECT_THAT(finding.title + finding.detail, Not(HasSubstr("failed before launch"))) << rule;
      EXPECT_THAT(finding.title + finding.detail, Not(HasSubstr("gave up"))) << rule;
      EXPECT_THAT(finding.title + finding.detail, Not(HasSubstr("never ran"))) << rule;
    }
  }
}

}  // namespace
}  // namespace oomdb::queries
