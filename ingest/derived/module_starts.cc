#include "ingest/derived/module_starts.h"

#include <algorithm>

namespace oomdb::ingest {
namespace {

// The rises of the floor, which is the least from each start on.
std::vector<StartRise> RisesOf(const std::vector<int64_t>& in_use_bytes) {
  std::vector<StartRise> rises;
  int64_t floor = in_use_bytes.back();
  for (size_t i = in_use_bytes.size() - 1; i > 0; --i) {
    const int64_t before = std::min(floor, in_use_bytes[i - 1]);
    if (floor > before) rises.push_back({static_cast<int64_t>(i), floor - before, 0});
    floor = before;
  }
  std::reverse(rises.begin(), rises.end());
  return rises;
}

// The lows (places in `in_use_bytes`) to which in-use came down by at least `bytes`, each after it
// had climbed by as much from the low before; a descent in several steps is one.
std::vector<size_t> LowsOf(const std::vector<int64_t>& in_use_bytes, int64_t bytes) {
  std::vector<size_t> lows;
  int64_t highest = in_use_bytes.front();  // Since the last low.
  bool climbed = true;
  for (size_t i = 1; i < in_use_bytes.size(); ++i) {
    const int64_t in_use = in_use_bytes[i];
    if (!climbed && in_use <= in_use_bytes[lows.back()]) {
      lows.back() = i;  // Still coming down.
      highest = in_use;
      continue;
    }
    highest = std::max(highest, in_use);
    climbed = climbed || highest - in_use_bytes[lows.back()] >= bytes;
    if (climbed && highest - in_use >= bytes) {
      lows.push_back(i);
      highest = in_use;
      climbed = false;
    }
  }
  return lows;
}

// Whether what rises now was given back before: once, so that it may be again, or time and again,
// over as many executions, so that it is a saw-tooth cut in mid-ramp.
void JudgeFalls(const std::vector<int64_t>& in_use_bytes, ModuleStarts* module) {
  if (module->rises.empty()) return;
  const std::vector<size_t> lows = LowsOf(in_use_bytes, module->floor_rise_bytes);
  const auto after_rise =
      std::lower_bound(lows.begin(), lows.end(), static_cast<size_t>(module->rises.front().place));
  // Swings that go on while the floor rises give nothing of it back; one fall may have.
  if (lows.empty() || lows.end() - after_rise > 1) return;
  module->fell_before = true;
  if (after_rise != lows.end() || lows.size() < 2) return;
  const size_t last_ramp = lows.back() - lows[lows.size() - 2];
  module->recurs = in_use_bytes.size() - 1 - lows.back() <= last_ramp;
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
    module.executions = static_cast<int64_t>(starts.size());
    module.first_start_ns = starts.front().start_ns;
    module.last_start_ns = starts.back().start_ns;
    module.first_in_use_bytes = starts.front().in_use_bytes;
    module.last_in_use_bytes = starts.back().in_use_bytes;
    std::vector<int64_t> in_use;
    in_use.reserve(starts.size());
    for (const Start& start : starts) in_use.push_back(start.in_use_bytes);
    module.rises = RisesOf(in_use);
    for (const StartRise& rise : module.rises) module.floor_rise_bytes += rise.rise_bytes;
    JudgeFalls(in_use, &module);
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
    const int64_t interval = after - starts.begin();
    const auto rise =
        std::lower_bound(module->rises.begin(), module->rises.end(), interval,
                         [](const StartRise& r, int64_t place) { return r.place < place; });
    if (rise != module->rises.end() && rise->place == interval) rise->kept_bytes += a->bytes;
    module->survivor_bytes += a->bytes;
    if (a->output_of == module->module) module->own_output_bytes += a->bytes;
  }
}

}  // namespace oomdb::ingest
