#include "ingest/derived/failed_starts.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "ingest/plan/plan.h"

namespace oomdb::ingest {
namespace {

bool IsOnDevice(const PlanAllocation& allocation) {
  return allocation.memory_space == 0 && allocation.bytes > 0;
}

}  // namespace

void FailedStartsBuilder::Add(const ModuleFact& fact) { plans_.push_back(fact.plan); }

void FailedStartsBuilder::Add(Index execution, const ExecutionFact& fact) {
  if (fact.launched.value_or(true) || !fact.device || !fact.module) return;
  const Failure failure{fact.start_ns, execution};
  const auto [first, is_new] = failures_.try_emplace({*fact.device, *fact.module}, failure);
  if (is_new) return;
  if (std::pair(failure.start_ns, failure.execution) <
      std::pair(first->second.start_ns, first->second.execution)) {
    first->second = failure;
  }
}

void FailedStartsBuilder::Add(const AllocationFact& fact, int64_t origin_id) {
  allocations_[fact.allocator].push_back(
      {fact.address, fact.bytes, fact.requested_bytes.value_or(fact.bytes), fact.alloc_ns,
       fact.free_ns, fact.execution, fact.module, fact.allocation_index, origin_id});
}

std::vector<FailedLive> FailedStartsBuilder::Build(const std::map<Index, Index>& pools) const {
  std::vector<FailedLive> all;
  for (const auto& [key, failure] : failures_) {
    const auto pool = pools.find(key.first);
    if (pool == pools.end() || !StillWants(key.second, failure.execution)) continue;
    const auto allocations = allocations_.find(pool->second);
    if (allocations == allocations_.end()) continue;
    const std::vector<FailedLive> others = Others(key.second, failure, allocations->second);
    all.insert(all.end(), others.begin(), others.end());
  }
  std::stable_sort(all.begin(), all.end(), [](const FailedLive& a, const FailedLive& b) {
    return a.execution < b.execution;
  });
  return all;
}

// Whether its plan has an output or a temp that no allocation of the execution took.
bool FailedStartsBuilder::StillWants(Index module, Index execution) const {
  const Plan* plan = plans_[static_cast<size_t>(module)].get();
  if (plan == nullptr) return false;
  std::set<int64_t> taken;
  for (const auto& [allocator, allocations] : allocations_) {
    for (const Allocation& a : allocations) {
      if (a.execution == execution && a.allocation_index) taken.insert(*a.allocation_index);
    }
  }
  return std::any_of(plan->allocations.begin(), plan->allocations.end(),
                     [&](const PlanAllocation& a) {
                       return IsOnDevice(a) && taken.count(a.index) == 0 &&
                              (a.allocation_class == AllocationClass::kOutput ||
                               a.allocation_class == AllocationClass::kTemp);
                     });
}

// The record does not say which allocations are the step's parameters. Of a parameter's size, as
// many as there are parameters of that size: the step's own outputs (donated state goes round) and
// what is older than the capture come first, the youngest of them; arrays that others made in the
// capture count only where what was there before it can't hold the parameters. What is missing then
// was there before the capture.
std::vector<FailedLive> FailedStartsBuilder::Others(
    Index module, const Failure& failure, const std::vector<Allocation>& allocations) const {
  const Plan& plan = *plans_[static_cast<size_t>(module)];
  const bool classes_known = plan.has_buffer_assignment && plan.classes_known;
  const int64_t parameter_bytes = classes_known ? plan.parameter_bytes : 0;
  std::map<int64_t, int64_t> parameters;  // How many there are of a size.
  for (const PlanAllocation& a : plan.allocations) {
    if (IsOnDevice(a) && a.allocation_class == AllocationClass::kParameter) ++parameters[a.bytes];
  }
  struct Live {
    const Allocation* allocation;
    bool likely;
  };
  std::vector<Live> live;
  int64_t before_bytes = 0;  // What was there before the capture and is never seen in an event.
  for (const Allocation& a : allocations) {
    if (a.alloc_ns && *a.alloc_ns >= failure.start_ns) continue;
    if (a.free_ns && *a.free_ns < failure.start_ns) continue;
    live.push_back({&a, a.module == module || !a.alloc_ns});
    if (!a.address) before_bytes += a.bytes;
  }
  // The likely ones first, the youngest of them first; of one moment, the last one.
  std::reverse(live.begin(), live.end());
  std::stable_sort(live.begin(), live.end(), [](const Live& a, const Live& b) {
    return std::tuple(!a.likely, b.allocation->alloc_ns) <
           std::tuple(!b.likely, a.allocation->alloc_ns);
  });
  int64_t own_bytes = 0;
  std::map<int64_t, int64_t> places;
  std::map<int64_t, FailedLive> by_origin;
  const auto add = [&](const Allocation& a, int64_t bytes) {
    if (bytes <= 0) return;
    FailedLive& group = by_origin[a.origin_id];
    group.bytes += bytes;
    ++group.count;
  };
  for (const Live& one : live) {
    const Allocation& a = *one.allocation;
    if (!a.address) continue;
    const auto wanted = parameters.find(a.requested_bytes);
    const bool fits = wanted != parameters.end() && ++places[a.requested_bytes] <= wanted->second;
    if (fits && (one.likely || (classes_known && before_bytes < parameter_bytes))) {
      own_bytes += a.requested_bytes;
    } else {
      add(a, a.bytes);
    }
  }
  for (const Live& one : live) {
    if (one.allocation->address || !classes_known) continue;
    add(*one.allocation, one.allocation->bytes - (parameter_bytes - own_bytes));
  }
  std::vector<FailedLive> groups;
  for (auto& [origin_id, group] : by_origin) {
    group.execution = failure.execution;
    group.origin_id = origin_id;
    groups.push_back(group);
  }
  return groups;
}

}  // namespace oomdb::ingest
