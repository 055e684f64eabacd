#include "ingest/xplane/line_context.h"

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

namespace oomdb::ingest {
namespace {

// Of a gap between two executions at most this many events are kept, latest first, and as many
// container calls: a gap can hold a whole program's Python frames.
constexpr size_t kMaxWindowEvents = 512;
// And of so many names that are not among these the latest event: who keeps something may stand
// before thousands of frames. Many times what the view of the gap shows (the setting holders_max).
constexpr size_t kMaxEarlyNames = 64;

// Whether the Python frames around an event are worth their rows.
bool WantsFrames(EventRole role) {
  switch (role) {
    case EventRole::kAllocation:
    case EventRole::kDeallocation:
    case EventRole::kExecute:
    case EventRole::kPjit:
    case EventRole::kHostBuffer:
    case EventRole::kTransfer:
    case EventRole::kCompile:
    case EventRole::kRetry:
    case EventRole::kPoolGrowth:
      return true;
    default:
      return false;
  }
}

// What an allocator did is no call.
bool IsCall(EventRole role) {
  return role != EventRole::kAllocation && role != EventRole::kDeallocation;
}

class ContextPlanner {
 public:
  ContextPlanner(const HostTimeline& timeline, const std::vector<ExecutionDraft>& executions,
                 int64_t wait_min_ns)
      : timeline_(timeline), executions_(executions), wait_min_ns_(wait_min_ns) {
    contexts_.resize(timeline.lines.size());
  }

  std::vector<LineContext> Plan() {
    PlanPoints();
    PlanGaps();
    PlanLaunches();
    PlanQuietSpans();
    for (LineContext& context : contexts_) {
      std::sort(context.points_ps.begin(), context.points_ps.end());
      Join(&context.windows);
      Join(&context.quiet_spans);
    }
    return std::move(contexts_);
  }

 private:
  void PlanPoints() {
    for (size_t i = 0; i < contexts_.size(); ++i) {
      for (const TimelineEvent& event : timeline_.lines[i].events) {
        if (WantsFrames(event.role)) contexts_[i].points_ps.push_back(event.start_ps);
      }
    }
  }

  // Between the calls that launched the last two executions of a module, on the launching thread,
  // stands the program's own code: whoever keeps the outputs is there.
  void PlanGaps() {
    std::map<std::tuple<DeviceKind, int64_t, int32_t, std::string>, std::vector<LaunchSpan>> last;
    for (const ExecutionDraft& e : executions_) {
      auto& two = last[{e.kind, e.device_ordinal, e.module, e.module_name}];
      const LaunchSpan launch = e.launch.value_or(LaunchSpan{e.line, -1, e.start_ps, e.end_ps});
      // One call may have launched several: the gap is between different calls.
      if (!two.empty() && two.back().line == launch.line &&
          two.back().start_ps == launch.start_ps) {
        two.pop_back();
      }
      two.push_back(launch);
      if (two.size() > 2) two.erase(two.begin());
    }
    for (const auto& [key, two] : last) {
      if (two.size() < 2) continue;
      const LaunchSpan &before = two[0], &after = two[1];
      if (before.line < 0 || before.line != after.line || before.end_ps >= after.start_ps) continue;
      contexts_[before.line].windows.emplace_back(before.end_ps, after.start_ps);
    }
  }

  // Every gap between two executions of a module, for what is called in how many of them.
  void PlanLaunches() {
    std::map<std::tuple<int32_t, int32_t, int64_t>, Spans> of_devices;  // Line, module, device.
    for (const ExecutionDraft& e : executions_) {
      const LaunchSpan launch = e.launch.value_or(LaunchSpan{e.line, -1, e.start_ps, e.end_ps});
      if (launch.line < 0 || e.module < 0) continue;
      of_devices[{launch.line, e.module, e.device_ordinal}].emplace_back(launch.start_ps,
                                                                         launch.end_ps);
    }
    for (auto& [key, spans] : of_devices) {
      std::sort(spans.begin(), spans.end());
      spans.erase(std::unique(spans.begin(), spans.end()), spans.end());
      LineLaunches& launches = contexts_[std::get<0>(key)].launches;
      launches.spans.insert(launches.spans.end(), spans.begin(), spans.end());
      const int32_t module = std::get<1>(key);
      if (launches.modules.empty() || launches.modules.back().module != module) {
        launches.modules.push_back({module, std::move(spans)});
      } else if (launches.modules.back().spans.size() < spans.size()) {
        launches.modules.back().spans = std::move(spans);
      }
    }
    for (LineContext& context : contexts_) {
      std::erase_if(context.launches.modules,
                    [](const ModuleLaunches& one) { return one.spans.size() < 2; });
    }
  }

