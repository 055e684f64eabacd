// What is stored of a plan for a what-if says the same as the HLO proto it was made of.
#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "ingest/plan/hlo_bytes.h"
#include "ingest/plan/plan.h"
#include "ingest/plan/replay/columns.h"
#include "ingest/plan/replay/replay_program.h"
#include "ingest/plan/whatif/what_if.h"
#include "tests/plan/what_if_plans.h"

namespace oomdb::ingest {
namespace {

proto::HloProto Parsed(const std::string& bytes) {
  proto::HloProto hlo;
  EXPECT_TRUE(hlo.ParseFromString(bytes));
  return hlo;
}

std::vector<Change> EveryLever() {
  return {{},
          {.donate = true},
          {.batch_ratio = 0.5},
          {.batch_size = 3},
          {.sequence_ratio = 0.5},
          {.accumulate = 2},
          {.checkpoint = true},
          {.fused_attention = true},
          {.chunk_loss = 4},
          {.data_parallel = 2},
          {.fsdp = 4},
          {.zero1 = 4},
          {.bf16 = true},
          {.offload_activations = true},
          {.offload_optimizer = true},
          {.donate = true, .accumulate = 2, .checkpoint = true}};
}

void ExpectSameAnswer(const PlanModel& whole, const PlanModel& stored, const Change& change) {
  Answer expected = Ask(whole, change);
  Answer answer = Ask(stored, change);
  Describe(whole, change, &expected);
  Describe(stored, change, &answer);
  EXPECT_EQ(answer.before.total(), expected.before.total());
  ASSERT_EQ(answer.after.has_value(), expected.after.has_value());
  if (expected.after) {
    EXPECT_EQ(answer.after->parameter_bytes, expected.after->parameter_bytes);
    EXPECT_EQ(answer.after->output_bytes, expected.after->output_bytes);
    EXPECT_EQ(answer.after->temp_bytes, expected.after->temp_bytes);
  }
  EXPECT_EQ(answer.low_bytes, expected.low_bytes);
  EXPECT_EQ(answer.high_bytes, expected.high_bytes);
  EXPECT_EQ(answer.why_unknown, expected.why_unknown);
  EXPECT_EQ(answer.notes, expected.notes);
  EXPECT_EQ(answer.curve_after, expected.curve_after);
  ASSERT_EQ(answer.largest.size(), expected.largest.size());
  for (size_t i = 0; i < expected.largest.size(); ++i) {
    EXPECT_EQ(answer.largest[i].bytes, expected.largest[i].bytes);
    EXPECT_EQ(answer.largest[i].instruction, expected.largest[i].instruction);
    EXPECT_EQ(answer.largest[i].shape, expected.largest[i].shape);
    EXPECT_EQ(answer.largest[i].op_name, expected.largest[i].op_name);
  }
}

class ReplayOfPlan : public testing::TestWithParam<const char*> {};

TEST_P(ReplayOfPlan, AnswersAsTheProtoDoes) {
  const std::string bytes = WhatIfPlan(GetParam());
  const proto::HloProto hlo = Parsed(bytes);
  const Plan plan = ReadPlan(bytes, 0);
  ASSERT_FALSE(plan.replay.empty());
  // It has its place in a database because it is small.
  EXPECT_LT(plan.replay.size(), bytes.size() / 12);
  google::protobuf::Arena arena;
  const proto::HloProto& stored = ReadReplay(plan.replay, &arena);
  for (const BatchHint& hint : {BatchHint{}, BatchHint{.size = 4, .argument = {}}}) {
    const PlanModel of_proto(hlo, "", hint);
    const PlanModel of_replay(stored, "", hint);
    EXPECT_EQ(of_replay.batch().extent, of_proto.batch().extent);
    EXPECT_EQ(of_replay.batch().argument, of_proto.batch().argument);
    EXPECT_EQ(of_replay.platform(), of_proto.platform());
    for (const Change& change : EveryLever()) ExpectSameAnswer(of_proto, of_replay, change);
  }
}

INSTANTIATE_TEST_SUITE_P(WhatIfPlans, ReplayOfPlan,
                         testing::Values("cuda_gpt", "tpu_mlp", "cpu_gptscan"));

TEST(ReplayTest, OnlyWhatIsAskedForIsKept) {
  proto::HloProto hlo = Parsed(WhatIfPlan("cuda_gpt"));
  hlo.mutable_hlo_module()->mutable_stack_frame_index()->add_file_names("/home/me/secret/train.py");
  for (auto& computation : *hlo.mutable_hlo_module()->mutable_computations()) {
    for (auto& one : *computation.mutable_instructions()) {
      one.mutable_metadata()->set_source_file("/home/me/secret/train.py");
    }
  }
  ReduceToReplay(&hlo);
  EXPECT_EQ(hlo.DebugString().find("secret"), std::string::npos);
  const std::string bytes = WriteReplay(hlo);
  google::protobuf::Arena arena;
  proto::HloProto again = ReadReplay(bytes, &arena);
  hlo.DiscardUnknownFields();
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(again, hlo));
}

TEST(ReplayTest, SmallPlansComeWithoutUnlessAskedFor) {
  const std::string bytes = WhatIfPlan("cuda_gpt");
  const int64_t plan_bytes = ReadPlan(bytes).plan_bytes;
  EXPECT_TRUE(ReadPlan(bytes).replay.empty());
  EXPECT_TRUE(ReadPlan(bytes, plan_bytes + 1).replay.empty());
  EXPECT_FALSE(ReadPlan(bytes, plan_bytes).replay.empty());
}

TEST(ReplayTest, DamagedBytesAreRefused) {
  google::protobuf::Arena arena;
  for (const char* bytes : {"", "x", "not compressed at all"}) {
    EXPECT_THROW(ReadReplay(bytes, &arena), Error);
  }
  const std::string good = ReadPlan(WhatIfPlan("tpu_mlp"), 0).replay;
  for (size_t size : {good.size() - 1, good.size() / 2, size_t{12}}) {
    EXPECT_THROW(ReadReplay(good.substr(0, size), &arena), Error);
  }
}

// ---- columns

const ColumnRules kShapeRules{{"ShapeProto"}, {}, {}};

TEST(ColumnsTest, WhateverIsInThemTheyAreReadOrRefused) {
  proto::HloProto hlo = Parsed(WhatIfPlan("tpu_mlp"));
  ReduceToReplay(&hlo);
  const std::string good = EncodeColumns(hlo, {});
  std::mt19937 random(7);
  for (int n = 0; n < 300; ++n) {
    std::string bytes = good;
    for (int k = 0; k < 3; ++k) bytes[random() % bytes.size()] = static_cast<char>(random());
    proto::HloProto read;
    try {
      DecodeColumns(bytes, {}, &read);
      const PlanModel model(read, "tpu");
      Ask(model, {.batch_ratio = 0.5});
    } catch (const Error&) {
    }
  }
}

TEST(ColumnsTest, TextsComeOutAsTheyWentIn) {
  proto::HloProto hlo;
  auto& computation = *hlo.mutable_hlo_module()->add_computations();
  const std::vector<std::string> names = {"fusion.1",
                                          "fusion.2",
                                          "fusion.01",
                                          "fusion.",
                                          "7",
                                          "0",
                                          "fusion.999",
                                          "fusion.1",
                                          "",
                                          "00",
                                          "x.123456789012345678901234567890"};
  for (const std::string& name : names) computation.add_instructions()->set_name(name);
  proto::HloProto read;
  DecodeColumns(EncodeColumns(hlo, {}), {}, &read);
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(read.hlo_module().computations(0).instructions(static_cast<int>(i)).name(), names[i]);
  }
}

