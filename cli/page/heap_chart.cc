#include "cli/page/heap_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "render/scale.h"
#include "render/units.h"

namespace oomdb::cli::page {
namespace {

constexpr size_t kHeapChartBuckets = 300;    // Of each, four points at most.
constexpr size_t kHeapChartMaxStarts = 400;  // More are drawn where they matter.

std::vector<int64_t> ExtraMoments(const Heap& heap) {
  std::vector<int64_t> moments;
  for (const HeapExecution& e : heap.executions) {
    moments.push_back(e.start_ns);
    if (e.failed && e.end_ns > e.start_ns) moments.push_back(e.end_ns);
  }
  return moments;
}

class Charting {
 public:
  explicit Charting(const Heap& heap)
      : heap_(heap), made_(Made(LayersOf(heap, ExtraMoments(heap)))) {}

  HeapChart Prepare() {
    made_.failed = Failed();
    const size_t first = First();
    std::vector<double> places;
    for (const int64_t moment : made_.layers.moments) places.push_back(made_.axis.Place(moment));
    places.front() = 0;
    std::vector<size_t> keep{first};
    if (heap_.executions.size() <= kHeapChartMaxStarts) {
      for (const HeapExecution& e : heap_.executions) keep.push_back(MomentOf(e.start_ns));
    }
    const std::vector<size_t> drawn =
        render::PointsToDraw(places, made_.layers.total, kHeapChartBuckets, keep);
    for (const HeapLayer& layer : made_.layers.layers) made_.drawn.push_back({layer.css, {}});
    made_.chart.id = "heap";
    made_.chart.name = "Time";
    const int64_t origin = made_.layers.moments.front();
    for (const size_t i : drawn) {
      if (i == first) made_.chart.first = made_.chart.at.size();
      made_.chart.at.push_back(made_.layers.moments[i] - origin);
      made_.chart.places.push_back(places[i]);
      made_.chart.total.push_back(made_.layers.total[i]);
      made_.chart.say.push_back(Say(made_.layers.moments[i], i == 0));
      for (size_t l = 0; l < made_.drawn.size(); ++l)
        made_.drawn[l].bytes.push_back(made_.layers.layers[l].bytes[i]);
    }
    const int64_t end = made_.layers.moments.back() - origin + 1;
    std::map<Chart::Group, size_t> groups;
    for (size_t i = 0; i < heap_.allocations.size(); ++i) {
      const HeapAllocation& a = heap_.allocations[i];
      const HeapLayer& layer = made_.layers.layers[made_.layers.layer_of[i]];
      std::string name = a.origin.empty() ? layer.name : a.origin;
      if (a.from_ns && !a.to_ns) name += " (kept)";
      Chart::Group group{layer.css, std::move(name), ""};
      const auto [entry, added] = groups.emplace(group, made_.chart.groups.size());
      if (added) made_.chart.groups.push_back(std::move(group));
      made_.chart.live.push_back({a.bytes, a.from_ns ? *a.from_ns - origin : 0,
                                  a.to_ns ? *a.to_ns - origin : end, entry->second});
    }
    KeepLargest(&made_.chart);
    return std::move(made_);
  }

 private:
  static HeapChart Made(HeapLayers layers) {
    TimeAxis axis(layers.moments);
    return {std::move(layers), std::move(axis), {}, {}, nullptr};
  }

  const HeapExecution* Failed() const {
    if (!heap_.failure) return nullptr;
    for (const HeapExecution& e : heap_.executions) {
      if (e.execution_id == heap_.failure->execution_id) return &e;
    }
    return nullptr;
  }

  // The moment that is listed first: when the failed execution held most, else the highest of all.
  size_t First() const {
    size_t begin = 0, end = made_.layers.moments.size();
    if (const HeapExecution* const failed = made_.failed) {
      begin = MomentOf(failed->start_ns);
      end = std::max(begin + 1, MomentOf(failed->end_ns));
    }
    const auto from = made_.layers.total.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto to = made_.layers.total.begin() + static_cast<std::ptrdiff_t>(end);
    return static_cast<size_t>(std::max_element(from, to) - made_.layers.total.begin());
  }

  size_t MomentOf(int64_t time) const {
    return static_cast<size_t>(
        std::lower_bound(made_.layers.moments.begin(), made_.layers.moments.end(), time) -
        made_.layers.moments.begin());
  }

  std::string Say(int64_t moment, bool before) const {
    if (before) return "before the first event";
    const HeapExecution* in = nullptr;
    for (const HeapExecution& e : heap_.executions) {
      if (e.start_ns <= moment) in = &e;
    }
    const std::string at =
        "after " + render::HumanNanoseconds(moment - made_.layers.moments.front() - 1);
    if (in == nullptr) return at;
    return fmt::format("{}, {} execution {}{}", at, moment <= in->end_ns ? "in" : "since",
                       in->sequence, in->failed ? ", which failed" : "");
  }

  const Heap& heap_;
  HeapChart made_;
};

}  // namespace

HeapChart ChartOf(const Heap& heap) { return Charting(heap).Prepare(); }

}  // namespace oomdb::cli::page
