// What was in use at the starts of a module's executions, and what its intervals left behind: the
// same numbers for every question about growth, so they are computed once, while a capture is
// written, and stored (stored_module_starts, stored_start_steps).
#ifndef OOMDB_INGEST_DERIVED_MODULE_STARTS_H_
#define OOMDB_INGEST_DERIVED_MODULE_STARTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ingest/base/facts.h"

namespace oomdb::ingest {

// One interval: from one start of the module to its next.
struct StartStep {
  int64_t step_bytes = 0;  // In use at the next start, less in use at this one.
  int64_t kept_bytes = 0;  // Allocated in between and live at the last start.
};

// The executions of one module on one device whose in-use at the start is known. Sizes are bytes,
// times Unix ns.
struct ModuleStarts {
  Index device = 0;
  Index module = 0;
  std::optional<Index> allocator;  // The device's pool.
  int64_t executions = 0;
  int64_t first_start_ns = 0;
  int64_t last_start_ns = 0;
  int64_t first_in_use_bytes = 0;
  MaybeInt second_in_use_bytes;
  int64_t last_in_use_bytes = 0;
  MaybeInt rise_bytes;            // From the start in the middle to the last.
  MaybeInt low_rise_bytes;        // From the least of the earlier half to that of the later.
  MaybeInt median_bytes;          // Of all steps, the lower of two in the middle.
  MaybeInt settled_median_bytes;  // The same without the first step.
  int64_t survivor_bytes = 0;     // Allocated from the first start on and live at the last.
  int64_t own_output_bytes = 0;   // Of these, outputs of the module.
  std::vector<StartStep> steps;   // One less than executions.

  // Whether any rule could say that memory grows; else its steps say nothing.
  bool Rises() const { return rise_bytes > 0 || median_bytes > 0 || settled_median_bytes > 0; }
};

// Collects the facts of one capture. Not for concurrent use.
class ModuleStartsBuilder {
 public:
  void Add(const AllocatorFact& fact);
  void Add(Index execution, const ExecutionFact& fact);
  void Add(const AllocationFact& fact);

  // By device, then module.
  std::vector<ModuleStarts> Build();
  // The allocator that each device's programs use.
  std::map<Index, Index> Pools() const;

 private:
  struct Start {
    int64_t start_ns;
    Index execution;
    int64_t in_use_bytes;
  };
  struct Allocation {
    int64_t alloc_ns;
    MaybeInt free_ns;
    int64_t bytes;
    std::optional<Index> output_of;  // The module whose output it is.
  };
  struct Pool {
    Index allocator;
    MaybeInt peak_bytes;
  };

  void AddSurvivors(const std::vector<Start>& starts, const std::vector<Allocation>& allocations,
                    ModuleStarts* module) const;

  Index allocator_count_ = 0;
  std::map<Index, Pool> pools_;  // By device: the busiest, which is the program's.
  std::map<std::pair<Index, Index>, std::vector<Start>> starts_;
  std::map<Index, std::vector<Allocation>> allocations_;  // By allocator.
};

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_DERIVED_MODULE_STARTS_H_
