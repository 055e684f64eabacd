// Finding the blocks (layers) of a program that is written out, not looped.
#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

#include "ingest/plan/whatif/training.h"

namespace oomdb::ingest {
namespace {

constexpr double kLeastAlike = 0.6;  // Of the blocks, whose parameters have the same shapes.

// Parameters whose names differ in one number, by that number.
struct Family {
  std::map<int64_t, std::vector<InstructionNumber>> by_number;
  int64_t bytes = 0;
};

// Every number in a name may be that of a block: the text before it and what follows it directly
// are the family's name.
std::map<std::pair<std::string, std::string>, Family> ReadFamilies(const Program& program) {
  std::map<std::pair<std::string, std::string>, Family> families;
  for (InstructionNumber i : program.parameters()) {
    const proto::HloInstructionProto& instruction = program.instructions()[i];
    const std::string& name = instruction.metadata().op_name().empty()
                                  ? instruction.name()
                                  : instruction.metadata().op_name();
    for (size_t at = 0; at < name.size();) {
      if (name[at] < '0' || name[at] > '9') {
        ++at;
        continue;
      }
      int64_t number = 0;
      const auto [end, error] =
          std::from_chars(name.data() + at, name.data() + name.size(), number);
      const size_t after = end - name.data();
      const size_t stop = std::min(name.find_first_of("[]'\"./", after), name.size());
      if (error == std::errc()) {
        Family& family = families[{name.substr(0, at), name.substr(after, stop - after)}];
        family.by_number[number].push_back(i);
        const LeafRange leaves = program.LeavesOf(i);
        for (int32_t k = 0; k < leaves.count; ++k) {
          family.bytes += PaddedBytes(*program.leaf(leaves.first + k).shape);
        }
      }
      at = after;
    }
  }
  return families;
}

// Whether most of the family's numbers have parameters of the same shapes.
bool IsAlike(const Program& program, const Family& family) {
  if (family.by_number.size() < 2) return false;
  std::map<std::vector<std::string>, size_t> count;
  size_t most = 0;
  for (const auto& [number, parameters] : family.by_number) {
    std::vector<std::string> shapes;
    for (InstructionNumber i : parameters) {
      shapes.push_back(PrintShape(program.instructions()[i].shape()));
    }
    std::sort(shapes.begin(), shapes.end());
    most = std::max(most, ++count[std::move(shapes)]);
  }
  return most >= 2 &&
         static_cast<double>(most) >= kLeastAlike * static_cast<double>(family.by_number.size());
}

// Positions at which the forward pass reads any of these, through casts, copies and views.
std::vector<int32_t> ForwardReads(const PlanModel& model,
                                  const std::vector<InstructionNumber>& from) {
  const Program& program = model.program();
  std::vector<int32_t> reads;
  std::vector<InstructionNumber> todo = from;
  std::unordered_set<InstructionNumber> seen(from.begin(), from.end());
  for (size_t at = 0; at < todo.size(); ++at) {
    for (const Program::User& user : program.Users(todo[at])) {
      const InstructionNumber u = user.instruction;
      bool is_view = false;
      switch (program.op(u)) {
        case Op::kTuple:
          continue;
        case Op::kGetTupleElement:
        case Op::kBitcast:
        case Op::kCopy:
        case Op::kTranspose:
        case Op::kConvert:
        case Op::kReshape:
        case Op::kCopyStart:
        case Op::kCopyDone:
          is_view = true;
          break;
        case Op::kFusion:
          is_view = program.pass(u) == Pass::kNeither;
          break;
        default:
          break;
      }
      if (is_view) {
        if (seen.insert(u).second) todo.push_back(u);
      } else if (program.position(u) != IdIndex::kNone && model.IsForward(u)) {
        reads.push_back(program.position(u));
      }
    }
  }
  return reads;
}

std::vector<BlockSpan> BlocksOfFamily(const PlanModel& model, const Family& family) {
  const Program& program = model.program();
  std::vector<std::pair<int32_t, int32_t>> spans;  // First and last read of each.
  std::unordered_set<InstructionNumber> mine;
  for (const auto& [number, parameters] : family.by_number) {
    mine.insert(parameters.begin(), parameters.end());
    const std::vector<int32_t> reads = ForwardReads(model, parameters);
    if (reads.empty()) continue;
    const auto [first, last] = std::minmax_element(reads.begin(), reads.end());
    spans.emplace_back(*first, *last);
  }
  if (spans.size() < 2) return {};
  std::sort(spans.begin(), spans.end());
  // Two that begin at one place are one as far as the order of the program goes: no blocks.
  for (size_t k = 1; k < spans.size(); ++k) {
    if (spans[k].first == spans[k - 1].first) return {};
  }
  // The last one ends where the forward pass goes on with other parameters.
  std::vector<InstructionNumber> others;
  for (InstructionNumber i : program.parameters()) {
    if (!mine.contains(i)) others.push_back(i);
  }
  std::optional<int32_t> end;
  for (int32_t read : ForwardReads(model, others)) {
    if (read > spans.back().second) end = std::min(end.value_or(read), read);
  }
  if (!end) {
    int32_t last = spans.back().second;
    for (int32_t p = 0; p < program.position_count(); ++p) {
      const InstructionNumber i = program.InstructionAt(p);
      if (program.IsInEntry(i) && model.IsForward(i)) last = std::max(last, p);
    }
    end = last + 1;
  }
  std::vector<BlockSpan> blocks;
  for (size_t k = 0; k < spans.size(); ++k) {
    blocks.push_back({spans[k].first, k + 1 < spans.size() ? spans[k + 1].first : *end});
  }
  return blocks;
}

std::vector<BlockSpan> BlocksByParameters(const PlanModel& model) {
  const auto families = ReadFamilies(model.program());
  std::vector<const Family*> alike;
  for (const auto& [name, family] : families) {
    if (IsAlike(model.program(), family)) alike.push_back(&family);
  }
  std::stable_sort(alike.begin(), alike.end(),
                   [](const Family* a, const Family* b) { return a->bytes > b->bytes; });
  constexpr size_t kMaxTried = 8;
  if (alike.size() > kMaxTried) alike.resize(kMaxTried);
  for (const Family* family : alike) {
    std::vector<BlockSpan> blocks = BlocksOfFamily(model, *family);
    if (!blocks.empty()) return blocks;
  }
  return {};
}

// By the instructions of the forward pass that repeat: the count that most bytes share.
std::vector<BlockSpan> BlocksByCount(const PlanModel& model) {
  const Program& program = model.program();
  auto key = [&](InstructionNumber i) {
    return std::pair(std::string(program.instructions()[i].metadata().op_name()),
                     PrintShape(program.instructions()[i].shape()));
  };
  std::map<std::pair<std::string, std::string>, std::vector<int32_t>> positions;
  for (int32_t p = 0; p < program.position_count(); ++p) {
    const InstructionNumber i = program.InstructionAt(p);
    switch (program.op(i)) {
      case Op::kParameter:
      case Op::kTuple:
      case Op::kGetTupleElement:
      case Op::kBitcast:
      case Op::kConstant:
        continue;
      default:
        break;
    }
    if (program.IsInEntry(i) && model.IsForward(i)) positions[key(i)].push_back(p);
  }
  std::map<std::pair<std::string, std::string>, std::pair<size_t, int64_t>> groups;
  for (const HeapGroup& group : model.groups()) {
    const InstructionNumber i = program.buffers()[group.root].value.instruction;
    if (i == IdIndex::kNone || program.PassOfBuffer(group.root) != Pass::kForward) continue;
    auto& [count, bytes] = groups[key(i)];
    ++count;
    bytes += group.bytes;
  }
  std::map<size_t, int64_t> bytes_of_count;
  for (const auto& [k, found] : groups) {
    if (found.first >= 2) bytes_of_count[found.first] += found.second;
  }
  // Multiples of a smaller count belong to it: a block may hold a thing twice.
  size_t best = 0;
  int64_t most = 0;
  for (const auto& [count, unused] : bytes_of_count) {
    int64_t bytes = 0;
    for (const auto& [other, b] : bytes_of_count) bytes += other % count == 0 ? b : 0;
    if (bytes >= most) {
      most = bytes;
      best = count;
    }
  }
  std::vector<BlockSpan> blocks;
  if (best < 2) return blocks;
  std::vector<int32_t> ends(best, -1);
  blocks.resize(best, {INT32_MAX, 0});
  for (const auto& [k, at] : positions) {
    if (at.size() != best) continue;
    for (size_t b = 0; b < best; ++b) {
      blocks[b].begin = std::min(blocks[b].begin, at[b]);
      ends[b] = std::max(ends[b], at[b]);
    }
  }
  if (ends.back() < 0) return {};
  for (size_t b = 0; b < best; ++b) {
    blocks[b].end = b + 1 < best ? blocks[b + 1].begin : ends[b] + 1;
    if (blocks[b].end <= blocks[b].begin) return {};
  }
  return blocks;
}

}  // namespace

std::vector<BlockSpan> FindBlocks(const PlanModel& model) {
  std::vector<BlockSpan> blocks = BlocksByParameters(model);
  return blocks.empty() ? BlocksByCount(model) : blocks;
}

}  // namespace oomdb::ingest
