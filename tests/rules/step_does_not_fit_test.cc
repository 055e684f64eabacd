#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

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
    // Too near to tell, `fits` is NULL: never another answer than the numbers.
    EXPECT_EQ(remedy.fits.value_or(*remedy.needs_bytes <= 512_MiB ? 1 : 0),
              *remedy.needs_bytes <= 512_MiB ? 1 : 0)
        << remedy.fix;
  }
  // Two blocks of forward: recomputing holds one of them.
  EXPECT_THAT(remedies, testing::Contains(testing::AllOf(
                            testing::Field(&Remedy::fix, HasSubstr("jax.checkpoint")),
                            testing::Field(&Remedy::saving_bytes, 256_MiB))));
  EXPECT_THAT(remedies, testing::Contains(testing::AllOf(
                            testing::Field(&Remedy::fix, HasSubstr("f32[8,8,1024,1024] is gone")),
                            testing::Field(&Remedy::saving_bytes, 512_MiB))));
}

// The remedies of a plan for a device of 512 MiB, by key.
std::map<std::string, Remedy> RemediesOf(const HloBuilder& hlo, RuleDatabase& database) {
  database.IngestPlan(hlo.Bytes());
  std::map<std::string, Remedy> remedies;
  const std::vector<Finding> found = database.Findings("step_does_not_fit");
  if (found.size() != 1) {
    ADD_FAILURE() << "it fits";
    return remedies;
  }
  for (const Remedy& remedy : database.Remedies(found[0])) remedies[remedy.remedy] = remedy;
  return remedies;
}

TEST(StepDoesNotFitTest, ASquareByChanceIsNoAttention) {
  // A feature map with as many channels as columns.
  HloBuilder hlo("jit_step");
  hlo.Parameter(128_MiB);
  hlo.Temp(Value(512_MiB)
               .Shape(11, {8, 256, 256, 256})
               .Op("jit(step)/jvp(UNet)/Conv_0/conv_general_dilated"));
  RuleDatabase database({{"capacity_bytes", 512_MiB}});
  const std::map<std::string, Remedy> remedies = RemediesOf(hlo, database);
  EXPECT_FALSE(remedies.contains("fused_attention"));
  EXPECT_FALSE(remedies.contains("shorter_sequence"));
  EXPECT_TRUE(remedies.contains("micro_batch"));
}

TEST(StepDoesNotFitTest, AShortSquareIsNoAttention) {
  HloBuilder hlo("jit_step");
  hlo.Parameter(128_MiB);
  hlo.Temp(Value(512_MiB).Shape(11, {4096, 8, 64, 64}).Op("jit(step)/jvp()/dot_general"));
  RuleDatabase database({{"capacity_bytes", 512_MiB}});
  EXPECT_FALSE(RemediesOf(hlo, database).contains("fused_attention"));
}

TEST(StepDoesNotFitTest, OnACpuOnlyLoopsAreCheckpointed) {
  const HloBuilder hlo = LargeStep();
  RuleDatabase database({{"capacity_bytes", 512_MiB}});
  EXPECT_TRUE(RemediesOf(hlo, database).contains("checkpoint"));
  database.Execute("UPDATE stored_modules SET platform = 'cpu'");
  const std::vector<Finding> found = database.Findings("step_does_not_fit");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(database.Remedies(found[0]),
              Not(testing::Contains(testing::Field(&Remedy::remedy, "checkpoint"))));
}

TEST(StepDoesNotFitTest, AValueOfTheBatchsShapeShrinksWithIt) {
  // 64 MiB of batch and 600 MiB of activations of its shape; nothing gives that shape back.
  HloBuilder hlo("jit_step");
  hlo.Parameter(Value(64_MiB).Shape(11, {8, 1024, 2048})).DonatedParameter(64_MiB);
  for (int layer = 0; layer < 10; ++layer) {
    hlo.Temp(Value(64_MiB)
                 .Shape(11, {8, 1024, 2048})
                 .Op("jit(step)/jvp()/layer_" + std::to_string(layer) + "/mul"));
  }
  RuleDatabase database({{"capacity_bytes", 512_MiB}});
  const std::map<std::string, Remedy> remedies = RemediesOf(hlo, database);
  ASSERT_TRUE(remedies.contains("micro_batch"));
  EXPECT_EQ(remedies.at("micro_batch").fits, 1);
  // Ten blocks, of which recomputing holds one.
  ASSERT_TRUE(remedies.contains("checkpoint"));
  EXPECT_EQ(remedies.at("checkpoint").saving_bytes, 576_MiB);
}

