// The two forms of checkpointing: of blocks that are written out, and of a loop over layers.
#ifndef OOMDB_INGEST_PLAN_WHATIF_CHECKPOINT_H_
#define OOMDB_INGEST_PLAN_WHATIF_CHECKPOINT_H_

#include "ingest/plan/whatif/model.h"
#include "ingest/plan/whatif/state.h"

namespace oomdb::ingest {

// Moments of one stretch of the program, mapped in order into the gap just before `at`: where a
// block is computed again.
class Recomputation {
 public:
  Recomputation(Moment begin, Moment end, Moment at) : begin_(begin), end_(end), at_(at) {}
  Moment Map(Moment moment) const;
  HeapInterval Map(const HeapInterval& when) const { return {Map(when.begin), Map(when.end)}; }

 private:
  Moment begin_, end_, at_;
};

// False, and nothing changed: the program has no such blocks.
bool CheckpointBlocks(const PlanModel& model, PlanState* state);
// `keep_carry`: what enters each turn stays on the device.
bool CheckpointLoop(const PlanModel& model, bool keep_carry, PlanState* state);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_WHATIF_CHECKPOINT_H_