  void PlanQuietSpans() {
    for (const ExecutionDraft& e : executions_) {
      if (e.line < 0 || e.retry_count > 0) continue;
      for (const auto& [start, end] : e.allocating_spans) {
        if ((end - start) / 1000 >= wait_min_ns_)
          contexts_[e.line].quiet_spans.emplace_back(start, end);
      }
    }
  }

  const HostTimeline& timeline_;
  const std::vector<ExecutionDraft>& executions_;
  const int64_t wait_min_ns_;
  std::vector<LineContext> contexts_;
};

// The index of the span that holds `time`; -1: none does.
int64_t SpanAt(const Spans& spans, int64_t time) {
  const auto span = std::upper_bound(spans.begin(), spans.end(), time,
                                     [](int64_t t, const auto& s) { return t < s.second; });
  return span == spans.end() || time < span->first ? -1 : span - spans.begin();
}

// Sorted times, asked for by times that mostly ascend, many between two of them.
class Points {
 public:
  explicit Points(const std::vector<int64_t>& sorted) : sorted_(sorted) {}

  // The first that is not before `time`. Without one, a time that no event ends at.
  int64_t NextFrom(int64_t time) {
    if (time <= before_ || time > next_) {
      const auto next = std::lower_bound(sorted_.begin(), sorted_.end(), time);
      before_ = next == sorted_.begin() ? INT64_MIN : *(next - 1);
      next_ = next == sorted_.end() ? INT64_MAX : *next;
    }
    return next_;
  }

 private:
  const std::vector<int64_t>& sorted_;
  int64_t before_ = INT64_MAX;  // The one before next_.
  int64_t next_ = INT64_MIN;
};

// The longest stretches without an event, in spans that are walked in any order of events.
class QuietSpans {
 public:
  explicit QuietSpans(const Spans& spans) : spans_(spans), covered_(spans.size()) {}

  // An event of the thread; what encloses a span covers nothing of it.
  void Saw(int64_t start_ps, int64_t end_ps) {
    const int64_t i = SpanAt(spans_, start_ps);
    if (i < 0 || covered_[i].size() == kMaxCovered) return;
    covered_[i].emplace_back(start_ps, std::min(end_ps, spans_[i].second));
  }

  std::vector<int64_t> Longest() {
    std::vector<int64_t> longest(spans_.size());
    for (size_t i = 0; i < spans_.size(); ++i) {
      std::sort(covered_[i].begin(), covered_[i].end());
      int64_t at = spans_[i].first;
      for (const auto& [start, end] : covered_[i]) {
        longest[i] = std::max(longest[i], start - at);
        at = std::max(at, end);
      }
      longest[i] = std::max(longest[i], spans_[i].second - at);
    }
    return longest;
  }

 private:
  static constexpr size_t kMaxCovered = 1 << 20;
  const Spans& spans_;
  std::vector<Spans> covered_;
};

// What is kept of the windows of a line.
class WindowEvents {
 public:
  WindowEvents(const HostLine& line, std::vector<TimelineEvent>* kept) : line_(line), kept_(kept) {}

  void Saw(int64_t window, const TimelineEvent& event) {
    if (container_calls_ < kMaxWindowEvents && IsContainerCall(line_.NameOf(event))) {
      ++container_calls_;
      kept_->push_back(event);
      return;
    }
    if (window != at_hand_) Flush();
    at_hand_ = window;
    latest_.push_back(event);
    if (latest_.size() > kMaxWindowEvents) {
      early_.insert_or_assign(latest_.front().metadata_id, latest_.front());
      latest_.pop_front();
    }
  }
  void Flush() {
    KeepEarlyNames();
    kept_->insert(kept_->end(), latest_.begin(), latest_.end());
    latest_.clear();
  }

 private:
  // The latest of each name that is not among the latest events; when there are too many, in the
  // order of the view of the gap: container calls, then Python's own, then by time.
  void KeepEarlyNames() {
    for (const TimelineEvent& event : latest_) early_.erase(event.metadata_id);
    std::vector<std::tuple<bool, bool, int64_t, int64_t>> names;  // ..., start, name.
    for (const auto& [id, event] : early_) {
      const std::string_view name = line_.NameOf(event);
      names.emplace_back(IsContainerCall(name), name.starts_with('$'), event.start_ps, id);
    }
    std::sort(names.rbegin(), names.rend());
    if (names.size() > kMaxEarlyNames) names.resize(kMaxEarlyNames);
    for (const auto& name : names) kept_->push_back(early_.at(std::get<3>(name)));
    early_.clear();
  }

