#include "ingest/xplane/allocator_series.h"

#include <algorithm>
#include <map>

#include "ingest/xplane/limits.h"

namespace oomdb::ingest {
namespace {

// How many events of one moment are put in order by their totals: it takes quadratic time.
constexpr size_t kMaxReordered = 64;

bool Follows(const AllocatorEvent& before, const AllocatorEvent& after) {
  return InUseBefore(after) == before.in_use_bytes;
}

// The event of a moment that comes first when none is known before: the one whose total none of the
// others leaves.
size_t FirstOfMoment(const std::vector<AllocatorEvent>& events, const std::vector<int32_t>& order,
                     size_t end) {
  for (size_t i = 0; i < end; ++i) {
    const auto precedes = [&](int32_t other) {
      return other != order[i] && Follows(events[other], events[order[i]]);
    };
    if (std::none_of(order.begin(), order.begin() + end, precedes)) return i;
  }
  return 0;
}

// Events of one moment come from several threads; their running totals tell their order.
void OrderMoments(const std::vector<AllocatorEvent>& events, std::vector<int32_t>* order) {
  const auto move_to = [&](size_t to, size_t from) {
    std::rotate(order->begin() + to, order->begin() + from, order->begin() + from + 1);
  };
  for (size_t begin = 0, end; begin < order->size(); begin = end) {
    end = begin + 1;
    while (end < order->size() &&
           events[(*order)[end]].time_ps == events[(*order)[begin]].time_ps) {
      ++end;
    }
    if (end - begin == 1 || end - begin > kMaxReordered) continue;
    if (begin == 0) move_to(0, FirstOfMoment(events, *order, end));
    for (size_t i = std::max<size_t>(begin, 1); i < end; ++i) {
      const AllocatorEvent& before = events[(*order)[i - 1]];
      for (size_t j = i; j < end; ++j) {
        if (!Follows(before, events[(*order)[j]])) continue;
        move_to(i, j);
        break;
      }
    }
  }
}

std::vector<int64_t> PeakTree(const std::vector<AllocatorEvent>& events,
                              const std::vector<int32_t>& order) {
  std::vector<int64_t> tree(2 * order.size());
  for (size_t i = 0; i < order.size(); ++i) tree[order.size() + i] = events[order[i]].in_use_bytes;
  for (size_t i = order.size(); i-- > 1;) tree[i] = std::max(tree[2 * i], tree[2 * i + 1]);
  return tree;
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
    std::stable_sort(series.order.begin(), series.order.end(),
                     [&](int32_t a, int32_t b) { return events[a].time_ps < events[b].time_ps; });
    OrderMoments(events, &series.order);
    series.before_capture_bytes =
        series.order.empty() ? 0 : std::max<int64_t>(InUseBefore(events[series.order.front()]), 0);
    series.capture_peak_bytes = series.before_capture_bytes;
    for (size_t i = 0; i < series.order.size(); ++i) {
      const AllocatorEvent& event = events[series.order[i]];
      ++(event.is_allocation ? series.allocation_count : series.deallocation_count);
      // Constant per allocator; the largest stands if a recorder disagrees with itself. An
      // allocator without a limit says something huge.
      const int64_t capacity =
          Add(Add(event.in_use_bytes, event.available_bytes), event.reserved_bytes);
      if (capacity <= kMaxAllocatorBytes) {
        series.capacity_bytes = std::max(series.capacity_bytes, capacity);
      }
      series.peak_bytes = std::max(series.peak_bytes, event.peak_bytes);
      series.capture_peak_bytes = std::max(series.capture_peak_bytes, event.in_use_bytes);
      if (i > 0 && !Follows(events[series.order[i - 1]], event)) ++series.reconciliation_breaks;
    }
    series.peak_bytes = std::max(series.peak_bytes, series.capture_peak_bytes);
    series.peaks = PeakTree(events, series.order);
  }
  return all;
}

std::vector<PairedAllocation> PairAllocations(const HostTimeline& timeline,
                                              std::vector<AllocatorSeries>* series) {
  std::vector<PairedAllocation> all;
  for (size_t a = 0; a < series->size(); ++a) {
    AllocatorSeries& one = (*series)[a];
    // By address: the live allocation, or kFreed. (A sorted map: a capture chooses its addresses.)
    constexpr size_t kFreed = SIZE_MAX;
    std::map<int64_t, size_t> seen;
    int64_t unseen_bytes = one.before_capture_bytes;
    for (const int32_t index : one.order) {
      const AllocatorEvent& event = timeline.allocator_events[index];
      const auto [found, is_new] = seen.try_emplace(event.address, kFreed);
      size_t& live = found->second;
      if (event.is_allocation) {
        if (live != kFreed) {
          all[live].closed_by = index;
          ++one.reconciliation_breaks;
        }
        live = all.size();
        all.push_back({static_cast<int32_t>(a), index, -1, -1, event.address, event.bytes,
                       event.requested_bytes});
      } else if (live != kFreed) {
        all[live].free_event = index;
        live = kFreed;
      } else {
        // Of the first event at an address it is known that the allocation was there before the
        // capture; of a later one, that its allocation was lost.
        if (is_new) unseen_bytes = Add(unseen_bytes, -event.bytes);
        all.push_back({static_cast<int32_t>(a), -1, index, -1, event.address, event.bytes,
                       event.requested_bytes});
      }
    }
    if (unseen_bytes > 0) {
      all.push_back(
          {static_cast<int32_t>(a), -1, -1, -1, std::nullopt, unseen_bytes, std::nullopt});
    }
  }
  return all;
}

namespace {

// The place in the series of the first event at `time_ps` or later.
size_t FirstFrom(const HostTimeline& timeline, const AllocatorSeries& series, int64_t time_ps) {
  const auto event = std::lower_bound(
      series.order.begin(), series.order.end(), time_ps,
      [&](int32_t index, int64_t time) { return timeline.allocator_events[index].time_ps < time; });
  return static_cast<size_t>(event - series.order.begin());
}

}  // namespace

MaybeInt InUseAt(const HostTimeline& timeline, const AllocatorSeries& series, int64_t time_ps) {
  if (series.order.empty()) return std::nullopt;
  const size_t after = FirstFrom(timeline, series, time_ps);
  if (after == 0) return InUseBefore(timeline.allocator_events[series.order[0]]);
  return timeline.allocator_events[series.order[after - 1]].in_use_bytes;
}

MaybeInt PeakWithin(const HostTimeline& timeline, const AllocatorSeries& series, int64_t start_ps,
                    int64_t end_ps) {
  MaybeInt peak = InUseAt(timeline, series, start_ps);
  // The nodes that cover the leaves between the two, from the leaves up.
  size_t first = FirstFrom(timeline, series, start_ps) + series.order.size();
  size_t end = FirstFrom(timeline, series, end_ps + 1) + series.order.size();
  for (; first < end; first /= 2, end /= 2) {
    if (first % 2 == 1) peak = std::max(*peak, series.peaks[first++]);
    if (end % 2 == 1) peak = std::max(*peak, series.peaks[--end]);
  }
  return peak;
}

}  // namespace oomdb::ingest
