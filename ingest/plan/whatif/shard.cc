// State over several devices: FSDP and ZeRO-1; and optimizer state on the host.
#include <algorithm>
#include <vector>

#include "ingest/plan/whatif/levers.h"

namespace oomdb::ingest {
namespace {

// Smaller dimensions are not worth a split; what sharding rules leave alone.
constexpr int64_t kLeastSplitExtent = 65;

bool CanSplit(const Leaf& leaf, int64_t devices) {
  if (leaf.rank() < 2) return false;
  for (int d = 0; d < leaf.rank(); ++d) {
    if (leaf.extent(d) >= kLeastSplitExtent && leaf.extent(d) % devices == 0) return true;
  }
  return false;
}

void Shard(const PlanModel& model, int64_t devices, bool weights, PlanState* state) {
  state->new_schedule = true;
  for (const StateLeaf& leaf : model.state()) {
    if (!leaf.is_float || !CanSplit(model.program().leaf(leaf.leaf), devices)) continue;
    if (leaf.trained && !weights) continue;
    const int64_t bytes = PaddedBytes(*model.program().leaf(leaf.leaf).shape);
    state->need.parameter_bytes -= bytes - bytes / devices;
    if (!leaf.aliased) state->need.output_bytes -= bytes - bytes / devices;
    // A weight is gathered before its first use and kept to its last: XLA does not gather twice.
    if (!leaf.trained) continue;
    if (const auto span = model.ReadSpanOf(leaf)) state->Add("weight, gathered", bytes, *span);
  }
  // A gradient is made whole, and then split.
  for (int32_t g : model.gradients()) {
    state->pieces.push_back({state->pieces[g].bytes / devices, EndWhereMade(model, g, state), -1,
                             -1, "gradient, split"});
  }
}

}  // namespace

void ShardFully(const PlanModel& model, int64_t devices, PlanState* state) {
  RequireWeights(model);
  Shard(model, devices, /*weights=*/true, state);
}

void ShardOptimizer(const PlanModel& model, int64_t devices, PlanState* state) {
  RequireWeights(model);
  Shard(model, devices, /*weights=*/false, state);
}

void OffloadOptimizer(const PlanModel& model, PlanState* state) {
  RequireWeights(model);
  state->new_schedule = true;
  for (const StateLeaf& leaf : model.state()) {
    if (!leaf.is_float || leaf.trained) continue;
    const int64_t bytes = PaddedBytes(*model.program().leaf(leaf.leaf).shape);
    state->need.parameter_bytes -= bytes;
    if (!leaf.aliased) state->need.output_bytes -= bytes;
    int32_t last = -1;
    for (InstructionNumber reader : leaf.readers) {
      last = std::max(last, model.program().position(reader));
    }
    // It comes back for its update; its result goes when it can.
    if (last >= 0) {
      state->Add("optimizer state, back from the host", bytes,
                 {BeginOf(std::max(0, last - 1)), EndOf(model.last_position())});
    }
  }
}

}  // namespace oomdb::ingest
