// Fused attention: scores are made a row at a time and never stored whole.
#include <algorithm>

#include "ingest/plan/whatif/levers.h"
#include "ingest/plan/whatif/training.h"

namespace oomdb::ingest {
namespace {

// What a TPU kernel keeps of every row for the backward pass: two f32 statistics, 128 lanes wide
// (jax.experimental.pallas.ops.tpu.flash_attention).
constexpr int64_t kTpuKeptOfRow = 256;

}  // namespace

void FuseAttention(const PlanModel& model, PlanState* state) {
  RequireBatch(model);
  const Scores& scores = ScoresOf(model);
  if (scores.empty()) {
    throw LeverUnknown("no scores of attention in the plan: no value has one symbol twice");
  }
  state->new_schedule = true;
  const std::vector<BlockSpan>& blocks = BlocksOf(model);
  const Moment forward_end = blocks.empty() ? 0 : BeginOf(blocks.back().end);
  for (HeapPiece& piece : state->pieces) {
    if (piece.group < 0) continue;
    const HeapGroup& group = model.groups()[piece.group];
    const bool is_score =
        std::any_of(group.members.begin(), group.members.end(), [&](const HeapGroup::Member& m) {
          const LeafId n = model.LeafOf(m.buffer);
          return n != IdIndex::kNone && scores.extent_of.contains(n);
        });
    if (!is_score) continue;
    bool is_kept = false;
    if (model.platform() == "tpu") {
      const LeafId root = model.LeafOf(group.root);
      is_kept = blocks.empty()
                    ? root != IdIndex::kNone && model.program().leaf(root).rank() > 4
                    : !piece.intervals.empty() && piece.intervals.back().end > forward_end &&
                          piece.intervals.front().begin < forward_end;
    }
    piece.bytes = is_kept ? std::min(piece.bytes, piece.bytes * kTpuKeptOfRow / scores.extent)
                          : (piece.bytes + scores.extent - 1) / scores.extent;
  }
}

}  // namespace oomdb::ingest
