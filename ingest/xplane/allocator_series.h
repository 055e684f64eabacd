// The allocators of a capture: their events in the order of time, paired into allocations.
#ifndef OOMDB_INGEST_XPLANE_ALLOCATOR_SERIES_H_
#define OOMDB_INGEST_XPLANE_ALLOCATOR_SERIES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ingest/base/facts.h"
#include "ingest/xplane/host_timeline.h"

namespace oomdb::ingest {

// One allocation of an allocator, by the events that made and freed it.
struct PairedAllocation {
  int32_t allocator = 0;
  int32_t alloc_event = -1;  // In HostTimeline::allocator_events; -1: live before the capture.
  int32_t free_event = -1;   // -1: live at its end, or closed by `closed_by`.
  int32_t closed_by = -1;    // The allocation event that took over its address: its free was lost.
  MaybeInt address;          // Unknown for what no event names.
  int64_t bytes = 0;
  MaybeInt requested_bytes;
};

struct AllocatorSeries {
  // Indices into HostTimeline::allocator_events, by absolute time. Events of one moment stand in
  // the order in which their running totals fit, else in that of the wire.
  std::vector<int32_t> order;
  int64_t capacity_bytes = 0;  // In use + available + reserved.
  int64_t peak_bytes = 0;      // The largest peak-in-use stat.
  int64_t capture_peak_bytes = 0;
  int64_t before_capture_bytes = 0;
  int64_t allocation_count = 0;
  int64_t deallocation_count = 0;
  int64_t reconciliation_breaks = 0;
  // A binary tree of the most in use, for PeakWithin: the leaves are its second half, one per event
  // of `order`; a node holds the larger of its children, 2 i and 2 i + 1.
  std::vector<int64_t> peaks;
};

// In use before the event: what it says, undone.
int64_t InUseBefore(const AllocatorEvent& event);

// One series per HostTimeline::allocator_names.
std::vector<AllocatorSeries> BuildSeries(const HostTimeline& timeline);

// All allocations, by allocator, then by the time of their first event; what was in use before the
// capture and is never seen in an event comes last, as one allocation without an address. Adds to
// `reconciliation_breaks` what takes a live address.
std::vector<PairedAllocation> PairAllocations(const HostTimeline& timeline,
                                              std::vector<AllocatorSeries>* series);

// The in-use just before a time: of the last event before it, else of the first after it undone.
// nullopt without events.
MaybeInt InUseAt(const HostTimeline& timeline, const AllocatorSeries& series, int64_t time_ps);

// The most in use from `start_ps` to `end_ps`.
MaybeInt PeakWithin(const HostTimeline& timeline, const AllocatorSeries& series, int64_t start_ps,
                    int64_t end_ps);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_XPLANE_ALLOCATOR_SERIES_H_
