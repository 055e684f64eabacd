#include "cli/page/heap_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace oomdb::cli::page {
namespace {

constexpr size_t kMaxKept = 24;           // Layers of kept outputs; more are put together.
constexpr size_t kMinKept = 3;            // Executions that keep outputs, to tell them apart.
constexpr size_t kHeapLayersShades = 10;  // f-kept-0 (oldest) to f-kept-9.

// The executions whose outputs are live at the end, in the order in which they made them.
std::vector<int64_t> Keepers(const Heap& heap) {
  std::vector<int64_t> keepers;
  for (const HeapAllocation& a : heap.allocations) {
    if (a.purpose != "output" || !a.execution_id || a.to_ns) continue;
    if (std::find(keepers.begin(), keepers.end(), *a.execution_id) == keepers.end())
      keepers.push_back(*a.execution_id);
  }
  if (keepers.size() < kMinKept) keepers.clear();
  return keepers;
}

class Layering {
 public:
  explicit Layering(const Heap& heap) : heap_(heap) {}

  HeapLayers Make(std::vector<int64_t> extra) {
    Moments(std::move(extra));
    Layers();
    Sum();
    return std::move(result_);
  }

 private:
  void Moments(std::vector<int64_t> moments) {
    for (const HeapAllocation& a : heap_.allocations) {
      if (a.from_ns) moments.push_back(*a.from_ns);
      if (a.to_ns) moments.push_back(*a.to_ns);
    }
    std::sort(moments.begin(), moments.end());
    moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
    moments.insert(moments.begin(), moments.front() - 1);
    result_.moments = std::move(moments);
  }

  void Layers() {
    const std::vector<int64_t> keepers = Keepers(heap_);
    std::map<int64_t, size_t> place;
    for (size_t i = 0; i < keepers.size(); ++i) place.emplace(keepers[i], i);
    const size_t each = keepers.empty() ? 1 : (keepers.size() + kMaxKept - 1) / kMaxKept;
    const size_t kept = (keepers.size() + each - 1) / each;
    result_.layers.push_back({"f-before", "before the capture", {}});
    for (size_t k = 0; k < kept; ++k) {
      const size_t shade = kept == 1 ? 0 : k * (kHeapLayersShades - 1) / (kept - 1);
      result_.layers.push_back({fmt::format("f-kept-{}", shade), "", {}});
    }
    const size_t outputs = result_.layers.size();
    result_.layers.push_back({"f-output", keepers.empty() ? "outputs" : "other outputs", {}});
    result_.layers.push_back({"f-transfer", "transfers and other", {}});
    result_.layers.push_back({"f-temp", "temps", {}});
    for (const HeapAllocation& a : heap_.allocations) {
      size_t layer = outputs + 1;
      if (!a.from_ns) {
        layer = 0;
      } else if (a.purpose == "temp") {
        layer = outputs + 2;
      } else if (a.purpose == "output") {
        const auto keeper = a.execution_id ? place.find(*a.execution_id) : place.end();
        layer = keeper == place.end() ? outputs : 1 + keeper->second / each;
        HeapLayer& l = result_.layers[layer];
        if (layer != outputs && l.name != a.origin) {
          l.name = l.name.empty() ? a.origin : fmt::format("outputs of {} executions", each);
        }
      }
      result_.layer_of.push_back(layer);
    }
  }

  size_t MomentOf(int64_t time) const {
    return static_cast<size_t>(
        std::lower_bound(result_.moments.begin(), result_.moments.end(), time) -
        result_.moments.begin());
  }

  void Sum() {
    const size_t n = result_.moments.size();
    for (HeapLayer& layer : result_.layers) layer.bytes.assign(n, 0);
    for (size_t i = 0; i < heap_.allocations.size(); ++i) {
      const HeapAllocation& a = heap_.allocations[i];
      std::vector<int64_t>& bytes = result_.layers[result_.layer_of[i]].bytes;
      bytes[a.from_ns ? MomentOf(*a.from_ns) : 0] += a.bytes;
      if (a.to_ns) bytes[MomentOf(*a.to_ns)] -= a.bytes;
    }
    result_.total.assign(n, 0);
    for (HeapLayer& layer : result_.layers) {
      for (size_t i = 0; i < n; ++i) {
        if (i > 0) layer.bytes[i] += layer.bytes[i - 1];
        result_.total[i] += layer.bytes[i];
      }
    }
  }

  const Heap& heap_;
  HeapLayers result_;
};

}  // namespace

HeapLayers LayersOf(const Heap& heap, std::vector<int64_t> extra) {
  return Layering(heap).Make(std::move(extra));
}

}  // namespace oomdb::cli::page
