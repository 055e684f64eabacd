#include "ingest/xplane/execution_spans.h"

#include <algorithm>
#include <span>

namespace oomdb::ingest {
namespace {

// What the spans around an event say, innermost first.
struct Around {
  int32_t outermost_call = -1;
  int32_t nearest_call = -1;
  int32_t nearest_named = -1;   // CommonPjRtLoadedExecutable::Execute (jit_f)
  int32_t nearest_device = -1;  // A "[N] " prefix.
  Client client = Client::kUnknown;
};

class LineCollector {
 public:
  LineCollector(int32_t line_index, HostTimeline* timeline, SpanCollection* spans,
                CaptureIssues* issues)
      : line_index_(line_index),
        timeline_(*timeline),
        line_(timeline->lines[line_index]),
        spans_(*spans),
        issues_(*issues) {}

  void Run() {
    around_.resize(line_.events.size());  // Of each event, itself included: parents come first.
    for (size_t i = 0; i < line_.events.size(); ++i) {
      TimelineEvent& event = line_.events[i];
      event.execution = event.parent < 0 ? -1 : line_.events[event.parent].execution;
      if (event.parent >= 0) around_[i] = around_[event.parent];
      if (event.role == EventRole::kExecute && event.execution < 0)
        event.execution = BeginSpan(event, around_[i]);
      if (event.execution >= 0) AddToSpan(event, &spans_.executions[event.execution]);
      Enter(static_cast<int32_t>(i), &around_[i]);
    }
  }

 private:
  void Enter(int32_t index, Around* around) {
    const TimelineEvent& event = line_.events[index];
    const EventMeaning& meaning = line_.MeaningOf(event);
    if (event.role == EventRole::kPjit) {
      if (around->outermost_call < 0) {
        around->outermost_call = index;
        spans_.calls.Add({meaning.module_name, SpanOf(index)});
      }
      around->nearest_call = index;
    }
    if (event.role == EventRole::kExecuteNamed) around->nearest_named = index;
    if (meaning.device_ordinal >= 0) around->nearest_device = index;
    Learn(meaning.client, &around->client);
  }

  // A host program may stand around or in an execution on a GPU, but hardly the other way.
  static void Learn(Client client, Client* known) {
    if (client != Client::kUnknown && *known != Client::kGpu) *known = client;
  }

  LaunchSpan SpanOf(int32_t index) const {
    const TimelineEvent& event = line_.events[index];
    return {line_index_, event.ordinal, event.start_ps, event.end_ps};
  }
  const EventMeaning& MeaningAt(int32_t index) const {
    return line_.MeaningOf(line_.events[index]);
  }

  int32_t BeginSpan(const TimelineEvent& span, const Around& around) {
    if (spans_.executions.size() == kMaxExecutions) {
      issues_.Add("error", "too_many_executions",
                  "more executions than can be kept; the rest is left out");
      return -1;
    }
    ExecutionDraft e;
    e.span = static_cast<int32_t>(spans_.executions.size());
    e.line = line_index_;
    e.start_ps = span.start_ps;
    e.end_ps = span.end_ps;
    e.client = around.client;
    if (around.nearest_device >= 0)
      e.device_ordinal = MeaningAt(around.nearest_device).device_ordinal;
    // The client's own word, else the Python call's.
    const int32_t named = around.nearest_named >= 0 ? around.nearest_named : around.nearest_call;
    if (named >= 0) e.module_name = MeaningAt(named).module_name;
    if (around.outermost_call >= 0) e.launch = SpanOf(around.outermost_call);
    spans_.executions.push_back(std::move(e));
    return spans_.executions.back().span;
  }

