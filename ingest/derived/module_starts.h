// What was in use at the starts of a module's executions, and what its intervals left behind: the
// same numbers for every question about growth, so they are computed once, while a capture is
// written, and stored (stored_module_starts, stored_start_rises).
#ifndef OOMDB_INGEST_DERIVED_MODULE_STARTS_H_
#define OOMDB_INGEST_DERIVED_MODULE_STARTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ingest/base/facts.h"

namespace oomdb::ingest {

// A start whose floor stands above that of the start before. The floor of a start is the least that
// is in use at it or at any later one: what is never given back.
struct StartRise {
  int64_t place = 0;       // The interval that ends with this start, from 1.
  int64_t rise_bytes = 0;  // Of the floor; above 0.
  int64_t kept_bytes = 0;  // Allocated in the interval and live at the last start.
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
  int64_t last_in_use_bytes = 0;
  int64_t floor_rise_bytes = 0;  // The floor of the last start less that of the first.
  bool fell_before = false;      // In-use fell by at least floor_rise_bytes before.
  bool recurs = false;           // It did so twice or more, after ramps no shorter than this one.
  int64_t survivor_bytes = 0;    // Allocated from the first start on and live at the last.
  int64_t own_output_bytes = 0;  // Of these, outputs of the module.
  std::vector<StartRise> rises;  // By place.
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
