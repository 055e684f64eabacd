#include "ingest/plan/whatif/levers.h"

#include <algorithm>
#include <utility>

namespace oomdb::ingest {

void RequireBatch(const PlanModel& model) {
  if (!model.batch().found())
    throw LeverUnknown("the batch dimension was not found: " + model.batch().why_not);
}

void RequireWeights(const PlanModel& model) {
  if (model.trained().empty()) {
    throw LeverUnknown(
        "no weights in the plan: no argument that the program hands back is read by a forward "
        "pass");
  }
}

std::vector<HeapInterval> EndWhereMade(const PlanModel& model, int32_t gradient, PlanState* state) {
  const Moment made = model.GradientMadeAt(gradient);
  const Moment cut = BeginOf(PositionOf(made) + 1);
  std::vector<HeapInterval> kept, rest;
  for (const HeapInterval& at : state->pieces[gradient].intervals) {
    if (at.begin <= made) kept.push_back({at.begin, std::min(at.end, cut)});
    if (at.end > cut) rest.push_back({std::max(at.begin, cut), at.end});
  }
  state->pieces[gradient].intervals = std::move(kept);
  return rest;
}

}  // namespace oomdb::ingest
