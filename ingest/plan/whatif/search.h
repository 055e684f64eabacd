// Which changes make a program fit, and how far its batch can grow.
#ifndef OOMDB_INGEST_PLAN_WHATIF_SEARCH_H_
#define OOMDB_INGEST_PLAN_WHATIF_SEARCH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ingest/plan/whatif/what_if.h"

namespace oomdb::ingest {

struct Combination {
  Change change;
  Answer answer;
  // What it costs to live with: a rank, no seconds. Donation 1, fused attention 2, a chunked loss
  // 3, a checkpoint 10, each halving by accumulation 20.
  int64_t cost = 0;
};

// All combinations of donation, fused attention, a chunked loss (4), accumulation (2, 4, 8) and
// checkpointing beside `given` that may fit in `capacity` bytes: those that surely do first, each
// by cost. What the plan does not have (scores, blocks, state left to donate) is left out.
std::vector<Combination> FindCombinations(const PlanModel& model, const Change& given,
                                          int64_t capacity);

// The batch on a device, found by asking for batch after batch.
struct LargestBatch {
  std::optional<int64_t> surely;   // Of this it is said that it fits; none: of no batch.
  std::optional<int64_t> at_most;  // Of every larger one it is said that it doesn't; none: open.
  std::string why_unknown;
};
LargestBatch FindLargestBatch(const PlanModel& model, const Change& given, int64_t capacity);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_WHATIF_SEARCH_H_
