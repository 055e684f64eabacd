// What each operation says of the dimensions of its operands and its result. To add one: its
// opcode in program.cc, a case here.
#include <algorithm>
#include <string_view>
#include <vector>

#include "ingest/plan/whatif/contraction_rules.h"
#include "ingest/plan/whatif/dimension_graph.h"

namespace oomdb::ingest {
namespace {

using proto::HloInstructionProto;

bool Contains(const google::protobuf::RepeatedField<int64_t>& list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

class Linker {
 public:
  Linker(const Program& program, DimensionGraph* graph) : program_(program), graph_(*graph) {}

  // Before any is linked: which of its dimensions are free.
  void MarkFree(InstructionNumber i);
  void Link(InstructionNumber i);

 private:
  void MarkAs(LeafRange leaves, LeafRange others);
  const proto::ShapeProto& Shape(LeafId n) const { return *program_.leaf(n).shape; }
  int Rank(LeafId n) const { return program_.leaf(n).rank(); }
  InstructionNumber Operand(InstructionNumber i, int n) const { return program_.Operand(i, n); }
  LeafRange OperandLeaves(InstructionNumber i, int n) const {
    const InstructionNumber operand = Operand(i, n);
    return operand == IdIndex::kNone ? LeafRange() : program_.LeavesOf(operand);
  }
  // Pairs of operands and results that are looked at; real operations have few of one of them.
  static bool IsTooWide(size_t operands, int32_t results) {
    constexpr size_t kMaxPairs = 1 << 22;
    return operands * static_cast<size_t>(results) > kMaxPairs;
  }
  std::vector<LeafId> AllOperandLeaves(InstructionNumber i) const {
    std::vector<LeafId> leaves;
    for (int n = 0; n < program_.instructions()[i].operand_ids_size(); ++n) {
      const LeafRange at = OperandLeaves(i, n);
      for (int32_t k = 0; k < at.count; ++k) leaves.push_back(at.first + k);
    }
    return leaves;
  }
  LeafId Array(InstructionNumber i, int n) const { return program_.Single(Operand(i, n)); }
  // The first array of a result that may be a tuple.
  LeafId FirstResult(InstructionNumber i) const {
    const LeafRange at = program_.LeavesOf(i);
    return at.count > 0 ? at.first : IdIndex::kNone;
  }

  void While(InstructionNumber i);
  void Calls(InstructionNumber i);
  void Conditional(InstructionNumber i);
  void Reduce(InstructionNumber i);
  void ReduceWindow(InstructionNumber i);
  void Gather(InstructionNumber i);
  void Scatter(InstructionNumber i);
  void CustomCall(InstructionNumber i);
  void SameShapes(InstructionNumber i);
  void Elementwise(InstructionNumber i);

  const Program& program_;
  DimensionGraph& graph_;
};

void Linker::While(InstructionNumber i) {
  const LeafRange result = program_.LeavesOf(i);
  graph_.AllEqual(result, OperandLeaves(i, 0));
  for (int n = 0; n < program_.instructions()[i].called_computation_ids_size(); ++n) {
    const int32_t computation = program_.instructions().Called(i, n);
    if (computation == IdIndex::kNone) continue;
    const auto [begin, end] = program_.instructions().Range(computation);
    for (InstructionNumber j = begin; j < end; ++j) {
      if (program_.op(j) == Op::kParameter) graph_.AllEqual(result, program_.LeavesOf(j));
    }
    // The condition's root is a flag, the body's has the loop's shape.
    const InstructionNumber root = program_.instructions().RootOf(computation);
    if (root != IdIndex::kNone && program_.LeavesOf(root).count == result.count) {
      graph_.AllEqual(result, program_.LeavesOf(root));
    }
  }
}

void Linker::Calls(InstructionNumber i) {
  const int32_t computation = program_.instructions().Called(i, 0);
  if (computation == IdIndex::kNone) return;
  const auto [begin, end] = program_.instructions().Range(computation);
  for (InstructionNumber j = begin; j < end; ++j) {
    if (program_.op(j) != Op::kParameter) continue;
    const int64_t number = program_.instructions()[j].parameter_number();
    if (number < 0 || number >= program_.instructions()[i].operand_ids_size()) continue;
    graph_.AllEqual(program_.LeavesOf(j), OperandLeaves(i, static_cast<int>(number)));
  }
  const InstructionNumber root = program_.instructions().RootOf(computation);
  if (root == IdIndex::kNone) return;
  if (program_.op(i) != Op::kAsyncStart) {
    graph_.AllEqual(program_.LeavesOf(i), program_.LeavesOf(root));
    return;
  }
  // Its result: (operands, what the computation makes, context).
  const int64_t operands[] = {0, 0};
  const int64_t results[] = {1};
  graph_.AllEqual(program_.Under(i, results), program_.LeavesOf(root));
  for (int n = 0; n < program_.instructions()[i].operand_ids_size(); ++n) {
    const int64_t operand[] = {operands[0], n};
    graph_.AllEqual(program_.Under(i, operand), OperandLeaves(i, n));
  }
}

void Linker::Conditional(InstructionNumber i) {
  for (int n = 0; n < program_.instructions()[i].called_computation_ids_size(); ++n) {
    const int32_t computation = program_.instructions().Called(i, n);
    if (computation == IdIndex::kNone) continue;
    const auto [begin, end] = program_.instructions().Range(computation);
    for (InstructionNumber j = begin; j < end; ++j) {
      if (program_.op(j) == Op::kParameter) {
        graph_.AllEqual(program_.LeavesOf(j), OperandLeaves(i, n + 1));
      }
    }
    const InstructionNumber root = program_.instructions().RootOf(computation);
    if (root != IdIndex::kNone) graph_.AllEqual(program_.LeavesOf(i), program_.LeavesOf(root));
  }
}

void Linker::Reduce(InstructionNumber i) {
  const HloInstructionProto& instruction = program_.instructions()[i];
  const int arrays = instruction.operand_ids_size() / 2;
  const LeafRange result = program_.LeavesOf(i);
  for (int a = 0; a < arrays; ++a) {
    const LeafId array = Array(i, a);
    if (array == IdIndex::kNone) continue;
    graph_.AllEqual(Array(i, 0), array);
    int at = 0;
    for (int d = 0; d < Rank(array); ++d) {
      if (Contains(instruction.dimensions(), d)) continue;
      for (int32_t r = 0; r < result.count; ++r) graph_.Equal(array, d, result.first + r, at);
      ++at;
    }
  }
}

void Linker::ReduceWindow(InstructionNumber i) {
  const HloInstructionProto& instruction = program_.instructions()[i];
  const LeafRange result = program_.LeavesOf(i);
  for (int a = 0; a < instruction.operand_ids_size() / 2; ++a) {
    const LeafId array = Array(i, a);
    if (array == IdIndex::kNone) continue;
    // Equal links only what has one extent.
    for (int32_t r = 0; r < result.count; ++r) graph_.AllEqual(array, result.first + r);
  }
}

void Linker::Gather(InstructionNumber i) {
  const LeafId from = Array(i, 0);
  const LeafId indices = Array(i, 1);
  const LeafId out = program_.Single(i);
  if (from == IdIndex::kNone || indices == IdIndex::kNone || out == IdIndex::kNone) return;
  const proto::GatherDimensionNumbers& n = program_.instructions()[i].gather_dimension_numbers();
  int at = 0;
  for (int d = 0; d < Rank(from); ++d) {
    if (Contains(n.collapsed_slice_dims(), d) || Contains(n.operand_batching_dims(), d)) continue;
    if (at < n.offset_dims_size()) graph_.Equal(from, d, out, n.offset_dims(at));
    ++at;
  }
  int index = 0;
  for (int d = 0; d < Rank(out); ++d) {
    if (Contains(n.offset_dims(), d)) continue;
    if (index == n.index_vector_dim()) ++index;
    graph_.Equal(indices, index++, out, d);
  }
  const int batching =
      std::min(n.operand_batching_dims_size(), n.start_indices_batching_dims_size());
  for (int k = 0; k < batching; ++k) {
    graph_.Equal(from, n.operand_batching_dims(k), indices, n.start_indices_batching_dims(k));
  }
}

void Linker::Scatter(InstructionNumber i) {
  const proto::ScatterDimensionNumbers& n = program_.instructions()[i].scatter_dimension_numbers();
  const int arrays = (program_.instructions()[i].operand_ids_size() - 1) / 2;
  const LeafRange result = program_.LeavesOf(i);
  const LeafId indices = Array(i, arrays);
  if (indices == IdIndex::kNone) return;
  for (int a = 0; a < arrays; ++a) {
    const LeafId into = Array(i, a);
    const LeafId updates = Array(i, arrays + 1 + a);
    if (into == IdIndex::kNone || updates == IdIndex::kNone) continue;
    if (a < result.count) graph_.AllEqual(into, result.first + a);
    int at = 0;
    for (int d = 0; d < Rank(into); ++d) {
      if (Contains(n.inserted_window_dims(), d) || Contains(n.input_batching_dims(), d)) continue;
      if (at < n.update_window_dims_size())
        graph_.Equal(into, d, updates, n.update_window_dims(at));
      ++at;
    }
    int index = 0;
    for (int d = 0; d < Rank(updates); ++d) {
      if (Contains(n.update_window_dims(), d)) continue;
      if (index == n.index_vector_dim()) ++index;
      graph_.Equal(indices, index++, updates, d);
    }
    const int batching =
        std::min(n.input_batching_dims_size(), n.scatter_indices_batching_dims_size());
    for (int k = 0; k < batching; ++k) {
      graph_.Equal(into, n.input_batching_dims(k), indices, n.scatter_indices_batching_dims(k));
    }
  }
}

void Linker::CustomCall(InstructionNumber i) {
  const std::string& target = program_.instructions()[i].custom_call_target();
  const LeafId out = FirstResult(i);
  if (out == IdIndex::kNone || LinkLibraryCall(i, out, &graph_)) return;
  constexpr std::string_view kKeepShapes[] = {
      "TopK",         "__cub$DeviceRadixSort",     "Sharding",      "MoveToHost",
      "MoveToDevice", "annotate_device_placement", "AllocateBuffer"};
  if (std::find(std::begin(kKeepShapes), std::end(kKeepShapes), target) == std::end(kKeepShapes)) {
    graph_.Unknown(target);
  }
  // What is not known: the same extent at the same place.
  const LeafRange result = program_.LeavesOf(i);
  const std::vector<LeafId> operands = AllOperandLeaves(i);
  if (IsTooWide(operands.size(), result.count)) return;
  for (LeafId operand : operands) {
    for (int32_t r = 0; r < result.count; ++r) {
      const int rank = std::min(Rank(operand), Rank(result.first + r));
      for (int d = 0; d < rank; ++d) graph_.Equal(operand, d, result.first + r, d);
    }
  }
}

// Each result with each operand of its very shape and type.
void Linker::SameShapes(InstructionNumber i) {
  const LeafRange result = program_.LeavesOf(i);
  const std::vector<LeafId> operands = AllOperandLeaves(i);
  if (IsTooWide(operands.size(), result.count)) return;
  for (LeafId operand : operands) {
    for (int32_t r = 0; r < result.count; ++r) {
      const proto::ShapeProto& a = Shape(operand);
      const proto::ShapeProto& b = Shape(result.first + r);
      if (a.element_type() == b.element_type() &&
          std::equal(a.dimensions().begin(), a.dimensions().end(), b.dimensions().begin(),
                     b.dimensions().end())) {
        graph_.AllEqual(operand, result.first + r);
      }
    }
  }
}

void Linker::Elementwise(InstructionNumber i) {
  const LeafRange result = program_.LeavesOf(i);
  const std::vector<LeafId> operands = AllOperandLeaves(i);
  if (result.count > 1 && result.count == static_cast<int32_t>(operands.size())) {
    for (int32_t k = 0; k < result.count; ++k) graph_.AllEqual(operands[k], result.first + k);
    return;
  }
  if (IsTooWide(operands.size(), result.count)) return;
  for (LeafId operand : operands) {
    for (int32_t r = 0; r < result.count; ++r) graph_.AllEqual(operand, result.first + r);
  }
}

// Those dimensions of `leaves` that are free in `others`, which are the same value.
void Linker::MarkAs(LeafRange leaves, LeafRange others) {
  for (int32_t k = 0; k < std::min(leaves.count, others.count); ++k) {
    const LeafId n = leaves.first + k;
    const LeafId other = others.first + k;
    if (n == IdIndex::kNone || other == IdIndex::kNone || Rank(n) != Rank(other)) continue;
    for (int32_t d = 0; d < Rank(n); ++d) {
      if (graph_.IsFree(other, d)) graph_.MarkFree(n, d);
    }
  }
}

void Linker::MarkFree(InstructionNumber i) {
  const HloInstructionProto& instruction = program_.instructions()[i];
  switch (program_.op(i)) {
    case Op::kConstant:
    case Op::kBroadcast: {
      const LeafRange leaves = program_.LeavesOf(i);
      for (LeafId n = leaves.first; n < leaves.first + leaves.count; ++n) {
        for (int32_t d = 0; d < Rank(n); ++d) {
          if (!Contains(instruction.dimensions(), d)) graph_.MarkFree(n, d);
        }
      }
      return;
    }
    case Op::kTuple:
      for (int n = 0; n < instruction.operand_ids_size(); ++n) {
        MarkAs(program_.Element(i, n), OperandLeaves(i, n));
      }
      return;
    case Op::kGetTupleElement:
      if (Operand(i, 0) != IdIndex::kNone) {
        MarkAs(program_.LeavesOf(i), program_.Element(Operand(i, 0), instruction.tuple_index()));
      }
      return;
    case Op::kFusion:
    case Op::kCall: {
      const int32_t computation = program_.instructions().Called(i, 0);
      if (computation == IdIndex::kNone) return;
      const InstructionNumber root = program_.instructions().RootOf(computation);
      if (root != IdIndex::kNone) MarkAs(program_.LeavesOf(i), program_.LeavesOf(root));
      return;
    }
    case Op::kReshape:
    case Op::kBitcast: {
      const LeafId from = Array(i, 0);
      const LeafId to = program_.Single(i);
      if (from == IdIndex::kNone || to == IdIndex::kNone) return;
      for (int32_t d = 0; d < Rank(from); ++d) {
        if (!graph_.IsFree(from, d)) return;
      }
      for (int32_t d = 0; d < Rank(to); ++d) graph_.MarkFree(to, d);
      return;
    }
    default:
      return;
  }
}

void Linker::Link(InstructionNumber i) {
  const HloInstructionProto& instruction = program_.instructions()[i];
  switch (program_.op(i)) {
    case Op::kParameter:
    case Op::kConstant:
    case Op::kNone:
      return;
    case Op::kTuple:
      for (int n = 0; n < instruction.operand_ids_size(); ++n) {
        graph_.AllEqual(program_.Element(i, n), OperandLeaves(i, n));
      }
      return;
    case Op::kGetTupleElement:
      if (Operand(i, 0) != IdIndex::kNone) {
        graph_.AllEqual(program_.LeavesOf(i),
                        program_.Element(Operand(i, 0), instruction.tuple_index()));
      }
      return;
    case Op::kBarrier:
      graph_.AllEqual(program_.LeavesOf(i), OperandLeaves(i, 0));
      return;
    case Op::kWhile:
      return While(i);
    case Op::kFusion:
    case Op::kCall:
    case Op::kAsyncStart:
      return Calls(i);
    case Op::kConditional:
      return Conditional(i);
    case Op::kBroadcast:
    case Op::kTranspose: {
      const bool broadcast = program_.op(i) == Op::kBroadcast;
      for (int d = 0; d < instruction.dimensions_size(); ++d) {
        if (broadcast) {
          graph_.Equal(Array(i, 0), d, program_.Single(i), instruction.dimensions(d));
        } else {
          graph_.Equal(program_.Single(i), d, Array(i, 0), instruction.dimensions(d));
        }
      }
      return;
    }
    case Op::kReshape:
    case Op::kBitcast:
      if (Array(i, 0) != IdIndex::kNone && program_.Single(i) != IdIndex::kNone) {
        graph_.Linear(Array(i, 0), program_.Single(i), program_.op(i) == Op::kBitcast);
      }
      return;
    case Op::kDot:
      return LinkDot(instruction.dot_dimension_numbers(), Array(i, 0), Array(i, 1),
                     program_.Single(i), &graph_);
    case Op::kConvolution:
      return LinkConvolution(instruction, Convolution::kForward, Array(i, 0), Array(i, 1),
                             program_.Single(i), &graph_);
    case Op::kReduce:
      return Reduce(i);
    case Op::kReduceWindow:
      return ReduceWindow(i);
    case Op::kSelectAndScatter:
      graph_.AllEqual(Array(i, 0), program_.Single(i));
      if (Array(i, 1) != IdIndex::kNone) {
        for (int d = 0; d < instruction.window().dimensions_size(); ++d) {
          if (instruction.window().dimensions(d).size() == 1) {
            graph_.Equal(Array(i, 1), d, program_.Single(i), d);
          }
        }
      }
      return;
    case Op::kGather:
      return Gather(i);
    case Op::kScatter:
      return Scatter(i);
    case Op::kSlice:
      return graph_.AllEqual(Array(i, 0), program_.Single(i));
    case Op::kDynamicUpdateSlice:
      graph_.AllEqual(Array(i, 0), program_.Single(i));
      return graph_.AllEqual(Array(i, 1), program_.Single(i));
    case Op::kCollective: {
      const LeafRange result = program_.LeavesOf(i);
      const std::vector<LeafId> operands = AllOperandLeaves(i);
      for (size_t k = 0; k < operands.size() && static_cast<int32_t>(k) < result.count; ++k) {
        graph_.AllEqual(operands[k], result.first + static_cast<int32_t>(k));
      }
      return;
    }
    case Op::kConcatenate:
      for (int n = 0; n < instruction.operand_ids_size(); ++n) {
        const LeafId part = Array(i, n);
        if (part == IdIndex::kNone) continue;
        for (int d = 0; d < Rank(part); ++d) {
          if (!Contains(instruction.dimensions(), d)) {
            graph_.Equal(part, d, program_.Single(i), d);
          }
        }
      }
      return;
    case Op::kCustomCall: {
      const int32_t computation = program_.instructions().Called(i, 0);
      if (computation != IdIndex::kNone) {
        const auto [begin, end] = program_.instructions().Range(computation);
        int parameters = 0;
        for (InstructionNumber j = begin; j < end; ++j)
          parameters += program_.op(j) == Op::kParameter;
        if (parameters == instruction.operand_ids_size()) return Calls(i);
      }
      return CustomCall(i);
    }
    case Op::kCopyStart:
    case Op::kCopyDone:
    case Op::kStartOrDone:
      return SameShapes(i);
    default:
      return Elementwise(i);
  }
}

}  // namespace

void LinkDimensions(const Program& program, DimensionGraph* graph) {
  Linker linker(program, graph);
  for (InstructionNumber i = 0; i < program.instructions().size(); ++i) linker.MarkFree(i);
  for (InstructionNumber i = 0; i < program.instructions().size(); ++i) linker.Link(i);
}

}  // namespace oomdb::ingest
