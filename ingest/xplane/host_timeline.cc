#include "ingest/xplane/host_timeline.h"

#include <algorithm>
#include <map>

namespace oomdb::ingest {
namespace {

double RealOf(const RawStat& stat) {
  return stat.kind == RawStat::Kind::kDouble ? stat.real : static_cast<double>(stat.number);
}

// Index of a text in a list, added when it is new.
class TextIndex {
 public:
  template <typename Add>
  int32_t operator()(std::string_view text, Add&& add) {
    auto found = index_.find(text);
    if (found == index_.end()) {
      found = index_.emplace(std::string(text), static_cast<int32_t>(index_.size())).first;
      add(found->first);
    }
    return found->second;
  }

 private:
  std::map<std::string, int32_t, std::less<>> index_;
};

class TimelineReader {
 public:
  TimelineReader(const Source& source, const SpaceIndex& space, const TimeBase& base,
                 CaptureIssues* issues)
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
    line_name_ = line.head.name;
    line_index_ = static_cast<int32_t>(timeline_.lines.size());
    const WalkResult result = WalkEvents(
        &window_, extent,
        [&](int64_t id) {
          const EventRole role = plane.roles.at(id);
          return IsKept(role) || (role == EventRole::kUnknown && plane.has_run_ids);
        },
        [&](const RawEvent& event) { ReadEventOf(event, &line); });
    line.event_count = result.events;
    if (result.malformed) {
      issues_->Add("error", "malformed_line",
                   "thread " + line.head.name + " of plane " + plane.name +
                       " is unreadable after " + std::to_string(result.events) + " events");
    }
    timeline_.lines.push_back(std::move(line));
  }

  void ReadEventOf(const RawEvent& raw, HostLine* line) {
    const EventRole role = line->plane->roles.at(raw.metadata_id);
    if (role == EventRole::kUnknown || role == EventRole::kThunkWait) ReadRun(raw, *line);
    if (!IsKept(role)) return;
    TimelineEvent event = MakeEvent(*line, base_, raw);
    if (kept_ == kMaxKeptEvents) {
      issues_->Add(
          "error", "too_many_events",
          "more than " + std::to_string(kMaxKeptEvents) + " events matter; the rest is left out");
      return;
    }
    if (event.role == EventRole::kAllocation || event.role == EventRole::kDeallocation) {
      if (!ReadAllocatorEvent(raw, *line->plane, &event)) return;
    } else if (event.role == EventRole::kLaunch) {
      event.stat_module = ModuleStat(raw, *line->plane);
    }
    ++kept_;
    line->events.push_back(event);
  }

