// Activations in two bytes. Only a bound: which f32 copies exist, the compiler decides.
#include <algorithm>

#include "ingest/plan/whatif/levers.h"
#include "ingest/plan/whatif/training.h"

namespace oomdb::ingest {

void UseBf16(const PlanModel& model, PlanState* state) {
  if (model.platform() == "cpu") {
    throw LeverUnknown("XLA:CPU computes bf16 in f32: which values it keeps in both isn't known");
  }
  RequireBatch(model);
  state->new_schedule = true;
  const Logits& logits = LogitsOf(model);
  for (HeapPiece& piece : state->pieces) {
    if (piece.group < 0) continue;
    const LeafId n = model.LeafOf(model.groups()[piece.group].root);
    if (!model.HasBatch(n)) continue;
    if (DtypeName(model.program().leaf(n).shape->element_type()) != "f32") continue;
    // What the loss is taken of stays in f32.
    if (!logits.vocabulary.IsIn(n)) piece.bytes /= 2;
  }
  // The weights are cast: a copy of each in two bytes lives from its first read to its last.
  for (const StateLeaf* weight : model.trained()) {
    const Leaf& leaf = model.program().leaf(weight->leaf);
    if (leaf.rank() < 2 || DtypeName(leaf.shape->element_type()) != "f32") continue;
    if (const auto span = model.ReadSpanOf(*weight))
      state->Add("weight in two bytes", PaddedBytes(*leaf.shape) / 2, *span);
  }
}

}  // namespace oomdb::ingest
