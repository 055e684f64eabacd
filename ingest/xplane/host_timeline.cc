#include "ingest/xplane/host_timeline.h"

#include <algorithm>
#include <deque>
#include <unordered_map>

namespace oomdb {
namespace {

// Of a gap between two executions at most this many events are kept, latest first, and as many container calls:
// a gap can hold a whole program's Python frames.
constexpr size_t kMaxWindowEvents = 2048;

bool IsKnown(EventRole role) {
  return role != EventRole::kUnknown && role != EventRole::kPythonFrame;
}

// Frames through which a Python program keeps a value: "$builtins append", "$<unknown> append".
bool IsContainerCall(std::string_view name) {
  if (!name.starts_with('$')) return false;
  const size_t space = name.rfind(' ');
  if (space == std::string_view::npos) return false;
  constexpr std::string_view kCalls[] = {"append", "appendleft", "extend",    "add",
                                         "insert", "setdefault", "update"};
  return std::find(std::begin(kCalls), std::end(kCalls), name.substr(space + 1)) != std::end(kCalls);
}

std::string_view TextOf(const RawStat& stat, const PlaneIndex& plane) {
  if (stat.kind == RawStat::Kind::kText) return stat.text;
  if (stat.kind == RawStat::Kind::kReference) return plane.stat_names.at(stat.number);
  return {};
}

double RealOf(const RawStat& stat) {
  return stat.kind == RawStat::Kind::kDouble ? stat.real : static_cast<double>(stat.number);
}

// Index of a text in a list, added when it is new.
class TextIndex {
 public:
  template <typename Add>
  int32_t operator()(std::string_view text, Add&& add) {
    const auto [found, is_new] = index_.try_emplace(std::string(text), static_cast<int32_t>(index_.size()));
    if (is_new) add(found->first);
    return found->second;
  }

 private:
  std::unordered_map<std::string, int32_t> index_;
};

class TimelineReader {
 public:
  TimelineReader(const Source& source, const SpaceIndex& space, const TimeBase& base,
                 std::vector<IssueFact>* issues)
      : window_(source), space_(space), base_(base), issues_(issues) {}

  HostTimeline Run() {
    for (const PlaneIndex& plane : space_.planes) {
      if (plane.kind != PlaneIndex::Kind::kHost) continue;
      for (const Extent& extent : plane.lines) ReadLine(plane, extent);
    }
    NameThreads();
    for (size_t i = 0; i < timeline_.lines.size(); ++i) Nest(static_cast<int32_t>(i), &timeline_);
    return std::move(timeline_);
  }

 private:
  void ReadLine(const PlaneIndex& plane, const Extent& extent) {
    HostLine line;
    line.plane = &plane;
    line.extent = extent;
    line.head = ReadLineHead(&window_, extent);
    line_index_ = static_cast<int32_t>(timeline_.lines.size());
    const WalkResult result = WalkEvents(
        &window_, extent,
        [&](int64_t id) { return plane.events.at(id).meaning.role != EventRole::kPythonFrame; },
        [&](const RawEvent& event) { ReadEventOf(event, &line); });
    line.event_count = result.events;
    if (result.malformed) {
      issues_->push_back({"error", "malformed_line",
                          "thread " + line.head.name + " of plane " + plane.name +
                              " is unreadable after " + std::to_string(result.events) + " events",
                          1});
    }
    timeline_.lines.push_back(std::move(line));
  }

  void ReadEventOf(const RawEvent& raw, HostLine* line) {
    const EventMeaning& meaning = line->plane->events.at(raw.metadata_id).meaning;
    TimelineEvent event;
    event.ordinal = raw.ordinal;
    event.metadata_id = raw.metadata_id;
    event.start_ps = base_.Picoseconds(line->head.timestamp_ns, raw.offset_ps);
    event.end_ps = TimeBase::Saturate(static_cast<__int128>(event.start_ps) +
                                      std::max<int64_t>(raw.duration_ps, 0));
    event.role = meaning.role;
    switch (meaning.role) {
      case EventRole::kAllocation:
      case EventRole::kDeallocation:
        if (!ReadAllocatorEvent(raw, *line->plane, &event)) return;
        break;
      case EventRole::kLaunch:
        event.stat_module = ModuleStat(raw, *line->plane);
        break;
      case EventRole::kUnknown:
      case EventRole::kThunkWait:
        ReadRun(raw, *line->plane, event);
        break;
      default:
        break;
    }
    if (IsKnown(meaning.role)) line->events.push_back(event);
  }

  int32_t ModuleStat(const RawEvent& raw, const PlaneIndex& plane) {
    int32_t index = -1;
    ForEachStat(raw.body, [&](const RawStat& stat) {
      if (plane.stat_keys.at(stat.metadata_id) != StatKey::kModuleName) return;
      index = module_index_(TextOf(stat, plane),
                            [&](const std::string& name) { timeline_.module_names.push_back(name); });
    });
    return index;
  }