  const HostLine& line_;
  std::vector<TimelineEvent>* kept_;
  size_t container_calls_ = 0;
  int64_t at_hand_ = -1;
  // Of the window at hand.
  std::deque<TimelineEvent> latest_;
  std::unordered_map<int64_t, TimelineEvent> early_;  // By name, what is no longer in latest_.
};

// Hands the longest stretches back to the executions whose spans they were found in.
void TakeQuiet(const Spans& quiet_spans, const std::vector<int64_t>& longest, ExecutionDraft* e) {
  for (const auto& [start, end] : e->allocating_spans) {
    const int64_t i = SpanAt(quiet_spans, start);
    if (i >= 0) e->longest_quiet_ps = std::max(e->longest_quiet_ps, longest[i]);
  }
}

}  // namespace

std::vector<LineContext> PlanContexts(const HostTimeline& timeline,
                                      const std::vector<ExecutionDraft>& executions,
                                      int64_t wait_min_ns) {
  return ContextPlanner(timeline, executions, wait_min_ns).Plan();
}

std::vector<int64_t> AddContext(Window* window, const TimeBase& base, const LineContext& context,
                                int32_t line_index, HostTimeline* timeline, CaptureIssues* issues) {
  HostLine& line = timeline->lines[line_index];
  QuietSpans quiet(context.quiet_spans);
  GapCallCounter gap_calls(line, line_index, context.launches);
  const bool counts = !context.launches.modules.empty();
  for (const TimelineEvent& event : line.events) {
    if (counts && IsCall(event.role)) {
      gap_calls.Saw(event.metadata_id, event.start_ps, event.end_ps);
    }
    if (event.role == EventRole::kAllocating || event.role == EventRole::kPrepare) {
      // Such a span may stand in another: to wait in it is to wait. Only that it began and ended
      // was heard.
      quiet.Saw(event.start_ps, event.start_ps);
      quiet.Saw(event.end_ps, event.end_ps);
    } else {
      quiet.Saw(event.start_ps, event.end_ps);
    }
  }
  std::vector<TimelineEvent> added;
  WindowEvents in_windows(line, &added);
  Points points(context.points_ps);
  WalkEvents(
      window, line.extent, [&](int64_t id) { return !IsKept(line.plane->roles.at(id)); },
      [&](const RawEvent& raw) {
        const TimeSpan span = base.SpanOf(line.head, raw);
        quiet.Saw(span.start_ps, span.end_ps);
        if (counts) gap_calls.Saw(raw.metadata_id, span.start_ps, span.end_ps);
        if (points.NextFrom(span.start_ps) <= span.end_ps) {
          added.push_back(MakeEvent(line, base, raw));
        } else if (const int64_t at = SpanAt(context.windows, span.start_ps); at >= 0) {
          in_windows.Saw(at, MakeEvent(line, base, raw));
        }
      });
  in_windows.Flush();
  gap_calls.AddTo(&timeline->gap_calls);
  if (gap_calls.left_out() > 0) {
    issues->Add("warning", "calls_left_out",
                "thread " + line.thread + " made more calls between executions than can be counted",
                gap_calls.left_out());
  }
  line.events.insert(line.events.end(), added.begin(), added.end());
  Nest(line_index, timeline);
  return quiet.Longest();
}

void AddAllContexts(const Source& source, const TimeBase& base, int64_t wait_min_ns,
                    HostTimeline* timeline, std::vector<ExecutionDraft>* executions,
                    CaptureIssues* issues) {
  const std::vector<LineContext> contexts = PlanContexts(*timeline, *executions, wait_min_ns);
  std::vector<std::vector<int64_t>> longest(contexts.size());
  Window window(source);
  for (size_t i = 0; i < contexts.size(); ++i) {
    if (contexts[i].empty()) continue;
    longest[i] = AddContext(&window, base, contexts[i], static_cast<int32_t>(i), timeline, issues);
  }
  for (ExecutionDraft& e : *executions) {
    if (e.line >= 0 && e.retry_count == 0)
      TakeQuiet(contexts[e.line].quiet_spans, longest[e.line], &e);
  }
}

}  // namespace oomdb::ingest