  int32_t ModuleStat(const RawEvent& raw, const PlaneIndex& plane) {
    int32_t index = -1;
    ForEachStat(raw.stats, [&](const RawStat& stat) {
      if (plane.stat_keys.at(stat.metadata_id) != StatKey::kModuleName) return;
      index = module_index_(TextOf(stat, plane), [&](const std::string& name) {
        timeline_.module_names.push_back(name);
      });
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
    ForEachStat(raw.stats, [&](const RawStat& stat) {
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
    if (name.empty() || !has_bytes || !Plausible(fact)) {
      issues_->Add("warning", "incomplete_allocator_event",
                   "an allocator event of thread " + line_name_ +
                       " says no allocator or no possible sizes; such events are left out");
      return false;
    }
    allocated_bytes_ += fact.bytes;
    fact.allocator = allocator_index_(name, [&](const std::string& text) {
      timeline_.allocator_names.push_back({text, DeviceOfAllocator(text)});
    });
    event->allocator_event = static_cast<int32_t>(timeline_.allocator_events.size());
    timeline_.allocator_events.push_back(fact);
    return true;
  }

  bool Plausible(const AllocatorEvent& fact) const {
    for (const int64_t bytes :
         {fact.in_use_bytes, fact.peak_bytes, fact.requested_bytes, fact.bytes}) {
      if (bytes < 0 || bytes > kMaxAllocatorBytes) return false;
    }
    return allocated_bytes_ <= kMaxAllocatedBytes - fact.bytes;
  }

  // Every event of a CPU run carries its run id; those of its thunks name the module too.
  void ReadRun(const RawEvent& raw, const HostLine& line) {
    if (raw.stats.empty()) return;
    const PlaneIndex& plane = *line.plane;
    MaybeInt run_id, device, program_id;
    RawStat module;
    ForEachStat(raw.stats, [&](const RawStat& stat) {
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
          module = stat;
          break;
        default:
          break;
      }
    });
    if (!run_id || !device) return;
    const TimeSpan span = base_.SpanOf(line.head, raw);
    CpuRun* const run = FindRun({*device, *run_id}, span);
    if (run == nullptr) return;
    run->start_ps = std::min(run->start_ps, span.start_ps);
    run->end_ps = std::max(run->end_ps, span.end_ps);
    if (run->module_name.empty()) {
      run->module_name = TextOf(module, plane);
      if (!run->module_name.empty()) run->program_id = program_id;
    }
  }

  // The run of this key, made at its first event; null when there are too many.
  CpuRun* FindRun(const std::pair<int64_t, int64_t>& key, const TimeSpan& span) {
    // The thunks of a run follow one another.
    if (latest_run_ != nullptr && latest_run_key_ == key) return latest_run_;
    auto found = timeline_.cpu_runs.find(key);
    if (found == timeline_.cpu_runs.end()) {
      if (timeline_.cpu_runs.size() == kMaxExecutions) {
        issues_->Add("error", "too_many_executions",
                     "more CPU runs than can be kept; the rest is left out");
        return nullptr;
      }
      const CpuRun run{span.start_ps, span.end_ps, "", std::nullopt};
      found = timeline_.cpu_runs.emplace(key, run).first;
    }
    latest_run_key_ = key;
    latest_run_ = &found->second;
    return latest_run_;
  }

  // Several threads may bear one name; then the line's id tells them apart.
  void NameThreads() {
    std::map<std::string, int> uses;
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
  CaptureIssues* issues_;
  HostTimeline timeline_;
  TextIndex allocator_index_;
  TextIndex module_index_;
  std::pair<int64_t, int64_t> latest_run_key_;
  CpuRun* latest_run_ = nullptr;  // In the timeline.
  int32_t line_index_ = 0;
  std::string line_name_;
  size_t kept_ = 0;
  int64_t allocated_bytes_ = 0;
};

}  // namespace

TimeBase FindTimeBase(const Source& source, const SpaceIndex& space) {
  Window window(source);
  int64_t base = 0, profile_start = 0;
  for (const PlaneIndex& plane : space.planes) {
    if (plane.kind == PlaneIndex::Kind::kEnvironment) {
      const auto start = plane.numbers.find(std::string(kProfileStart));
      if (start != plane.numbers.end()) profile_start = start->second;
    }
    for (const Extent& line : plane.lines) {
      const int64_t timestamp = ReadLineHead(&window, line).timestamp_ns;
      if (timestamp > 0 && (base == 0 || timestamp < base)) base = timestamp;
    }
  }
  // Lines that hold Unix times are near the start of the profile, not near 0.
  return TimeBase(base, base < profile_start / 2 ? profile_start : 0);
}

HostTimeline ReadHostTimeline(const Source& source, const SpaceIndex& space, const TimeBase& base,
                              CaptureIssues* issues) {
  return TimelineReader(source, space, base, issues).Run();
}

bool IsKept(EventRole role) {
  return role != EventRole::kUnknown && role != EventRole::kPythonFrame;
}

TimelineEvent MakeEvent(const HostLine& line, const TimeBase& base, const RawEvent& raw) {
  const TimeSpan span = base.SpanOf(line.head, raw);
  TimelineEvent event;
  event.ordinal = raw.ordinal;
  event.metadata_id = raw.metadata_id;
  event.role = line.plane->roles.at(raw.metadata_id);
  event.start_ps = span.start_ps;
  event.end_ps = span.end_ps;
  return event;
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
    // An instant encloses nothing, and two of one moment are not parent and child.
    if (event.end_ps > event.start_ps) open.push_back(static_cast<int32_t>(i));
    if (event.allocator_event >= 0) {
      timeline->allocator_events[event.allocator_event].event = static_cast<int32_t>(i);
    }
  }
}

}  // namespace oomdb::ingest
