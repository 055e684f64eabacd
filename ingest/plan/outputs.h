// The leaves of a module's result, and what makes each.
#ifndef OOMDB_INGEST_PLAN_OUTPUTS_H_
#define OOMDB_INGEST_PLAN_OUTPUTS_H_

#include <string>
#include <vector>

#include "ingest/plan/buffer_assignment.h"
#include "ingest/plan/instructions.h"
#include "ingest/plan/limits.h"
#include "ingest/plan/plan.h"
#include "ingest/plan/roles.h"
#include "proto/hlo.pb.h"

namespace oomdb::ingest {

// Follows a value back to the instruction that makes it: through tuple, get-tuple-element, bitcast,
// optimization-barrier, into calls, asynchronous wrappers and loop bodies (what a loop's body puts
// at the value's place; what entered the loop when the body passes it on unchanged). Copies make a
// value.
class Origins {
 public:
  Origins(const Instructions& instructions, IssueLog& log);

  // All values on the way, from `value` to what makes it (the last; at least one entry).
  std::vector<ValueAt> PathOf(ValueAt value);

  // The instruction itself; for a fusion the one inside it that makes the value, from the fusion's
  // root through tuples, bitcasts and converts: so an update in place shows as dynamic-update-slice
  // or scatter, and an optimizer's update that is fused with a gradient as itself.
  InstructionNumber MakerOf(const ValueAt& value) const;

 private:
  const Instructions& instructions_;
  IssueLog& log_;
  int64_t steps_left_;  // Over the whole plan.
};

// The module's result leaves in order; those of the entry computation's root.
std::vector<PlanOutput> ReadOutputs(const proto::HloModuleProto& module,
                                    const Instructions& instructions,
                                    const BufferAssignment& assignment, NameStacks& stacks,
                                    TextBudget& text, IssueLog& log);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_OUTPUTS_H_