  // False when the event says too little to be used; that is counted.
  bool ReadAllocatorEvent(const RawEvent& raw, const PlaneIndex& plane, TimelineEvent* event) {
    AllocatorEvent fact;
    fact.line = line_index_;
    fact.is_allocation = event->role == EventRole::kAllocation;
    fact.time_ps = event->start_ps;
    std::string name;
    int64_t device = -1;
    bool has_bytes = false;
    ForEachStat(raw.body, [&](const RawStat& stat) {
      switch (plane.stat_keys.at(stat.metadata_id)) {
        case StatKey::kAllocatorName:
          name = std::string(TextOf(stat, plane));
          break;
        case StatKey::kBytesReserved:
          fact.reserved_bytes = stat.number;
          break;
        case StatKey::kBytesAllocated:
          fact.in_use_bytes = stat.number;
          has_bytes = true;
          break;
        case StatKey::kBytesAvailable:
          fact.available_bytes = stat.number;
          break;
        case StatKey::kFragmentation:
          fact.fragmentation = RealOf(stat);
          break;
        case StatKey::kPeakBytesInUse:
          fact.peak_bytes = stat.number;
          break;
        case StatKey::kRequestedBytes:
          fact.requested_bytes = stat.number;
          break;
        case StatKey::kAllocationBytes:
          fact.bytes = stat.number;
          break;
        case StatKey::kAddress:
          fact.address = stat.number;
          break;
        case StatKey::kIndexOnHost:
        case StatKey::kDeviceOrdinal:
          device = stat.number;
          break;
        default:
          break;
      }
    });
    // TPU runtimes name no allocator but a device.
    if (name.empty() && device >= 0) name = "TPU_" + std::to_string(device);
    if (name.empty() || !has_bytes || fact.bytes < 0 || fact.in_use_bytes < 0) {
      if (!said_incomplete_) {
        issues_->push_back({"warning", "incomplete_allocator_event",
                            "an allocator event without an allocator's name or sizes; such events are "
                            "left out",
                            1});
        said_incomplete_ = true;
      }
      return false;
    }
    fact.allocator = allocator_index_(name, [&](const std::string& text) {
      timeline_.allocator_names.push_back({text, DeviceOfAllocator(text)});
    });
    event->allocator_event = static_cast<int32_t>(timeline_.allocator_events.size());
    timeline_.allocator_events.push_back(fact);
    return true;
  }

  // Every event of a CPU run carries its run id; those of its thunks name the module too.
  void ReadRun(const RawEvent& raw, const PlaneIndex& plane, const TimelineEvent& event) {
    MaybeInt run_id, device, program_id;
    std::string_view module;
    ForEachStat(raw.body, [&](const RawStat& stat) {
      switch (plane.stat_keys.at(stat.metadata_id)) {
        case StatKey::kRunId:
          run_id = stat.number;
          break;
        case StatKey::kDeviceOrdinal:
          device = stat.number;
          break;
        case StatKey::kProgramId:
          program_id = stat.number;
          break;
        case StatKey::kHloModule:
          module = TextOf(stat, plane);
          break;
        default:
          break;
      }
    });
    if (!run_id || !device) return;
    const auto [found, is_new] = timeline_.cpu_runs.try_emplace({*device, *run_id});
    CpuRun& run = found->second;
    if (is_new) {
      run.start_ps = event.start_ps;
      run.end_ps = event.end_ps;
    }
    run.start_ps = std::min(run.start_ps, event.start_ps);
    run.end_ps = std::max(run.end_ps, event.end_ps);
    if (run.module_name.empty() && !module.empty()) {
      run.module_name = std::string(module);
      run.program_id = program_id;
    }
  }

  // Several threads may bear one name; then the line's id tells them apart.
  void NameThreads() {
    std::unordered_map<std::string, int> uses;
    for (const HostLine& line : timeline_.lines) ++uses[line.head.name];
    for (HostLine& line : timeline_.lines) {
      const std::string id = std::to_string(line.head.id);
      line.thread = line.head.name.empty() ? id : line.head.name;
      if (!line.head.name.empty() && uses[line.head.name] > 1) line.thread += "/" + id;
    }
  }

