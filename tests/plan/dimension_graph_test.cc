// Where a symbol goes: one operation a test.
#include "ingest/plan/whatif/dimension_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/plan/text_proto.h"

namespace oomdb::ingest {
namespace {

using testing::ElementsAre;

std::string Shape(const std::vector<int64_t>& dimensions, const std::string& layout = "") {
  std::string text = "shape { element_type: 11 ";
  for (int64_t d : dimensions) text += "dimensions: " + std::to_string(d) + " ";
  return text + (layout.empty() ? "" : "layout { " + layout + " }") + " } ";
}
std::string Parameter(int id, const std::vector<int64_t>& dimensions,
                      const std::string& layout = "") {
  return "instructions { name: 'p" + std::to_string(id) +
         "' opcode: 'parameter' id: " + std::to_string(id) +
         " parameter_number: " + std::to_string(id - 1) + " " + Shape(dimensions, layout) + "} ";
}
std::string Instruction(int id, const std::string& opcode, const std::vector<int>& operands,
                        const std::vector<int64_t>& dimensions, const std::string& more = "",
                        const std::string& layout = "") {
  std::string text = "instructions { name: 'i" + std::to_string(id) + "' opcode: '" + opcode +
                     "' id: " + std::to_string(id) + " ";
  for (int operand : operands) text += "operand_ids: " + std::to_string(operand) + " ";
  return text + Shape(dimensions, layout) + more + " } ";
}

// A module of one computation; instruction n has the id n + 1.
class Graph {
 public:
  explicit Graph(const std::string& instructions)
      : hlo_(FromText<proto::HloProto>(
            "hlo_module { name: 'm' entry_computation_id: 1 computations { id: 1 " + instructions +
            "} }")),
        program_(hlo_),
        graph_(program_) {}

  // The dimensions of instruction `to` that carry the symbol of a dimension of `from`.
  std::vector<int> Dimensions(int from, int dimension, int to) const {
    std::vector<int> found;
    const Symbol symbol = SymbolOf(from, dimension);
    const LeafId n = program_.Single(to - 1);
    for (int d = 0; d < program_.leaf(n).rank(); ++d) {
      if (symbol.IsInDimension(n, d)) found.push_back(d);
    }
    return found;
  }
  std::vector<int64_t> Scaled(int from, int dimension, int to, double ratio) const {
    return SymbolOf(from, dimension).Scaled(program_.Single(to - 1), ratio);
  }
  Symbol SymbolOf(int from, int dimension) const {
    const Seed seed{program_.Single(from - 1), dimension};
    return graph_.Spread(std::span(&seed, 1));
  }
  const DimensionGraph& graph() const { return graph_; }