TEST(ColumnsTest, NumbersAtTheEnds) {
  proto::HloProto hlo;
  auto& computation = *hlo.mutable_hlo_module()->add_computations();
  for (int64_t id : {INT64_MIN, INT64_MAX, int64_t{0}, int64_t{-1}}) {
    auto& one = *computation.add_instructions();
    one.set_id(id);
    one.add_operand_ids(INT64_MAX);
    one.add_operand_ids(INT64_MIN);
  }
  const ColumnRules rules{{}, {"HloInstructionProto.id"}, {"HloInstructionProto.operand_ids"}};
  proto::HloProto read;
  DecodeColumns(EncodeColumns(hlo, rules), rules, &read);
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(read, hlo));
}

void Put(uint64_t v, std::string* out) {
  for (; v >= 0x80; v >>= 7) out->push_back(static_cast<char>(v | 0x80));
  out->push_back(static_cast<char>(v));
}

// Each shape holds the next one, and then that once more: 2^60 of them in a hundred bytes.
TEST(ColumnsTest, CopiesOfCopiesEnd) {
  constexpr int kDeep = 60;
  std::string counts;
  std::string values;
  for (int k = 0; k < kDeep; ++k) {
    Put(2, &counts);
    Put(k, &values);
  }
  Put(0, &counts);
  for (int k = kDeep - 1; k >= 0; --k) Put(k, &values);
  std::string bytes;
  Put(1, &bytes);
  const std::string key = "ShapeProto.4";
  Put(key.size(), &bytes);
  bytes += key;
  Put(counts.size(), &bytes);
  Put(values.size(), &bytes);
  Put(0, &bytes);
  bytes += counts + values;
  proto::ShapeProto shape;
  EXPECT_THROW(DecodeColumns(bytes, kShapeRules, &shape), Error);
}

}  // namespace
}  // namespace oomdb::ingest
