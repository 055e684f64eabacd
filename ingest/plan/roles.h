// What a value is for, by JAX's name stack (the op_name of instruction metadata).
//
// `transpose(` in it: the backward pass; else `jvp(`: kept by the forward pass for it; else other.
// Many instructions that the compiler made have no name stack of their own; see NameStacks for
// where it is looked for then. On a MaxText step the last two places take the unexplained part of
// the peak from 55 % to 8 %.
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

namespace oomdb::ingest {

struct NameStack {
  std::string_view text;                   // Into the proto.
  InstructionNumber via = IdIndex::kNone;  // Whose it is, when not the value's own instruction.
};

// kBackward, kForward or kOther.
Role RoleOf(std::string_view name_stack);

class NameStacks {
 public:
  NameStacks(const Instructions& instructions, IssueLog& log);

  // The op_name of an instruction if it has a '/'. If not, for a fusion: its root's, then that of
  // the last instruction inside (in stored order) that has one.
  std::optional<NameStack> OfInstruction(InstructionNumber i);

  // That of the value's instruction; then of the first instruction that the value flows into
  // unchanged, breadth first.
  std::optional<NameStack> OfValue(const ValueAt& value);

  // That of the buffer's value; then of the first of `sharers` (buffers that take over its memory)
  // that has one.
  std::optional<NameStack> OfBuffer(const BufferAssignment& assignment, int32_t buffer,
                                    std::span<const int32_t> sharers);

 private:
  static constexpr InstructionNumber kNotLookedUp = -2;

  std::optional<NameStack> Downstream(const ValueAt& value);

  const Instructions& instructions_;
  IssueLog& log_;
  std::vector<InstructionNumber> last_named_;  // By computation.
  int64_t steps_left_;                         // Of searches downstream, over the whole plan.
};

// True when the value is scratch memory of a library call: a custom call's result of bytes (s8 or
// u8).
bool IsWorkspace(const Instructions& instructions, const ValueAt& value);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_ROLES_H_