TEST(StepDoesNotFitTest, WhatIsNotEnoughAloneIsOfferedInPairs) {
  // 300 MiB of state that is not donated, and 400 MiB of activations: 512 MiB need both.
  // Sharding over more devices would be enough alone, where there are more.
  HloBuilder hlo("jit_step");
  for (int leaf = 0; leaf < 3; ++leaf) {
    hlo.Parameter(100_MiB);
    hlo.Output(Value(100_MiB).Op("jit(step)/sub"));
  }
  for (int layer = 0; layer < 4; ++layer) {
    hlo.Temp(Value(100_MiB).Shape(11, {100, 512, 512}).Op("jit(step)/jvp()/tanh"));
  }
  RuleDatabase database({{"capacity_bytes", 512_MiB}});
  const std::map<std::string, Remedy> remedies = RemediesOf(hlo, database);
  ASSERT_TRUE(remedies.contains("donate"));
  EXPECT_EQ(remedies.at("donate").fits, 0);
  EXPECT_EQ(remedies.at("checkpoint").likely, 0);
  ASSERT_TRUE(remedies.contains("donate+checkpoint"));
  // The tuple of the results stays.
  EXPECT_NEAR(static_cast<double>(*remedies.at("donate+checkpoint").needs_bytes), 400.0 * 1_MiB,
              64);
  EXPECT_EQ(remedies.at("donate+checkpoint").likely, 1);
}

// A plan of 672 MiB for a device of 512 MiB, whose replay gave these.
RuleDatabase Replayed(const std::string& rows) {
  RuleDatabase database({{"capacity_bytes", 512_MiB}});
  database.IngestPlan(LargeStep().Bytes());
  database.Execute(
      "DELETE FROM stored_plan_changes; UPDATE stored_plans SET replayed = 1; INSERT INTO "
      "stored_plan_changes (plan_id, remedy, micro_batches, needs_bytes, low_bytes, high_bytes) "
      "SELECT p.plan_id, c.* FROM stored_plans p CROSS JOIN (SELECT '' AS remedy, 0, 0, 0, 0 WHERE "
      "0 UNION ALL VALUES " +
      rows + ") c; UPDATE stored_plan_changes SET micro_batches = NULL WHERE micro_batches = 0");
  return database;
}

std::string Row(const std::string& remedy, int parts, int64_t needs, int64_t low, int64_t high) {
  return "('" + remedy + "', " + std::to_string(parts) + ", " + std::to_string(needs) + ", " +
         std::to_string(low) + ", " + std::to_string(high) + ")";
}

// 2 parts are likely to be enough, 4 are for sure; of what isn't enough what needs least.
TEST(StepDoesNotFitTest, AReplayGivesTheFewestPartsThatAreEnough) {
  RuleDatabase database = Replayed(Row("micro_batch", 2, 500_MiB, 480_MiB, 520_MiB) + ", " +
                                   Row("micro_batch", 4, 400_MiB, 380_MiB, 420_MiB) + ", " +
                                   Row("micro_batch", 8, 300_MiB, 280_MiB, 320_MiB) + ", " +
                                   Row("checkpoint", 0, 600_MiB, 580_MiB, 620_MiB));
  const std::vector<Finding> found = database.Findings("step_does_not_fit");
  ASSERT_THAT(found, SizeIs(1));
  std::map<std::string, Remedy> remedies;
  for (const Remedy& remedy : database.Remedies(found[0])) remedies[remedy.remedy] = remedy;
  EXPECT_THAT(remedies.at("micro_batch").fix, HasSubstr("into 4 micro-batches"));
  EXPECT_EQ(remedies.at("micro_batch").needs_bytes, 400_MiB);
  EXPECT_EQ(remedies.at("micro_batch").fits, 1);
  EXPECT_EQ(remedies.at("checkpoint").fits, 0);
  // What a replay does not know is not guessed by the peak beside it.
  EXPECT_FALSE(remedies.contains("fused_attention"));
  EXPECT_EQ(database.Integer("SELECT needs_high_bytes FROM remedies WHERE remedy = 'micro_batch'"),
            420_MiB);
}

TEST(StepDoesNotFitTest, AdviceAddsUp) {
  RuleDatabase database = Replayed(Row("checkpoint", 0, 600_MiB, 580_MiB, 620_MiB) + ", " +
                                   Row("micro_batch", 2, 560_MiB, 540_MiB, 580_MiB) + ", " +
                                   Row("checkpoint+micro_batch", 2, 470_MiB, 450_MiB, 490_MiB));
  EXPECT_EQ(database.Integer("SELECT COUNT(*) FROM advice"), 2);
  EXPECT_EQ(database.Integer("SELECT spare_bytes FROM advice WHERE position = 1 AND key = "
                             "'checkpoint'"),
            512_MiB - 600_MiB);
  EXPECT_EQ(database.Integer("SELECT spare_bytes FROM advice WHERE position = 2 AND key = "
                             "'micro_batch' AND fits = 1"),
            42_MiB);
  // Where nothing is likely to be enough, there is none.
  EXPECT_EQ(Replayed(Row("checkpoint", 0, 600_MiB, 580_MiB, 620_MiB))
                .Integer("SELECT COUNT(*) FROM advice"),
            0);
}

TEST(StepDoesNotFitTest, AMapIsDoneInChunks) {
  HloBuilder hlo("jit_score");
  hlo.Parameter(128_MiB);
  hlo.Temp(Value(800_MiB).Op("jit(score)/vmap(distance)/sub"));
  RuleDatabase database({{"capacity_bytes", 512_MiB}});
  const std::map<std::string, Remedy> remedies = RemediesOf(hlo, database);
  ASSERT_TRUE(remedies.contains("vmap"));
  EXPECT_EQ(remedies.at("vmap").saving_bytes, 600_MiB);
  EXPECT_THAT(remedies.at("vmap").fix, HasSubstr("in 4 chunks"));
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
