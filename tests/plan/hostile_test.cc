// Protos made to hurt: they must end soon, in bounded memory, with an Error or with an issue.
#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "ingest/plan/whatif/plan_changes.h"
#include "tests/plan/text_proto.h"

namespace oomdb::ingest {
namespace {

proto::HloProto OneAdd() {
  return FromText<proto::HloProto>(
      "hlo_module { computations { id: 1 root_id: 1 "
      "instructions { name: 'a' opcode: 'add' id: 1 shape { element_type: 11 } } } }");
}

// Sums that SQL makes of a plan may not overflow either.
void ExpectSumsHold(const Plan& plan) {
  int64_t sum = 0;
  for (const PlanBuffer& buffer : plan.buffers) {
    ASSERT_GE(buffer.bytes, 0);
    ASSERT_FALSE(__builtin_add_overflow(sum, buffer.bytes, &sum));
  }
  for (const PlanMemory& space : plan.spaces) {
    if (space.heap_peak_bytes) {
      ASSERT_EQ(BytesAtPeak(plan, space.memory_space), *space.heap_peak_bytes);
    }
  }
}

TEST(HostileTest, ImpossibleSizesCountAsNothing) {
  proto::HloProto hlo = OneAdd();
  auto& assignment = *hlo.mutable_buffer_assignment();
  auto& trace = *assignment.add_heap_simulator_traces();
  auto& allocation = *assignment.add_buffer_allocations();
  for (int64_t size : {int64_t{-5}, std::numeric_limits<int64_t>::max(), int64_t{1} << 60,
                       int64_t{1} << 60, int64_t{1} << 60, int64_t{7}}) {
    const int id = assignment.logical_buffers_size();
    auto& buffer = *assignment.add_logical_buffers();
    buffer.set_id(id);
    buffer.set_size(size);
    buffer.mutable_defined_at()->set_instruction_id(1);
    allocation.add_assigned()->set_logical_buffer_id(id);
    trace.add_events()->set_buffer_id(id);
    auto& other = *assignment.add_buffer_allocations();
    other.set_index(100 + id);
    other.set_size(size);
    other.set_is_entry_computation_parameter(true);
  }
  const Plan plan = ReadPlan(hlo.SerializeAsString());
  EXPECT_TRUE(HasIssue(plan, "plan_size_impossible"));
  EXPECT_GE(plan.parameter_bytes, 7);
  EXPECT_GE(plan.peak_bytes, plan.parameter_bytes);
  EXPECT_EQ(BufferOf(plan, 0).bytes, 0);
  EXPECT_EQ(BufferOf(plan, 5).bytes, 7);
  ExpectSumsHold(plan);
}

TEST(HostileTest, IdsThatDoNotExistOrRepeat) {
  const Plan plan = PlanOf(R"(
    hlo_module { entry_computation_id: 77 entry_computation_name: "nowhere"
      computations { id: 1 root_id: 1
        instructions { name: "f" opcode: "fusion" id: 1 called_computation_ids: 99
                       operand_ids: [1, -1, 99] shape { element_type: 11 } }
        instructions { name: "w" opcode: "while" id: 1 called_computation_ids: 1 operand_ids: 1 }
        instructions { name: "g" opcode: "get-tuple-element" id: 3 operand_ids: 1 tuple_index: -7 } }
      computations { id: 1 root_id: -1 } }
    buffer_assignment {
      logical_buffers { id: 1 size: 4 defined_at { instruction_id: 55 } }
      logical_buffers { id: 1 size: 5 }
      logical_buffers { id: 2 size: 4 defined_at { instruction_id: 1 shape_index: [3, -1] } }
      logical_buffers { id: 3 size: 4 defined_at { instruction_name: "none" } }
      buffer_allocations { index: 1 assigned { logical_buffer_id: 2 offset: -9 }
                           assigned { logical_buffer_id: 2 } assigned { logical_buffer_id: 66 } }
      buffer_allocations { index: 1 size: 9 } })");
  EXPECT_TRUE(HasIssue(plan, "plan_duplicate_id"));
  EXPECT_TRUE(HasIssue(plan, "plan_unknown_instruction"));
  EXPECT_TRUE(HasIssue(plan, "plan_bad_assignment"));
  EXPECT_TRUE(HasIssue(plan, "plan_shape_index"));
  EXPECT_EQ(plan.allocations.size(), 1u);  // The index is a key of the database.
  EXPECT_EQ(plan.buffers.size(), 3u);
  EXPECT_EQ(BufferOf(plan, 1).instruction, "");
  EXPECT_EQ(BufferOf(plan, 2).offset_bytes, std::nullopt);
}

TEST(HostileTest, ALongNameIsNotCopiedForEveryBuffer) {
  proto::HloProto hlo = OneAdd();
  hlo.mutable_hlo_module()->mutable_computations(0)->mutable_instructions(0)->set_name(
      std::string(1 << 20, 'x'));
  for (int id = 0; id < 20000; ++id) {
    auto& buffer = *hlo.mutable_buffer_assignment()->add_logical_buffers();
    buffer.set_id(id);
    buffer.mutable_defined_at()->set_instruction_id(1);
  }
  const Plan plan = ReadPlan(hlo.SerializeAsString());
  int64_t text = 0;
  for (const PlanBuffer& buffer : plan.buffers)
    text += static_cast<int64_t>(buffer.instruction.size());
  EXPECT_LT(text, int64_t{100} << 20);  // And not 20 GiB.
  EXPECT_TRUE(HasIssue(plan, "plan_text_limit"));
}

TEST(HostileTest, LongChainsOfUnnamedInstructionsEnd) {
  // Every instruction defines a temp, flows into the next and has no name stack: the search
  // downstream of each would walk all that follow.
  constexpr int kInstructions = 100000;
  proto::HloProto hlo = OneAdd();
  auto& computation = *hlo.mutable_hlo_module()->mutable_computations(0);
  auto& assignment = *hlo.mutable_buffer_assignment();
  auto& allocation = *assignment.add_buffer_allocations();
  for (int id = 2; id < kInstructions; ++id) {
    auto& instruction = *computation.add_instructions();
    instruction.set_opcode("bitcast");
    instruction.set_id(id);
    instruction.add_operand_ids(id - 1);
    auto& buffer = *assignment.add_logical_buffers();
    buffer.set_id(id);
    buffer.mutable_defined_at()->set_instruction_id(id);
    allocation.add_assigned()->set_logical_buffer_id(id);
  }
  const Plan plan = ReadPlan(hlo.SerializeAsString());
  EXPECT_TRUE(HasIssue(plan, "plan_role_search_limit"));
  EXPECT_EQ(plan.buffers.size(), kInstructions - 2u);
}

TEST(HostileTest, TextThatIsNotUtf8KeepsItsPlan) {
  proto::HloProto hlo = OneAdd();
  const std::string latin1 = "/home/ren\xe9/\xff\xfe.py";
  hlo.mutable_hlo_module()
      ->mutable_computations(0)
      ->mutable_instructions(0)
      ->mutable_metadata()
      ->set_source_file(latin1);
  auto& buffer = *hlo.mutable_buffer_assignment()->add_logical_buffers();
  buffer.mutable_defined_at()->set_instruction_id(1);
  const Plan plan = ReadPlan(hlo.SerializeAsString());
  EXPECT_EQ(BufferOf(plan, 0).source_file, latin1);
}

// Real modules, cut and changed at random places from a fixed seed: an Error or a plan that adds
// up.
TEST(HostileTest, DamagedModulesAreRefusedOrAddUp) {
  std::mt19937 random(20240607);
  int read = 0;
  int refused = 0;
  for (const char* name : {"module_0000.jit_fn.cl_933746096.after_optimizations.hlo.pb",
                           "module_0001.jit_loss.sm_8.0_gpu_after_optimizations.hlo.pb"}) {
    const std::string whole = TestData(name);
    for (int round = 0; round < 400; ++round) {
      std::string bytes = whole;
      if (round % 8 == 0) bytes.resize(random() % bytes.size());
      for (int change = 1 << (round % 4); change > 0 && !bytes.empty(); --change) {
        bytes[random() % bytes.size()] = static_cast<char>(random());
      }
      try {
        ExpectSumsHold(ReadPlan(bytes));
        ++read;
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(read, 50);
  EXPECT_GT(refused, 50);
}

// The same through the replay of every remedy.
TEST(HostileTest, DamagedModulesAreReplayedOrRefused) {
  std::mt19937 random(20261201);
  int replayed = 0;
  for (const char* name : {"module_0000.jit_fn.cl_933746096.after_optimizations.hlo.pb",
                           "module_0001.jit_loss.sm_8.0_gpu_after_optimizations.hlo.pb"}) {
    const std::string whole = TestData(name);
    for (int round = 0; round < 200; ++round) {
      std::string bytes = whole;
      for (int change = 1 << (round % 5); change > 0; --change) {
        bytes[random() % bytes.size()] = static_cast<char>(random());
      }
      try {
        for (const PlanChange& change : ReadPlanChanges(bytes, "gpu").changes) {
          EXPECT_GE(change.needs_bytes, 0) << change.remedy;
          if (change.low_bytes && change.high_bytes) {
            EXPECT_LE(*change.low_bytes, *change.high_bytes) << change.remedy;
          }
          ++replayed;
        }
      } catch (const Error&) {
      }
    }
  }
  EXPECT_GT(replayed, 50);
}

}  // namespace
}  // namespace oomdb::ingest
