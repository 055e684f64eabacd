// memory_anatomy, waste and co_residency, from a capture's bytes to the rows of the views.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/rules/rule_database.h"
#include "tests/support/gpu_story.h"

namespace oomdb::queries {
namespace {

HloBuilder TrainStep() {
  HloBuilder hlo("jit_train_step");
  hlo.DonatedParameter(Value(64_MiB).Op("params['w']"));
  hlo.Constant(2_MiB);
  hlo.Output(Value(4_MiB).Op("jit(f)/jvp()/sum"));
  hlo.Temp(Value(96_MiB).Op("jit(f)/jvp()/dot_general").At("model.py", 17, "layer"));
  hlo.Temp(Value(32_MiB).Op("jit(f)/transpose(jvp())/mul"));
  hlo.Temp(Value(1_MiB).Shape(6, {1_MiB}).CustomCall("__cublas$gemm"));
  hlo.TempPadding(8_MiB);
  return hlo;
}

TEST(MemoryAnatomyTest, AddsUpToThePeak) {
  RuleDatabase database;
  database.IngestPlan(TrainStep().Bytes());
  EXPECT_EQ(database.Integer("SELECT SUM(bytes) FROM memory_anatomy WHERE memory_space = 0"),
            database.Integer("SELECT peak_bytes FROM modules"));
  for (const char* column : {"parameter_bytes", "output_bytes", "constant_bytes"}) {
    EXPECT_EQ(database.Integer(std::string("SELECT SUM(") + column + ") FROM memory_anatomy"),
              database.Integer(std::string("SELECT ") + column + " FROM modules"));
  }
  EXPECT_EQ(database.Integer("SELECT SUM(temp_bytes) FROM memory_anatomy"),
            database.Integer("SELECT heap_peak_bytes FROM modules"));
}

TEST(MemoryAnatomyTest, KindsWithTheirLargest) {
  RuleDatabase database;
  database.IngestPlan(TrainStep().Bytes());
  const auto bytes_of = [&](const std::string& kind) {
    return database.Integer("SELECT bytes FROM memory_anatomy WHERE kind = '" + kind + "'");
  };
  EXPECT_EQ(bytes_of("activations"), 96_MiB);
  EXPECT_EQ(bytes_of("backward"), 32_MiB);
  EXPECT_EQ(bytes_of("workspace"), 1_MiB);
  EXPECT_EQ(bytes_of("constants"), 2_MiB);
  EXPECT_EQ(bytes_of("results"), 4_MiB);
  EXPECT_EQ(database.Integer("SELECT position FROM memory_anatomy WHERE kind = 'activations' AND "
                             "largest_name = 'jit(f)/jvp()/dot_general' AND percent = 48 "
                             "AND count = 1"),
            1);
  EXPECT_EQ(database.Integer("SELECT COUNT(*) FROM plan_parts WHERE name = 'params[''w'']'"), 1);
}

TEST(MemoryAnatomyTest, WithoutAHeapTraceTheTempsAreUnknown) {
  HloBuilder hlo("jit_f");
  hlo.Parameter(8_MiB);
  hlo.Temp(16_MiB);
  proto::HloProto proto = hlo.Proto();
  proto.mutable_buffer_assignment()->clear_heap_simulator_traces();
  RuleDatabase database;
  database.IngestPlan(proto.SerializeAsString());
  EXPECT_EQ(database.Integer("SELECT heap_peak_bytes FROM modules"), std::nullopt);
  EXPECT_EQ(database.Integer("SELECT temp_bytes FROM memory_anatomy WHERE kind = 'other'"), 16_MiB);
  EXPECT_EQ(database.Integer("SELECT SUM(bytes) FROM memory_anatomy"),
            database.Integer("SELECT plan_bytes FROM modules"));
}

TEST(MemoryAnatomyTest, SilentWithoutABufferAssignment) {
  HloBuilder hlo("jit_f");
  hlo.Parameter(8_MiB).WithoutBufferAssignment();
  RuleDatabase database;
  database.IngestPlan(hlo.Bytes());
  EXPECT_EQ(database.Integer("SELECT COUNT(*) FROM modules"), 1);
  EXPECT_EQ(database.Integer("SELECT COUNT(*) FROM memory_anatomy"), 0);
}

TEST(WasteTest, HolesAndConstantsButNoSmallOnes) {
  RuleDatabase database;
  database.IngestPlan(TrainStep().Bytes());
  EXPECT_EQ(database.Integer("SELECT bytes FROM waste WHERE kind = 'fragmentation' AND partner IS "
                             "NULL AND label LIKE '%at the end of the block'"),
            8_MiB);
  EXPECT_EQ(database.Integer("SELECT bytes FROM waste WHERE kind = 'large_constant'"), 2_MiB);
  EXPECT_EQ(database.Integer("SELECT COUNT(*) FROM waste"), 2);
  RuleDatabase strict({{"waste_min_bytes", 4_MiB}});
  strict.IngestPlan(TrainStep().Bytes());
  EXPECT_EQ(strict.Integer("SELECT COUNT(*) FROM waste"), 1);
}

// The temp `names` are read by the last instruction of all.
std::string WithReaders(proto::HloProto proto, const std::string& dtype_of_source) {
  auto* module = proto.mutable_hlo_module();
  auto* entry = module->mutable_computations(module->computations_size() - 1);
  proto::HloInstructionProto *parameter = nullptr, *copy = nullptr, *last = nullptr;
  for (auto& instruction : *entry->mutable_instructions()) {
    if (instruction.opcode() == "parameter") parameter = &instruction;
    if (instruction.opcode() == "convert" || instruction.opcode() == "copy") copy = &instruction;
    if (instruction.opcode() == "negate") last = &instruction;
  }
  copy->clear_operand_ids();
  copy->add_operand_ids(parameter->id());
  last->clear_operand_ids();
  last->add_operand_ids(copy->id());
  if (dtype_of_source == "bf16") parameter->mutable_shape()->set_element_type(16);
  auto& sequence = (*module->mutable_schedule()->mutable_sequences())[entry->id()];
  for (const auto& instruction : entry->instructions()) {
    if (&instruction != last) sequence.add_instruction_ids(instruction.id());
  }
  sequence.add_instruction_ids(last->id());
  return proto.SerializeAsString();
}

HloBuilder CopyThatWaits(const std::string& opcode) {
  HloBuilder hlo("jit_f");
  hlo.Parameter(Value(8_MiB).Shape(11, {2_MiB}).Op("p"));
  hlo.Temp(Value(8_MiB).Shape(11, {2_MiB}).Opcode(opcode).At("model.py", 3, "f"));
  for (int i = 0; i < 6; ++i) hlo.Temp(1024);
  hlo.Temp(Value(1024).Opcode("negate").Op("jit(f)/neg").At("model.py", 9, "f"));
  return hlo;
}

TEST(WasteTest, ACopyBesideItsSource) {
  RuleDatabase database;
  database.IngestPlan(WithReaders(CopyThatWaits("copy").Proto(), "f32"));
  EXPECT_EQ(database.Integer("SELECT bytes FROM waste WHERE kind = 'duplicate'"), 8_MiB);
  EXPECT_EQ(database.Integer("SELECT COUNT(*) FROM waste WHERE kind = 'f32_copy'"), 0);
}

TEST(WasteTest, AWiderCopyBesideItsSource) {
  RuleDatabase database;
  database.IngestPlan(WithReaders(CopyThatWaits("convert").Proto(), "bf16"));
  EXPECT_EQ(database.Integer("SELECT bytes FROM waste WHERE kind = 'f32_copy'"), 8_MiB);
  EXPECT_EQ(database.Integer("SELECT COUNT(*) FROM waste WHERE kind = 'duplicate'"), 0);
}

// Its reader comes after the peak only where the temps before it are freed; here all live together
// until the last one is made, so that nothing is idle after the peak.
TEST(WasteTest, WhatIsReadAtThePeakDoesNotWait) {
  RuleDatabase database;
  database.IngestPlan(WithReaders(CopyThatWaits("copy").Proto(), "f32"));
  EXPECT_EQ(database.Integer("SELECT COUNT(*) FROM waste WHERE kind = 'dead_weight'"), 0);
}

TEST(WasteTest, WhatWaitsLongWeighsByHowLong) {
  HloBuilder hlo("jit_f");
  hlo.Parameter(Value(8_MiB).Shape(11, {2_MiB}).Op("p"));
  hlo.Temp(Value(8_MiB).Shape(11, {2_MiB}).Opcode("copy").At("model.py", 3, "f"));
  const int large = hlo.Temp(64_MiB);  // The peak.
  hlo.Free(large);
  for (int i = 0; i < 6; ++i) hlo.Temp(1024);
  hlo.Temp(Value(1024).Opcode("negate").Op("jit(f)/neg").At("model.py", 9, "f"));
  const std::string bytes = WithReaders(hlo.Proto(), "f32");
  RuleDatabase database;
  database.IngestPlan(bytes);
  EXPECT_EQ(database.Integer("SELECT bytes FROM waste WHERE kind = 'dead_weight' AND reader_line = "
                             "9 AND source_line = 3 AND reader_op_name = 'jit(f)/neg'"),
            8_MiB);
  const std::optional<int64_t> weight =
      database.Integer("SELECT weight_bytes FROM waste WHERE kind = 'dead_weight'");
  EXPECT_GT(weight, 4_MiB);
  EXPECT_LT(weight, 8_MiB);
  RuleDatabase patient({{"dead_weight_min_percent", 95}});
  patient.IngestPlan(bytes);
  EXPECT_EQ(patient.Integer("SELECT COUNT(*) FROM waste WHERE kind = 'dead_weight'"), 0);
}

// Two modules of 64 MiB of parameters each, half of them of one shape.
RuleDatabase TrainAndEval(int64_t pool, int64_t in_use_before) {
  HloBuilder train("jit_train_step"), eval("jit_eval_step");
  train.Parameter(Value(32_MiB).Op("params")).Parameter(Value(32_MiB + 4).Op("opt"));
  train.Temp(64_MiB);
  eval.Parameter(Value(32_MiB).Op("params"));
  eval.Temp(32_MiB);
  GpuStory story;
  story.Pool(0, pool, {.in_use_before = in_use_before}).Module(train, 1).Module(eval, 2);
  story.Step("jit_train_step");
  story.Step("jit_eval_step");
  RuleDatabase database;
  database.Ingest(story.Bytes());
  return database;
}

TEST(CoResidencyTest, WhatTwoModulesNeedTogether) {
  RuleDatabase database = TrainAndEval(512_MiB, 100_MiB);
  EXPECT_EQ(database.Integer("SELECT COUNT(*) FROM co_residency"), 1);
  EXPECT_EQ(database.Integer("SELECT needs_high_bytes - first_plan_bytes FROM co_residency"),
            32_MiB);
  EXPECT_EQ(database.Integer("SELECT needs_high_bytes - needs_low_bytes FROM co_residency"),
            32_MiB);
  EXPECT_EQ(database.Integer("SELECT alike_bytes FROM co_residency"), 32_MiB);
  EXPECT_EQ(database.Integer("SELECT fits FROM co_residency"), 1);
  // 100 MiB hold both sets of parameters: whether they do is not known.
  EXPECT_EQ(database.Integer("SELECT shared FROM co_residency"), std::nullopt);
}

TEST(CoResidencyTest, LessInUseThanBothTakeMeansSharedArrays) {
  RuleDatabase database = TrainAndEval(512_MiB, 70_MiB);
  EXPECT_EQ(database.Integer("SELECT shared FROM co_residency"), 1);
}

TEST(CoResidencyTest, BetweenLowAndHighItIsUnknown) {
  RuleDatabase database = TrainAndEval(150_MiB, 70_MiB);
  EXPECT_EQ(database.Integer("SELECT COUNT(*) FROM co_residency WHERE fits IS NULL"), 1);
}

TEST(CoResidencyTest, SmallModulesAndLonelyOnesAreLeftOut) {
  RuleDatabase database({{"co_residency_min_bytes", 1_GiB}});
  HloBuilder a("jit_a"), b("jit_b");
  a.Parameter(32_MiB);
  b.Parameter(32_MiB);
  GpuStory story;
  story.Pool(0, 512_MiB, {.in_use_before = 64_MiB}).Module(a, 1).Module(b, 2);
  story.Step("jit_a");
  story.Step("jit_b");
  database.Ingest(story.Bytes());
  EXPECT_EQ(database.Integer("SELECT COUNT(*) FROM co_residency"), 0);
}

}  // namespace
}  // namespace oomdb::queries
