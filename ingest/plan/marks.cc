#include "ingest/plan/marks.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace oomdb::ingest {
namespace {

// How far out a Python stack is followed.
constexpr size_t kMaxFrames = 64;
// A block's function makes so much of what its blocks keep, by bytes and by number: a part of a
// block makes most of the bytes too, where scores are what is large.
constexpr int64_t kBlockBytesPercent = 90;
constexpr int64_t kBlockCountPercent = 80;
// Where the function also makes so much else at the peak, it is the whole model.
constexpr int64_t kOthersPercent = 5;
// A weight of rank 2 that embeds or unembeds occurs once or twice; those of blocks, once a block.
constexpr int kMaxVocabularyWeights = 2;
constexpr int64_t kMinVocabulary = 1024;

const proto::ShapeProto& FirstLeaf(const proto::ShapeProto& shape) {
  const proto::ShapeProto* at = &shape;
  while (IsTuple(*at) && at->tuple_shapes_size() > 0) at = &at->tuple_shapes(0);
  return *at;
}

int Rank(const proto::ShapeProto& shape) { return shape.dimensions_size(); }

// S of [..., S, S], 0 for other shapes.
int64_t SquareLength(const proto::ShapeProto& shape) {
  const int rank = Rank(shape);
  if (rank < 3 || shape.dimensions(rank - 1) != shape.dimensions(rank - 2)) return 0;
  return shape.dimensions(rank - 1);
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool HasBatchedOperands(const Instructions& instructions, InstructionNumber i) {
  for (int n = 0; n < 2; ++n) {
    const InstructionNumber operand = instructions.Operand(i, n);
    if (operand == IdIndex::kNone || Rank(FirstLeaf(instructions[operand].shape())) < 3) {
      return false;
    }
  }
  return true;
}

std::string WithoutDigits(std::string_view text) {
  std::string kept;
  kept.reserve(text.size());
  for (const char c : text) {
    if (c < '0' || c > '9') kept += c;
  }
  return kept;
}

// The last dimension of the weights that embed or unembed: rank 2, rare, and much longer in one
// dimension.
std::set<int64_t> VocabularyLengths(const Instructions& instructions, const Plan& plan) {
  std::map<std::string, int> counts;
  std::map<std::string, std::pair<int64_t, int64_t>> dimensions;
  const auto [begin, end] = instructions.Range(instructions.entry());
  for (InstructionNumber i = begin; i < end; ++i) {
    if (instructions[i].opcode() != "parameter") continue;
    const proto::ShapeProto& shape = instructions[i].shape();
    if (IsTuple(shape) || Rank(shape) != 2) continue;
    dimensions[PrintShape(shape)] = {shape.dimensions(0), shape.dimensions(1)};
  }
  for (const PlanAllocation& allocation : plan.allocations) {
    if (allocation.allocation_class == AllocationClass::kParameter &&
        allocation.forward_read == true) {
      ++counts[allocation.shape];
    }
  }
  std::set<int64_t> lengths;
  for (const auto& [printed, size] : dimensions) {
    const auto count = counts.find(printed);
    if (count == counts.end() || count->second > kMaxVocabularyWeights) continue;
    const int64_t longer = std::max(size.first, size.second);
    if (longer >= kMinVocabulary && longer >= 2 * std::min(size.first, size.second)) {
      lengths.insert(longer);
    }
  }
  return lengths;
}

}  // namespace

std::vector<int64_t> ScoreLengths(const Instructions& instructions) {
  std::set<int64_t> lengths;
  for (InstructionNumber i = 0; i < instructions.size(); ++i) {
    const proto::HloInstructionProto& instruction = instructions[i];
    const proto::ShapeProto& shape = FirstLeaf(instruction.shape());
    const int64_t length = SquareLength(shape);
    if (length == 0 || lengths.contains(length)) continue;
    const std::string& opcode = instruction.opcode();
    const std::string& op_name = instruction.metadata().op_name();
    bool scores = Contains(op_name, "softmax");
    if (opcode == "dot") {
      scores = scores || HasBatchedOperands(instructions, i);
    } else if (Contains(op_name, "dot_general")) {
      scores = scores || (opcode == "convolution" || opcode == "custom-call"
                              ? HasBatchedOperands(instructions, i)
                              : Rank(shape) >= 4);
    }
    if (scores) lengths.insert(length);
  }
  return {lengths.begin(), lengths.end()};
}

void MarkPeak(const Instructions& instructions, const std::vector<PeakTemp>& temps, Plan* plan) {
  std::map<std::tuple<std::string_view, std::optional<Role>, std::string>, int64_t> repeats;
  std::vector<int64_t*> of_temp;
  of_temp.reserve(temps.size());
  for (const PeakTemp& temp : temps) {
    const PlanBuffer& buffer = plan->buffers[temp.buffer];
    int64_t& count =
        repeats[{std::string_view(buffer.shape), buffer.role, WithoutDigits(temp.name_stack)}];
    ++count;
    of_temp.push_back(&count);
  }
  const std::vector<int64_t> scores = ScoreLengths(instructions);
  const std::set<int64_t> vocabularies = VocabularyLengths(instructions, *plan);
  for (size_t t = 0; t < temps.size(); ++t) {
    PlanBuffer& buffer = plan->buffers[temps[t].buffer];
    buffer.repeat_count = *of_temp[t];
    if (temps[t].shape == nullptr) continue;
    const proto::ShapeProto& shape = *temps[t].shape;
    const int64_t length = SquareLength(shape);
    if (length != 0 && std::binary_search(scores.begin(), scores.end(), length)) {
      buffer.score_length = length;
    }
    const int rank = Rank(shape);
    if (rank >= 2 && !buffer.stack && buffer.repeat_count == 1 &&
        (buffer.role == Role::kForward || buffer.role == Role::kBackward) &&
        vocabularies.contains(shape.dimensions(rank - 1))) {
      buffer.vocabulary_length = shape.dimensions(rank - 1);
    }
  }
}

std::optional<PlanBlock> FindBlock(const Instructions& instructions, const StackFrames& frames,
                                   const std::vector<PeakTemp>& temps, const Plan& plan,
                                   TextBudget& text) {
  using Function = std::pair<std::string_view, std::string_view>;  // File and name.
  struct Share {
    int64_t bytes = 0;
    int64_t count = 0;
    int64_t others_bytes = 0;
    size_t depth = 0;  // From outside.
  };
  struct Call {
    SourceLine line;
    int64_t bytes = 0;
  };
  std::map<Function, Share> shares;
  std::map<Function, std::map<std::pair<std::string_view, int64_t>, Call>> calls;
  std::map<std::pair<std::string_view, int64_t>, Call> lines;
  int64_t bytes = 0;
  int64_t count = 0;
  for (const PeakTemp& temp : temps) {
    const PlanBuffer& buffer = plan.buffers[temp.buffer];
    if (temp.line == IdIndex::kNone) continue;
    // What the loop carries is a block's too; the backward pass of a block has the block's lines.
    if (buffer.role != Role::kForward || buffer.stack == Stack::kCarried) continue;
    const bool kept = buffer.stack.has_value() || buffer.repeat_count.value_or(1) >= 2;
    const proto::OpMetadata& metadata = instructions[temp.line].metadata();
    const std::vector<SourceLine> chain = frames.UsersChain(metadata, kMaxFrames);
    if (chain.empty()) continue;
    if (kept) {
      bytes += buffer.bytes;
      ++count;
      Call& own = lines[{chain[0].file, chain[0].line.value_or(0)}];
      own.line = chain[0];
      own.bytes += buffer.bytes;
    }
    std::set<Function> seen;
    for (size_t n = 0; n < chain.size(); ++n) {
      const Function function{chain[n].file, chain[n].function};
      if (function.second.empty() || !seen.insert(function).second) continue;
      Share& share = shares[function];
      if (!kept) {
        share.others_bytes += buffer.bytes;
        continue;
      }
      share.bytes += buffer.bytes;
      ++share.count;
      share.depth = std::max(share.depth, chain.size() - n);
      if (n + 1 < chain.size()) {
        Call& call = calls[function][{chain[n + 1].file, chain[n + 1].line.value_or(0)}];
        call.line = chain[n + 1];
        call.bytes += buffer.bytes;
      }
    }
  }
  if (count == 0) return std::nullopt;
  auto largest = [](const auto& by_line) -> const Call& {
    return std::max_element(
               by_line.begin(), by_line.end(),
               [](const auto& a, const auto& b) { return a.second.bytes < b.second.bytes; })
        ->second;
  };
  const Function* block = nullptr;
  size_t depth = 0;
  for (const auto& [function, share] : shares) {
    if (share.bytes * 100 < bytes * kBlockBytesPercent ||
        share.count * 100 < count * kBlockCountPercent ||
        share.others_bytes * 100 > bytes * kOthersPercent || share.depth <= depth ||
        !calls.contains(function)) {
      continue;
    }
    block = &function;
    depth = share.depth;
  }
  PlanBlock found;
  const Call& at = block != nullptr ? largest(calls[*block]) : largest(lines);
  if (block != nullptr) found.function_name = text.Copy(block->second);
  found.source_file = text.Copy(at.line.file);
  found.source_line = at.line.line;
  found.caller_name = text.Copy(at.line.function);
  return found;
}

}  // namespace oomdb::ingest
