// What a program would need with each remedy that its plan can be asked for. Asked once, when the
// plan is read, and stored beside it: the views of remedies choose among these answers.
#ifndef OOMDB_INGEST_PLAN_WHATIF_PLAN_CHANGES_H_
#define OOMDB_INGEST_PLAN_WHATIF_PLAN_CHANGES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/base/facts.h"
#include "ingest/plan/whatif/model.h"

namespace oomdb::ingest {

// One answer. Each remedy replays the plan with all that it consists of: nothing is added up.
struct PlanChange {
  std::string remedy;  // Its key in the view remedy_kinds; those of several, joined by +.
  MaybeInt micro_batches;
  MaybeInt chunks;   // Of the loss.
  MaybeInt devices;  // That parameters, gradients, optimizer state and the batch are split over.
  // Parameters, outputs, constants and temps then (bytes), and the range in which the truth lies,
  // margins included. An absent low end is open: the answer is a bound.
  int64_t needs_bytes = 0;
  MaybeInt low_bytes;
  MaybeInt high_bytes;
};

struct PlanChanges {
  // The plan has what a replay needs: lifetimes and an order. Else there are no changes.
  bool replayed = false;
  // Why not, where that is for people to know; else empty.
  std::string why_not;
  std::vector<PlanChange> changes;  // Those that save something.
};

// All single remedies, and the pairs and triples of those that save something, for 2, 4, 8, ...
// micro-batches (to 32) and devices (to 256), 4, 8 and 16 chunks.
PlanChanges PlanChangesOf(const PlanModel& model);

// The same from the bytes of an HloProto; `platform` as in ModuleFact. Throws Error: not one.
PlanChanges ReadPlanChanges(std::string_view hlo_proto_bytes, std::string_view platform);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_WHATIF_PLAN_CHANGES_H_
