#include "ingest/plan/whatif/contraction_rules.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

namespace oomdb::ingest {
namespace {

using proto::HloInstructionProto;

bool IsAmong(const google::protobuf::RepeatedField<int64_t>& list, int64_t value) {
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

}  // namespace

void LinkDot(const proto::DotDimensionNumbers& numbers, LeafId left, LeafId right, LeafId out,
             DimensionGraph* graph) {
  const Program& program = graph->program();
  if (left == IdIndex::kNone || right == IdIndex::kNone || out == IdIndex::kNone) return;
  const auto& left_batch = numbers.lhs_batch_dimensions();
  const auto& right_batch = numbers.rhs_batch_dimensions();
  int at = 0;
  for (; at < std::min(left_batch.size(), right_batch.size()); ++at) {
    graph->Equal(left, left_batch[at], right, right_batch[at]);
    graph->Equal(left, left_batch[at], out, at);
    graph->Equal(right, right_batch[at], out, at);
  }
  const auto& left_sum = numbers.lhs_contracting_dimensions();
  const auto& right_sum = numbers.rhs_contracting_dimensions();
  for (int k = 0; k < std::min(left_sum.size(), right_sum.size()); ++k) {
    graph->Equal(left, left_sum[k], right, right_sum[k]);
  }
  for (int d = 0; d < program.leaf(left).rank(); ++d) {
    if (!IsAmong(left_batch, d) && !IsAmong(left_sum, d)) graph->Equal(left, d, out, at++);
  }
  for (int d = 0; d < program.leaf(right).rank(); ++d) {
    if (!IsAmong(right_batch, d) && !IsAmong(right_sum, d)) graph->Equal(right, d, out, at++);
  }
}

void LinkConvolution(const HloInstructionProto& instruction, Convolution kind, LeafId left,
                     LeafId right, LeafId out, DimensionGraph* graph) {
  const Program& program = graph->program();
  if (left == IdIndex::kNone || right == IdIndex::kNone || out == IdIndex::kNone) return;
  // The numbers are those of the forward convolution, whose gradient this may be.
  if (kind == Convolution::kBackwardInput) std::swap(left, out);
  if (kind == Convolution::kBackwardFilter) std::swap(right, out);
  const proto::ConvolutionDimensionNumbers& n = instruction.convolution_dimension_numbers();
  graph->Equal(left, n.input_batch_dimension(), out, n.output_batch_dimension());
  graph->Equal(left, n.input_feature_dimension(), right, n.kernel_input_feature_dimension());
  graph->Equal(right, n.kernel_output_feature_dimension(), out, n.output_feature_dimension());
  const int spatial =
      std::min({n.input_spatial_dimensions_size(), n.kernel_spatial_dimensions_size(),
                n.output_spatial_dimensions_size()});
  for (int k = 0; k < spatial; ++k) {
    const int64_t a = n.input_spatial_dimensions(k);
    const int64_t b = n.kernel_spatial_dimensions(k);
    const int64_t c = n.output_spatial_dimensions(k);
    if (a < 0 || a >= program.leaf(left).rank() || b < 0 || b >= program.leaf(right).rank() ||
        c < 0 || c >= program.leaf(out).rank())
      continue;
    const int64_t input = program.leaf(left).extent(static_cast<int>(a));
    const int64_t kernel = program.leaf(right).extent(static_cast<int>(b));
    const int64_t output = program.leaf(out).extent(static_cast<int>(c));
    const bool has_window = k < instruction.window().dimensions_size();
    const int64_t window = has_window ? instruction.window().dimensions(k).size() : 0;
    if (kernel == 1 || window == 1) {
      graph->Equal(left, a, out, c);
    } else if (input == kernel && kernel == output) {
      // A batch dimension that TPU writes as a window.
      graph->Equal(left, a, out, c);
      graph->Equal(right, b, out, c);
    } else if (input == 1 && kernel == output) {
      graph->Equal(right, b, out, c);
    } else if (output == 1 && input == kernel) {
      graph->Equal(left, a, right, b);
    } else if (input == output && has_window && instruction.window().dimensions(k).stride() == 1) {
      graph->Equal(left, a, out, c);
    }
  }
}

bool LinkLibraryCall(InstructionNumber i, LeafId out, DimensionGraph* graph) {
  const Program& program = graph->program();
  const HloInstructionProto& instruction = program.instructions()[i];
  const std::string& target = instruction.custom_call_target();
  auto operand = [&](int n) { return program.Single(program.Operand(i, n)); };
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
      LinkDot(numbers, operand(0), operand(1), out, graph);
      graph->AllEqual(operand(2), out);
      return true;
    }
  }
  if (target.find("$conv") != std::string::npos) {
    const Convolution kind =
        target.find("BackwardInput") != std::string::npos    ? Convolution::kBackwardInput
        : target.find("BackwardFilter") != std::string::npos ? Convolution::kBackwardFilter
                                                             : Convolution::kForward;
    LinkConvolution(instruction, kind, operand(0), operand(1), out, graph);
    return true;
  }
  return false;
}

}  // namespace oomdb::ingest
