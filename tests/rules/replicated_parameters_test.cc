#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/rules/rule_database.h"
#include "tests/support/gpu_story.h"

namespace oomdb::queries {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// State of which three arrays are split over eight partitions, beside a batch.
HloBuilder Sharded() {
  HloBuilder hlo("jit_step");
  hlo.Partitions(8);
  for (int i = 0; i < 3; ++i) hlo.DonatedParameter(Value(8_MiB).Sharded({8}));
  hlo.Parameter(Value(1_MiB).Sharded({8}));
  return hlo;
}

TEST(ReplicatedParametersTest, OneTableThatWasForgottenIsAWarning) {
  HloBuilder hlo = Sharded();
  hlo.DonatedParameter(Value(64_MiB).Shape(11, {16384, 1024}).Replicated());
  hlo.DonatedParameter(Value(256).Replicated());
  RuleDatabase database;
  database.IngestPlan(hlo.Bytes());
  const std::vector<Finding> found = database.Findings("replicated_parameters");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "warning");
  EXPECT_EQ(found[0].evidence, "read");
  EXPECT_EQ(found[0].bytes, 56_MiB);
  EXPECT_THAT(found[0].title, HasSubstr("67108864 bytes of parameters whole on each of 8"));
  EXPECT_THAT(found[0].detail, AllOf(HasSubstr("1 of 5 large parameters"),
                                     HasSubstr("an annotation may be missing here")));
  const std::vector<Item> items = database.Items(found[0]);
  ASSERT_THAT(items, SizeIs(1));  // The small one costs nothing.
  EXPECT_EQ(items[0].label, "f32[16384,1024], parameter 4");
  EXPECT_EQ(items[0].bytes, 64_MiB);
  const std::vector<Remedy> remedies = database.Remedies(found[0]);
  ASSERT_THAT(remedies, SizeIs(1));
  EXPECT_EQ(remedies[0].saving_bytes, 56_MiB);
  EXPECT_EQ(remedies[0].fits, std::nullopt);
}

TEST(ReplicatedParametersTest, OptimizerStateOfShardedWeightsIsAWarning) {
  HloBuilder hlo("jit_step");
  hlo.Partitions(8);
  hlo.DonatedParameter(Value(8_MiB).Sharded({8}));
  hlo.DonatedParameter(Value(64_MiB).Replicated()).DonatedParameter(Value(64_MiB).Replicated());
  RuleDatabase database;
  database.IngestPlan(hlo.Bytes());
  const std::vector<Finding> found = database.Findings("replicated_parameters");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "warning");
  const std::vector<Item> items = database.Items(found[0]);
  ASSERT_THAT(items, SizeIs(1));
  EXPECT_EQ(items[0].count, 2);
  EXPECT_THAT(items[0].label, HasSubstr("the first parameter 1"));
}

TEST(ReplicatedParametersTest, DataParallelismIsOnlyMentioned) {
  HloBuilder hlo("jit_step");
  hlo.Partitions(8);
  hlo.DonatedParameter(Value(64_MiB).Replicated()).DonatedParameter(Value(32_MiB).Replicated());
  hlo.Parameter(Value(16_MiB).Sharded({8}));
  RuleDatabase database;
  database.IngestPlan(hlo.Bytes());
  const std::vector<Finding> found = database.Findings("replicated_parameters");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "info");
  EXPECT_THAT(found[0].detail, HasSubstr("data parallelism, it seems"));
}

TEST(ReplicatedParametersTest, AFailureThatShardingWouldPreventIsAnError) {
  HloBuilder hlo("jit_step");
  hlo.Partitions(8);
  hlo.DonatedParameter(Value(256_MiB).Replicated()).Parameter(Value(16_MiB).Sharded({8}));
  hlo.Output(4_MiB).Temp(32_MiB);
  GpuStory story;
  story.Pool(0, 200_MiB, {.in_use_before = 190_MiB}).Module(hlo, 1);
  story.FailStep("jit_step");
  RuleDatabase database;
  database.Ingest(story.Bytes());
  const std::vector<Finding> found = database.Findings("replicated_parameters");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "error");
  const std::vector<Remedy> remedies = database.Remedies(found[0]);
  ASSERT_THAT(remedies, SizeIs(1));
  EXPECT_EQ(remedies[0].saving_bytes, 224_MiB);
  EXPECT_EQ(remedies[0].fits, 1);

  // Never run, but as large.
  RuleDatabase planned({{"capacity_bytes", 200_MiB}});
  planned.IngestPlan(hlo.Bytes());
  const std::vector<Finding> before = planned.Findings("replicated_parameters");
  ASSERT_THAT(before, SizeIs(1));
  EXPECT_EQ(before[0].severity, "warning");
}

TEST(ReplicatedParametersTest, QuietWhenAllIsSharded) {
  RuleDatabase database;
  database.IngestPlan(Sharded().Bytes());
  EXPECT_THAT(database.Findings("replicated_parameters"), IsEmpty());
}

TEST(ReplicatedParametersTest, QuietAboutSmallOnes) {
  HloBuilder hlo = Sharded();
  for (int i = 0; i < 40; ++i) hlo.DonatedParameter(Value(512_KiB).Replicated());
  RuleDatabase quiet;
  quiet.IngestPlan(hlo.Bytes());
  EXPECT_THAT(quiet.Findings("replicated_parameters"), IsEmpty());
  RuleDatabase database({{"replicated_min_bytes", 1024}});
  database.IngestPlan(hlo.Bytes());
  EXPECT_THAT(database.Findings("replicated_parameters"), SizeIs(1));
}

TEST(ReplicatedParametersTest, QuietWithoutPartitionsOrShardings) {
  HloBuilder one("jit_step");
  one.Partitions(1).DonatedParameter(Value(64_MiB).Replicated());
  HloBuilder unknown("jit_step");
  unknown.Partitions(8).DonatedParameter(64_MiB);
  HloBuilder unsaid("jit_step");
  unsaid.DonatedParameter(Value(64_MiB).Replicated());
  RuleDatabase database;
  database.IngestPlan(one.Bytes());
  database.IngestPlan(unknown.Bytes());
  database.IngestPlan(unsaid.Bytes());
  EXPECT_THAT(database.Findings("replicated_parameters"), IsEmpty());
  EXPECT_EQ(database.Integer("SELECT COUNT(*) FROM plan_allocations WHERE shard_count = 1"), 2);
}

}  // namespace
}  // namespace oomdb::queries
