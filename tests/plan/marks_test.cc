// What remedies ask of the temps at the peak.
#include "ingest/plan/marks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plan/text_proto.h"

namespace oomdb::ingest {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string Array(const std::string& dimensions) {
  return "shape { element_type: 11 dimensions: [" + dimensions + "] } ";
}

std::vector<int64_t> LengthsOf(const std::string& instructions) {
  const auto hlo = FromText<proto::HloProto>(
      "hlo_module { name: 'm' computations { id: 1 root_id: 9 " + instructions + "} }");
  return ScoreLengths(Instructions(hlo.hlo_module()));
}

std::string Product(const std::string& opcode, const std::string& left, const std::string& right,
                    const std::string& result, const std::string& op_name = "") {
  return "instructions { name: 'l' opcode: 'parameter' id: 1 " + Array(left) +
         "} instructions { name: 'r' opcode: 'parameter' id: 2 " + Array(right) +
         "} instructions { name: 'p' opcode: '" + opcode + "' id: 9 operand_ids: [1, 2] " +
         Array(result) + "metadata { op_name: '" + op_name + "' } } ";
}

TEST(ScoreLengthsTest, AProductOfTwoBatchesOfMatrices) {
  EXPECT_THAT(LengthsOf(Product("dot", "8, 512, 64", "8, 64, 512", "8, 512, 512")),
              ElementsAre(512));
  // As a TPU has it.
  EXPECT_THAT(LengthsOf(Product("convolution", "8, 512, 64", "8, 64, 512", "8, 512, 512",
                                "jit(f)/jvp()/bqk,btk->bqt/dot_general")),
              ElementsAre(512));
}

TEST(ScoreLengthsTest, ALayerAsWideAsTheSequenceIsNone) {
  EXPECT_THAT(LengthsOf(Product("dot", "8, 512, 64", "64, 512", "8, 512, 512")), IsEmpty());
}

TEST(ScoreLengthsTest, AFeatureMapIsNone) {
  EXPECT_THAT(LengthsOf(Product("convolution", "8, 256, 256, 3", "3, 3, 3, 256", "8, 256, 256, 256",
                                "jit(f)/jvp(UNet)/conv_general_dilated")),
              IsEmpty());
}

TEST(ScoreLengthsTest, ASoftmaxIsEnough) {
  EXPECT_THAT(
      LengthsOf("instructions { name: 'e' opcode: 'exponential' id: 9 " + Array("4, 8, 300, 300") +
                "metadata { op_name: 'jit(f)/jvp(softmax)/exp' } } "),
      ElementsAre(300));
}

// A loss that reads a table of 4096 words, two blocks, and logits.
Plan TrainedPlan() {
  const auto temp = [](int id, const std::string& op_name, const std::string& dimensions,
                       int operand) {
    return "instructions { name: 't" + std::to_string(id) +
           "' opcode: 'tanh' id: " + std::to_string(id) +
           " operand_ids: " + std::to_string(operand) + " " + Array(dimensions) +
           "metadata { op_name: 'jit(f)/jvp()/" + op_name + "' } } ";
  };
  std::string buffers;
  std::string assigned;
  std::string events;
  for (int id : {11, 12, 13}) {
    const std::string text = std::to_string(id);
    buffers += "logical_buffers { id: " + text + " size: 64 defined_at { instruction_id: " + text +
               " } } ";
    assigned += "assigned { logical_buffer_id: " + text + " } ";
    events += "events { buffer_id: " + text + " } ";
  }
  return PlanOf(
      "hlo_module { name: 'm' computations { id: 1 root_id: 13 "
      "instructions { name: 'table' opcode: 'parameter' id: 1 " +
      Array("4096, 64") +
      "} instructions { name: 'steps' opcode: 'parameter' parameter_number: 1 id: 2 " +
      Array("64, 64") + "} " + temp(11, "block_0/tanh", "32, 64", 2) +
      temp(12, "block_1/tanh", "32, 64", 11) + temp(13, "head/tanh", "32, 4096", 1) +
      "} } buffer_assignment { " + buffers +
      "buffer_allocations { index: 0 size: 1024 is_entry_computation_parameter: true } "
      "buffer_allocations { index: 1 size: 1024 is_entry_computation_parameter: true "
      "parameter_number: 1 } "
      "buffer_allocations { index: 2 size: 192 " +
      assigned + "} heap_simulator_traces { " + events + "} }");
}

TEST(MarkPeakTest, BlocksRepeatButForDigits) {
  const Plan plan = TrainedPlan();
  EXPECT_EQ(BufferOf(plan, 11).repeat_count, 2);
  EXPECT_EQ(BufferOf(plan, 12).repeat_count, 2);
  EXPECT_EQ(BufferOf(plan, 13).repeat_count, 1);
}

TEST(MarkPeakTest, LogitsHaveTheLengthOfAWeightThatIsRare) {
  const Plan plan = TrainedPlan();
  EXPECT_EQ(plan.allocations[0].forward_read, true);
  EXPECT_EQ(BufferOf(plan, 13).vocabulary_length, 4096);
  EXPECT_EQ(BufferOf(plan, 11).vocabulary_length, std::nullopt);
}

}  // namespace
}  // namespace oomdb::ingest
