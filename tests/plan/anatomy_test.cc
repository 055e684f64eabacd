// What memory at the peak is for, what lies idle there, and the holes between.
#include "ingest/plan/anatomy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/plan/text_proto.h"

namespace oomdb::ingest {
namespace {

using testing::Contains;
using testing::Pair;

constexpr int kF32 = 11, kBf16 = 16, kS32 = 4, kBytes = 6;

// A scheduled program, each of whose values has memory of its own. All temps are taken one by one,
// live together, and are given back in the end.
class ProgramBuilder {
 public:
  struct Shape {
    int type = kF32;
    std::vector<int64_t> dimensions;
  };

  ProgramBuilder() {
    module_ = proto_.mutable_hlo_module();
    module_->set_name("jit_step");
    module_->set_entry_computation_id(1);
    entry_ = module_->add_computations();
    entry_->set_id(1);
  }

  int64_t Add(const std::string& name, const std::string& opcode, const Shape& shape,
              const std::vector<int64_t>& operands = {}, const std::string& op_name = "") {
    auto* instruction = entry_->add_instructions();
    instruction->set_id(++last_);
    instruction->set_name(name);
    instruction->set_opcode(opcode);
    Fill(shape, instruction->mutable_shape());
    for (const int64_t operand : operands) instruction->add_operand_ids(operand);
    instruction->mutable_metadata()->set_op_name(op_name);
    if (opcode == "parameter") instruction->set_parameter_number(parameters_++);
    return last_;
  }

  proto::HloInstructionProto* Get(int64_t id) {
    return entry_->mutable_instructions(static_cast<int>(id) - 1);
  }

  void Donate(int64_t output, int64_t parameter) {
    auto* entry = module_->mutable_input_output_alias()->add_entries();
    entry->add_output_shape_index(output);
    entry->set_parameter_number(parameter);
    donated_.insert(output);
  }

  // The tuple of results.
  Plan Read(const std::vector<int64_t>& results) {
    auto* root = entry_->add_instructions();
    root->set_id(++last_);
    root->set_name("root");
    root->set_opcode("tuple");
    root->mutable_shape()->set_element_type(kTuple);
    for (const int64_t result : results) {
      root->add_operand_ids(result);
      *root->mutable_shape()->add_tuple_shapes() = Get(result)->shape();
    }
    entry_->set_root_id(last_);
    auto& sequence = (*module_->mutable_schedule()->mutable_sequences())[1];
    for (int64_t i = 1; i <= last_; ++i) sequence.add_instruction_ids(i);
    Assign(results);
    return ReadPlan(proto_.SerializeAsString());
  }

 private:
  static void Fill(const Shape& shape, proto::ShapeProto* to) {
    to->set_element_type(shape.type);
    for (const int64_t n : shape.dimensions) to->add_dimensions(n);
  }

  void Assign(const std::vector<int64_t>& results) {
    auto* assignment = proto_.mutable_buffer_assignment();
    auto* trace = assignment->add_heap_simulator_traces();
    std::vector<int64_t> temps;
    int64_t offset = 0;
    proto::BufferAllocationProto block;
    for (int64_t i = 1; i < last_; ++i) {
      const auto& instruction = *Get(i);
      const int64_t bytes = UnpaddedBytes(instruction.shape()).value_or(8);
      const auto result = std::find(results.begin(), results.end(), i);
      auto* buffer = assignment->add_logical_buffers();
      buffer->set_id(i);
      buffer->set_size(bytes);
      buffer->mutable_defined_at()->set_instruction_id(i);
      const bool is_parameter = instruction.opcode() == "parameter";
      const bool is_constant = instruction.opcode() == "constant";
      const bool is_output = result != results.end();
      if (is_parameter || is_constant || is_output) {
        if (is_output && donated_.contains(result - results.begin())) {
          continue;  // It lies in the parameter's memory.
        }
        auto* allocation = assignment->add_buffer_allocations();
        allocation->set_index(assignment->buffer_allocations_size());
        allocation->set_size(bytes);
        allocation->set_is_entry_computation_parameter(is_parameter);
        allocation->set_parameter_number(instruction.parameter_number());
        allocation->set_is_constant(is_constant);
        allocation->set_maybe_live_out(is_output);
        auto* assigned = allocation->add_assigned();
        assigned->set_logical_buffer_id(i);
        assigned->set_size(bytes);
        continue;
      }
      auto* assigned = block.add_assigned();
      assigned->set_logical_buffer_id(i);
      assigned->set_offset(offset);
      assigned->set_size(bytes);
      offset += bytes + gap_;
      temps.push_back(i);
    }
    block.set_index(1000);
    block.set_size(offset);
    if (!temps.empty()) *assignment->add_buffer_allocations() = block;
    for (const auto kind :
         {proto::HeapSimulatorTrace::Event::ALLOC, proto::HeapSimulatorTrace::Event::FREE}) {
      for (const int64_t temp : temps) {
        auto* event = trace->add_events();
        event->set_kind(kind);
        event->set_buffer_id(temp);
        event->set_instruction_name(Get(temp)->name());
      }
    }
  }

