#include "ingest/plan/whatif/state.h"

#include <algorithm>
#include <utility>

namespace oomdb::ingest {

PlanState StateOf(const PlanModel& model) {
  PlanState state;
  state.pieces.reserve(model.groups().size());
  for (size_t g = 0; g < model.groups().size(); ++g) {
    const HeapGroup& group = model.groups()[g];
    state.pieces.push_back({group.bytes, group.intervals, static_cast<int32_t>(g), -1, {}});
  }
  state.need = model.need();
  state.need.temp_bytes = model.rest_bytes();
  return state;
}

MemoryNeed NeedOf(const PlanModel& model, const PlanState& state, bool least) {
  // Moments become ranks, so that the distance between two is the number of events between them.
  // The trace's own events count even where nothing begins or ends: the compiler counted them.
  std::vector<Moment> moments = model.trace_moments();
  for (const HeapPiece& piece : state.pieces) {
    if (piece.group >= 0 && piece.intervals == model.groups()[piece.group].intervals) {
      continue;
    }
    for (const HeapInterval& at : piece.intervals) {
      moments.push_back(at.begin);
      moments.push_back(at.end);
    }
  }
  std::sort(moments.begin(), moments.end());
  moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
  auto rank = [&](Moment moment) {
    return std::lower_bound(moments.begin(), moments.end(), moment) - moments.begin();
  };
  std::vector<std::vector<HeapInterval>> intervals;
  std::vector<PackItem> items;
  intervals.reserve(state.pieces.size());
  items.reserve(state.pieces.size());
  for (const HeapPiece& piece : state.pieces) {
    if (piece.bytes <= 0) continue;
    std::vector<HeapInterval> ranked;
    for (const HeapInterval& at : piece.intervals) {
      if (at.end > at.begin) ranked.push_back({rank(at.begin), rank(at.end)});
    }
    if (ranked.empty()) continue;
    intervals.push_back(std::move(ranked));
    items.push_back({piece.bytes, intervals.back()});
  }
  const HeapRules& rules = model.heap_rules();
  int64_t heap = Pack(rules.order, items, rules.alignment);
  if (least && rules.order == HeapOrder::kTime) {
    heap = std::min(heap, PackGlobally(items, rules.alignment));
  }
  MemoryNeed need = state.need;
  need.temp_bytes += heap;
  return need;
}

namespace {

std::vector<PackItem> ItemsOfState(const PlanState& state) {
  std::vector<PackItem> items;
  items.reserve(state.pieces.size());
  for (const HeapPiece& piece : state.pieces) items.push_back({piece.bytes, piece.intervals});
  return items;
}

}  // namespace

std::vector<const HeapPiece*> PiecesAtPeak(const PlanModel&, const PlanState& state) {
  const LivePeak peak = PeakOf(ItemsOfState(state));
  std::vector<const HeapPiece*> live;
  for (const HeapPiece& piece : state.pieces) {
    for (const HeapInterval& at : piece.intervals) {
      if (at.begin > peak.moment || peak.moment >= at.end) continue;
      live.push_back(&piece);
      break;
    }
  }
  std::stable_sort(live.begin(), live.end(),
                   [](const HeapPiece* a, const HeapPiece* b) { return a->bytes > b->bytes; });
  return live;
}

std::vector<int64_t> LiveCurveOf(const PlanModel& model, const PlanState& state, size_t count) {
  std::vector<std::pair<Moment, int64_t>> changes;
  for (const HeapPiece& piece : state.pieces) {
    for (const HeapInterval& at : piece.intervals) {
      changes.emplace_back(at.begin, piece.bytes);
      changes.emplace_back(at.end, -piece.bytes);
    }
  }
  // What ends goes before what begins.
  std::sort(changes.begin(), changes.end());
  std::vector<int64_t> curve(count, 0);
  const Moment length = BeginOf(model.last_position() + 1);
  int64_t live = 0;
  size_t next = 0;
  for (size_t part = 0; part < count; ++part) {
    const Moment end = static_cast<Moment>(
        static_cast<double>(length) * static_cast<double>(part + 1) / static_cast<double>(count));
    curve[part] = live;
    for (; next < changes.size() && (changes[next].first < end || part + 1 == count); ++next) {
      live += changes[next].second;
      curve[part] = std::max(curve[part], live);
    }
  }
  return curve;
}

}  // namespace oomdb::ingest
