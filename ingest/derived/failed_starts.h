// What else was live when an execution failed: by origin, without the parameters of its own module.
// Found once, while a capture is written (stored_failed_live).
#ifndef OOMDB_INGEST_DERIVED_FAILED_STARTS_H_
#define OOMDB_INGEST_DERIVED_FAILED_STARTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ingest/base/facts.h"

namespace oomdb::ingest {

// Live bytes of one origin.
struct FailedLive {
  Index execution = 0;
  int64_t origin_id = 0;
  int64_t bytes = 0;
  int64_t count = 0;  // Allocations.
};

// Collects the facts of one capture, its executions before its allocations. Not for concurrent use.
class FailedStartsBuilder {
 public:
  void Add(const ModuleFact& fact);
  void Add(Index execution, const ExecutionFact& fact);
  // Whether any allocation matters: without a failure none is kept.
  bool WantsAllocations() const { return !failures_.empty(); }
  void Add(const AllocationFact& fact, int64_t origin_id);

  // Of the first failure of every device and module whose plan still wanted something. `pools`: the
  // allocator that each device's programs use. By execution, then by origin.
  std::vector<FailedLive> Build(const std::map<Index, Index>& pools) const;

 private:
  struct Failure {
    int64_t start_ns;
    Index execution;
  };
  struct Allocation {
    MaybeInt address;
    int64_t bytes;
    int64_t requested_bytes;
    MaybeInt alloc_ns;
    MaybeInt free_ns;
    std::optional<Index> execution;
    std::optional<Index> module;
    MaybeInt allocation_index;
    int64_t origin_id;
  };

  bool StillWants(Index module, Index execution) const;
  std::vector<FailedLive> Others(Index module, const Failure& failure,
                                 const std::vector<Allocation>& allocations) const;

  std::vector<std::shared_ptr<const Plan>> plans_;        // By module; null without one.
  std::map<std::pair<Index, Index>, Failure> failures_;   // By device and module: the first.
  std::map<Index, std::vector<Allocation>> allocations_;  // By allocator.
};

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_DERIVED_FAILED_STARTS_H_
