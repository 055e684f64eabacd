#include "ingest/plan/parameter_uses.h"

#include <algorithm>
#include <deque>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>

namespace oomdb::ingest {
namespace {

constexpr int kMaxSourceSteps = 64;
constexpr size_t kMaxValues = 4096;  // That hold one parameter's values.

bool IsOneOf(std::string_view opcode, std::initializer_list<std::string_view> names) {
  for (std::string_view name : names) {
    if (opcode == name) return true;
  }
  return false;
}

bool StartsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

// A part of the operand, or the operand with that of other devices.
bool TakesPart(std::string_view opcode) {
  return IsOneOf(opcode, {"slice", "dynamic-slice", "reverse", "all-gather", "all-gather-done"});
}

bool Scales(std::string_view opcode) {
  return IsOneOf(opcode, {"multiply", "divide", "add", "subtract"});
}

bool CallsOnce(std::string_view opcode) {
  return IsOneOf(opcode, {"fusion", "call", "async-start"});
}

}  // namespace

ParameterUses::ParameterUses(const Instructions& instructions, NameStacks& stacks,
                             bool forward_only)
    : instructions_(instructions),
      stacks_(stacks),
      forward_only_(forward_only),
      upstream_(instructions),
      steps_left_(SearchSteps(instructions.size())) {}

InstructionNumber ParameterUses::InnerParameter(int32_t computation, int64_t number) {
  if (computation == IdIndex::kNone) return IdIndex::kNone;
  const auto [at, is_new] = inner_parameters_.try_emplace(computation);
  if (is_new) {
    const auto [begin, end] = instructions_.Range(computation);
    for (InstructionNumber i = begin; i < end; ++i) {
      if (instructions_[i].opcode() == "parameter") {
        at->second.emplace(instructions_[i].parameter_number(), i);
      }
    }
  }
  const auto found = at->second.find(number);
  return found == at->second.end() ? IdIndex::kNone : found->second;
}

// One number for all, or for all of a row.
bool ParameterUses::IsSpread(InstructionNumber i) const {
  return i != IdIndex::kNone && IsOneOf(instructions_[i].opcode(), {"broadcast", "constant"});
}

bool ParameterUses::IsForward(InstructionNumber i) {
  for (int steps = 0; i != IdIndex::kNone && steps < kMaxSourceSteps; ++steps) {
    const std::optional<NameStack> stack = stacks_.OfInstruction(i);
    if (stack) return RoleOf(stack->text) == Role::kForward;
    i = upstream_.CallerOf(instructions_.ComputationOf(i));
  }
  return false;
}

bool ParameterUses::IsPlainProduct(InstructionNumber i, int operand) const {
  const proto::HloInstructionProto& product = instructions_[i];
  if (operand > 1 || product.operand_ids_size() < 2) return false;
  const std::string& opcode = product.opcode();
  if (opcode == "dot") return product.dot_dimension_numbers().lhs_batch_dimensions_size() == 0;
  const InstructionNumber left = instructions_.Operand(i, 0);
  const InstructionNumber right = instructions_.Operand(i, 1);
  if (left == IdIndex::kNone || right == IdIndex::kNone) return false;
  const proto::ShapeProto& input = instructions_[left].shape();
  const proto::ShapeProto& kernel = instructions_[right].shape();
  if (opcode == "convolution") {
    // TPU writes the batch dimensions of a product as spatial ones as wide as the kernel.
    const auto& numbers = product.convolution_dimension_numbers();
    const int spatial =
        std::min(numbers.input_spatial_dimensions_size(), numbers.kernel_spatial_dimensions_size());
    for (int k = 0; k < spatial; ++k) {
      const int64_t at_input = numbers.input_spatial_dimensions(k);
      const int64_t at_kernel = numbers.kernel_spatial_dimensions(k);
      if (at_input < 0 || at_input >= input.dimensions_size() || at_kernel < 0 ||
          at_kernel >= kernel.dimensions_size()) {
        return false;
      }
      const int64_t width = kernel.dimensions(static_cast<int>(at_kernel));
      if (width > 1 && width == input.dimensions(static_cast<int>(at_input))) return false;
    }
    return true;
  }
  if (opcode != "custom-call") return false;
  const std::string& target = product.custom_call_target();
  if (StartsWith(target, "__cudnn$conv")) return true;
  if (!StartsWith(target, "__cublas$") && !StartsWith(target, "__onednn$matmul")) return false;
  return input.dimensions_size() <= 2 || kernel.dimensions_size() <= 2;
}

std::optional<Partner> ParameterUses::Source(ValueAt value) {
  for (int steps = 0; steps < kMaxSourceSteps && value.instruction != IdIndex::kNone; ++steps) {
    if (!Spend()) break;
    const InstructionNumber i = value.instruction;
    const std::string& opcode = instructions_[i].opcode();
    if (opcode == "constant" || opcode == "broadcast" || opcode == "iota") return std::nullopt;
    if (opcode == "parameter" && instructions_.ComputationOf(i) == instructions_.entry()) {
      return Partner{false, std::move(value)};
    }
    // Side by side: what stands first is like the others.
    if (TakesPart(opcode) || opcode == "all-gather-start" || opcode == "concatenate") {
      value = {instructions_.Operand(i, 0), {}};
    } else if (Scales(opcode) && IsSpread(instructions_.Operand(i, 1))) {
      value = {instructions_.Operand(i, 0), {}};
    } else if (Scales(opcode) && IsSpread(instructions_.Operand(i, 0))) {
      value = {instructions_.Operand(i, 1), {}};
    } else {
      std::optional<ValueAt> next = upstream_.Step(value);
      if (!next) break;
      value = std::move(*next);
    }
  }
  return Partner{true, std::move(value)};
}

void ParameterUses::Pass(const ValueAt& at, InstructionNumber user, int operand,
                         std::vector<ValueAt>* into) {
  const std::string& opcode = instructions_[user].opcode();
  const auto enter = [&](int32_t computation, int64_t number) {
    const InstructionNumber inner = InnerParameter(computation, number);
    if (inner != IdIndex::kNone) into->push_back({inner, at.index});
  };
  if (CallsOnce(opcode)) return enter(instructions_.Called(user, 0), operand);
  if (opcode == "while") {
    enter(instructions_.WhileBody(user), 0);
    into->push_back({user, at.index});
    return;
  }
  if (opcode == "tuple") {
    ShapeIndex index = at.index;
    if (index.size() >= kMaxShapeIndexDepth) return;
    index.insert(index.begin(), operand);
    into->push_back({user, std::move(index)});
    return;
  }
  if (opcode == "get-tuple-element") {
    if (at.index.empty() || at.index.front() != instructions_[user].tuple_index()) return;
    into->push_back({user, ShapeIndex(at.index.begin() + 1, at.index.end())});
    return;
  }
  if (opcode == "optimization-barrier") return into->push_back({user, at.index});
  if (opcode == "copy-done" || opcode == "all-gather-done" || opcode == "async-done") {
    into->push_back({user, {}});
    return;
  }
  if (!at.index.empty()) return;
  if (opcode == "all-gather-start" || opcode == "copy-start" || opcode == "concatenate" ||
      RepeatsOperand(opcode) || (TakesPart(opcode) && operand == 0) ||
      (Scales(opcode) && IsSpread(instructions_.Operand(user, 1 - operand)))) {
    into->push_back({user, {}});
  }
}

template <typename Visit>
void ParameterUses::Walk(const ValueAt& parameter, const Visit& visit) {
  std::set<ValueAt> seen = {parameter};
  std::deque<ValueAt> queue = {parameter};
  std::vector<ValueAt> into;
  while (!queue.empty() && seen.size() <= kMaxValues) {
    const ValueAt at = std::move(queue.front());
    queue.pop_front();
    into.clear();
    const std::span<const InstructionNumber> users = stacks_.UsersOf(at.instruction);
    const std::span<const int32_t> operands = stacks_.OperandsOfUsers(at.instruction);
    for (size_t u = 0; u < users.size(); ++u) {
      if (!Spend() || !visit(at, users[u], operands[u])) return;
      Pass(at, users[u], operands[u], &into);
    }
    // Out of what computes the value, to those who call it.
    const int32_t computation = instructions_.ComputationOf(at.instruction);
    const InstructionNumber caller = upstream_.CallerOf(computation);
    if (caller != IdIndex::kNone && CallsOnce(instructions_[caller].opcode()) &&
        instructions_.RootOf(computation) == at.instruction) {
      into.push_back({caller, at.index});
    }
    for (ValueAt& next : into) {
      if (seen.insert(next).second) queue.push_back(std::move(next));
    }
  }
}

std::vector<Partner> ParameterUses::PartnersOf(const ValueAt& parameter) {
  std::vector<Partner> partners;
  Walk(parameter, [&](const ValueAt& at, InstructionNumber user, int operand) {
    if (!at.index.empty() || !IsPlainProduct(user, operand)) return true;
    if (forward_only_ && !IsForward(user)) return true;
    if (std::optional<Partner> partner = Source({instructions_.Operand(user, 1 - operand), {}})) {
      partners.push_back(std::move(*partner));
    }
    return true;
  });
  return partners;
}

bool ParameterUses::IsReadByForward(const ValueAt& parameter) {
  bool found = false;
  Walk(parameter, [&](const ValueAt& at, InstructionNumber user, int) {
    if (!at.index.empty() || instructions_[user].called_computation_ids_size() > 0) return !found;
    const std::string& opcode = instructions_[user].opcode();
    if (opcode == "tuple" || opcode == "get-tuple-element") return !found;
    found = found || IsForward(user);
    return !found;
  });
  return found;
}

bool ParameterUses::MeetsElementwise(const ValueAt& parameter, const std::vector<bool>& dependent) {
  bool found = false;
  Walk(parameter, [&](const ValueAt& at, InstructionNumber user, int operand) {
    const proto::HloInstructionProto& meets = instructions_[user];
    if (!at.index.empty() || meets.operand_ids_size() != 2) return true;
    if (!Scales(meets.opcode()) && !IsOneOf(meets.opcode(), {"maximum", "minimum", "compare"})) {
      return true;
    }
    const InstructionNumber other = instructions_.Operand(user, 1 - operand);
    found = other != IdIndex::kNone && dependent[other] && !IsSpread(other);
    return !found;
  });
  return found;
}

std::vector<bool> ParameterUses::Dependent(const std::vector<ValueAt>& parameters) {
  std::vector<bool> dependent(instructions_.size());
  std::vector<InstructionNumber> todo;
  const auto mark = [&](InstructionNumber i) {
    if (i == IdIndex::kNone || dependent[i]) return;
    dependent[i] = true;
    todo.push_back(i);
  };
  for (const ValueAt& parameter : parameters) mark(parameter.instruction);
  while (!todo.empty()) {
    const InstructionNumber i = todo.back();
    todo.pop_back();
    const std::span<const InstructionNumber> users = stacks_.UsersOf(i);
    const std::span<const int32_t> operands = stacks_.OperandsOfUsers(i);
    for (size_t u = 0; u < users.size(); ++u) {
      const proto::HloInstructionProto& reader = instructions_[users[u]];
      if (CallsOnce(reader.opcode())) {  // Its result depends on it if its computation's does.
        mark(InnerParameter(instructions_.Called(users[u], 0), operands[u]));
        continue;
      }
      mark(users[u]);
      for (int n = 0; n < reader.called_computation_ids_size(); ++n) {
        mark(InnerParameter(instructions_.Called(users[u], n), 0));
      }
    }
    const int32_t computation = instructions_.ComputationOf(i);
    if (instructions_.RootOf(computation) == i) mark(upstream_.CallerOf(computation));
  }
  return dependent;
}

std::optional<ValueAt> ParameterUses::UpdatedParameter(const ValueAt& value) {
  const proto::ShapeProto* shape =
      SubshapeAt(instructions_[value.instruction].shape(), value.index);
  if (shape == nullptr) return std::nullopt;
  const std::string printed = PrintShape(*shape);
  struct At {
    ValueAt value;
    bool updated;
  };
  std::vector<At> todo = {{value, false}};
  for (int steps = 0; !todo.empty() && steps < kMaxSourceSteps; ++steps) {
    if (!Spend()) return std::nullopt;
    const At at = std::move(todo.back());
    todo.pop_back();
    const InstructionNumber i = at.value.instruction;
    if (i == IdIndex::kNone) continue;
    const std::string& opcode = instructions_[i].opcode();
    const int32_t computation = instructions_.ComputationOf(i);
    if (opcode == "dynamic-update-slice" || opcode == "scatter") {
      // A loop over layers stacks the updated slices anew.
      if (opcode == "dynamic-update-slice") {
        todo.push_back({{instructions_.Operand(i, 1), {}}, true});
      }
      todo.push_back({{instructions_.Operand(i, 0), {}}, true});
      continue;
    }
    if (opcode == "dynamic-slice" && at.updated) {
      todo.push_back({{instructions_.Operand(i, 0), {}}, true});
      continue;
    }
    if (opcode == "parameter") {
      if (computation == instructions_.entry()) {
        const proto::ShapeProto* from = SubshapeAt(instructions_[i].shape(), at.value.index);
        if (at.updated && from != nullptr && PrintShape(*from) == printed) return at.value;
        continue;
      }
      const InstructionNumber caller = upstream_.CallerOf(computation);
      if (caller != IdIndex::kNone && instructions_[caller].opcode() == "while") {
        // What entered the loop.
        todo.push_back({{instructions_.Operand(caller, 0), at.value.index}, at.updated});
        continue;
      }
    }
    if (std::optional<ValueAt> next = upstream_.Step(at.value)) {
      todo.push_back({std::move(*next), at.updated});
    }
  }
  return std::nullopt;
}

}  // namespace oomdb::ingest
