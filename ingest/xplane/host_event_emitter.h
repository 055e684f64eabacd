// Hands the host events of a capture to the sink, and remembers their numbers for the facts that
// refer to them.
#ifndef OOMDB_INGEST_XPLANE_HOST_EVENT_EMITTER_H_
#define OOMDB_INGEST_XPLANE_HOST_EVENT_EMITTER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ingest/base/importer.h"
#include "ingest/xplane/executions.h"

namespace oomdb::ingest {

class HostEventEmitter {
 public:
  HostEventEmitter(const Source& source, const TimeBase& base, const HostTimeline& timeline,
                   const std::vector<ExecutionDraft>& executions, FactSink& sink);

  // The selected events, thread by thread. What was left out is an issue.
  void Emit(EventSelection selection);

  // Where an event stands among the host events; nullopt when it wasn't stored. After Emit.
  std::optional<Index> NumberOfAllocatorEvent(int32_t event) const {
    return of_allocator_event_[event];
  }
  std::optional<Index> NumberOfLaunch(const LaunchSpan& launch) const {
    return of_launch_.at({launch.line, launch.ordinal});
  }

 private:
  void EmitKept(int32_t line_index);
  void EmitWhole(int32_t line_index);
  template <typename Visit>
  void ReadWhole(const HostLine& line, Visit&& visit);
  void EmitEvent(int32_t line_index, const TimelineEvent& event, std::optional<Index> parent);

  const TimeBase& base_;
  const HostTimeline& timeline_;
  FactSink& sink_;
  Window window_;
  Index next_event_ = 0;
  std::vector<std::optional<Index>> of_allocator_event_;
  std::map<std::pair<int32_t, int64_t>, std::optional<Index>> of_launch_;  // By line and ordinal.
};

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_XPLANE_HOST_EVENT_EMITTER_H_
