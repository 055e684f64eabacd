// The host threads of a capture: the events a memory question needs, nested, and the CPU runs.
#ifndef OOMDB_INGEST_XPLANE_HOST_TIMELINE_H_
#define OOMDB_INGEST_XPLANE_HOST_TIMELINE_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ingest/xplane/line_walk.h"
#include "ingest/xplane/space_index.h"

namespace oomdb::ingest {

// An event that was kept. Times are picoseconds from the capture's TimeBase.
struct TimelineEvent {
  int64_t ordinal = 0;      // Its place in its line on the wire.
  int64_t metadata_id = 0;  // Its name, in the line's plane.
  int64_t start_ps = 0;
  int64_t end_ps = 0;
  EventRole role = EventRole::kUnknown;
  int32_t allocator_event = -1;  // In HostTimeline::allocator_events.
  int32_t stat_module = -1;      // Of a module_name stat: in HostTimeline::module_names.
  int32_t parent = -1;           // The innermost kept event of the line that encloses it.
  int32_t execution = -1;        // The execution it belongs to (executions.h).
};

// A MemoryAllocation or MemoryDeallocation event and the allocator's state after it.
struct AllocatorEvent {
  int32_t allocator = 0;  // In HostTimeline::allocator_names.
  int32_t line = 0;
  int32_t event = 0;  // In the line's events.
  bool is_allocation = false;
  int64_t time_ps = 0;
  int64_t in_use_bytes = 0;
  int64_t available_bytes = 0;
  int64_t reserved_bytes = 0;
  int64_t peak_bytes = 0;
  int64_t requested_bytes = 0;
  int64_t bytes = 0;  // As given: rounded up.
  int64_t address = 0;
  double fragmentation = 0;
};

struct AllocatorName {
  std::string name;
  AllocatorDevice device;
};

struct HostLine {
  const PlaneIndex* plane = nullptr;
  Extent extent;
  LineHead head;
  std::string thread;  // Unique within the capture.
  int64_t event_count = 0;
  std::vector<TimelineEvent> events;  // By start, enclosing before enclosed.

  const std::string& NameOf(const TimelineEvent& event) const {
    return plane->events.at(event.metadata_id).name;
  }
  const EventMeaning& MeaningOf(const TimelineEvent& event) const {
    return plane->events.at(event.metadata_id).meaning;
  }
};

// A run of a CPU executable on a device: all events with its run id.
struct CpuRun {
  int64_t start_ps = 0;
  int64_t end_ps = 0;
  std::string module_name;  // Empty: no event named one, so it is not an execution.
  MaybeInt program_id;
};

// A call that a thread made between the executions of a module that it launched (gap_calls.h).
struct GapCall {
  int32_t module = -1;  // In the ModuleIndex.
  int32_t line = -1;    // In HostTimeline::lines.
  int64_t name = 0;     // What was called: a metadata id of the line's plane.
  // Of a name without a file: the call with one that encloses it, else the nearest; -1: none.
  int64_t caller = -1;
  int64_t gaps = 0;      // Gaps between two executions in which it was called.
  int64_t all_gaps = 0;  // Gaps that there are.
  int64_t calls = 0;
  int64_t depth = 0;      // Calls of the same gap that enclose it, at least.
  bool encloses = false;  // It always lasts into the next launch.
  int64_t last_start_ps = 0;
};

struct HostTimeline {
  std::vector<HostLine> lines;
  std::vector<GapCall> gap_calls;
  std::vector<AllocatorName> allocator_names;
  std::vector<AllocatorEvent> allocator_events;  // In line order.
  std::vector<std::string> module_names;
  std::map<std::pair<int64_t, int64_t>, CpuRun> cpu_runs;  // By (device ordinal, run id).
};

// The start of all times: the earliest line. Where lines count from the start of the profile, its
// Unix time is taken from the environment plane.
TimeBase FindTimeBase(const Source& source, const SpaceIndex& space);

// Walks every host line once and keeps what event_vocabulary.h knows.
HostTimeline ReadHostTimeline(const Source& source, const SpaceIndex& space, const TimeBase& base,
                              CaptureIssues* issues);

// Whether the first walk keeps events of this role.
bool IsKept(EventRole role);

// An event of a line, with all that its own message says.
TimelineEvent MakeEvent(const HostLine& line, const TimeBase& base, const RawEvent& raw);

// Sorts the line's events, sets their parents, and lets what lies in an execution inherit it.
void Nest(int32_t line_index, HostTimeline* timeline);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_XPLANE_HOST_TIMELINE_H_
