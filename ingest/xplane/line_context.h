// The second walk of a host line: what surrounds the events that were kept, and where its thread
// was quiet.
#ifndef OOMDB_INGEST_XPLANE_LINE_CONTEXT_H_
#define OOMDB_INGEST_XPLANE_LINE_CONTEXT_H_

#include <cstdint>
#include <vector>

#include "ingest/xplane/executions.h"
#include "ingest/xplane/gap_calls.h"
#include "ingest/xplane/host_timeline.h"

namespace oomdb::ingest {

// What the second walk of a line is to add. Start and end of the spans: ps.
struct LineContext {
  // Keep every event that encloses one of these (times of allocations, executions, transfers...),
  // sorted.
  std::vector<int64_t> points_ps;
  // Keep what starts in these, when there is too much the latest, container calls and the latest
  // of each name; sorted, disjoint.
  Spans windows;
  // Count what is called between these.
  LineLaunches launches;
  // For these spans, find the longest stretch in which the thread recorded nothing; sorted,
  // disjoint.
  Spans quiet_spans;

  bool empty() const {
    return points_ps.empty() && windows.empty() && launches.modules.empty() && quiet_spans.empty();
  }
};

// One a line of the timeline: the Python frames around what matters, the gap between the last two
// executions of each module on the thread that launched them, and the spans of executions that may
// have waited for memory, which are those that lasted `wait_min_ns`.
std::vector<LineContext> PlanContexts(const HostTimeline& timeline,
                                      const std::vector<ExecutionDraft>& executions,
                                      int64_t wait_min_ns);

// Adds the events of the context to the line, nested, and the calls between launches to the
// timeline. Returns for each quiet span the longest stretch, ps.
std::vector<int64_t> AddContext(Window* window, const TimeBase& base, const LineContext& context,
                                int32_t line_index, HostTimeline* timeline, CaptureIssues* issues);

// PlanContexts and AddContext for every line; the executions learn how long they were quiet.
void AddAllContexts(const Source& source, const TimeBase& base, int64_t wait_min_ns,
                    HostTimeline* timeline, std::vector<ExecutionDraft>* executions,
                    CaptureIssues* issues);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_XPLANE_LINE_CONTEXT_H_