  void AddToSpan(const TimelineEvent& event, ExecutionDraft* e) const {
    const EventMeaning& meaning = line_.MeaningOf(event);
    if (meaning.device_ordinal >= 0) e->device_ordinal = meaning.device_ordinal;
    Learn(meaning.client, &e->client);
    switch (event.role) {
      case EventRole::kLaunch:
        e->launched = true;
        // Its own word beats what encloses it.
        if (event.stat_module >= 0) {
          e->module_name = timeline_.module_names[event.stat_module];
        } else if (!meaning.module_name.empty()) {
          e->module_name = meaning.module_name;
        }
        break;
      case EventRole::kExecuteNamed:
        e->module_name = meaning.module_name;
        break;
      case EventRole::kAllocation: {
        const AllocatorEvent& fact = timeline_.allocator_events[event.allocator_event];
        const AllocatorDevice& device = timeline_.allocator_names[fact.allocator].device;
        if (device.kind == "gpu") {
          e->client = Client::kGpu;
          if (e->device_ordinal < 0) e->device_ordinal = device.ordinal;
        }
        e->memory_events.push_back(event.allocator_event);
        break;
      }
      case EventRole::kDeallocation:
        e->memory_events.push_back(event.allocator_event);
        break;
      case EventRole::kPrepare:
        ++e->prepare_count;
        [[fallthrough]];
      case EventRole::kAllocating:
        // Nested ones lie in the first.
        if (e->allocating_spans.empty() || e->allocating_spans.back().second <= event.start_ps) {
          e->allocating_spans.emplace_back(event.start_ps, event.end_ps);
        }
        break;
      case EventRole::kRetry:
        e->retry_ps =
            TimeBase::Saturate(static_cast<__int128>(e->retry_ps) + event.end_ps - event.start_ps);
        ++e->retry_count;
        break;
      default:
        break;
    }
  }

  const int32_t line_index_;
  HostTimeline& timeline_;
  HostLine& line_;
  SpanCollection& spans_;
  CaptureIssues& issues_;
  std::vector<Around> around_;
};

bool Earlier(const FunctionCall* a, const FunctionCall* b) {
  return a->span.start_ps < b->span.start_ps;
}

// The calls from the latest that began by `time` back, at most `count`.
std::span<const FunctionCall* const> Before(const std::vector<const FunctionCall*>& calls,
                                            int64_t time, size_t count) {
  const auto after =
      std::upper_bound(calls.begin(), calls.end(), time,
                       [](int64_t t, const FunctionCall* c) { return t < c->span.start_ps; });
  const auto found = static_cast<size_t>(after - calls.begin());
  count = std::min(count, found);
  return {calls.data() + found - count, count};
}

}  // namespace

void CallIndex::Seal() {
  for (const FunctionCall& call : calls_) {
    by_start_.push_back(&call);
    by_module_[call.module_name].push_back(&call);
  }
  std::stable_sort(by_start_.begin(), by_start_.end(), Earlier);
  for (auto& [name, calls] : by_module_) std::stable_sort(calls.begin(), calls.end(), Earlier);
}

void CallIndex::Link(ExecutionDraft* e) const {
  if (e->launch) return;
  if (!e->module_name.empty()) {
    const auto named = by_module_.find(e->module_name);
    if (named == by_module_.end()) return;
    for (const FunctionCall* call : Before(named->second, e->start_ps, 1)) e->launch = call->span;
    return;
  }
  constexpr size_t kMaxOpen = 64;  // As many threads call at a time.
  for (const FunctionCall* call : Before(by_start_, e->start_ps, kMaxOpen)) {
    if (call->span.end_ps < e->start_ps) continue;
    e->launch = call->span;  // The latest open one stays.
    e->module_name = call->module_name;
  }
}

SpanCollection CollectSpans(HostTimeline* timeline, CaptureIssues* issues) {
  SpanCollection spans;
  for (size_t i = 0; i < timeline->lines.size(); ++i) {
    LineCollector(static_cast<int32_t>(i), timeline, &spans, issues).Run();
  }
  spans.calls.Seal();
  return spans;
}

}  // namespace oomdb::ingest
