#include "ingest/xplane/xplane_importer.h"

#include <algorithm>
#include <map>
#include <vector>

#include "ingest/xplane/fact_emitter.h"

namespace oomdb {
namespace {

// Whether the Python frames around an event are worth their rows.
bool WantsFrames(EventRole role) {
  switch (role) {
    case EventRole::kAllocation:
    case EventRole::kDeallocation:
    case EventRole::kExecute:
    case EventRole::kPjit:
    case EventRole::kTransfer:
    case EventRole::kCompile:
    case EventRole::kRetry:
    case EventRole::kPoolGrowth:
      return true;
    default:
      return false;
  }
}

// Sorted and merged.
void Merge(std::vector<std::pair<int64_t, int64_t>>* spans) {
  std::sort(spans->begin(), spans->end());
  std::vector<std::pair<int64_t, int64_t>> merged;
  for (const auto& span : *spans) {
    if (span.second <= span.first) continue;
    if (!merged.empty() && span.first <= merged.back().second) {
      merged.back().second = std::max(merged.back().second, span.second);
    } else {
      merged.push_back(span);
    }
  }
  *spans = std::move(merged);
}

// A span on a line, by the place of its event.
struct LineSpan {
  int32_t line = -1;
  int64_t start_ps = 0;
  int64_t end_ps = 0;
};

LineSpan SpanOf(const HostTimeline& timeline, const EventPlace& place) {
  for (const TimelineEvent& event : timeline.lines[place.line].events) {
    if (event.ordinal == place.ordinal) return {place.line, event.start_ps, event.end_ps};
  }
  return {};
}

class ContextPlanner {
 public:
  ContextPlanner(const HostTimeline& timeline, const std::vector<Execution>& executions,
                 int64_t wait_min_ns)
      : timeline_(timeline), executions_(executions), wait_min_ns_(wait_min_ns) {
    contexts_.resize(timeline.lines.size());
  }

  std::vector<LineContext> Plan() {
    PlanPoints();
    PlanGaps();
    PlanQuietSpans();
    for (LineContext& context : contexts_) {
      std::sort(context.points_ps.begin(), context.points_ps.end());
      Merge(&context.windows_ps);
      Merge(&context.quiet_spans_ps);
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

  // Between the calls that launched the last two executions of a module, on the launching thread, stands the program's own
  // code: whoever keeps the outputs is there.
  void PlanGaps() {
    std::map<std::tuple<DeviceKind, int64_t, int32_t, std::string>, std::vector<const Execution*>> last;
    for (const Execution& e : executions_) {
      auto& two = last[{e.kind, e.device_ordinal, e.module, e.module_name}];
      // One call may have launched several: the gap is between different calls.
      if (!two.empty() && SameLaunch(*two.back(), e)) two.pop_back();
      two.push_back(&e);
      if (two.size() > 2) two.erase(two.begin());
    }
    for (const auto& [key, two] : last) {
      if (two.size() < 2) continue;
      const LineSpan before = Launch(*two[0]), after = Launch(*two[1]);
      if (before.line < 0 || before.line != after.line || before.end_ps >= after.start_ps) continue;
      contexts_[before.line].windows_ps.emplace_back(before.end_ps, after.start_ps);
    }
  }

  static bool SameLaunch(const Execution& a, const Execution& b) {
    return a.launch && b.launch && a.launch->line == b.launch->line &&
           a.launch->ordinal == b.launch->ordinal;
  }

  LineSpan Launch(const Execution& e) const {
    if (e.launch) return SpanOf(timeline_, *e.launch);
    return {e.line, e.start_ps, e.end_ps};
  }

  void PlanQuietSpans() {
    for (const Execution& e : executions_) {
      if (e.line < 0 || e.retry_count > 0) continue;
      for (const auto& [start, end] : e.allocating_spans) {
        if ((end - start) / 1000 >= wait_min_ns_) {
          contexts_[e.line].quiet_spans_ps.emplace_back(start, end);
        }
      }
    }
  }

  const HostTimeline& timeline_;
  const std::vector<Execution>& executions_;
  const int64_t wait_min_ns_;
  std::vector<LineContext> contexts_;
};

// Hands the longest stretches back to the executions whose spans they were found in.
void TakeQuiet(const LineContext& context, const std::vector<int64_t>& longest, int32_t line,
               std::vector<Execution>* executions) {
  for (Execution& e : *executions) {
    if (e.line != line || e.retry_count > 0) continue;
    for (size_t i = 0; i < context.quiet_spans_ps.size(); ++i) {
      const auto& [start, end] = context.quiet_spans_ps[i];
      if (start >= e.start_ps && end <= e.end_ps) {
        e.longest_quiet_ps = std::max(e.longest_quiet_ps, longest[i]);
      }
    }
  }
}

bool EndsWithAny(std::string_view name, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return name.ends_with(end); });
}

}  // namespace

bool ClaimsXPlane(std::string_view file_name) {
  return EndsWithAny(file_name, {".xplane.pb", ".xplane.pb.gz", ".xplane.pb.zst"});
}

void ImportXPlane(const Source& source, const ImportOptions& options, FactSink& sink) {
  SpaceIndex space = IndexSpace(source);
  const TimeBase base = FindTimeBase(source, space);
  HostTimeline timeline = ReadHostTimeline(source, space, base, &space.issues);
  ModuleIndex modules(source, space, &space.issues);
  Executions executions =
      FindExecutions(source, space, base, {.truncated = space.truncated}, &timeline, &modules);
  std::vector<AllocatorSeries> series = BuildSeries(timeline);
  const std::vector<PairedAllocation> allocations = PairAllocations(timeline, &series);

  const std::vector<LineContext> contexts =
      ContextPlanner(timeline, executions.all, options.wait_min_ns).Plan();
  for (size_t i = 0; i < contexts.size(); ++i) {
    if (contexts[i].empty()) continue;
    const auto line = static_cast<int32_t>(i);
    const std::vector<int64_t> longest = AddContext(source, base, contexts[i], line, &timeline);
    if (!longest.empty()) TakeQuiet(contexts[i], longest, line, &executions.all);
  }
  EmitFacts(source, {space, base, timeline, modules, executions, series, allocations}, options, sink);
}

}  // namespace oomdb