  Window window_;
  const SpaceIndex& space_;
  const TimeBase& base_;
  std::vector<IssueFact>* issues_;
  HostTimeline timeline_;
  TextIndex allocator_index_;
  TextIndex module_index_;
  int32_t line_index_ = 0;
  bool said_incomplete_ = false;
};

// The longest stretches without an event, in spans that are walked in any order of events.
class QuietSpans {
 public:
  explicit QuietSpans(const std::vector<std::pair<int64_t, int64_t>>& spans) : spans_(spans) {
    covered_.resize(spans.size());
  }
  // An event of the thread; the spans themselves and what encloses them must not be told.
  void Saw(int64_t start_ps, int64_t end_ps) {
    auto span = std::upper_bound(spans_.begin(), spans_.end(), start_ps,
                                 [](int64_t t, const auto& s) { return t < s.second; });
    if (span == spans_.end() || end_ps < span->first || start_ps < span->first) return;
    auto& covered = covered_[span - spans_.begin()];
    if (covered.size() < kMaxCovered) covered.emplace_back(start_ps, std::min(end_ps, span->second));
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
  const std::vector<std::pair<int64_t, int64_t>>& spans_;
  std::vector<std::vector<std::pair<int64_t, int64_t>>> covered_;
};

const std::pair<int64_t, int64_t>* SpanAt(const std::vector<std::pair<int64_t, int64_t>>& spans,
                                          int64_t time) {
  const auto span = std::upper_bound(spans.begin(), spans.end(), time,
                                     [](int64_t t, const auto& s) { return t < s.second; });
  return span == spans.end() || time < span->first ? nullptr : &*span;
}

}  // namespace

TimeBase FindTimeBase(const Source& source, const SpaceIndex& space) {
  Window window(source);
  int64_t base = 0;
  for (const PlaneIndex& plane : space.planes) {
    if (plane.kind == PlaneIndex::Kind::kOther) continue;
    for (const Extent& line : plane.lines) {
      const int64_t timestamp = ReadLineHead(&window, line).timestamp_ns;
      if (timestamp > 0 && (base == 0 || timestamp < base)) base = timestamp;
    }
  }
  return TimeBase(base);
}

HostTimeline ReadHostTimeline(const Source& source, const SpaceIndex& space, const TimeBase& base,
                              std::vector<IssueFact>* issues) {
  return TimelineReader(source, space, base, issues).Run();
}

void Nest(int32_t line_index, HostTimeline* timeline) {
  auto& events = timeline->lines[line_index].events;
  std::sort(events.begin(), events.end(), [](const TimelineEvent& a, const TimelineEvent& b) {
    if (a.start_ps != b.start_ps) return a.start_ps < b.start_ps;
    if (a.end_ps != b.end_ps) return a.end_ps > b.end_ps;
    return a.ordinal < b.ordinal;
  });
  std::vector<int32_t> open;
  for (size_t i = 0; i < events.size(); ++i) {
    TimelineEvent& event = events[i];
    while (!open.empty() && event.end_ps > events[open.back()].end_ps) open.pop_back();
    event.parent = open.empty() ? -1 : open.back();
    if (event.execution < 0 && event.parent >= 0) event.execution = events[event.parent].execution;
    // An instant encloses nothing, and two of one moment are no parent and child.
    if (event.end_ps > event.start_ps) open.push_back(static_cast<int32_t>(i));
    if (event.allocator_event >= 0) {
      timeline->allocator_events[event.allocator_event].event = static_cast<int32_t>(i);
    }
  }
}

std::vector<int64_t> AddContext(const Source& source, const TimeBase& base, const LineContext& context,
                                int32_t line_index, HostTimeline* timeline) {
  HostLine& line = timeline->lines[line_index];
  QuietSpans quiet(context.quiet_spans_ps);
  for (const TimelineEvent& event : line.events) {
    // A span in which buffers are allocated may stand in another: it covers nothing by itself.
    if (event.role != EventRole::kAllocating) quiet.Saw(event.start_ps, event.end_ps);
  }
  std::vector<TimelineEvent> added;
  size_t container_calls = 0;
  std::deque<TimelineEvent> latest;  // Of the window at hand.
  const std::pair<int64_t, int64_t>* window_at_hand = nullptr;
  const auto flush = [&] {
    added.insert(added.end(), latest.begin(), latest.end());
    latest.clear();
  };
  Window window(source);
  WalkEvents(
      &window, line.extent,
      [&](int64_t id) { return !IsKnown(line.plane->events.at(id).meaning.role); },
      [&](const RawEvent& raw) {
        TimelineEvent event;
        event.ordinal = raw.ordinal;
        event.metadata_id = raw.metadata_id;
        event.role = line.plane->events.at(raw.metadata_id).meaning.role;
        event.start_ps = base.Picoseconds(line.head.timestamp_ns, raw.offset_ps);
        event.end_ps = TimeBase::Saturate(static_cast<__int128>(event.start_ps) +
                                          std::max<int64_t>(raw.duration_ps, 0));
        if (!context.quiet_spans_ps.empty()) quiet.Saw(event.start_ps, event.end_ps);
        const auto point =
            std::lower_bound(context.points_ps.begin(), context.points_ps.end(), event.start_ps);
        if (point != context.points_ps.end() && *point <= event.end_ps) {
          added.push_back(event);
          return;
        }
        const auto* in_window = SpanAt(context.windows_ps, event.start_ps);
        if (in_window == nullptr) return;
        if (IsContainerCall(line.NameOf(event)) && container_calls < kMaxWindowEvents) {
          ++container_calls;
          added.push_back(event);
          return;
        }
        if (in_window != window_at_hand) flush();
        window_at_hand = in_window;
        latest.push_back(event);
        if (latest.size() > kMaxWindowEvents) latest.pop_front();
      });
  flush();
  line.events.insert(line.events.end(), added.begin(), added.end());
  Nest(line_index, timeline);
  return quiet.Longest();
}

}  // namespace oomdb
