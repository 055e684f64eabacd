#include "ingest/plan/roles.h"

#include <deque>
#include <set>
#include <utility>

#include "ingest/plan/limits.h"

namespace oomdb::ingest {
namespace {

// How far one way through a module is followed: real ones are a few steps through a fusion and a
// loop or two.
constexpr int kMaxWay = 64;
// How many instructions around a value are asked for a line.
constexpr size_t kMaxNearby = 32;

bool HasNameStack(const proto::HloInstructionProto& instruction) {
  return instruction.metadata().op_name().find('/') != std::string::npos;
}

// Where an update has what it writes; -1: no update.
int UpdateOperand(const proto::HloInstructionProto& instruction) {
  if (instruction.opcode() == "dynamic-update-slice") return 1;
  if (instruction.opcode() == "scatter" && instruction.operand_ids_size() == 3) return 2;
  return -1;
}

}  // namespace

Role RoleOf(std::string_view name_stack) {
  if (name_stack.find("transpose(") != std::string_view::npos) return Role::kBackward;
  if (name_stack.find("jvp(") != std::string_view::npos) return Role::kForward;
  return Role::kOther;
}

NameStacks::NameStacks(const Instructions& instructions, const StackFrames& frames, IssueLog& log)
    : instructions_(instructions),
      frames_(frames),
      log_(log),
      upstream_(instructions),
      steps_left_(SearchSteps(instructions.size())) {}

bool NameStacks::Spend() {
  if (--steps_left_ >= 0) return true;
  log_.Warn("plan_role_search_limit",
            "the search for name stacks was cut short; some roles are `other` for that");
  return false;
}

InstructionNumber NameStacks::LastNamed(int32_t computation) {
  if (last_named_.empty()) last_named_.assign(instructions_.computations(), kNotLookedUp);
  InstructionNumber& last = last_named_[computation];
  if (last == kNotLookedUp) {
    const auto [begin, end] = instructions_.Range(computation);
    last = end - 1;
    while (last >= begin && !HasNameStack(instructions_[last])) --last;
    if (last < begin) last = IdIndex::kNone;
  }
  return last;
}

InstructionNumber NameStacks::LastWithLine(int32_t computation) {
  if (last_with_line_.empty()) last_with_line_.assign(instructions_.computations(), kNotLookedUp);
  InstructionNumber& last = last_with_line_[computation];
  if (last == kNotLookedUp) {
    const auto [begin, end] = instructions_.Range(computation);
    last = end - 1;
    while (last >= begin && !HasLine(last)) --last;
    if (last < begin) last = IdIndex::kNone;
  }
  return last;
}

std::optional<NameStack> NameStacks::OfInstruction(InstructionNumber i) {
  const proto::HloInstructionProto& instruction = instructions_[i];
  if (HasNameStack(instruction)) return NameStack{instruction.metadata().op_name(), IdIndex::kNone};
  if (instruction.opcode() != "fusion") return std::nullopt;
  const int32_t computation = instructions_.Called(i, 0);
  if (computation == IdIndex::kNone) return std::nullopt;
  InstructionNumber via = instructions_.RootOf(computation);
  if (via == IdIndex::kNone || !HasNameStack(instructions_[via])) via = LastNamed(computation);
  if (via == IdIndex::kNone) return std::nullopt;
  return NameStack{instructions_[via].metadata().op_name(), via};
}

bool NameStacks::Take(InstructionNumber i, InstructionNumber own, Attribution* found) const {
  if (instructions_[i].opcode() != "parameter") {
    if (!found->stack && HasNameStack(instructions_[i])) {
      found->stack =
          NameStack{instructions_[i].metadata().op_name(), i == own ? IdIndex::kNone : i};
    }
    if (found->line == IdIndex::kNone && HasLine(i)) found->line = i;
  }
  return found->stack && found->line != IdIndex::kNone;
}

bool NameStacks::TakeWithInside(InstructionNumber i, InstructionNumber own, Attribution* found) {
  if (Take(i, own, found)) return true;
  if (instructions_[i].opcode() != "fusion") return false;
  const int32_t computation = instructions_.Called(i, 0);
  if (computation == IdIndex::kNone) return false;
  const InstructionNumber root = instructions_.RootOf(computation);
  if (root != IdIndex::kNone && Take(root, own, found)) return true;
  for (InstructionNumber last : {LastNamed(computation), LastWithLine(computation)}) {
    if (last != IdIndex::kNone && Take(last, own, found)) return true;
  }
  return false;
}

bool NameStacks::IsCarried(ValueAt value) {
  for (int steps = 0; steps < kMaxWay; ++steps) {
    std::optional<ValueAt> next = upstream_.Step(value);
    if (!next || !Spend()) return false;
    if (instructions_[value.instruction].opcode() == "parameter" &&
        instructions_.ComputationOf(next->instruction) ==
            instructions_.ComputationOf(value.instruction)) {
      return true;
    }
    value = std::move(*next);
  }
  return false;
}

bool NameStacks::TakeWritten(const ValueAt& update, InstructionNumber own, Attribution* found,
                             bool* carried) {
  const InstructionNumber written =
      instructions_.Operand(update.instruction, UpdateOperand(instructions_[update.instruction]));
  if (written == IdIndex::kNone) return false;
  // What copies or reshapes it on the way has the line of the scan.
  std::vector<InstructionNumber> way;
  ValueAt at{written, {}};
  for (int steps = 0; steps < kMaxWay; ++steps) {
    way.push_back(at.instruction);
    const int operand = UpdateOperand(instructions_[at.instruction]);
    std::optional<ValueAt> next = upstream_.Step(at);
    if (operand >= 0) {
      next = ValueAt{instructions_.Operand(at.instruction, operand), {}};
      if (next->instruction == IdIndex::kNone) break;
    }
    if (!next || !Spend()) break;
    at = std::move(*next);
  }
  if (carried != nullptr) {
    *carried = IsCarried({written, {}});
    // Beside an input of the round, as a recurrent cell has it.
    const proto::HloInstructionProto& maker = instructions_[at.instruction];
    if (maker.opcode() == "concatenate") {
      for (int n = 0; n < maker.operand_ids_size() && !*carried; ++n) {
        const InstructionNumber operand = instructions_.Operand(at.instruction, n);
        if (operand != IdIndex::kNone) *carried = IsCarried({operand, {}});
      }
    }
  }
  Attribution of_written;
  for (auto i = way.rbegin(); i != way.rend() && !Take(*i, own, &of_written); ++i) {
  }
  Attribution of_update;
  Take(update.instruction, own, &of_update);
  // A loop that stacks for the backward pass what has no derivative keeps it for that all the same,
  // and what a transposed loop stacks are gradients.
  const bool by_update =
      of_update.stack && (RoleOf(of_update.stack->text) == Role::kBackward || !of_written.stack ||
                          RoleOf(of_written.stack->text) == Role::kOther);
  if (!found->stack) found->stack = by_update ? of_update.stack : of_written.stack;
  if (found->line == IdIndex::kNone) {
    found->line = of_written.line != IdIndex::kNone ? of_written.line : of_update.line;
  }
  return found->stack && found->line != IdIndex::kNone;
}

InstructionNumber NameStacks::UpdateBehind(ValueAt value) {
  for (int steps = 0; steps < kMaxWay; ++steps) {
    const proto::HloInstructionProto& instruction = instructions_[value.instruction];
    if (UpdateOperand(instruction) >= 0) return value.instruction;
    if (instruction.opcode() == "parameter") {
      // Out of a fusion the way may go on; what reaches the loop's state is only passed through.
      const InstructionNumber caller =
          upstream_.CallerOf(instructions_.ComputationOf(value.instruction));
      if (caller == IdIndex::kNone || instructions_[caller].opcode() == "while") break;
    }
    std::optional<ValueAt> next = upstream_.Step(value);
    if (!next || !Spend()) break;
    value = std::move(*next);
  }
  return IdIndex::kNone;
}

// What a loop fills begins as zeros, memory without content, or a copy.
bool NameStacks::MayBeFilled(const ValueAt& value) const {
  ValueAt at = value;
  for (int steps = 0; steps < kMaxWay; ++steps) {
    const proto::HloInstructionProto& instruction = instructions_[at.instruction];
    const std::string& opcode = instruction.opcode();
    if (opcode == "broadcast" || opcode == "constant" || opcode == "iota" ||
        opcode == "custom-call" || opcode == "while" || UpdateOperand(instruction) >= 0 ||
        RepeatsOperand(opcode)) {
      return true;
    }
    if (opcode != "fusion" && opcode != "tuple" && opcode != "call") return false;
    std::optional<ValueAt> next = upstream_.Step(at);
    if (!next) return false;
    at = std::move(*next);
  }
  return false;
}

template <typename Flow, typename Read>
bool NameStacks::AnyReader(const ValueAt& value, const Flow& flow, const Read& read) {
  IndexUsers();
  std::set<ValueAt> seen = {value};
  std::deque<ValueAt> queue = {value};
  const auto found = [&](Next next, ValueAt user) {
    if (next == Next::kFollow && seen.insert(user).second) queue.push_back(std::move(user));
    return next == Next::kFound;
  };
  while (!queue.empty()) {
    const ValueAt at = std::move(queue.front());
    queue.pop_front();
    for (ValueAt& user : instructions_.FlowsInto(at)) {
      if (!Spend() || seen.size() > kMaxNearby) return false;
      const Next next = flow(instructions_[user.instruction]);
      if (found(next, std::move(user))) return true;
    }
    if (!at.index.empty()) continue;  // A tuple that holds it; only its elements are read.
    for (int32_t u = first_user_[at.instruction]; u < first_user_[at.instruction + 1]; ++u) {
      if (!Spend() || seen.size() > kMaxNearby) return false;
      if (found(read(users_[u]), {users_[u], {}})) return true;
    }
  }
  return false;
}

bool NameStacks::IsReadOutsideBackward(const ValueAt& value) {
  return AnyReader(
      value,
      [](const proto::HloInstructionProto& user) {
        if (user.opcode() != "while") return Next::kFollow;
        return RoleOf(user.metadata().op_name()) != Role::kBackward ? Next::kFound : Next::kSkip;
      },
      [&](InstructionNumber user) {
        const std::string& opcode = instructions_[user].opcode();
        if (opcode == "tuple" || opcode == "while") return Next::kSkip;
        if (RepeatsOperand(opcode)) return Next::kFollow;
        const std::optional<NameStack> stack = OfInstruction(user);
        return stack && RoleOf(stack->text) != Role::kBackward ? Next::kFound : Next::kSkip;
      });
}

bool NameStacks::IsReadByForward(const ValueAt& value) {
  return AnyReader(
      value,
      [](const proto::HloInstructionProto& user) {
        return user.opcode() == "while" && RoleOf(user.metadata().op_name()) == Role::kForward
                   ? Next::kFound
                   : Next::kFollow;
      },
      [&](InstructionNumber user) {
        const std::string& opcode = instructions_[user].opcode();
        if (opcode == "tuple" || opcode == "while" || opcode == "get-tuple-element")
          return Next::kSkip;
        const std::optional<NameStack> stack = OfInstruction(user);
        if (stack && RoleOf(stack->text) == Role::kForward) return Next::kFound;
        return RepeatsOperand(opcode) ? Next::kFollow : Next::kSkip;
      });
}

bool NameStacks::TakeStack(const ValueAt& loop, const ValueAt& update, InstructionNumber own,
                           Attribution* found) {
  bool carried = false;
  const bool all = TakeWritten(update, own, found, &carried);
  found->filled = carried || IsReadOutsideBackward(loop) ? Stack::kCarried : Stack::kKept;
  return all;
}

bool NameStacks::TakeFilled(const ValueAt& value, Attribution* found) {
  if (!MayBeFilled(value)) return false;
  std::set<ValueAt> seen = {value};
  std::deque<ValueAt> queue = {value};
  while (!queue.empty()) {
    const ValueAt at = std::move(queue.front());
    queue.pop_front();
    const std::string& opcode = instructions_[at.instruction].opcode();
    if (opcode == "while" && !at.index.empty()) {
      const std::optional<ValueAt> put = upstream_.Step(at);
      const InstructionNumber update = put ? UpdateBehind(*put) : IdIndex::kNone;
      if (update != IdIndex::kNone) {
        return TakeStack(at, {update, {}}, value.instruction, found);
      }
    }
    for (ValueAt& user : instructions_.FlowsInto(at)) {
      if (!Spend() || seen.size() > kMaxNearby) return false;
      if (seen.insert(user).second) queue.push_back(std::move(user));
    }
  }
  return false;
}

bool NameStacks::TakeUpstream(const ValueAt& value, Attribution* found) {
  ValueAt at = value;
  ValueAt loop;
  for (int steps = 0; steps < kMaxWay; ++steps) {
    const proto::HloInstructionProto& instruction = instructions_[at.instruction];
    if (loop.instruction != IdIndex::kNone && UpdateOperand(instruction) >= 0) {
      return TakeStack(loop, at, value.instruction, found);
    }
    const std::string& opcode = instruction.opcode();
    if (opcode == "while") {
      // What the loop itself says comes after what is in it.
      loop = at;
    } else if (TakeWithInside(at.instruction, value.instruction, found)) {
      return true;
    }
    std::optional<ValueAt> next = upstream_.Step(at);
    if (!next || !Spend()) return false;
    at = std::move(*next);
  }
  return false;
}

bool NameStacks::TakeDownstream(const ValueAt& value, Attribution* found) {
  std::set<ValueAt> seen = {value};
  std::deque<ValueAt> queue = {value};
  while (!queue.empty()) {
    const ValueAt at = std::move(queue.front());
    queue.pop_front();
    for (ValueAt& user : instructions_.FlowsInto(at)) {
      if (!Spend()) return false;
      if (Take(user.instruction, value.instruction, found)) return true;
      if (seen.insert(user).second) queue.push_back(std::move(user));
    }
  }
  return false;
}

void NameStacks::IndexUsers() {
  if (!first_user_.empty()) return;
  struct Edge {
    InstructionNumber operand, user;
    int32_t place;
  };
  std::vector<Edge> edges;
  for (InstructionNumber i = 0; i < instructions_.size(); ++i) {
    for (int n = 0; n < instructions_[i].operand_ids_size(); ++n) {
      const InstructionNumber operand = instructions_.Operand(i, n);
      if (operand != IdIndex::kNone) edges.push_back({operand, i, n});
    }
  }
  first_user_.assign(instructions_.size() + 1, 0);
  for (const Edge& edge : edges) ++first_user_[edge.operand + 1];
  for (size_t i = 1; i < first_user_.size(); ++i) first_user_[i] += first_user_[i - 1];
  users_.resize(edges.size());
  user_operands_.resize(edges.size());
  std::vector<int32_t> next(first_user_.begin(), first_user_.end() - 1);
  for (const Edge& edge : edges) {
    const int32_t at = next[edge.operand]++;
    users_[at] = edge.user;
    user_operands_[at] = edge.place;
  }
}

std::span<const InstructionNumber> NameStacks::UsersOf(InstructionNumber i) {
  IndexUsers();
  return {users_.data() + first_user_[i], users_.data() + first_user_[i + 1]};
}

std::span<const int32_t> NameStacks::OperandsOfUsers(InstructionNumber i) {
  IndexUsers();
  return {user_operands_.data() + first_user_[i], user_operands_.data() + first_user_[i + 1]};
}

// A line of the code that made what the value is made from, else of the code that reads it.
bool NameStacks::TakeLineNearby(const ValueAt& value, Attribution* found) {
  IndexUsers();
  Attribution nearby;
  for (const bool upwards : {true, false}) {
    std::set<InstructionNumber> seen = {value.instruction};
    std::deque<InstructionNumber> queue = {value.instruction};
    auto visit = [&](InstructionNumber i) {
      if (i == IdIndex::kNone || !seen.insert(i).second || !Spend()) return false;
      TakeWithInside(i, value.instruction, &nearby);
      queue.push_back(i);
      return nearby.line != IdIndex::kNone;
    };
    while (!queue.empty() && seen.size() <= kMaxNearby) {
      const InstructionNumber at = queue.front();
      queue.pop_front();
      bool done = false;
      if (upwards) {
        const std::optional<ValueAt> next = upstream_.Step({at, {}});
        if (next) done = visit(next->instruction);
        const int operands = instructions_[at].operand_ids_size();
        for (int n = 0; !done && n < operands && seen.size() <= kMaxNearby; ++n) {
          done = visit(instructions_.Operand(at, n));
        }
      } else {
        for (int32_t u = first_user_[at];
             !done && u < first_user_[at + 1] && seen.size() <= kMaxNearby; ++u) {
          done = visit(users_[u]);
        }
      }
      if (done) {
        found->line = nearby.line;
        return true;
      }
    }
  }
  return false;
}

void NameStacks::OfValue(const ValueAt& value, Attribution* found) {
  if (value.instruction == IdIndex::kNone) return;
  if (TakeFilled(value, found)) return;
  if (TakeWithInside(value.instruction, value.instruction, found)) return;
  if (TakeUpstream(value, found)) return;
  TakeDownstream(value, found);
}

std::optional<NameStack> NameStacks::OfValue(const ValueAt& value) {
  Attribution found;
  OfValue(value, &found);
  return found.stack;
}

Attribution NameStacks::OfBuffer(const BufferAssignment& assignment, int32_t buffer,
                                 std::span<const int32_t> sharers) {
  Attribution found;
  const ValueAt& value = assignment.buffers()[buffer].value;
  OfValue(value, &found);
  for (int32_t sharer : sharers) {
    if (found.stack && found.line != IdIndex::kNone) return found;
    const ValueAt& taker = assignment.buffers()[sharer].value;
    if (taker.instruction == IdIndex::kNone) continue;
    // The first rounds of an unrolled loop fill the memory before the loop is entered.
    const InstructionNumber update = UpdateBehind(taker);
    if (update == IdIndex::kNone || !TakeWritten({update, {}}, value.instruction, &found)) {
      TakeWithInside(taker.instruction, value.instruction, &found);
    }
  }
  if (found.line == IdIndex::kNone && value.instruction != IdIndex::kNone) {
    TakeLineNearby(value, &found);
  }
  return found;
}

bool IsWorkspace(const Instructions& instructions, const ValueAt& value) {
  if (value.instruction == IdIndex::kNone) return false;
  const proto::HloInstructionProto& instruction = instructions[value.instruction];
  if (instruction.opcode() != "custom-call") return false;
  const proto::ShapeProto* shape = SubshapeAt(instruction.shape(), value.index);
  return shape != nullptr && (shape->element_type() == kS8 || shape->element_type() == kU8);
}

}  // namespace oomdb::ingest
