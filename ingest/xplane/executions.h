// The executions of a capture: recognised in all event dialects, with their module, device, launch and waits.
#ifndef OOMDB_INGEST_XPLANE_EXECUTIONS_H_
#define OOMDB_INGEST_XPLANE_EXECUTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ingest/xplane/allocator_series.h"
#include "ingest/xplane/host_timeline.h"
#include "ingest/xplane/module_index.h"

namespace oomdb {

enum class DeviceKind : uint8_t { kCpu, kGpu, kTpu };
std::string_view ToString(DeviceKind kind);

// A place of an event: its line, and its ordinal there (which survives sorting).
struct EventPlace {
  int32_t line = -1;
  int64_t ordinal = -1;
};

struct Execution {
  DeviceKind kind = DeviceKind::kGpu;
  int64_t device_ordinal = -1;
  int32_t line = -1;  // Of its span; -1 for CPU and TPU runs.
  int64_t start_ps = 0;
  int64_t end_ps = 0;
  std::string module_name;
  int32_t module = -1;  // In the ModuleIndex.
  MaybeInt program_id;
  std::optional<bool> launched;
  std::optional<EventPlace> launch;  // The outermost Pjit span that launched it.
  bool span_mentions_gpu = false;    // Something in it is of the stream executor or a device allocator.
  std::vector<int32_t> allocations;  // Allocation events within it, by time: HostTimeline::allocator_events.
  std::vector<std::pair<int64_t, int64_t>> allocating_spans;
  int64_t retry_ps = 0;
  int64_t retry_count = 0;
  int64_t prepare_count = 0;
  int64_t longest_quiet_ps = 0;  // In its allocating spans.
  int64_t sequence = 0;
  MaybeInt failed_allocation_index;
};

// The plan allocation that an allocation event is, inferred by size.
struct Match {
  int32_t execution = -1;
  const PlanAllocation* allocation = nullptr;  // Null: none of the plan's.
};

struct Executions {
  std::vector<Execution> all;  // By start, then device.
  std::vector<Match> matches;  // One per HostTimeline::allocator_events.
};

struct ExecutionOptions {
  bool truncated = false;  // Then nothing is known to have failed.
};

// Finds the executions. Marks the events of the timeline with the execution they belong to; adds modules that are only
// executed.
Executions FindExecutions(const Source& source, const SpaceIndex& space, const TimeBase& base,
                          const ExecutionOptions& options, HostTimeline* timeline, ModuleIndex* modules);

}  // namespace oomdb

#endif  // OOMDB_INGEST_XPLANE_EXECUTIONS_H_
