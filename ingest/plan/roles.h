// What a value is for, and which line of the user's code made it.
//
// What it is for is said by JAX's name stack (the op_name of instruction metadata): `transpose(` in
// it: the backward pass; else `jvp(`: kept by the forward pass for it; else other. The line is in
// the metadata too. Many instructions that the compiler made have neither; see NameStacks for where
// they are looked for then. On a MaxText step that takes the unexplained part of the peak from 55 %
// to 8 %; a model that is a scan over layers has no line for most of its peak without it.
#ifndef OOMDB_INGEST_PLAN_ROLES_H_
#define OOMDB_INGEST_PLAN_ROLES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ingest/plan/buffer_assignment.h"
#include "ingest/plan/instructions.h"
#include "ingest/plan/limits.h"
#include "ingest/plan/plan.h"
#include "ingest/plan/stack_frames.h"
#include "ingest/plan/upstream.h"

namespace oomdb::ingest {

struct NameStack {
  std::string_view text;                   // Into the proto.
  InstructionNumber via = IdIndex::kNone;  // Whose it is, when not the value's own instruction.
};

// What is known of where a value comes from.
struct Attribution {
  std::optional<NameStack> stack;
  InstructionNumber line = IdIndex::kNone;  // The instruction whose line of the user's code it is.
  std::optional<Stack> filled;              // A loop fills it slice by slice.
};

// kBackward, kForward or kOther.
Role RoleOf(std::string_view name_stack);

class NameStacks {
 public:
  NameStacks(const Instructions& instructions, const StackFrames& frames, IssueLog& log);

  // The op_name of an instruction if it has a '/'. If not, for a fusion: its root's, then that of
  // the last instruction inside (in stored order) that has one.
  std::optional<NameStack> OfInstruction(InstructionNumber i);

  // Of a value that loops fill slice by slice: those of what the loop's body writes there. Else
  // those of the value's instruction; of what it copies or converts; of the first instruction that
  // the value flows into unchanged, breadth first.
  std::optional<NameStack> OfValue(const ValueAt& value);

  // True when the forward pass reads the value, or a copy of it.
  bool IsReadByForward(const ValueAt& value);
  // True when something else than the backward pass reads the value, or a copy of it.
  bool IsReadOutsideBackward(const ValueAt& value);

  // Who has an instruction's result as an operand, in stored order; once for every such operand.
  std::span<const InstructionNumber> UsersOf(InstructionNumber i);
  // In step with UsersOf: which operand that is.
  std::span<const int32_t> OperandsOfUsers(InstructionNumber i);

  // That of the buffer's value; then of the first of `sharers` (buffers that take over its memory)
  // that has one. A line may also be that of what the value is made from, then of what reads it.
  Attribution OfBuffer(const BufferAssignment& assignment, int32_t buffer,
                       std::span<const int32_t> sharers);

 private:
  static constexpr InstructionNumber kNotLookedUp = -2;

  // The last instruction inside a computation for which something holds, looked up once.
  using LastInside = std::vector<InstructionNumber>;

  // Each takes what is still missing in `found`; true when nothing is.
  bool Take(InstructionNumber i, InstructionNumber own, Attribution* found) const;
  bool TakeWithInside(InstructionNumber i, InstructionNumber own, Attribution* found);
  // True when the value is what a loop's body gets from the round before.
  bool IsCarried(ValueAt value);
  // `carried`: set when the update writes what the loop carries from the round before.
  bool TakeWritten(const ValueAt& update, InstructionNumber own, Attribution* found,
                   bool* carried = nullptr);
  bool TakeFilled(const ValueAt& value, Attribution* found);
  // As TakeWritten, for what `loop` (a while and a place in its state) fills.
  bool TakeStack(const ValueAt& loop, const ValueAt& update, InstructionNumber own,
                 Attribution* found);
  // What to do at one that the value flows into, or that reads it.
  enum class Next { kSkip, kFollow, kFound };
  // Breadth first, from a value along what `flow` (of what it flows into unchanged) and `read` (of
  // what reads it) follow: true when one of them finds what it looks for. False when there is no
  // budget left.
  template <typename Flow, typename Read>
  bool AnyReader(const ValueAt& value, const Flow& flow, const Read& read);
  bool TakeUpstream(const ValueAt& value, Attribution* found);
  bool TakeDownstream(const ValueAt& value, Attribution* found);
  bool TakeLineNearby(const ValueAt& value, Attribution* found);
  void OfValue(const ValueAt& value, Attribution* found);

  // The update that makes `value`, seen from a loop, where one does: a dynamic-update-slice or a
  // scatter, through what passes its result on.
  InstructionNumber UpdateBehind(ValueAt value);
  bool MayBeFilled(const ValueAt& value) const;
  bool HasLine(InstructionNumber i) const {
    return frames_.HasUsersLine(instructions_[i].metadata());
  }
  InstructionNumber LastNamed(int32_t computation);
  InstructionNumber LastWithLine(int32_t computation);
  // One step of a search; false once the plan's are used up.
  bool Spend();
  void IndexUsers();

  const Instructions& instructions_;
  const StackFrames& frames_;
  IssueLog& log_;
  Upstream upstream_;
  LastInside last_named_;
  LastInside last_with_line_;
  int64_t steps_left_;  // Of all searches over the whole plan.
  // Who reads an instruction's result, in stored order: users_[first_user_[i]..first_user_[i + 1]).
  std::vector<int32_t> first_user_;
  std::vector<InstructionNumber> users_;
  std::vector<int32_t> user_operands_;
};

// True when the value is scratch memory of a library call: a custom call's result of bytes (s8 or
// u8).
bool IsWorkspace(const Instructions& instructions, const ValueAt& value);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_ROLES_H_
