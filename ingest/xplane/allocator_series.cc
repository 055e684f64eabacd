#include "ingest/xplane/allocator_series.h"

#include <algorithm>
#include <unordered_map>

namespace oomdb {
namespace {

// How many events of one moment are put in order by their totals: it takes quadratic time.
constexpr size_t kMaxReordered = 64;

bool Follows(const AllocatorEvent& before, const AllocatorEvent& after) {
  return InUseBefore(after) == before.in_use_bytes;
}

// Events of one moment come from several threads; their running totals tell their order.
void OrderMoments(const std::vector<AllocatorEvent>& events, std::vector<int32_t>* order) {
  for (size_t begin = 0; begin < order->size();) {
    size_t end = begin + 1;
    while (end < order->size() &&
           events[(*order)[end]].time_ps == events[(*order)[begin]].time_ps) {
      ++end;
    }
    if (end - begin > 1 && end - begin <= kMaxReordered && begin > 0) {
      for (size_t i = begin; i < end; ++i) {
        const AllocatorEvent& before = events[(*order)[i - 1]];
        for (size_t j = i; j < end; ++j) {
          if (!Follows(before, events[(*order)[j]])) continue;
          std::rotate(order->begin() + i, order->begin() + j, order->begin() + j + 1);
          break;
        }
      }
    }
    begin = end;
  }
}

int64_t Add(int64_t a, int64_t b) { return TimeBase::Saturate(static_cast<__int128>(a) + b); }

}  // namespace

int64_t InUseBefore(const AllocatorEvent& event) {
  return Add(event.in_use_bytes, event.is_allocation ? -event.bytes : event.bytes);
}

std::vector<AllocatorSeries> BuildSeries(const HostTimeline& timeline) {
  const auto& events = timeline.allocator_events;
  std::vector<AllocatorSeries> all(timeline.allocator_names.size());
  for (size_t i = 0; i < events.size(); ++i) {
    all[events[i].allocator].order.push_back(static_cast<int32_t>(i));
  }
  for (AllocatorSeries& series : all) {
    std::stable_sort(series.order.begin(), series.order.end(), [&](int32_t a, int32_t b) {
      return events[a].time_ps < events[b].time_ps;
    });
    OrderMoments(events, &series.order);
    series.before_capture_bytes =
        series.order.empty() ? 0 : std::max<int64_t>(InUseBefore(events[series.order.front()]), 0);
    series.capture_peak_bytes = series.before_capture_bytes;
    for (size_t i = 0; i < series.order.size(); ++i) {
      const AllocatorEvent& event = events[series.order[i]];
      ++(event.is_allocation ? series.allocation_count : series.deallocation_count);
      // Constant per allocator; the largest stands if a recorder disagrees with itself.
      series.capacity_bytes =
          std::max(series.capacity_bytes,
                   Add(Add(event.in_use_bytes, event.available_bytes), event.reserved_bytes));
      series.peak_bytes = std::max(series.peak_bytes, event.peak_bytes);
      series.capture_peak_bytes = std::max(series.capture_peak_bytes, event.in_use_bytes);
      if (i > 0 && !Follows(events[series.order[i - 1]], event)) ++series.reconciliation_breaks;
    }
    series.peak_bytes = std::max(series.peak_bytes, series.capture_peak_bytes);
  }
  return all;
}

std::vector<PairedAllocation> PairAllocations(const HostTimeline& timeline,
                                              std::vector<AllocatorSeries>* series) {
  std::vector<PairedAllocation> all;
  for (size_t a = 0; a < series->size(); ++a) {
    AllocatorSeries& one = (*series)[a];
    std::unordered_map<int64_t, size_t> live;  // By address.
    int64_t unseen_bytes = one.before_capture_bytes;
    for (const int32_t index : one.order) {
      const AllocatorEvent& event = timeline.allocator_events[index];
      const auto found = live.find(event.address);
      if (event.is_allocation) {
        if (found != live.end()) {
          all[found->second].closed_by = index;
          ++one.reconciliation_breaks;
          live.erase(found);
        }
        live.emplace(event.address, all.size());
        all.push_back({static_cast<int32_t>(a), index, -1, -1, event.address, event.bytes,
                       event.requested_bytes});
      } else if (found != live.end()) {
        all[found->second].free_event = index;
        live.erase(found);
      } else {
        unseen_bytes -= event.bytes;
        all.push_back({static_cast<int32_t>(a), -1, index, -1, event.address, event.bytes,
                       event.requested_bytes});
      }
    }
    if (unseen_bytes > 0) {
      all.push_back({static_cast<int32_t>(a), -1, -1, -1, std::nullopt, unseen_bytes, std::nullopt});
    }
  }
  return all;
}

MaybeInt InUseAt(const HostTimeline& timeline, const AllocatorSeries& series, int64_t time_ps) {
  if (series.order.empty()) return std::nullopt;
  const auto after = std::lower_bound(
      series.order.begin(), series.order.end(), time_ps, [&](int32_t event, int64_t time) {
        return timeline.allocator_events[event].time_ps < time;
      });
  if (after == series.order.begin()) return InUseBefore(timeline.allocator_events[*after]);
  return timeline.allocator_events[*(after - 1)].in_use_bytes;
}

MaybeInt PeakWithin(const HostTimeline& timeline, const AllocatorSeries& series, int64_t start_ps,
                    int64_t end_ps) {
  MaybeInt peak = InUseAt(timeline, series, start_ps);
  auto event = std::lower_bound(
      series.order.begin(), series.order.end(), start_ps, [&](int32_t index, int64_t time) {
        return timeline.allocator_events[index].time_ps < time;
      });
  for (; event != series.order.end() && timeline.allocator_events[*event].time_ps <= end_ps; ++event) {
    peak = std::max(*peak, timeline.allocator_events[*event].in_use_bytes);
  }
  return peak;
}

}  // namespace oomdb