  proto::HloProto proto_;
  proto::HloModuleProto* module_;
  proto::HloComputationProto* entry_;
  int64_t last_ = 0;
  int64_t parameters_ = 0;
  std::set<int64_t> donated_;

 public:
  int64_t gap_ = 0;  // Free memory above every temp.
};

// By the parameter's name, else by the instruction.
std::map<std::string, MemoryKind> KindsOf(const Plan& plan) {
  std::map<std::string, MemoryKind> kinds;
  int64_t bytes = 0;
  for (const PlanPart& part : plan.parts) {
    bytes += part.bytes;
    const std::string instruction = part.buffer ? plan.buffers[*part.buffer].instruction : "";
    kinds[part.name.empty() ? instruction : part.name] = part.kind;
  }
  EXPECT_EQ(bytes, plan.peak_bytes);
  return kinds;
}

const PlanPart& PartOf(const Plan& plan, const std::string& instruction) {
  static const PlanPart kNothing;
  for (const PlanPart& part : plan.parts) {
    if (part.buffer && plan.buffers[*part.buffer].instruction == instruction) return part;
  }
  ADD_FAILURE() << "no part of " << instruction;
  return kNothing;
}

const std::string kForward = "jit(step)/jvp()/dot_general";
const std::string kBackward = "jit(step)/transpose(jvp())/dot_general";

// A step of one layer with momentum. `w` and `m` are donated where `donated`.
Plan TrainingStep(bool donated) {
  ProgramBuilder program;
  const ProgramBuilder::Shape weight = {kF32, {64, 32}};
  const int64_t w = program.Add("w.1", "parameter", weight, {}, "state['w']");
  const int64_t m = program.Add("m.1", "parameter", weight, {}, "state['m']");
  const int64_t x = program.Add("x.1", "parameter", {kF32, {16, 64}}, {}, "batch['x']");
  const int64_t y = program.Add("y.1", "parameter", {kF32, {16, 32}}, {}, "batch['y']");
  const int64_t key = program.Add("key.1", "parameter", {kF32, {}}, {}, "scale");
  const int64_t labels = program.Add("labels.1", "parameter", {kS32, {16}}, {}, "labels");
  const int64_t table = program.Add("constant.1", "constant", {kF32, {4096}});
  const int64_t copy = program.Add("copy.1", "copy", weight, {w});
  const int64_t narrow = program.Add("convert.1", "convert", {kBf16, {64, 32}}, {w});
  const int64_t h = program.Add("dot.1", "dot", {kF32, {16, 32}}, {x, copy}, kForward);
  const int64_t kept = program.Add("tanh.1", "tanh", {kF32, {16, 32}}, {h}, kForward);
  const int64_t scratch = program.Add("custom.1", "custom-call", {kBytes, {1024}}, {h}, kForward);
  const int64_t error = program.Add("sub.1", "subtract", {kF32, {16, 32}}, {kept, y}, kBackward);
  const int64_t g = program.Add("dot.2", "dot", weight, {x, error}, kBackward);
  const int64_t reduced = program.Add("all-reduce.1", "all-reduce", weight, {g}, kBackward);
  const int64_t pick = program.Add("add.9", "add", {kS32, {16}}, {labels, labels}, kForward);
  const int64_t loose = program.Add("mul.9", "multiply", {kF32, {7}}, {table}, "jit(step)/mul");
  const int64_t new_m = program.Add("add.1", "add", weight, {m, reduced}, "jit(step)/add");
  const int64_t new_w = program.Add("sub.2", "subtract", weight, {w, new_m}, "jit(step)/sub");
  const int64_t loss = program.Add("reduce.1", "reduce", {kF32, {}}, {kept, key}, kForward);
  (void)narrow, (void)scratch, (void)pick, (void)loose;
  // Read outside the backward pass.
  program.Add("norm.1", "reduce", {kF32, {}}, {g, key}, "jit(step)/norm");
  if (donated) {
    program.Donate(0, 0);
    program.Donate(1, 1);
  }
  return program.Read({new_w, new_m, loss});
}

TEST(AnatomyTest, EveryKindOfATrainingStep) {
  const std::map<std::string, MemoryKind> kinds = KindsOf(TrainingStep(true));
  EXPECT_THAT(kinds, Contains(Pair("state['w']", MemoryKind::kWeights)));
  EXPECT_THAT(kinds, Contains(Pair("state['m']", MemoryKind::kOptimizerState)));
  EXPECT_THAT(kinds, Contains(Pair("batch['x']", MemoryKind::kBatch)));  // Beside a weight.
  EXPECT_THAT(kinds, Contains(Pair("batch['y']", MemoryKind::kBatch)));
  EXPECT_THAT(kinds, Contains(Pair("labels", MemoryKind::kBatch)));  // Integers.
  EXPECT_THAT(kinds, Contains(Pair("scale", MemoryKind::kOther)));   // Nothing tells.
  EXPECT_THAT(kinds, Contains(Pair("constant.1", MemoryKind::kConstants)));
  EXPECT_THAT(kinds, Contains(Pair("copy.1", MemoryKind::kWeights)));
  EXPECT_THAT(kinds, Contains(Pair("convert.1", MemoryKind::kWeights)));
  EXPECT_THAT(kinds, Contains(Pair("tanh.1", MemoryKind::kActivations)));
  EXPECT_THAT(kinds, Contains(Pair("custom.1", MemoryKind::kWorkspace)));
  EXPECT_THAT(kinds, Contains(Pair("sub.1", MemoryKind::kBackward)));
  EXPECT_THAT(kinds, Contains(Pair("dot.2", MemoryKind::kGradients)));
  EXPECT_THAT(kinds, Contains(Pair("all-reduce.1", MemoryKind::kCollectives)));
  EXPECT_THAT(kinds, Contains(Pair("mul.9", MemoryKind::kOther)));
  EXPECT_THAT(kinds, Contains(Pair("reduce.1", MemoryKind::kResults)));
  EXPECT_FALSE(kinds.contains("sub.2"));  // In the memory of the weight.
}

TEST(AnatomyTest, NewStateThatTakesOverNothingIsStateToo) {
  const std::map<std::string, MemoryKind> kinds = KindsOf(TrainingStep(false));
  EXPECT_THAT(kinds, Contains(Pair("state['w']", MemoryKind::kWeights)));
  EXPECT_THAT(kinds, Contains(Pair("state['m']", MemoryKind::kOptimizerState)));
  EXPECT_THAT(kinds, Contains(Pair("sub.2", MemoryKind::kWeights)));
  EXPECT_THAT(kinds, Contains(Pair("add.1", MemoryKind::kOptimizerState)));
}

TEST(AnatomyTest, AGradientThatIsReturned) {
  ProgramBuilder program;
  const int64_t w = program.Add("w.1", "parameter", {kF32, {64, 32}}, {}, "w");
  const int64_t x = program.Add("x.1", "parameter", {kF32, {16, 64}}, {}, "x");
  const int64_t h = program.Add("dot.1", "dot", {kF32, {16, 32}}, {x, w}, kForward);
  const int64_t g = program.Add("dot.2", "dot", {kF32, {64, 32}}, {x, h}, kBackward);
  const std::map<std::string, MemoryKind> kinds = KindsOf(program.Read({g, h}));
  EXPECT_THAT(kinds, Contains(Pair("w", MemoryKind::kWeights)));
  EXPECT_THAT(kinds, Contains(Pair("x", MemoryKind::kBatch)));
  EXPECT_THAT(kinds, Contains(Pair("dot.2", MemoryKind::kGradients)));
  EXPECT_THAT(kinds, Contains(Pair("dot.1", MemoryKind::kResults)));
}

// One step of decoding: two layers, and a cache whose rows are written.
TEST(AnatomyTest, AStepOfDecoding) {
  ProgramBuilder program;
  const int64_t w1 = program.Add("w1.1", "parameter", {kF32, {64, 32}}, {}, "params['w1']");
  const int64_t w2 = program.Add("w2.1", "parameter", {kF32, {32, 64}}, {}, "params['w2']");
  const int64_t bias = program.Add("b.1", "parameter", {kF32, {64}}, {}, "params['bias']");
  const int64_t x = program.Add("x.1", "parameter", {kF32, {16, 64}}, {}, "x");
  const int64_t cache = program.Add("cache.1", "parameter", {kF32, {128, 32}}, {}, "cache");
  const int64_t at = program.Add("at.1", "parameter", {kS32, {}}, {}, "position");
  const int64_t h = program.Add("dot.1", "dot", {kF32, {16, 32}}, {x, w1});
  const int64_t own = program.Add("copy.1", "copy", {kF32, {128, 32}}, {cache});
  const int64_t rows =
      program.Add("dus.1", "dynamic-update-slice", {kF32, {128, 32}}, {own, h, at, at});
  const int64_t y = program.Add("dot.2", "dot", {kF32, {16, 64}}, {h, w2});
  const int64_t wide = program.Add("broadcast.1", "broadcast", {kF32, {16, 64}}, {bias});
  const int64_t out = program.Add("add.1", "add", {kF32, {16, 64}}, {y, wide});
  const std::map<std::string, MemoryKind> kinds = KindsOf(program.Read({rows, out}));
  EXPECT_THAT(kinds, Contains(Pair("params['w2']", MemoryKind::kWeights)));
  EXPECT_THAT(kinds, Contains(Pair("params['w1']", MemoryKind::kWeights)));  // A relative.
  EXPECT_THAT(kinds, Contains(Pair("params['bias']", MemoryKind::kWeights)));
  EXPECT_THAT(kinds, Contains(Pair("x", MemoryKind::kBatch)));
  EXPECT_THAT(kinds, Contains(Pair("cache", MemoryKind::kKvCache)));
  EXPECT_THAT(kinds, Contains(Pair("copy.1", MemoryKind::kKvCache)));
  EXPECT_THAT(kinds, Contains(Pair("dus.1", MemoryKind::kKvCache)));
  EXPECT_THAT(kinds, Contains(Pair("dot.1", MemoryKind::kActivations)));
  EXPECT_THAT(kinds, Contains(Pair("add.1", MemoryKind::kResults)));
}

// A buffer that is updated in place by a program without any weight is no cache of a model's.
TEST(AnatomyTest, WhatCannotBeToldIsOther) {
  ProgramBuilder program;
  const int64_t a = program.Add("a.1", "parameter", {kF32, {64, 64}}, {}, "a");
  const int64_t b = program.Add("b.1", "parameter", {kF32, {64, 64}}, {}, "b");
  const int64_t rows = program.Add("rows.1", "parameter", {kF32, {8, 64}}, {}, "rows");
  const int64_t at = program.Add("at.1", "parameter", {kS32, {}}, {}, "position");
  const int64_t dot = program.Add("dot.1", "dot", {kF32, {64, 64}}, {a, b});
  const int64_t more = program.Add("exp.1", "exponential", {kF32, {64, 64}}, {dot});
  const int64_t dus =
      program.Add("dus.1", "dynamic-update-slice", {kF32, {64, 64}}, {b, rows, at, at});
  const std::map<std::string, MemoryKind> kinds = KindsOf(program.Read({more, dus}));
  for (const char* name : {"a", "b", "rows", "dot.1"}) {
    EXPECT_THAT(kinds, Contains(Pair(name, MemoryKind::kOther)));
  }
}

TEST(AnatomyTest, CopiesBesideTheirSource) {
  const Plan plan = TrainingStep(true);
  const PlanPart& copy = PartOf(plan, "copy.1");
  ASSERT_TRUE(copy.copy_of.has_value());
  EXPECT_EQ(copy.copy_of->instruction, "w.1");
  EXPECT_EQ(copy.copy_of->dtype, "f32");
  EXPECT_EQ(PartOf(plan, "convert.1").copy_of->dtype, "f32");
  EXPECT_FALSE(PartOf(plan, "tanh.1").copy_of.has_value());
}

TEST(AnatomyTest, WhatWaitsAndWhoReadsItNext) {
  ProgramBuilder program;
  const int64_t x = program.Add("x.1", "parameter", {kF32, {64}}, {}, "x");      // Place 0.
  const int64_t early = program.Add("exp.1", "exponential", {kF32, {64}}, {x});  // 1
  const int64_t user = program.Add("neg.1", "negate", {kF32, {64}}, {early});    // 2
  int64_t last = user;
  for (int i = 0; i < 5; ++i) {  // 3 to 7
    last = program.Add("tanh." + std::to_string(i), "tanh", {kF32, {64}}, {last});
  }
  const int64_t peak = last;
  const int64_t out = program.Add("add.1", "add", {kF32, {64}}, {peak, early},  // 8
                                  "jit(f)/add");
  const Plan plan = program.Read({out});
  EXPECT_EQ(plan.schedule_length, 10);
  const PlanPart& part = PartOf(plan, "exp.1");
  ASSERT_TRUE(part.idle.has_value());
  EXPECT_EQ(part.idle->from, 2);  // Read by the negation.
  EXPECT_EQ(part.idle->to, 8);
  EXPECT_EQ(part.idle->reader, "add.1");
  EXPECT_EQ(part.idle->reader_op_name, "jit(f)/add");
  EXPECT_FALSE(PartOf(plan, "neg.1").idle.has_value());  // Nothing reads it any more.
}

TEST(AnatomyTest, HolesAndTheirEnds) {
  ProgramBuilder program;
  program.gap_ = 512;
  const int64_t x = program.Add("x.1", "parameter", {kF32, {64}}, {}, "x");
  const int64_t a = program.Add("exp.1", "exponential", {kF32, {64}}, {x});
  const int64_t b = program.Add("neg.1", "negate", {kF32, {64}}, {a});
  const Plan plan = program.Read({program.Add("add.1", "add", {kF32, {64}}, {a, b})});
  EXPECT_EQ(PartOf(plan, "exp.1").hole_bytes, 512);
  EXPECT_EQ(PartOf(plan, "exp.1").hole_end, "neg.1");
  EXPECT_EQ(PartOf(plan, "neg.1").hole_bytes, 512);
  EXPECT_EQ(PartOf(plan, "neg.1").hole_end, "");  // The end of the allocation.
  EXPECT_EQ(plan.temp_bytes - *plan.heap_peak_bytes, 1024);
}

TEST(AnatomyTest, ThePaddedDimension) {
  proto::ShapeProto shape = FromText<proto::ShapeProto>(
      "element_type: 11 dimensions: [1000, 3] layout { minor_to_major: [1, 0] tiles { dimensions: "
      "[8, 128] } }");
  const std::optional<PaddedDimension> padded = MostPadded(shape);
  ASSERT_TRUE(padded.has_value());
  EXPECT_EQ(padded->dimension, 1);
  EXPECT_EQ(padded->from, 3);
  EXPECT_EQ(padded->to, 128);
  shape.set_dimensions(0, 1001);  // That to 1008 costs less.
  EXPECT_EQ(MostPadded(shape)->dimension, 1);
  shape.set_dimensions(1, 128);
  EXPECT_EQ(MostPadded(shape)->dimension, 0);
  shape.set_dimensions(0, 1000);
  EXPECT_FALSE(MostPadded(shape).has_value());
}

}  // namespace
}  // namespace oomdb::ingest
