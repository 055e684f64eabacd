// The spans of host threads that are executions, and the calls of compiled functions that launch
// them.
#ifndef OOMDB_INGEST_XPLANE_EXECUTION_SPANS_H_
#define OOMDB_INGEST_XPLANE_EXECUTION_SPANS_H_

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ingest/xplane/executions.h"

namespace oomdb::ingest {

// A call of a compiled function: the outermost of nested PjitFunction spans.
struct FunctionCall {
  std::string module_name;
  LaunchSpan span;
};

class CallIndex {
 public:
  // Add all, then Seal, then Link.
  void Add(FunctionCall call) { calls_.push_back(std::move(call)); }
  void Seal();

  // Gives an execution without a launch, of a worker thread or a device, the latest call of its
  // module that began before it. One that nothing names gets the module too, of the latest call
  // that is still open.
  void Link(ExecutionDraft* e) const;

 private:
  std::deque<FunctionCall> calls_;
  std::vector<const FunctionCall*> by_start_;
  std::map<std::string, std::vector<const FunctionCall*>> by_module_;
};

struct SpanCollection {
  std::vector<ExecutionDraft> executions;
  CallIndex calls;
};

// The outermost execution spans of every thread with what lies in them. Marks their events with the
// index of the execution.
SpanCollection CollectSpans(HostTimeline* timeline, CaptureIssues* issues);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_XPLANE_EXECUTION_SPANS_H_