 private:
  const proto::HloProto hlo_;
  const Program program_;
  const DimensionGraph graph_;
};

// Zeros that a batch and something of the same shape share link nothing; of what uses them they
// carry all.
TEST(DimensionGraphTest, SharedZerosLinkNothing) {
  const Graph g(Parameter(1, {8, 4}) + Parameter(2, {8, 4}) + Instruction(3, "constant", {}, {}) +
                Instruction(4, "broadcast", {3}, {8, 4}) + Instruction(5, "add", {1, 4}, {8, 4}) +
                Instruction(6, "add", {2, 4}, {8, 4}));
  EXPECT_THAT(g.Dimensions(1, 0, 5), ElementsAre(0));
  EXPECT_THAT(g.Dimensions(1, 0, 4), ElementsAre(0));
  EXPECT_THAT(g.Dimensions(2, 0, 4), ElementsAre(0));
  EXPECT_THAT(g.Dimensions(1, 0, 2), ElementsAre());
  EXPECT_THAT(g.Dimensions(1, 0, 6), ElementsAre());
}

// What is broadcast from an array keeps its dimensions linked.
TEST(DimensionGraphTest, ABroadcastArrayLinksItsOwnDimensions) {
  const Graph g(Parameter(1, {4}) + Parameter(2, {8, 4}) + Parameter(3, {8, 4}) +
                Instruction(4, "broadcast", {1}, {8, 4}, "dimensions: 1") +
                Instruction(5, "add", {2, 4}, {8, 4}) + Instruction(6, "add", {3, 4}, {8, 4}));
  EXPECT_THAT(g.Dimensions(2, 1, 6), ElementsAre(1));
  EXPECT_THAT(g.Dimensions(2, 0, 6), ElementsAre());
}

TEST(DimensionGraphTest, ElementwiseTransposeAndBroadcast) {
  const Graph g(Parameter(1, {8, 4}) + Instruction(2, "exponential", {1}, {8, 4}) +
                Instruction(3, "transpose", {2}, {4, 8}, "dimensions: 1 dimensions: 0") +
                Instruction(4, "broadcast", {3}, {4, 3, 8}, "dimensions: 0 dimensions: 2"));
  EXPECT_THAT(g.Dimensions(1, 0, 2), ElementsAre(0));
  EXPECT_THAT(g.Dimensions(1, 0, 3), ElementsAre(1));
  EXPECT_THAT(g.Dimensions(1, 0, 4), ElementsAre(2));
  EXPECT_THAT(g.Scaled(1, 0, 4, 0.5), ElementsAre(4, 3, 4));
  EXPECT_THAT(g.Scaled(1, 0, 4, 1.0 / 3), ElementsAre(4, 3, 3));  // Rounded up.
}

TEST(DimensionGraphTest, EqualNumbersAreNotOneDimension) {
  const Graph g(Parameter(1, {8, 8}) + Instruction(2, "negate", {1}, {8, 8}));
  EXPECT_THAT(g.Dimensions(1, 0, 2), ElementsAre(0));
  EXPECT_THAT(g.Dimensions(1, 1, 2), ElementsAre(1));
}

TEST(DimensionGraphTest, Dot) {
  const Graph g(Parameter(1, {2, 8, 4}) + Parameter(2, {2, 4, 6}) +
                Instruction(3, "dot", {1, 2}, {2, 8, 6},
                            "dot_dimension_numbers { lhs_batch_dimensions: 0 rhs_batch_dimensions: "
                            "0 lhs_contracting_dimensions: 2 rhs_contracting_dimensions: 1 }"));
  EXPECT_THAT(g.Dimensions(1, 0, 3), ElementsAre(0));
  EXPECT_THAT(g.Dimensions(1, 1, 3), ElementsAre(1));
  EXPECT_THAT(g.Dimensions(2, 2, 3), ElementsAre(2));
  EXPECT_THAT(g.Dimensions(1, 2, 3), ElementsAre());
  EXPECT_THAT(g.Dimensions(1, 2, 2), ElementsAre(1));
}

TEST(DimensionGraphTest, CublasSaysItsDimensionsInJson) {
  const Graph g(
      Parameter(1, {8, 4}) + Parameter(2, {6, 4}) +
      Instruction(
          3, "custom-call", {1, 2}, {8, 6},
          R"(custom_call_target: "__cublas$gemm" backend_config: "{\"gemm_backend_config\":)"
          R"({\"dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[\"1\"],)"
          R"(\"rhs_contracting_dimensions\":[\"1\"],\"lhs_batch_dimensions\":[],)"
          R"(\"rhs_batch_dimensions\":[]}}}")"));
  EXPECT_THAT(g.Dimensions(1, 0, 3), ElementsAre(0));
  EXPECT_THAT(g.Dimensions(2, 0, 3), ElementsAre(1));
  EXPECT_THAT(g.Dimensions(1, 1, 2), ElementsAre(1));
  EXPECT_TRUE(g.graph().unknown_calls().empty());
}

TEST(DimensionGraphTest, CallsThatAreNotKnownAreCounted) {
  const Graph g(Parameter(1, {8, 4}) +
                Instruction(2, "custom-call", {1}, {8, 6}, "custom_call_target: 'mine'"));
  EXPECT_THAT(g.Dimensions(1, 0, 2), ElementsAre(0));  // The same extent at the same place.
  EXPECT_EQ(g.graph().unknown_calls().at("mine"), 1);
}

TEST(DimensionGraphTest, ReduceGatherAndConcatenate) {
  const Graph g(Parameter(1, {8, 4, 5}) + Parameter(2, {}) +
                Instruction(3, "reduce", {1, 2}, {8, 5}, "dimensions: 1") + Parameter(4, {9, 5}) +
                Parameter(5, {8, 3}) +
                Instruction(6, "gather", {4, 5}, {8, 3, 5},
                            "gather_dimension_numbers { offset_dims: 2 collapsed_slice_dims: 0 "
                            "index_vector_dim: 2 }") +
                Instruction(7, "concatenate", {3, 3}, {16, 5}, "dimensions: 0"));
  EXPECT_THAT(g.Dimensions(1, 0, 3), ElementsAre(0));
  EXPECT_THAT(g.Dimensions(1, 2, 3), ElementsAre(1));
  EXPECT_THAT(g.Dimensions(5, 0, 6), ElementsAre(0));
  EXPECT_THAT(g.Dimensions(5, 1, 6), ElementsAre(1));
  EXPECT_THAT(g.Dimensions(4, 1, 6), ElementsAre(2));
  EXPECT_THAT(g.Dimensions(4, 0, 6), ElementsAre());
  EXPECT_THAT(g.Dimensions(1, 2, 7), ElementsAre(1));
}

TEST(DimensionGraphTest, ReshapeMergesAndSplits) {
  // [8, 4] → [32] → [2, 4, 4]: the 8 is split into 2 × 4, of which the minor part grows.
  const Graph g(Parameter(1, {8, 4}) + Instruction(2, "reshape", {1}, {32}) +
                Instruction(3, "reshape", {2}, {8, 4}) + Instruction(4, "reshape", {1}, {2, 4, 4}));
  EXPECT_THAT(g.Dimensions(1, 0, 2), ElementsAre(0));
  EXPECT_THAT(g.Scaled(1, 0, 2, 0.5), ElementsAre(16));
  EXPECT_THAT(g.Dimensions(1, 0, 3), ElementsAre(0));  // Found again behind the merged one.
  EXPECT_THAT(g.Dimensions(1, 1, 3), ElementsAre(1));
  EXPECT_THAT(g.Dimensions(1, 0, 4), ElementsAre(1));
}

TEST(DimensionGraphTest, ABitcastFollowsTheLayout) {
  // Column major [8, 4] is [4, 8] in memory.
  const Graph g(Parameter(1, {8, 4}, "minor_to_major: 0 minor_to_major: 1") +
                Instruction(2, "bitcast", {1}, {4, 8}, "", "minor_to_major: 1 minor_to_major: 0"));
  EXPECT_THAT(g.Dimensions(1, 0, 2), ElementsAre(1));
  EXPECT_THAT(g.Dimensions(1, 1, 2), ElementsAre(0));
}

TEST(DimensionGraphTest, TilesAreDigits) {
  // [64, 256] in tiles of 8 × 128 is [8, 2, 8, 128] in memory.
  const std::string tiled =
      "minor_to_major: 1 minor_to_major: 0 tiles { dimensions: 8 "
      "dimensions: 128 }";
  const Graph g(Parameter(1, {64, 256}, tiled) +
                Instruction(2, "bitcast", {1}, {8, 2, 8, 128}, "",
                            "minor_to_major: 3 minor_to_major: 2 minor_to_major: 1 "
                            "minor_to_major: 0"));
  const std::vector<int> rows = g.Dimensions(1, 0, 2);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_TRUE(rows[0] == 0 || rows[0] == 2) << rows[0];
  const std::vector<int> columns = g.Dimensions(1, 1, 2);
  ASSERT_EQ(columns.size(), 1u);
  EXPECT_EQ(columns[0], 3);  // The larger part.
}

TEST(DimensionGraphTest, LoopsCarryDimensions) {
  const auto hlo = FromText<proto::HloProto>(R"(
    hlo_module { name: "m" entry_computation_id: 3
      computations { id: 1 root_id: 11
        instructions { name: "bp" opcode: "parameter" id: 10
          shape { element_type: 13 tuple_shapes { element_type: 11 dimensions: 8 } } }
        instructions { name: "bg" opcode: "get-tuple-element" id: 12 operand_ids: 10
          shape { element_type: 11 dimensions: 8 } }
        instructions { name: "br" opcode: "tuple" id: 11 operand_ids: 12
          shape { element_type: 13 tuple_shapes { element_type: 11 dimensions: 8 } } } }
      computations { id: 3 root_id: 33
        instructions { name: "p" opcode: "parameter" id: 30
          shape { element_type: 11 dimensions: 8 } }
        instructions { name: "t" opcode: "tuple" id: 31 operand_ids: 30
          shape { element_type: 13 tuple_shapes { element_type: 11 dimensions: 8 } } }
        instructions { name: "w" opcode: "while" id: 32 operand_ids: 31 called_computation_ids: 1
          shape { element_type: 13 tuple_shapes { element_type: 11 dimensions: 8 } } }
        instructions { name: "g" opcode: "get-tuple-element" id: 33 operand_ids: 32
          shape { element_type: 11 dimensions: 8 } } } })");
  const Program program(hlo);
  const DimensionGraph graph(program);
  const LeafId parameter = program.Single(program.instructions().FindById(30));
  const Seed seed{parameter, 0};
  const Symbol symbol = graph.Spread(std::span(&seed, 1));
  EXPECT_TRUE(symbol.IsIn(program.Single(program.instructions().FindById(33))));
  EXPECT_TRUE(symbol.IsIn(program.Single(program.instructions().FindById(12))));
  EXPECT_EQ(symbol.reach(), program.leaf_count());
  // The value itself flows to the end of the loop.
  const Program::Uses uses = program.UsesOf(parameter);
  EXPECT_TRUE(uses.is_output);
}

TEST(DimensionGraphTest, HostileShapesAreHarmless) {
  const Graph g(Parameter(1, {INT64_MAX, INT64_MAX}) + Parameter(2, {-5, 0}) +
                Instruction(3, "reshape", {1}, {INT64_MAX}) +
                Instruction(4, "bitcast", {2}, {-5, 0}, "",
                            "minor_to_major: 9 minor_to_major: -1 tiles { dimensions: 0 }") +
                Instruction(5, "reshape", {9, 9}, {3}) +
                Instruction(6, "dot", {1}, {3},
                            "dot_dimension_numbers { lhs_batch_dimensions: -4 "
                            "rhs_batch_dimensions: 99 }"));
  EXPECT_THAT(g.Dimensions(1, 0, 3), ElementsAre());
  g.SymbolOf(2, 1);
  EXPECT_EQ(PaddedBytes(g.graph().program().instructions()[0].shape()), int64_t{1} << 62);
}

}  // namespace
}  // namespace oomdb::ingest
