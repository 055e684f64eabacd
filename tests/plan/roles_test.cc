// Where the name stack of a temp is looked for, one place after the other.
#include "ingest/plan/roles.h"

#include <gtest/gtest.h>

#include "tests/plan/text_proto.h"

namespace oomdb::ingest {
namespace {

std::string Named(const std::string& op_name) {
  return "metadata { op_name: \"" + op_name + "\" } ";
}
const std::string kF32 = "shape { element_type: 11 dimensions: 4 } ";

// A module whose entry has the instructions of `entry`; logical buffer N is a temp defined by
// instruction N at index {}, for each of `buffers`, which live in one allocation and in a trace of
// `events`.
std::string Module(const std::string& entry, const std::vector<int>& buffers,
                   const std::string& more_computations = "", const std::string& events = "") {
  std::string logical;
  std::string assigned;
  for (int id : buffers) {
    const std::string text = std::to_string(id);
    logical += "logical_buffers { id: " + text + " size: 16 defined_at { instruction_id: " + text +
               " } } ";
    assigned += "assigned { logical_buffer_id: " + text + " } ";
  }
  return "hlo_module { name: 'm' entry_computation_id: 1 " + more_computations +
         "computations { id: 1 root_id: 1 " + entry + "} } buffer_assignment { " + logical +
         "buffer_allocations { size: 64 " + assigned + "} heap_simulator_traces { " + events +
         "} }";
}

TEST(RolesTest, TranspositionBeforeJvp) {
  EXPECT_EQ(RoleOf("jit(f)/transpose(jvp(loss))/mul"), Role::kBackward);
  EXPECT_EQ(RoleOf("jit(f)/jvp(loss)/mul"), Role::kForward);
  EXPECT_EQ(RoleOf("jit(f)/adam/sub"), Role::kOther);
  EXPECT_EQ(RoleOf("jit(f)/transpose[permutation=(1, 0)]"), Role::kOther);
}

TEST(RolesTest, OwnNameStack) {
  const Plan plan = PlanOf(Module("instructions { name: 'mul.1' opcode: 'multiply' id: 1 " + kF32 +
                                      Named("jit(f)/jvp()/mul") + "}",
                                  {1}));
  EXPECT_EQ(BufferOf(plan, 1).role, Role::kForward);
  EXPECT_EQ(BufferOf(plan, 1).role_via, "");
  EXPECT_EQ(BufferOf(plan, 1).op_name, "jit(f)/jvp()/mul");
}

TEST(RolesTest, BytesOfCustomCallsAreWorkspace) {
  const std::string call = "instructions { name: 'cc' opcode: 'custom-call' id: 1 " +
                           Named("jit(f)/jvp()/dot") +
                           "shape { element_type: 13 tuple_shapes { element_type: 11 } "
                           "tuple_shapes { element_type: 2 dimensions: 99 } "
                           "tuple_shapes { element_type: 6 dimensions: 99 } } } ";
  const Plan plan = PlanOf(
      "hlo_module { computations { id: 1 root_id: 1 " + call +
      "instructions { name: 'c' opcode: 'convert' id: 2 shape { element_type: 2 dimensions: 9 } } "
      "} } buffer_assignment { "
      "logical_buffers { id: 1 defined_at { instruction_id: 1 shape_index: 0 } } "
      "logical_buffers { id: 2 defined_at { instruction_id: 1 shape_index: 1 } } "
      "logical_buffers { id: 3 defined_at { instruction_id: 1 shape_index: 2 } } "
      "logical_buffers { id: 4 defined_at { instruction_id: 2 } } "
      "buffer_allocations { assigned { logical_buffer_id: 1 } assigned { logical_buffer_id: 2 } "
      "assigned { logical_buffer_id: 3 } assigned { logical_buffer_id: 4 } } }");
  EXPECT_EQ(BufferOf(plan, 1).role, Role::kForward);
  EXPECT_EQ(BufferOf(plan, 2).role, Role::kWorkspace);
  EXPECT_EQ(BufferOf(plan, 3).role, Role::kWorkspace);
  EXPECT_EQ(BufferOf(plan, 4).role, Role::kOther);  // Quantised values are data.
  EXPECT_EQ(BufferOf(plan, 2).shape, "s8[99]");
  EXPECT_EQ(BufferOf(plan, 2).shape_index, "{1}");
}

TEST(RolesTest, AFusionTakesItsRootsThenTheLastInside) {
  const std::string fused =
      "computations { id: 7 root_id: 73 "
      "instructions { name: 'a' opcode: 'add' id: 71 " +
      Named("jit(f)/first") +
      "} "
      "instructions { name: 'b' opcode: 'add' id: 72 " +
      Named("jit(f)/transpose(jvp())/b") +
      "} "
      "instructions { name: 'root' opcode: 'add' id: 73 " +
      Named("no stack") +
      "} } "
      "computations { id: 8 root_id: 81 "
      "instructions { name: 'root.8' opcode: 'add' id: 81 " +
      Named("jit(f)/jvp()/r") +
      "} "
      "instructions { name: 'later' opcode: 'add' id: 82 " +
      Named("jit(f)/transpose(jvp())/l") + "} } ";
  const Plan plan = PlanOf(
      Module("instructions { name: 'f.1' opcode: 'fusion' id: 1 called_computation_ids: 7 " + kF32 +
                 "} instructions { name: 'f.2' opcode: 'fusion' id: 2 called_computation_ids: 8 " +
                 kF32 + Named("x") + "}",
             {1, 2}, fused));
  EXPECT_EQ(BufferOf(plan, 1).role, Role::kBackward);
  EXPECT_EQ(BufferOf(plan, 1).role_via, "b");
  EXPECT_EQ(BufferOf(plan, 2).role, Role::kForward);
  EXPECT_EQ(BufferOf(plan, 2).role_via, "root.8");
  EXPECT_EQ(BufferOf(plan, 2).op_name, "x");  // Its own, as written.
}

// broadcast.1 -> bitcast.2 -> tuple.3 {1} -> while.4 {1}, which has the stack.
TEST(RolesTest, AZeroFilledStackTakesTheRoleOfItsLoop) {
  const Plan plan = PlanOf(Module(
      "instructions { name: 'broadcast.1' opcode: 'broadcast' id: 1 " + kF32 + Named("zeros") +
          "} instructions { name: 'bitcast.2' opcode: 'bitcast' id: 2 operand_ids: 1 " + kF32 +
          "} instructions { name: 'tuple.3' opcode: 'tuple' id: 3 operand_ids: [9, 2] } "
          "instructions { name: 'while.4' opcode: 'while' id: 4 operand_ids: 3 " +
          Named("jit(f)/jvp()/while") +
          "} instructions { name: 'other.5' opcode: 'add' id: 5 operand_ids: 1 " +
          Named("jit(f)/transpose(jvp())/add") + "} ",
      {1}));
  EXPECT_EQ(BufferOf(plan, 1).role,
            Role::kForward);  // Not that of the add, which makes a new value.
  EXPECT_EQ(BufferOf(plan, 1).role_via, "while.4");
}

TEST(RolesTest, ElementsGoTheirOwnWays) {
  // 1 and 2 enter a tuple; element 1 is taken out again by a named instruction, element 0 by
  // another.
  const Plan plan = PlanOf(
      Module("instructions { name: 'b.1' opcode: 'broadcast' id: 1 " + kF32 +
                 "} instructions { name: 'b.2' opcode: 'broadcast' id: 2 " + kF32 +
                 "} instructions { name: 't' opcode: 'tuple' id: 3 operand_ids: [1, 2] } "
                 "instructions { name: 'g.0' opcode: 'get-tuple-element' id: 4 operand_ids: 3 " +
                 Named("jit(f)/jvp()/g") +
                 "} instructions { name: 'g.1' opcode: 'get-tuple-element' id: 5 operand_ids: 3 "
                 "tuple_index: 1 " +
                 Named("jit(f)/transpose(jvp())/g") + "} ",
             {1, 2}));
  EXPECT_EQ(BufferOf(plan, 1).role_via, "g.0");
  EXPECT_EQ(BufferOf(plan, 2).role_via, "g.1");
  EXPECT_EQ(BufferOf(plan, 2).role, Role::kBackward);
}

TEST(RolesTest, BreadthFirstAndUsersByAscendingId) {
  // Stored order is not id order: bitcast 5 stands before bitcast 4. 6 is nearer than what follows
  // 4.
  const Plan plan =
      PlanOf(Module("instructions { name: 'b.1' opcode: 'broadcast' id: 1 " + kF32 +
                        "} instructions { name: 'bc.5' opcode: 'bitcast' id: 5 operand_ids: 1 " +
                        Named("jit(f)/transpose(jvp())/five") +
                        "} instructions { name: 'bc.4' opcode: 'bitcast' id: 4 operand_ids: 1 " +
                        Named("jit(f)/jvp()/four") +
                        "} instructions { name: 'b.10' opcode: 'broadcast' id: 10 " + kF32 +
                        "} instructions { name: 'bc.11' opcode: 'bitcast' id: 11 operand_ids: 10 } "
                        "instructions { name: 'bc.12' opcode: 'bitcast' id: 12 operand_ids: 11 " +
                        Named("jit(f)/deep") +
                        "} instructions { name: 'ob.13' opcode: 'optimization-barrier' id: 13 "
                        "operand_ids: 10 " +
                        Named("jit(f)/jvp()/near") + "} ",
                    {1, 10}));
  EXPECT_EQ(BufferOf(plan, 1).role_via, "bc.4");
  EXPECT_EQ(BufferOf(plan, 10).role_via, "ob.13");
}

TEST(RolesTest, LastComesWhatTakesOverTheMemory) {
  const std::string entry = "instructions { name: 'alloc.1' opcode: 'custom-call' id: 1 " + kF32 +
                            "} instructions { name: 'unnamed.2' opcode: 'add' id: 2 " + kF32 +
                            "} instructions { name: 'fill.3' opcode: 'add' id: 3 " + kF32 +
                            Named("jit(f)/transpose(jvp())/fill") +
                            "} instructions { name: 'x.4' opcode: 'add' id: 4 " + kF32 +
                            Named("jit(f)/jvp()/x") + "} ";
  const std::string events =
      "events { buffer_id: 1 } events { kind: SHARE_WITH buffer_id: 2 share_with_canonical_id: 1 } "
      "events { kind: SHARE_WITH buffer_id: 3 share_with_canonical_id: 1 } "
      "events { kind: SHARE_WITH buffer_id: 4 share_with_canonical_id: 3 } ";
  const Plan plan = PlanOf(Module(entry, {1, 2, 3, 4}, "", events));
  EXPECT_EQ(BufferOf(plan, 1).role, Role::kBackward);
  EXPECT_EQ(BufferOf(plan, 1).role_via, "fill.3");
  EXPECT_EQ(BufferOf(plan, 2).role, Role::kOther);  // Nothing takes over from it directly.
  EXPECT_EQ(BufferOf(plan, 2).role_via, "");
}

}  // namespace
}  // namespace oomdb::ingest
