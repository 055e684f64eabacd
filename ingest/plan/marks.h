// What remedies ask of a plan's buffers beyond their role: which are attention scores, which are
// logits, which repeat from block to block, and which function the blocks are.
#ifndef OOMDB_INGEST_PLAN_MARKS_H_
#define OOMDB_INGEST_PLAN_MARKS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/plan/instructions.h"
#include "ingest/plan/plan.h"
#include "ingest/plan/roles.h"
#include "ingest/plan/stack_frames.h"

namespace oomdb::ingest {

// What is remembered of a temp at the peak, until all are known.
struct PeakTemp {
  size_t buffer;  // Into Plan::buffers.
  const proto::ShapeProto* shape;
  std::string_view name_stack;
  InstructionNumber line;
};

// The lengths S for which a product of two matrices, one a batch, or a softmax makes [..., S, S]:
// two dimensions that are equal by chance, as width and channels of a feature map, are not enough.
// Ascending.
std::vector<int64_t> ScoreLengths(const Instructions& instructions);

// Sets repeat_count, score_length and vocabulary_length of the temps at the peak; the plan's
// allocations must be known.
void MarkPeak(const Instructions& instructions, const std::vector<PeakTemp>& temps, Plan* plan);

// The function that makes the stacks and the repeated values of the forward pass: the innermost one
// that nearly all of them are made in.
std::optional<PlanBlock> FindBlock(const Instructions& instructions, const StackFrames& frames,
                                   const std::vector<PeakTemp>& temps, const Plan& plan,
                                   TextBudget& text);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_MARKS_H_
