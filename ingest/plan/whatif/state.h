// The state of a what-if: what a changed program keeps in its heap and beside it. Levers change
// sizes and lifetimes; what they save is never subtracted, it is what packing the state gives.
#ifndef OOMDB_INGEST_PLAN_WHATIF_STATE_H_
#define OOMDB_INGEST_PLAN_WHATIF_STATE_H_

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/plan/whatif/model.h"

namespace oomdb::ingest {

// What has one place in the changed heap.
struct HeapPiece {
  int64_t bytes = 0;
  std::vector<HeapInterval> intervals;  // Moments.
  // The group of the plan whose memory it is; -1: the lever added it.
  int32_t group = -1;
  // Of what a lever added: the plan's buffer that it holds; -1: none.
  int32_t buffer = -1;
  // Of what a lever added: what it is, for people.
  std::string_view what;
};

struct PlanState {
  std::vector<HeapPiece> pieces;  // In step with the model's groups until a checkpoint; then more.
  MemoryNeed need;                // But for the heap: temp_bytes is the rest.
  std::set<int64_t> gone_allocations;  // Indices of outputs that donation did away with.
  // Another order of instructions is to be expected than the plan's: the answer is less exact.
  bool new_schedule = false;
  void Add(std::string_view what, int64_t bytes, HeapInterval when, int32_t buffer = -1) {
    pieces.push_back({bytes, {when}, -1, buffer, what});
  }
};

// The plan as it is.
PlanState StateOf(const PlanModel& model);

// What lives at the peak of the heap, largest first.
std::vector<const HeapPiece*> PiecesAtPeak(const PlanModel& model, const PlanState& state);

// The largest sum that lives in each of `count` equal parts of the program, bytes of the heap.
std::vector<int64_t> LiveCurveOf(const PlanModel& model, const PlanState& state, size_t count);

// What the state needs when it is packed as the platform's compiler packs. `least`: with the order
// that a TPU compiler falls back to when that needs less.
MemoryNeed NeedOf(const PlanModel& model, const PlanState& state, bool least = false);

// The scheduler's freedom: what waits after the peak though its operands are ready is run before
// it where that frees more than it makes. What a better order than the plan's may reach. False:
// nothing to gain.
bool Hoist(const PlanModel& model, PlanState* state);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_WHATIF_STATE_H_
