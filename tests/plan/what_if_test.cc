// What-if questions to plans of programs that were also compiled with the change (jax 0.10, for
// A100, TPU v5e and CPU): the truth is what the compiler's buffer assignment then said.
#include "ingest/plan/whatif/what_if.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <string>

#include "ingest/plan/whatif/plan_changes.h"
#include "ingest/plan/whatif/search.h"
#include "ingest/plan/whatif/state.h"
#include "tests/plan/text_proto.h"
#include "tests/plan/what_if_plans.h"

namespace oomdb::ingest {
namespace {

using testing::HasSubstr;

struct Loaded {
  proto::HloProto hlo;
  std::unique_ptr<PlanModel> model;
};

// Read once: "cuda_gpt" is a transformer of 3 written-out layers, batch 8.
const PlanModel& Model(const std::string& name) {
  static auto* const loaded = new std::map<std::string, std::unique_ptr<Loaded>>;
  std::unique_ptr<Loaded>& entry = (*loaded)[name];
  if (entry == nullptr) {
    entry = std::make_unique<Loaded>();
    EXPECT_TRUE(entry->hlo.ParseFromString(WhatIfPlan(name))) << name;
    const std::string platform = name.substr(0, name.find('_'));
    entry->model = std::make_unique<PlanModel>(entry->hlo, platform == "cuda" ? "gpu" : platform);
  }
  return *entry->model;
}

class RealPlanTest : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Plans, RealPlanTest,
                         testing::Values("cuda_gpt", "cuda_lstm", "cuda_lstm_donate0",
                                         "tpu_gptscan", "tpu_mlp", "cpu_gptscan"));

TEST_P(RealPlanTest, PackingTheUnchangedPlanGivesItsHeap) {
  const PlanModel& model = Model(GetParam());
  EXPECT_NEAR(model.check().packed_bytes, model.check().stored_bytes, 16384);
  EXPECT_EQ(NeedOf(model, StateOf(model)).total(), model.need().total());
  const Answer answer = Ask(model, {});
  EXPECT_EQ(answer.low_bytes, model.need().total());
  EXPECT_EQ(answer.high_bytes, model.need().total());
}

TEST_P(RealPlanTest, TheBatchIsFoundWithoutHelp) {
  const PlanModel& model = Model(GetParam());
  const std::map<std::string, int64_t> extents = {{"cuda_gpt", 8},    {"cuda_lstm", 16},
                                                  {"tpu_gptscan", 8}, {"cuda_lstm_donate0", 16},
                                                  {"tpu_mlp", 1024},  {"cpu_gptscan", 8}};
  EXPECT_EQ(model.batch().extent, extents.at(GetParam())) << model.batch().why_not;
  EXPECT_TRUE(model.batch().symbol.lost().empty());
}

TEST_P(RealPlanTest, ABatchOfOneTimesIsNoChange) {
  Change change;
  change.batch_ratio = 1;
  EXPECT_EQ(Ask(Model(GetParam()), change).after->total(), Model(GetParam()).need().total());
}

Change Batch(double ratio) {
  Change change;
  change.batch_ratio = ratio;
  return change;
}
template <typename Member, typename Value>
Change With(Member member, Value value) {
  Change change;
  change.*member = value;
  return change;
}

struct Pair {
  const char* base;
  Change change;
  int64_t truth;
  double error;  // At most, of the point; the truth must lie in the range.
};

TEST(WhatIfTest, ProgramsThatWereCompiledWithTheChange) {
  const Pair pairs[] = {
      {"cuda_gpt", Batch(0.5), 179630512, 0.01},
      {"cuda_gpt", Batch(2), 545682144, 0.001},
      {"cuda_gpt", Batch(4), 1032352288, 0.001},
      {"cuda_gpt", With(&Change::checkpoint, true), 133485560, 0.05},
      {"cuda_gpt", With(&Change::accumulate, 2), 193016168, 0.03},
      {"cuda_gpt", With(&Change::accumulate, 4), 132182376, 0.05},
      {"cuda_gpt", With(&Change::chunk_loss, 4), 266688228, 0.03},
      {"cuda_gpt", With(&Change::fused_attention, true), 250716916, 0.01},
      {"cuda_lstm", Batch(0.5), 53517116, 0.001},
      {"cuda_lstm", Batch(2), 151124892, 0.001},
      {"cuda_lstm_donate0", With(&Change::donate, true), 86047580, 0.03},
      {"tpu_gptscan", Batch(0.5), 397997568, 0.001},
      {"tpu_gptscan", Batch(2), 1290354176, 0.001},
      {"tpu_gptscan", With(&Change::checkpoint, true), 199839232, 0.04},
      {"tpu_gptscan", With(&Change::accumulate, 4), 277538816, 0.01},
      {"tpu_mlp", Batch(0.5), 500683776, 0.001},
      {"cpu_gptscan", Batch(0.5), 459658268, 0.001},
      {"cpu_gptscan", With(&Change::checkpoint, true), 291668668, 0.02},
  };
  for (const Pair& pair : pairs) {
    const Answer answer = Ask(Model(pair.base), pair.change);
    ASSERT_TRUE(answer.after.has_value()) << pair.base << answer.why_unknown;
    const double error =
        static_cast<double>(answer.after->total()) / static_cast<double>(pair.truth) - 1;
    EXPECT_LE(std::abs(error), pair.error) << pair.base << " " << pair.truth;
    // "The range" has its margins; single pairs lie a little outside.
    EXPECT_LE(static_cast<double>(*answer.low_bytes), static_cast<double>(pair.truth) * 1.02);
    EXPECT_GE(static_cast<double>(*answer.high_bytes), static_cast<double>(pair.truth) * 0.98);
  }
}

TEST(WhatIfTest, SavingsAreNotAddedUp) {
  const PlanModel& model = Model("cuda_gpt");
  Change both = With(&Change::checkpoint, true);
  both.batch_ratio = 0.5;
  const int64_t alone = Ask(model, With(&Change::checkpoint, true)).after->total();
  const int64_t half = Ask(model, Batch(0.5)).after->total();
  const int64_t together = Ask(model, both).after->total();
  EXPECT_LT(together, std::min(alone, half));
  EXPECT_GT(together, alone + half - model.need().total());
}

TEST(WhatIfTest, DataParallelIsAPartOfTheBatch) {
  const PlanModel& model = Model("cuda_gpt");
  EXPECT_EQ(Ask(model, With(&Change::data_parallel, 4)).after->total(),
            Ask(model, Batch(0.25)).after->total());
  const Answer none = Ask(model, With(&Change::data_parallel, 16));
  EXPECT_FALSE(none.after.has_value());
  EXPECT_THAT(none.why_unknown, HasSubstr("nothing would be left"));
}

TEST(WhatIfTest, FitsIsUnknownWithinTheRange) {
  const Answer answer = Ask(Model("cuda_gpt"), Batch(0.5));
  EXPECT_EQ(answer.Fits(*answer.high_bytes), true);
  EXPECT_EQ(answer.Fits(*answer.low_bytes - 1), false);
  EXPECT_EQ(answer.Fits((*answer.low_bytes + *answer.high_bytes) / 2), std::nullopt);
}

TEST(WhatIfTest, BoundsNeverSayThatItDoesNotFit) {
  const Answer answer = Ask(Model("cuda_gpt"), With(&Change::bf16, true));
  ASSERT_TRUE(answer.after.has_value());
  EXPECT_TRUE(answer.is_bound);
  EXPECT_EQ(answer.Fits(1), std::nullopt);
  EXPECT_EQ(answer.Fits(answer.after->total() * 5 / 4 - 16), std::nullopt);
  EXPECT_EQ(answer.Fits(answer.after->total() * 5 / 4 + 16), true);
}

TEST(WhatIfTest, WhatThePlanDoesNotTellIsUnknown) {
  // XLA:CPU undoes checkpoints outside of loops; an MLP has no attention; nothing to offload.
  EXPECT_THAT(Ask(Model("tpu_mlp"), With(&Change::fused_attention, true)).why_unknown,
              HasSubstr("no scores of attention"));
  EXPECT_THAT(Ask(Model("tpu_mlp"), With(&Change::sequence_ratio, 0.5)).why_unknown,
              HasSubstr("no sequence"));
  const Answer nothing = Ask(Model("cuda_gpt"), With(&Change::donate, true));
  EXPECT_EQ(nothing.after->total(), Model("cuda_gpt").need().total());
  ASSERT_FALSE(nothing.notes.empty());
  EXPECT_THAT(nothing.notes.front(), HasSubstr("nothing is left to donate"));
}

TEST(WhatIfTest, AWrongHintFindsNoBatch) {
  const PlanModel& known = Model("cuda_lstm");
  ASSERT_TRUE(known.batch().found());
  proto::HloProto hlo;
  ASSERT_TRUE(hlo.ParseFromString(WhatIfPlan("cuda_lstm")));
  const PlanModel wrong(hlo, "gpu", {.size = 17, .argument = ""});
  EXPECT_FALSE(wrong.batch().found());
  EXPECT_FALSE(Ask(wrong, Batch(0.5)).after.has_value());
  const PlanModel named(hlo, "gpu", {.size = std::nullopt, .argument = "b"});
  EXPECT_EQ(named.batch().extent, 16);
}

TEST(WhatIfTest, APlanWithoutAHeapIsUnknown) {
  const auto hlo = FromText<proto::HloProto>(R"(
    hlo_module { name: "m" entry_computation_id: 1
      computations { id: 1 root_id: 1
        instructions { name: "p" opcode: "parameter" id: 1 shape { element_type: 11
          dimensions: 8 } } } })");
  const PlanModel model(hlo, "");
  const Answer answer = Ask(model, With(&Change::donate, true));
  EXPECT_FALSE(answer.after.has_value());
  EXPECT_THAT(answer.why_unknown, HasSubstr("no record of its heap"));
  EXPECT_EQ(answer.Fits(INT64_MAX), std::nullopt);
}

// What is stored with a plan is what the same question gives, and only what saves something.
TEST(PlanChangesTest, AreTheAnswersToTheirQuestions) {
  const PlanModel& model = Model("cuda_lstm_donate0");
  const PlanChanges all = PlanChangesOf(model);
  ASSERT_TRUE(all.replayed);
  int seen = 0;
  for (const PlanChange& change : all.changes) {
    EXPECT_LT(change.needs_bytes, model.need().total()) << change.remedy;
    Change asked;
    if (change.remedy == "donate") asked.donate = true;
    if (change.remedy == "donate+micro_batch") {
      asked.donate = true;
      asked.accumulate = change.micro_batches;
    }
    if (asked == Change()) continue;
    const Answer answer = Ask(model, asked);
    EXPECT_EQ(change.needs_bytes, answer.after->total());
    EXPECT_EQ(change.low_bytes, answer.low_bytes);
    EXPECT_EQ(change.high_bytes, answer.high_bytes);
    ++seen;
  }
  EXPECT_GT(seen, 2);
}

TEST(PlanChangesTest, APlanWithoutLifetimesIsNotReplayed) {
  proto::HloProto hlo;
  hlo.mutable_hlo_module()->add_computations();
  const PlanChanges none = PlanChangesOf(PlanModel(hlo, "gpu"));
  EXPECT_FALSE(none.replayed);
  EXPECT_TRUE(none.changes.empty());
}

TEST(SearchTest, TheCheapestThatFitsComesFirst) {
  const PlanModel& model = Model("cuda_gpt");
  const int64_t capacity = model.need().total() * 6 / 10;
  const std::vector<Combination> found = FindCombinations(model, {}, capacity);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().answer.Fits(capacity), true);
  for (const Combination& c : found) {
    EXPECT_NE(c.answer.Fits(capacity), false);
    EXPECT_FALSE(c.change.donate);  // Everything is donated already.
  }
  EXPECT_TRUE(FindCombinations(model, {}, 1 << 20).empty());
}

TEST(SearchTest, TheLargestBatchFitsAndTheNextIsNotSure) {
  const PlanModel& model = Model("cuda_gpt");
  const int64_t capacity = int64_t{600} << 20;
  const LargestBatch largest = FindLargestBatch(model, {}, capacity);
  ASSERT_TRUE(largest.surely.has_value());
  EXPECT_GT(*largest.surely, 8);
  Change change;
  change.batch_size = *largest.surely;
  EXPECT_EQ(Ask(model, change).Fits(capacity), true);
  change.batch_size = *largest.surely + 1;
  EXPECT_NE(Ask(model, change).Fits(capacity), true);
  ASSERT_TRUE(largest.at_most.has_value());
  EXPECT_GE(*largest.at_most, *largest.surely);
  EXPECT_EQ(FindLargestBatch(model, {}, 1 << 20).at_most, 0);
}

}  // namespace
}  // namespace oomdb::ingest
