// The leaves of the result, and what makes them.
#include "ingest/plan/outputs.h"

#include <gtest/gtest.h>

#include "tests/plan/text_proto.h"

namespace oomdb::ingest {
namespace {

const std::string kF32 = "shape { element_type: 11 dimensions: 4 } ";
const std::string kPair =
    "shape { element_type: 13 tuple_shapes { element_type: 11 dimensions: 4 } "
    "tuple_shapes { element_type: 11 dimensions: 4 } } ";
std::string Named(const std::string& op_name) {
  return "metadata { op_name: \"" + op_name + "\" } ";
}

Plan Entry(const std::string& entry, int root, const std::string& others = "",
           const std::string& module_more = "", const std::string& assignment = "") {
  return PlanOf("hlo_module { entry_computation_id: 1 " + module_more + others +
                "computations { id: 1 root_id: " + std::to_string(root) + " " + entry +
                "} } buffer_assignment { " + assignment + "}");
}

TEST(OutputsTest, LeavesOfNestedTuplesInOrder) {
  const Plan plan = Entry(
      "instructions { name: 'p' opcode: 'parameter' id: 1 " + kF32 +
          "} instructions { name: 'mul' opcode: 'multiply' id: 2 " + kF32 +
          Named("jit(f)/transpose(jvp())/mul") +
          "} instructions { name: 'inner' opcode: 'tuple' id: 3 operand_ids: [2, 1] " + kPair +
          "} instructions { name: 'root' opcode: 'tuple' id: 4 operand_ids: [1, 3] "
          "shape { element_type: 13 tuple_shapes { element_type: 11 dimensions: 4 } tuple_shapes { "
          "element_type: 13 tuple_shapes { element_type: 11 dimensions: 4 } "
          "tuple_shapes { element_type: 11 dimensions: 4 layout { memory_space: 5 } } } } } ",
      4, "", "input_output_alias { entries { output_shape_index: [1, 1] } } ",
      "logical_buffers { id: 1 size: 512 defined_at { instruction_id: 2 } } ");
  ASSERT_EQ(plan.outputs.size(), 3u);
  EXPECT_EQ(plan.outputs[0].instruction, "p");
  EXPECT_EQ(plan.outputs[0].role, std::nullopt);  // Given back as it came.
  EXPECT_EQ(plan.outputs[0].bytes, 16);           // From its shape.
  EXPECT_FALSE(plan.outputs[0].aliased);
  EXPECT_EQ(plan.outputs[1].instruction, "mul");
  EXPECT_EQ(plan.outputs[1].opcode, "multiply");
  EXPECT_EQ(plan.outputs[1].role, Role::kBackward);
  EXPECT_EQ(plan.outputs[1].bytes, 512);  // From its buffer, with padding.
  EXPECT_EQ(plan.outputs[1].shape, "f32[4]");
  EXPECT_EQ(plan.outputs[2].position, 2);
  EXPECT_TRUE(plan.outputs[2].aliased);
  EXPECT_EQ(plan.outputs[2].memory_space, 5);
}

TEST(OutputsTest, ASingleResultIsItsOwnLeaf) {
  const Plan plan = Entry("instructions { name: 'neg' opcode: 'negate' id: 1 " + kF32 + "}", 1, "",
                          "input_output_alias { entries { } } ");
  ASSERT_EQ(plan.outputs.size(), 1u);
  EXPECT_EQ(plan.outputs[0].opcode, "negate");
  EXPECT_EQ(plan.outputs[0].role, Role::kOther);
  EXPECT_TRUE(plan.outputs[0].aliased);
}

TEST(OutputsTest, AFusionShowsWhatMakesTheElement) {
  const std::string fused =
      "computations { id: 7 root_id: 75 "
      "instructions { name: 'dus' opcode: 'dynamic-update-slice' id: 71 " +
      Named("jit(f)/cache") +
      "} instructions { name: 'grad' opcode: 'dot' id: 72 } "
      "instructions { name: 'conv' opcode: 'convert' id: 73 operand_ids: 71 } "
      "instructions { name: 'bit' opcode: 'bitcast' id: 74 operand_ids: 73 } "
      "instructions { name: 't' opcode: 'tuple' id: 75 operand_ids: [72, 74] } } ";
  const Plan plan =
      Entry("instructions { name: 'fusion.1' opcode: 'fusion' id: 1 called_computation_ids: 7 " +
                kPair + Named("jit(f)/transpose(jvp())/dot") + "}",
            1, fused);
  ASSERT_EQ(plan.outputs.size(), 2u);
  EXPECT_EQ(plan.outputs[0].opcode, "dot");
  EXPECT_EQ(plan.outputs[0].role, Role::kBackward);  // The fusion's: the dot has no stack.
  EXPECT_EQ(plan.outputs[1].opcode, "dynamic-update-slice");
  EXPECT_EQ(plan.outputs[1].role, Role::kOther);  // Its own.
  EXPECT_EQ(plan.outputs[1].instruction, "fusion.1");
}

TEST(OutputsTest, LoopsAndCallsAreLookedInto) {
  // The body updates element 0 in place, passes element 1 on, and swaps 2 and 3.
  const std::string four =
      "shape { element_type: 13 tuple_shapes { element_type: 11 } tuple_shapes { element_type: 11 "
      "} "
      "tuple_shapes { element_type: 11 } tuple_shapes { element_type: 11 } } ";
  const std::string body =
      "computations { id: 5 root_id: 56 "
      "instructions { name: 'bp' opcode: 'parameter' id: 50 " +
      four +
      "} "
      "instructions { name: 'g0' opcode: 'get-tuple-element' id: 51 operand_ids: 50 } "
      "instructions { name: 'g1' opcode: 'get-tuple-element' id: 52 operand_ids: 50 tuple_index: 1 "
      "} "
      "instructions { name: 'g2' opcode: 'get-tuple-element' id: 53 operand_ids: 50 tuple_index: 2 "
      "} "
      "instructions { name: 'g3' opcode: 'get-tuple-element' id: 54 operand_ids: 50 tuple_index: 3 "
      "} "
      "instructions { name: 'dus' opcode: 'dynamic-update-slice' id: 55 operand_ids: 51 } "
      "instructions { name: 'bt' opcode: 'tuple' id: 56 operand_ids: [55, 52, 54, 53] } } "
      "computations { id: 6 root_id: 60 instructions { name: 'c' opcode: 'compare' id: 60 } } "
      "computations { id: 8 root_id: 80 instructions { name: 'cp' opcode: 'parameter' id: 80 } } ";
  const Plan plan =
      Entry("instructions { name: 'init' opcode: 'copy' id: 1 " + kF32 +
                "} instructions { name: 'called' opcode: 'call' id: 2 operand_ids: 1 "
                "called_computation_ids: 8 " +
                kF32 +
                "} instructions { name: 't' opcode: 'tuple' id: 3 operand_ids: [1, 2, 1, 1] } "
                "instructions { name: 'loop' opcode: 'while' id: 4 operand_ids: 3 "
                "called_computation_ids: [5, 6] " +
                four + "}",
            4, body);
  ASSERT_EQ(plan.outputs.size(), 4u);
  EXPECT_EQ(plan.outputs[0].instruction, "dus");
  EXPECT_EQ(plan.outputs[1].instruction, "init");  // Through the loop and the call.
  EXPECT_EQ(plan.outputs[2].instruction, "loop");
  EXPECT_EQ(plan.outputs[3].opcode, "while");
}

TEST(OutputsTest, CyclesEnd) {
  const Plan plan =
      Entry("instructions { name: 'a' opcode: 'bitcast' id: 1 operand_ids: 2 " + kF32 +
                "} instructions { name: 'b' opcode: 'bitcast' id: 2 operand_ids: 1 }",
            1);
  EXPECT_EQ(plan.outputs.size(), 1u);
  EXPECT_TRUE(HasIssue(plan, "plan_output_search_limit"));
}

TEST(OutputsTest, WithoutARootTheyAreUnknown) {
  const Plan plan = Entry("instructions { name: 'a' opcode: 'add' id: 1 }", 99);
  EXPECT_TRUE(plan.outputs.empty());
  EXPECT_TRUE(HasIssue(plan, "plan_without_root"));
}

}  // namespace
}  // namespace oomdb::ingest
