// Questions to a plan: what would the program need if it were changed so?
#ifndef OOMDB_INGEST_PLAN_WHATIF_WHAT_IF_H_
#define OOMDB_INGEST_PLAN_WHATIF_WHAT_IF_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ingest/plan/whatif/model.h"
#include "ingest/plan/whatif/state.h"

namespace oomdb::ingest {

// The changes, applied together. An absent one changes nothing.
struct Change {
  bool donate = false;
  std::optional<double> batch_ratio;
  std::optional<int64_t> batch_size;  // Instead of a ratio.
  std::optional<double> sequence_ratio;
  std::optional<int64_t> accumulate;
  bool checkpoint = false;
  bool fused_attention = false;
  std::optional<int64_t> chunk_loss;
  std::optional<int64_t> data_parallel;
  std::optional<int64_t> fsdp;
  std::optional<int64_t> zero1;
  bool bf16 = false;
  bool offload_activations = false;
  bool offload_optimizer = false;

  friend bool operator==(const Change&, const Change&) = default;
};

// What lives at the peak of the changed heap.
struct AtPeak {
  int64_t bytes = 0;
  std::string instruction, shape, op_name;  // Of the plan's value; empty where there is none.
  std::string what;                         // Of what the change adds; empty for the plan's own.
};

// What the changed program needs of device memory.
struct Answer {
  MemoryNeed before;
  // Not known, with the reason, when the plan does not tell.
  std::optional<MemoryNeed> after;
  // The range in which the tool stands by the truth, margins included. Absent bounds are open.
  std::optional<int64_t> low_bytes;
  std::optional<int64_t> high_bytes;
  std::string why_unknown;
  // What the answer rests on, and what makes the range wide; for people.
  std::vector<std::string> notes;
  // A bound only: the compiler decides.
  bool is_bound = false;
  // The range is all that is known: no number in it is likelier than another.
  bool only_range = false;
  // Filled by Describe.
  std::vector<AtPeak> largest;  // Largest first.
  // The temps live in equal parts of the program, bytes.
  std::vector<int64_t> curve_before, curve_after;

  // Whether it fits in `capacity` bytes; not known between the ends of the range.
  std::optional<bool> Fits(int64_t capacity) const;
};

// A change of nothing needs what the plan needs, exactly.
Answer Ask(const PlanModel& model, const Change& change);

// What is largest then, and how memory goes up and down; adds to an answer that is known.
void Describe(const PlanModel& model, const Change& change, Answer* answer);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_WHATIF_WHAT_IF_H_
