#include "ingest/derived/module_starts.h"

#include <algorithm>

namespace oomdb::ingest {
namespace {

// The lower of two middle ones.
MaybeInt Median(std::vector<int64_t> numbers) {
  if (numbers.empty()) return std::nullopt;
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>((numbers.size() - 1) / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

}  // namespace

void ModuleStartsBuilder::Add(const AllocatorFact& fact) {
  const Index allocator = allocator_count_++;
  if (!fact.device.has_value()) return;
  const auto [pool, is_new] =
      pools_.try_emplace(*fact.device, Pool{allocator, fact.capture_peak_bytes});
  // The first among equals; what is unknown is the least.
  if (!is_new && fact.capture_peak_bytes > pool->second.peak_bytes) {
    pool->second = {allocator, fact.capture_peak_bytes};
  }
}

void ModuleStartsBuilder::Add(Index execution, const ExecutionFact& fact) {
  if (!fact.device || !fact.module || !fact.in_use_at_start_bytes) return;
  starts_[{*fact.device, *fact.module}].push_back(
      {fact.start_ns, execution, *fact.in_use_at_start_bytes});
}

void ModuleStartsBuilder::Add(const AllocationFact& fact) {
  if (!fact.alloc_ns) return;
  allocations_[fact.allocator].push_back({*fact.alloc_ns, fact.free_ns, fact.bytes,
                                          fact.purpose == "output" ? fact.module : std::nullopt});
}

std::map<Index, Index> ModuleStartsBuilder::Pools() const {
  std::map<Index, Index> pools;
  for (const auto& [device, pool] : pools_) pools[device] = pool.allocator;
  return pools;
}

std::vector<ModuleStarts> ModuleStartsBuilder::Build() {
  std::vector<ModuleStarts> modules;
  // What is live at a last start is looked for in one pass over the allocations of a pool.
  std::map<Index, std::vector<size_t>> by_allocator;
  for (auto& [key, starts] : starts_) {
    std::sort(starts.begin(), starts.end(), [](const Start& a, const Start& b) {
      return std::pair(a.start_ns, a.execution) < std::pair(b.start_ns, b.execution);
    });
    ModuleStarts module;
    module.device = key.first;
    module.module = key.second;
    if (const auto pool = pools_.find(key.first); pool != pools_.end()) {
      module.allocator = pool->second.allocator;
      by_allocator[*module.allocator].push_back(modules.size());
    }
    const size_t intervals = starts.size() - 1;
    const size_t middle = intervals / 2;  // Where the later half of the intervals begins.
    module.executions = static_cast<int64_t>(starts.size());
    module.first_start_ns = starts.front().start_ns;
    module.last_start_ns = starts.back().start_ns;
    module.first_in_use_bytes = starts.front().in_use_bytes;
    module.last_in_use_bytes = starts.back().in_use_bytes;
    if (intervals > 0) {
      module.second_in_use_bytes = starts[1].in_use_bytes;
      module.rise_bytes = module.last_in_use_bytes - starts[middle].in_use_bytes;
    }
    const auto less = [](const Start& a, const Start& b) {
      return a.in_use_bytes < b.in_use_bytes;
    };
    const auto half = starts.begin() + static_cast<std::ptrdiff_t>(middle);
    if (middle > 0) {
      module.low_rise_bytes = std::min_element(half, starts.end(), less)->in_use_bytes -
                              std::min_element(starts.begin(), half, less)->in_use_bytes;
    }
    std::vector<int64_t> steps;
    for (size_t i = 0; i < intervals; ++i) {
      steps.push_back(starts[i + 1].in_use_bytes - starts[i].in_use_bytes);
      module.steps.push_back({steps.back(), 0});
    }
    module.median_bytes = Median(steps);
    if (intervals > 0) steps.erase(steps.begin());
    module.settled_median_bytes = Median(std::move(steps));
    modules.push_back(std::move(module));
  }
  for (auto& [allocator, places] : by_allocator) {
    std::sort(places.begin(), places.end(), [&](size_t a, size_t b) {
      return modules[a].last_start_ns < modules[b].last_start_ns;
    });
    std::vector<Allocation>& allocations = allocations_[allocator];
    std::sort(allocations.begin(), allocations.end(),
              [](const Allocation& a, const Allocation& b) { return a.alloc_ns < b.alloc_ns; });
    // What was made before the last start at hand and is not freed yet, by when it was made.
    std::vector<Allocation> live;
    size_t next = 0;
    for (const size_t place : places) {
      ModuleStarts& module = modules[place];
      const int64_t until_ns = module.last_start_ns;
      for (; next < allocations.size() && allocations[next].alloc_ns < until_ns; ++next) {
        live.push_back(allocations[next]);
      }
      std::erase_if(live, [&](const Allocation& a) {
        return a.free_ns.has_value() && *a.free_ns < until_ns;
      });
      AddSurvivors(starts_.at({module.device, module.module}), live, &module);
    }
  }
  return modules;
}

void ModuleStartsBuilder::AddSurvivors(const std::vector<Start>& starts,
                                       const std::vector<Allocation>& allocations,
                                       ModuleStarts* module) const {
  const auto first =
      std::lower_bound(allocations.begin(), allocations.end(), module->first_start_ns,
                       [](const Allocation& a, int64_t start_ns) { return a.alloc_ns < start_ns; });
  for (auto a = first; a != allocations.end(); ++a) {
    const auto after =
        std::upper_bound(starts.begin(), starts.end(), a->alloc_ns,
                         [](int64_t alloc_ns, const Start& s) { return alloc_ns < s.start_ns; });
    module->steps[static_cast<size_t>(after - starts.begin()) - 1].kept_bytes += a->bytes;
    module->survivor_bytes += a->bytes;
    if (a->output_of == module->module) module->own_output_bytes += a->bytes;
  }
}

}  // namespace oomdb::ingest
