// What each operation says of the dimensions of its operands and its result. To add one: its
// opcode in program.cc, a case here.
#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "ingest/plan/whatif/dimension_graph.h"

namespace oomdb::ingest {
namespace {

using proto::HloInstructionProto;

bool Contains(const google::protobuf::RepeatedField<int64_t>& list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// The numbers of `"key":["1","2"]` in JSON; empty when it has no such key.
google::protobuf::RepeatedField<int64_t> JsonNumbers(std::string_view json, std::string_view key) {
  google::protobuf::RepeatedField<int64_t> numbers;
  const size_t at = json.find(key);
  if (at == std::string_view::npos) return numbers;
  const size_t open = json.find('[', at);
  const size_t close = open == std::string_view::npos ? open : json.find(']', open);
  if (close == std::string_view::npos || open > at + key.size() + 4) return numbers;
  for (size_t i = open; i < close;) {
    if (json[i] < '0' || json[i] > '9') {
      ++i;
      continue;
    }
    int64_t number = 0;
    const auto [end, error] = std::from_chars(json.data() + i, json.data() + close, number);
    if (error == std::errc()) numbers.Add(number);
    i = end - json.data();
  }
  return numbers;
}

class Linker {
 public:
  Linker(const Program& program, DimensionGraph* graph) : program_(program), graph_(*graph) {}

  void Link(InstructionNumber i);

 private:
  const proto::ShapeProto& Shape(LeafId n) const { return *program_.leaf(n).shape; }
  int Rank(LeafId n) const { return program_.leaf(n).rank(); }
  InstructionNumber Operand(InstructionNumber i, int n) const { return program_.Operand(i, n); }
  LeafRange OperandLeaves(InstructionNumber i, int n) const {
    const InstructionNumber operand = Operand(i, n);
    return operand == IdIndex::kNone ? LeafRange() : program_.LeavesOf(operand);
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
  void Dot(const proto::DotDimensionNumbers& numbers, LeafId left, LeafId right, LeafId out);
  enum class Convolution { kForward, kBackwardInput, kBackwardFilter };
  void Convolve(const HloInstructionProto& instruction, LeafId left, LeafId right, LeafId out,
                Convolution kind);
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

void Linker::Dot(const proto::DotDimensionNumbers& numbers, LeafId left, LeafId right, LeafId out) {
  if (left == IdIndex::kNone || right == IdIndex::kNone || out == IdIndex::kNone) return;
  const auto& left_batch = numbers.lhs_batch_dimensions();
  const auto& right_batch = numbers.rhs_batch_dimensions();
  int at = 0;
  for (; at < std::min(left_batch.size(), right_batch.size()); ++at) {
    graph_.Equal(left, left_batch[at], right, right_batch[at]);
    graph_.Equal(left, left_batch[at], out, at);
    graph_.Equal(right, right_batch[at], out, at);
  }
  const auto& left_sum = numbers.lhs_contracting_dimensions();
  const auto& right_sum = numbers.rhs_contracting_dimensions();
  for (int k = 0; k < std::min(left_sum.size(), right_sum.size()); ++k) {
    graph_.Equal(left, left_sum[k], right, right_sum[k]);
  }
  for (int d = 0; d < Rank(left); ++d) {
    if (!Contains(left_batch, d) && !Contains(left_sum, d)) graph_.Equal(left, d, out, at++);
  }
  for (int d = 0; d < Rank(right); ++d) {
    if (!Contains(right_batch, d) && !Contains(right_sum, d)) graph_.Equal(right, d, out, at++);
  }
}

void Linker::Convolve(const HloInstructionProto& instruction, LeafId left, LeafId right, LeafId out,
                      Convolution kind) {
  if (left == IdIndex::kNone || right == IdIndex::kNone || out == IdIndex::kNone) return;
  // The numbers are those of the forward convolution, whose gradient this may be.
  if (kind == Convolution::kBackwardInput) std::swap(left, out);
  if (kind == Convolution::kBackwardFilter) std::swap(right, out);
  const proto::ConvolutionDimensionNumbers& n = instruction.convolution_dimension_numbers();
  graph_.Equal(left, n.input_batch_dimension(), out, n.output_batch_dimension());
  graph_.Equal(left, n.input_feature_dimension(), right, n.kernel_input_feature_dimension());
  graph_.Equal(right, n.kernel_output_feature_dimension(), out, n.output_feature_dimension());
  const int spatial =
      std::min({n.input_spatial_dimensions_size(), n.kernel_spatial_dimensions_size(),
                n.output_spatial_dimensions_size()});
  for (int k = 0; k < spatial; ++k) {
    const int64_t a = n.input_spatial_dimensions(k);
    const int64_t b = n.kernel_spatial_dimensions(k);
    const int64_t c = n.output_spatial_dimensions(k);
    if (a < 0 || a >= Rank(left) || b < 0 || b >= Rank(right) || c < 0 || c >= Rank(out)) continue;
    const int64_t input = Shape(left).dimensions(static_cast<int>(a));
    const int64_t kernel = Shape(right).dimensions(static_cast<int>(b));
    const int64_t output = Shape(out).dimensions(static_cast<int>(c));
    const bool has_window = k < instruction.window().dimensions_size();
    const int64_t window = has_window ? instruction.window().dimensions(k).size() : 0;
    if (kernel == 1 || window == 1) {
      graph_.Equal(left, a, out, c);
    } else if (input == kernel && kernel == output) {
      // A batch dimension that TPU writes as a window.
      graph_.Equal(left, a, out, c);
      graph_.Equal(right, b, out, c);
    } else if (input == 1 && kernel == output) {
      graph_.Equal(right, b, out, c);
    } else if (output == 1 && input == kernel) {
      graph_.Equal(left, a, right, b);
    } else if (input == output && has_window && instruction.window().dimensions(k).stride() == 1) {
      graph_.Equal(left, a, out, c);
    }
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
  const HloInstructionProto& instruction = program_.instructions()[i];
  const std::string& target = instruction.custom_call_target();
  const LeafId out = FirstResult(i);
  if (out == IdIndex::kNone) return;
  if (target.find("gemm") != std::string::npos || target.find("matmul") != std::string::npos) {
    const std::string_view config = instruction.backend_config();
    const size_t at = config.find("\"dot_dimension_numbers\"");
    if (at != std::string_view::npos) {
      const size_t end = config.find('}', at);
      const std::string_view text = config.substr(at, end - at);
      proto::DotDimensionNumbers numbers;
      *numbers.mutable_lhs_batch_dimensions() = JsonNumbers(text, "\"lhs_batch_dimensions\"");
      *numbers.mutable_rhs_batch_dimensions() = JsonNumbers(text, "\"rhs_batch_dimensions\"");
      *numbers.mutable_lhs_contracting_dimensions() =
          JsonNumbers(text, "\"lhs_contracting_dimensions\"");
      *numbers.mutable_rhs_contracting_dimensions() =
          JsonNumbers(text, "\"rhs_contracting_dimensions\"");
      Dot(numbers, Array(i, 0), Array(i, 1), out);
      graph_.AllEqual(Array(i, 2), out);
      return;
    }
  }
  if (target.find("$conv") != std::string::npos) {
    const Convolution kind =
        target.find("BackwardInput") != std::string::npos    ? Convolution::kBackwardInput
        : target.find("BackwardFilter") != std::string::npos ? Convolution::kBackwardFilter
                                                             : Convolution::kForward;
    Convolve(instruction, Array(i, 0), Array(i, 1), out, kind);
    return;
  }
  constexpr std::string_view kKeepShapes[] = {
      "TopK",         "__cub$DeviceRadixSort",     "Sharding",      "MoveToHost",
      "MoveToDevice", "annotate_device_placement", "AllocateBuffer"};
  if (std::find(std::begin(kKeepShapes), std::end(kKeepShapes), target) == std::end(kKeepShapes)) {
    graph_.Unknown(target);
  }
  // What is not known: the same extent at the same place.
  const LeafRange result = program_.LeavesOf(i);
  for (LeafId operand : AllOperandLeaves(i)) {
    for (int32_t r = 0; r < result.count; ++r) {
      const int rank = std::min(Rank(operand), Rank(result.first + r));
      for (int d = 0; d < rank; ++d) graph_.Equal(operand, d, result.first + r, d);
    }
  }
}

// Each result with each operand of its very shape and type.
void Linker::SameShapes(InstructionNumber i) {
  const LeafRange result = program_.LeavesOf(i);
  for (LeafId operand : AllOperandLeaves(i)) {
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
  if (result.count == 0) return;
  // Equality is transitive: each operand with the first result, then the results.
  for (LeafId operand : operands) {
    for (int32_t r = 0; r < result.count; ++r) graph_.AllEqual(operand, result.first + r);
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
      return Dot(instruction.dot_dimension_numbers(), Array(i, 0), Array(i, 1), program_.Single(i));
    case Op::kConvolution:
      return Convolve(instruction, Array(i, 0), Array(i, 1), program_.Single(i),
                      Convolution::kForward);
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
  for (InstructionNumber i = 0; i < program.instructions().size(); ++i) linker.Link(i);
}

}  // namespace oomdb::ingest
