#include "ingest/xplane/host_event_emitter.h"

#include <algorithm>
#include <string>

namespace oomdb::ingest {

HostEventEmitter::HostEventEmitter(const Source& source, const TimeBase& base,
                                   const HostTimeline& timeline,
                                   const std::vector<ExecutionDraft>& executions, FactSink& sink)
    : base_(base), timeline_(timeline), sink_(sink), window_(source) {
  of_allocator_event_.resize(timeline.allocator_events.size());
  for (const ExecutionDraft& e : executions) {
    if (e.launch) of_launch_[{e.launch->line, e.launch->ordinal}] = std::nullopt;
  }
}

void HostEventEmitter::Emit(EventSelection selection) {
  int64_t seen = 0;
  for (size_t i = 0; i < timeline_.lines.size(); ++i) {
    seen += timeline_.lines[i].event_count;
    if (selection == EventSelection::kMemory) EmitKept(static_cast<int32_t>(i));
    if (selection == EventSelection::kAll) EmitWhole(static_cast<int32_t>(i));
  }
  if (next_event_ == seen) return;
  sink_.Add(IssueFact{"info", "events_left_out",
                      std::to_string(seen - next_event_) + " of " + std::to_string(seen) +
                          " host events were not stored" +
                          (selection == EventSelection::kMemory
                               ? ": they answer no memory question (--events all keeps every one)"
                               : ""),
                      seen - next_event_});
}

void HostEventEmitter::EmitKept(int32_t line_index) {
  const Index first = next_event_;
  for (const TimelineEvent& event : timeline_.lines[line_index].events) {
    EmitEvent(line_index, event, event.parent < 0 ? std::nullopt : MaybeInt(first + event.parent));
  }
}

void HostEventEmitter::EmitEvent(int32_t line_index, const TimelineEvent& event,
                                 std::optional<Index> parent) {
  const HostLine& line = timeline_.lines[line_index];
  HostEventFact fact;
  fact.thread = line.thread;
  fact.name = line.NameOf(event);
  fact.start_ns = base_.UnixNs(event.start_ps);
  fact.end_ns = base_.UnixNs(event.end_ps);
  fact.parent = parent;
  if (event.execution >= 0) fact.execution = event.execution;
  sink_.Add(fact);
  if (event.allocator_event >= 0) of_allocator_event_[event.allocator_event] = next_event_;
  if (event.role == EventRole::kPjit) {
    const auto launch = of_launch_.find({line_index, event.ordinal});
    if (launch != of_launch_.end()) launch->second = next_event_;
  }
  ++next_event_;
}

// Visits every event of a line in the order of the wire: those of the timeline as they are there,
// the others anew.
template <typename Visit>
void HostEventEmitter::ReadWhole(const HostLine& line, Visit&& visit) {
  std::vector<TimelineEvent> known = line.events;
  std::sort(known.begin(), known.end(),
            [](const TimelineEvent& a, const TimelineEvent& b) { return a.ordinal < b.ordinal; });
  size_t next_known = 0;
  WalkEvents(
      &window_, line.extent, [](int64_t) { return true; },
      [&](const RawEvent& raw) {
        if (next_known < known.size() && known[next_known].ordinal == raw.ordinal) {
          visit(known[next_known++]);
        } else {
          visit(MakeEvent(line, base_, raw));
        }
      });
}

// Recorders write a thread's events by start, so they pass through with a stack of what is open;
// only a line that is not sorted is held in memory.
void HostEventEmitter::EmitWhole(int32_t line_index) {
  const HostLine& line = timeline_.lines[line_index];
  struct Open {
    int64_t end_ps;
    Index number;
    int32_t execution;
  };
  std::vector<Open> open;
  const auto emit = [&](TimelineEvent event) {
    while (!open.empty() && event.end_ps > open.back().end_ps) open.pop_back();
    if (event.execution < 0 && !open.empty()) event.execution = open.back().execution;
    const Index number = next_event_;
    EmitEvent(line_index, event, open.empty() ? std::nullopt : MaybeInt(open.back().number));
    if (event.end_ps > event.start_ps) open.push_back({event.end_ps, number, event.execution});
  };
  const auto earlier = [](const TimelineEvent& a, const TimelineEvent& b) {
    return a.start_ps != b.start_ps ? a.start_ps < b.start_ps : a.end_ps > b.end_ps;
  };
  bool sorted = true;
  TimelineEvent last;
  last.start_ps = INT64_MIN;
  ReadWhole(line, [&](const TimelineEvent& event) {
    sorted = sorted && !earlier(event, last);
    last = event;
  });
  if (sorted) {
    ReadWhole(line, emit);
    return;
  }
  std::vector<TimelineEvent> all;
  ReadWhole(line, [&](const TimelineEvent& event) { all.push_back(event); });
  std::stable_sort(all.begin(), all.end(), earlier);
  for (const TimelineEvent& event : all) emit(event);
}

}  // namespace oomdb::ingest
