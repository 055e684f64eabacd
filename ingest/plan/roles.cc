#include "ingest/plan/roles.h"

#include <deque>
#include <set>

#include "ingest/plan/limits.h"

namespace oomdb::ingest {
namespace {

bool HasNameStack(const proto::HloInstructionProto& instruction) {
  return instruction.metadata().op_name().find('/') != std::string::npos;
}

}  // namespace

Role RoleOf(std::string_view name_stack) {
  if (name_stack.find("transpose(") != std::string_view::npos) return Role::kBackward;
  if (name_stack.find("jvp(") != std::string_view::npos) return Role::kForward;
  return Role::kOther;
}

NameStacks::NameStacks(const Instructions& instructions, IssueLog& log)
    : instructions_(instructions), log_(log), steps_left_(SearchSteps(instructions.size())) {}

std::optional<NameStack> NameStacks::OfInstruction(InstructionNumber i) {
  const proto::HloInstructionProto& instruction = instructions_[i];
  if (HasNameStack(instruction)) return NameStack{instruction.metadata().op_name(), IdIndex::kNone};
  if (instruction.opcode() != "fusion") return std::nullopt;
  const int32_t computation = instructions_.Called(i, 0);
  if (computation == IdIndex::kNone) return std::nullopt;
  InstructionNumber via = instructions_.RootOf(computation);
  if (via == IdIndex::kNone || !HasNameStack(instructions_[via])) {
    if (last_named_.empty()) last_named_.assign(instructions_.size() + 1, kNotLookedUp);
    InstructionNumber& last = last_named_[computation];
    if (last == kNotLookedUp) {
      const auto [begin, end] = instructions_.Range(computation);
      last = end - 1;
      while (last >= begin && !HasNameStack(instructions_[last])) --last;
      if (last < begin) last = IdIndex::kNone;
    }
    via = last;
  }
  if (via == IdIndex::kNone) return std::nullopt;
  return NameStack{instructions_[via].metadata().op_name(), via};
}

std::optional<NameStack> NameStacks::OfValue(const ValueAt& value) {
  if (value.instruction == IdIndex::kNone) return std::nullopt;
  std::optional<NameStack> stack = OfInstruction(value.instruction);
  return stack ? stack : Downstream(value);
}

std::optional<NameStack> NameStacks::Downstream(const ValueAt& value) {
  std::set<ValueAt> seen = {value};
  std::deque<ValueAt> queue = {value};
  while (!queue.empty()) {
    const ValueAt at = std::move(queue.front());
    queue.pop_front();
    for (ValueAt& user : instructions_.FlowsInto(at)) {
      if (--steps_left_ < 0) {
        log_.Warn("plan_role_search_limit",
                  "the search for name stacks was cut short; some roles are `other` for that");
        return std::nullopt;
      }
      const proto::HloInstructionProto& instruction = instructions_[user.instruction];
      if (HasNameStack(instruction)) {
        return NameStack{instruction.metadata().op_name(), user.instruction};
      }
      if (seen.insert(user).second) queue.push_back(std::move(user));
    }
  }
  return std::nullopt;
}

std::optional<NameStack> NameStacks::OfBuffer(const BufferAssignment& assignment, int32_t buffer,
                                              std::span<const int32_t> sharers) {
  std::optional<NameStack> stack = OfValue(assignment.buffers()[buffer].value);
  if (stack) return stack;
  for (int32_t sharer : sharers) {
    const InstructionNumber at = assignment.buffers()[sharer].value.instruction;
    if (at == IdIndex::kNone) continue;
    stack = OfInstruction(at);
    if (!stack) continue;
    if (stack->via == IdIndex::kNone) stack->via = at;
    return stack;
  }
  return std::nullopt;
}

bool IsWorkspace(const Instructions& instructions, const ValueAt& value) {
  if (value.instruction == IdIndex::kNone) return false;
  const proto::HloInstructionProto& instruction = instructions[value.instruction];
  if (instruction.opcode() != "custom-call") return false;
  const proto::ShapeProto* shape = SubshapeAt(instruction.shape(), value.index);
  return shape != nullptr && (shape->element_type() == kS8 || shape->element_type() == kU8);
}

}  // namespace oomdb::ingest
