// What a program can be changed to need less memory. Each lever maps the sizes and lifetimes of a
// state; they compose in the order in which they stand here. Every one throws LeverUnknown when the
// plan does not tell what it would do.
#ifndef OOMDB_INGEST_PLAN_WHATIF_LEVERS_H_
#define OOMDB_INGEST_PLAN_WHATIF_LEVERS_H_

#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "ingest/plan/whatif/model.h"
#include "ingest/plan/whatif/state.h"

namespace oomdb::ingest {

// Why a lever can't be told for this plan, for people.
class LeverUnknown : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Of a piece that a checkpoint of written-out blocks adds: what it is (HeapPiece::what).
inline constexpr std::string_view kComputedAgain = "computed again";

// What a lever needs to find in the plan: throw LeverUnknown where it is missing.
void RequireBatch(const PlanModel& model);
void RequireWeights(const PlanModel& model);

// Ends a gradient of the model at the instruction that makes it: it is used up there. Returns when
// it lived on.
std::vector<HeapInterval> EndWhereMade(const PlanModel& model, int32_t gradient, PlanState* state);

// Every parameter that a result of its type, shape and layout can replace is donated.
void Donate(const PlanModel& model, PlanState* state);

// Scores of attention are never stored whole: a fused (flash) kernel.
void FuseAttention(const PlanModel& model, PlanState* state);

// The loss over the vocabulary in `chunks` parts of the batch, one after the other.
void ChunkLoss(const PlanModel& model, int64_t chunks, PlanState* state);

// Activations in two bytes; a bound, as the compiler chooses what stays in f32.
void UseBf16(const PlanModel& model, PlanState* state);

// The batch `ratio` times as large; over N devices: 1/N. At most once for a state.
void ScaleBatch(const PlanModel& model, double ratio, PlanState* state);

// The symbol that attention scores have twice (the sequence) `ratio` times as long.
void ScaleSequence(const PlanModel& model, double ratio, PlanState* state);

// The batch in `steps` parts, whose gradients are summed up.
void Accumulate(const PlanModel& model, int64_t steps, PlanState* state);

// Weights, gradients and the optimizer's state over `devices`; the batch is scaled beside it.
void ShardFully(const PlanModel& model, int64_t devices, PlanState* state);
// The optimizer's state only.
void ShardOptimizer(const PlanModel& model, int64_t devices, PlanState* state);

// What the optimizer keeps waits on the host; a bound.
void OffloadOptimizer(const PlanModel& model, PlanState* state);

// The blocks of the program (of a loop, or repeated) keep only what enters them, and are computed
// again by the backward pass.
void Checkpoint(const PlanModel& model, PlanState* state);
// As that, and what enters the blocks of a loop waits on the host; a bound.
void OffloadActivations(const PlanModel& model, PlanState* state);

// No lever: the plan as it would be had XLA not rematerialized anything by itself.
void UndoRematerialization(const PlanModel& model, PlanState* state);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_WHATIF_LEVERS_H_
