#include "ingest/plan/instructions.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/error.h"

namespace oomdb::ingest {

Instructions::Instructions(const proto::HloModuleProto& module) : module_(module) {
  size_t count = 0;
  for (const auto& computation : module.computations()) count += computation.instructions_size();
  if (count > std::numeric_limits<int32_t>::max()) {
    throw Error("the HLO module has more than 2^31 instructions, which no compiler writes");
  }
  all_.reserve(count);
  computation_of_.reserve(count);
  ids_.Reserve(count);
  for (const auto& computation : module.computations()) {
    const int32_t number = static_cast<int32_t>(ranges_.size());
    const InstructionNumber begin = size();
    for (const auto& instruction : computation.instructions()) {
      ids_.Add(instruction.id(), size());
      all_.push_back(&instruction);
      computation_of_.push_back(number);
    }
    computation_ids_.Add(computation.id(), number);
    ranges_.emplace_back(begin, size());
  }
  ids_.Seal();
  computation_ids_.Seal();

  entry_ = FindComputation(module.entry_computation_id());
  if (entry_ == kNone) {
    entry_ = static_cast<int32_t>(ranges_.size()) - 1;  // The entry is stored last.
    for (int i = 0; i < module.computations_size(); ++i) {
      if (module.computations(i).name() == module.entry_computation_name()) entry_ = i;
    }
  }
  IndexFlow();
}

InstructionNumber Instructions::FindByName(std::string_view name) const {
  if (name.empty()) return kNone;
  if (names_.empty()) {
    names_.reserve(all_.size());
    for (InstructionNumber i = 0; i < size(); ++i) names_.emplace_back(all_[i]->name(), i);
    std::sort(names_.begin(), names_.end());
  }
  auto it = std::lower_bound(names_.begin(), names_.end(), std::make_pair(name, 0));
  return it != names_.end() && it->first == name ? it->second : kNone;
}

InstructionNumber Instructions::Operand(InstructionNumber i, int n) const {
  if (n < 0 || n >= all_[i]->operand_ids_size()) return kNone;
  const auto [begin, end] = ranges_[computation_of_[i]];
  const InstructionNumber found = ids_.FindFrom(all_[i]->operand_ids(n), begin);
  return found < end ? found : kNone;
}

int32_t Instructions::Called(InstructionNumber i, int n) const {
  if (n < 0 || n >= all_[i]->called_computation_ids_size()) return kNone;
  return FindComputation(all_[i]->called_computation_ids(n));
}

InstructionNumber Instructions::RootOf(int32_t computation) const {
  if (computation == kNone) return kNone;
  const auto [begin, end] = ranges_[computation];
  const InstructionNumber found = ids_.FindFrom(module_.computations(computation).root_id(), begin);
  return found < end ? found : kNone;
}

void Instructions::IndexFlow() {
  for (InstructionNumber i = 0; i < size(); ++i) {
    const proto::HloInstructionProto& user = *all_[i];
    const std::string& opcode = user.opcode();
    int operands = 0;
    int64_t element = kNotElement;
    if (opcode == "tuple") {
      operands = user.operand_ids_size();
    } else if (opcode == "get-tuple-element") {
      if (user.tuple_index() < 0) continue;
      operands = 1;
      element = user.tuple_index();
    } else if (opcode == "bitcast" || opcode == "while" || opcode == "optimization-barrier") {
      operands = 1;
    }
    for (int n = 0; n < operands; ++n) {
      const InstructionNumber operand = Operand(i, n);
      if (operand != kNone) flow_.push_back({operand, element, user.id(), i, n});
    }
  }
  std::sort(flow_.begin(), flow_.end(), [](const Edge& a, const Edge& b) {
    return std::tie(a.operand, a.element, a.user_id, a.user, a.position) <
           std::tie(b.operand, b.element, b.user_id, b.user, b.position);
  });
}

std::span<const Instructions::Edge> Instructions::EdgesOf(InstructionNumber operand,
                                                          int64_t element) const {
  struct ByKey {
    bool operator()(const Edge& e, const std::pair<InstructionNumber, int64_t>& key) const {
      return std::tie(e.operand, e.element) < std::tie(key.first, key.second);
    }
    bool operator()(const std::pair<InstructionNumber, int64_t>& key, const Edge& e) const {
      return std::tie(key.first, key.second) < std::tie(e.operand, e.element);
    }
  };
  auto [first, last] =
      std::equal_range(flow_.begin(), flow_.end(), std::make_pair(operand, element), ByKey());
  return {first, last};
}

std::vector<ValueAt> Instructions::FlowsInto(const ValueAt& value) const {
  std::span<const Edge> whole = EdgesOf(value.instruction, kNotElement);
  std::span<const Edge> elements;
  if (!value.index.empty()) elements = EdgesOf(value.instruction, value.index.front());
  std::vector<ValueAt> users;
  users.reserve(whole.size() + elements.size());
  size_t w = 0;
  size_t e = 0;
  while (w < whole.size() || e < elements.size()) {
    const bool take_element =
        w == whole.size() || (e < elements.size() && elements[e].user_id < whole[w].user_id);
    const Edge& edge = take_element ? elements[e++] : whole[w++];
    ValueAt user{edge.user, {}};
    if (take_element) {
      user.index.assign(value.index.begin() + 1, value.index.end());
    } else if (all_[edge.user]->opcode() == "tuple") {
      if (value.index.size() >= kMaxShapeIndexDepth) continue;
      user.index.reserve(value.index.size() + 1);
      user.index.push_back(edge.position);
      user.index.insert(user.index.end(), value.index.begin(), value.index.end());
    } else {
      user.index = value.index;
    }
    users.push_back(std::move(user));
  }
  return users;
}

bool IsRematerialized(std::string_view instruction_name) {
  constexpr std::string_view kPart = ".remat";
  for (size_t at = instruction_name.find(kPart); at != std::string_view::npos;
       at = instruction_name.find(kPart, at + 1)) {
    const size_t after = at + kPart.size();
    if (after == instruction_name.size()) return true;
    const char next = instruction_name[after];
    // Not a longer word: ".rematted_computation" is a function of the program.
    if (next == '.' || next == '_' || (next >= '0' && next <= '9')) return true;
  }
  return false;
}

}  // namespace oomdb::ingest
