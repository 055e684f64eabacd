// Where a value comes from: the way back through instructions that pass it on, copy or convert it,
// through fusions, calls and loops.
#ifndef OOMDB_INGEST_PLAN_UPSTREAM_H_
#define OOMDB_INGEST_PLAN_UPSTREAM_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ingest/plan/instructions.h"

namespace oomdb::ingest {

class Upstream {
 public:
  // `instructions` must outlive this.
  explicit Upstream(const Instructions& instructions);

  // One step back; std::nullopt where the value is made. A fusion leads to the instruction inside
  // that makes the value, its parameter to the fusion's operand; a loop to what its body puts at
  // the value's place; the parameter of a loop's body to what the round before put there, or to
  // what entered the loop where the body does not touch it.
  std::optional<ValueAt> Step(const ValueAt& value) const;

  // The instruction that calls a computation, the first one stored where there are several.
  InstructionNumber CallerOf(int32_t computation) const { return caller_[computation]; }

 private:
  std::optional<ValueAt> OfParameter(const ValueAt& value) const;

  const Instructions& instructions_;
  std::vector<InstructionNumber> caller_;  // By computation.
};

// True for an instruction whose result has its operand's values: copied, converted, or in another
// shape or order.
bool RepeatsOperand(std::string_view opcode);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_UPSTREAM_H_
