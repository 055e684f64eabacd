// The loss in chunks: what carries both the batch and the vocabulary is made a chunk at a time.
#include <algorithm>

#include "ingest/plan/whatif/levers.h"
#include "ingest/plan/whatif/training.h"

namespace oomdb::ingest {

void ChunkLoss(const PlanModel& model, int64_t chunks, PlanState* state) {
  RequireBatch(model);
  const Logits& logits = LogitsOf(model);
  if (logits.buffer < 0) throw LeverUnknown("no logits in the plan");
  if (logits.vocabulary.empty()) {
    throw LeverUnknown("no vocabulary in the plan: no dimension of the logits is one of a weight");
  }
  state->new_schedule = true;
  for (HeapPiece& piece : state->pieces) {
    if (piece.group < 0) continue;
    const HeapGroup& group = model.groups()[piece.group];
    const bool has_both =
        std::any_of(group.members.begin(), group.members.end(), [&](const HeapGroup::Member& m) {
          const LeafId n = model.LeafOf(m.buffer);
          return model.HasBatch(n) && logits.vocabulary.IsIn(n);
        });
    if (has_both) piece.bytes = (piece.bytes + chunks - 1) / chunks;
  }
  // The loop carries the gradient of the head's weights, makes a step's beside it, and adds.
  for (const StateLeaf* weight : model.trained()) {
    const Leaf& leaf = model.program().leaf(weight->leaf);
    if (leaf.rank() < 2 || !logits.vocabulary.IsIn(weight->leaf)) continue;
    if (const auto span = model.ReadSpanOf(*weight))
      state->Add("sum of a weight's gradient over the chunks", PaddedBytes(*leaf.shape), *span);
  }
}

}  // namespace oomdb::ingest
