// The executions of a capture: recognised in all event dialects, with their module, device, launch
// and waits.
#ifndef OOMDB_INGEST_XPLANE_EXECUTIONS_H_
#define OOMDB_INGEST_XPLANE_EXECUTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/xplane/host_timeline.h"
#include "ingest/xplane/module_index.h"

namespace oomdb::ingest {

enum class DeviceKind : uint8_t { kCpu, kGpu, kTpu };
std::string_view ToString(DeviceKind kind);

// The span of a call that launched something: its place (which survives sorting) and its time.
struct LaunchSpan {
  int32_t line = -1;     // In HostTimeline::lines.
  int64_t ordinal = -1;  // TimelineEvent::ordinal.
  int64_t start_ps = 0;
  int64_t end_ps = 0;
};

// An execution as it is being found out; what it becomes is an ExecutionFact.
struct ExecutionDraft {
  DeviceKind kind = DeviceKind::kGpu;
  int64_t device_ordinal = -1;
  int32_t span = -1;  // TimelineEvent::execution of its events while executions are found; -1 for
                      // CPU and TPU runs.
  int32_t line = -1;  // Of its span; -1 for CPU and TPU runs.
  int64_t start_ps = 0;
  int64_t end_ps = 0;
  std::string module_name;
  int32_t module = -1;         // In the ModuleIndex.
  MaybeInt program_id;         // For certain.
  MaybeInt likely_program_id;  // By the kernels that ran next.
  std::optional<bool> launched;
  std::optional<LaunchSpan> launch;    // The outermost Pjit span that launched it.
  Client client = Client::kUnknown;    // Of the events in and around it.
  std::vector<int32_t> memory_events;  // Within it, by time: HostTimeline::allocator_events.
  std::vector<std::pair<int64_t, int64_t>> allocating_spans;
  int64_t retry_ps = 0;
  int64_t retry_count = 0;
  int64_t prepare_count = 0;
  int64_t longest_quiet_ps = 0;  // In its allocating spans.
  int64_t output_bytes = 0;      // Given for outputs and temps of its plan.
  int64_t temp_bytes = 0;
  int64_t sequence = 0;
  MaybeInt failed_allocation_index;
};

// The execution that an allocation event is of, and the plan allocation that it is, inferred by
// size.
struct AllocationMatch {
  int32_t execution = -1;
  const PlanAllocation* allocation = nullptr;  // Null: none of the plan's.
};

struct Executions {
  std::vector<ExecutionDraft> all;       // By start, then device.
  std::vector<AllocationMatch> matches;  // One per HostTimeline::allocator_events.
};

struct ExecutionOptions {
  bool truncated = false;  // Then nothing is known to have failed.
};

// Finds the executions. Marks the events of the timeline with the execution they belong to; adds
// modules that are only executed.
Executions FindExecutions(const Source& source, SpaceIndex* space, const TimeBase& base,
                          const ExecutionOptions& options, HostTimeline* timeline,
                          ModuleIndex* modules);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_XPLANE_EXECUTIONS_H_
