#include "ingest/xplane/fact_emitter.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace oomdb {
namespace {

constexpr std::string_view kBeforeCapture = "allocated before the capture began";

MaybeInt Nonzero(int64_t value) { return value != 0 ? MaybeInt(value) : std::nullopt; }

// Where each stored event stands among the host events; what isn't stored has no place.
struct EventNumbers {
  std::vector<std::optional<Index>> of_allocator_event;
  std::map<std::pair<int32_t, int64_t>, std::optional<Index>> of_launch;  // By (line, ordinal).
};

class Emitter {
 public:
  Emitter(const Source& source, const CaptureContent& content, const ImportOptions& options,
          FactSink& sink)
      : source_(source), content_(content), options_(options), sink_(sink) {
    FindDevices();
    numbers_.of_allocator_event.resize(content.timeline.allocator_events.size());
    for (const Execution& e : content.executions.all) {
      if (e.launch) numbers_.of_launch[{e.launch->line, e.launch->ordinal}] = std::nullopt;
    }
  }

  void Run() {
    EmitCapture();
    for (const IssueFact& issue : content_.space.issues) sink_.Add(issue);
    EmitDevices();
    EmitModules();
    EmitAllocators();
    EmitHostEvents();
    EmitExecutions();
    EmitAllocations();
  }

 private:
  using DeviceKey = std::pair<DeviceKind, int64_t>;

  void FindDevices() {
    for (const PlaneIndex& plane : content_.space.planes) {
      if (plane.kind == PlaneIndex::Kind::kGpu) devices_[{DeviceKind::kGpu, plane.ordinal}] = 0;
      if (plane.kind == PlaneIndex::Kind::kTpu) devices_[{DeviceKind::kTpu, plane.ordinal}] = 0;
    }
    for (const AllocatorName& allocator : content_.timeline.allocator_names) {
      if (const auto key = KeyOf(allocator.device)) devices_[*key] = 0;
    }
    for (const Execution& e : content_.executions.all) {
      if (e.device_ordinal >= 0) devices_[{e.kind, e.device_ordinal}] = 0;
    }
    Index next = 0;
    for (auto& [key, index] : devices_) index = next++;
  }

  static std::optional<DeviceKey> KeyOf(const AllocatorDevice& device) {
    if (device.kind.empty()) return std::nullopt;
    return DeviceKey(device.kind == "tpu" ? DeviceKind::kTpu : DeviceKind::kGpu, device.ordinal);
  }

  std::optional<Index> DeviceIndex(const DeviceKey& key) const {
    const auto found = devices_.find(key);
    return found == devices_.end() ? std::nullopt : std::optional<Index>(found->second);
  }

  void EmitCapture() {
    CaptureFact fact;
    fact.kind = "xplane";
    fact.truncated = content_.space.truncated;
    if (!source_.compression().empty()) fact.format_note = source_.compression() + " compressed";
    if (!content_.space.hostnames.empty()) fact.own_host = content_.space.hostnames.front();
    for (const PlaneIndex& plane : content_.space.planes) {
      const auto version = plane.texts.find("jax_version");
      if (version != plane.texts.end()) fact.jax_version = version->second;
      if (plane.kind != PlaneIndex::Kind::kEnvironment) continue;
      const auto start = plane.numbers.find("profile_start_time");
      const auto stop = plane.numbers.find("profile_stop_time");
      if (start == plane.numbers.end() || start->second <= 0) continue;
      fact.started_unix_ns = start->second;
      if (stop != plane.numbers.end() && stop->second >= start->second) {
        fact.duration_ns = stop->second - start->second;
      }
    }
    sink_.Add(fact);
  }

  void EmitDevices() {
    std::map<DeviceKind, int64_t> places;
    for (const auto& [key, index] : devices_) {
      DeviceFact fact;
      fact.ordinal = key.second;
      fact.local_ordinal = places[key.first]++;
      fact.kind = std::string(ToString(key.first));
      fact.name = fact.kind;
      for (const PlaneIndex& plane : content_.space.planes) {
        const bool mine = plane.ordinal == key.second &&
                          ((plane.kind == PlaneIndex::Kind::kGpu && key.first == DeviceKind::kGpu) ||
                           (plane.kind == PlaneIndex::Kind::kTpu && key.first == DeviceKind::kTpu));
        if (!mine) continue;
        fact.name = plane.name;
        if (const auto text = plane.texts.find("device_type_string"); text != plane.texts.end()) {
          fact.name = text->second;
        }
        if (const auto text = plane.texts.find("device_vendor"); text != plane.texts.end()) {
          fact.vendor = text->second;
        }
        if (const auto bytes = plane.numbers.find("memory_size"); bytes != plane.numbers.end()) {
          fact.memory_bytes = Nonzero(bytes->second);
        }
      }
      sink_.Add(fact);
    }
  }

  void EmitModules() {
    std::vector<std::string> platforms(content_.modules.modules().size());
    for (const Execution& e : content_.executions.all) {
      if (e.module >= 0) platforms[e.module] = std::string(ToString(e.kind));
    }
    // What never ran was compiled for what the capture has.
    const std::string usual =
        devices_.empty() ? "" : std::string(ToString(devices_.rbegin()->first.first));
    for (size_t i = 0; i < platforms.size(); ++i) {
      ModuleFact fact = content_.modules.module(static_cast<int32_t>(i));
      fact.platform = platforms[i].empty() ? usual : platforms[i];
      sink_.Add(fact);
    }
  }

  void EmitAllocators() {
    const HostTimeline& timeline = content_.timeline;
    for (size_t i = 0; i < timeline.allocator_names.size(); ++i) {
      const AllocatorSeries& series = content_.series[i];
      AllocatorFact fact;
      fact.name = timeline.allocator_names[i].name;
      if (const auto key = KeyOf(timeline.allocator_names[i].device)) fact.device = DeviceIndex(*key);
      fact.allocation_count = series.allocation_count;
      fact.deallocation_count = series.deallocation_count;
      fact.reconciliation_breaks = series.reconciliation_breaks;
      if (!series.order.empty()) {
        const AllocatorEvent& first = timeline.allocator_events[series.order.front()];
        const AllocatorEvent& last = timeline.allocator_events[series.order.back()];
        fact.capacity_bytes = Nonzero(series.capacity_bytes);
        fact.peak_bytes = series.peak_bytes;
        fact.capture_peak_bytes = series.capture_peak_bytes;
        fact.before_capture_bytes = series.before_capture_bytes;
        fact.in_use_first_bytes = first.in_use_bytes;
        fact.in_use_last_bytes = last.in_use_bytes;
        fact.last_available_bytes = last.available_bytes;
        if (last.fragmentation >= 0 && last.fragmentation <= 1) {  // NaN when the pool is full.
          fact.last_fragmentation = last.fragmentation;
        }
      }
      sink_.Add(fact);
    }
  }

  void EmitHostEvents() {
    if (options_.events == EventSelection::kNone) return;
    int64_t seen = 0;
    for (size_t i = 0; i < content_.timeline.lines.size(); ++i) {
      const auto line = static_cast<int32_t>(i);
      seen += content_.timeline.lines[i].event_count;
      if (options_.events == EventSelection::kAll) {
        EmitWholeLine(line);
      } else {
        for (const TimelineEvent& event : content_.timeline.lines[i].events) {
          EmitEvent(line, event, event.parent < 0 ? std::nullopt : MaybeInt(line_start_ + event.parent));
        }
        line_start_ = next_event_;
      }
    }
    if (next_event_ < seen) {
      sink_.Add(IssueFact{"info", "events_left_out",
                          std::to_string(seen - next_event_) + " of " + std::to_string(seen) +
                              " host events answer no memory question and were not stored (--events all "
                              "keeps every one)",
                          seen - next_event_});
    }
  }

  void EmitEvent(int32_t line_index, const TimelineEvent& event, MaybeInt parent) {
    const HostLine& line = content_.timeline.lines[line_index];
    HostEventFact fact;
    fact.thread = line.thread;
    fact.name = line.NameOf(event);
    fact.start_ns = content_.base.UnixNs(event.start_ps);
    fact.end_ns = content_.base.UnixNs(event.end_ps);
    fact.parent = parent;
    if (event.execution >= 0) fact.execution = event.execution;
    sink_.Add(fact);
    if (event.allocator_event >= 0) numbers_.of_allocator_event[event.allocator_event] = next_event_;
    if (event.role == EventRole::kPjit) {
      const auto launch = numbers_.of_launch.find({line_index, event.ordinal});
      if (launch != numbers_.of_launch.end()) launch->second = next_event_;
    }
    ++next_event_;
  }

  // Every event of a line. Recorders write a thread's events by start, so they pass through with a stack of what is open;
  // only a line that is not sorted is held in memory.
  void EmitWholeLine(int32_t line_index) {
    const HostLine& line = content_.timeline.lines[line_index];
    std::vector<TimelineEvent> known = line.events;
    std::sort(known.begin(), known.end(),
              [](const TimelineEvent& a, const TimelineEvent& b) { return a.ordinal < b.ordinal; });
    Window window(source_);
    const auto read = [&](auto&& visit) {
      size_t next_known = 0;
      WalkEvents(&window, line.extent, [](int64_t) { return true; },
                 [&](const RawEvent& raw) {
                   if (next_known < known.size() && known[next_known].ordinal == raw.ordinal) {
                     visit(known[next_known++]);
                     return;
                   }
                   TimelineEvent event;
                   event.ordinal = raw.ordinal;
                   event.metadata_id = raw.metadata_id;
                   event.start_ps = content_.base.Picoseconds(line.head.timestamp_ns, raw.offset_ps);
                   event.end_ps = TimeBase::Saturate(static_cast<__int128>(event.start_ps) +
                                                     std::max<int64_t>(raw.duration_ps, 0));
                   visit(event);
                 });
    };
    bool sorted = true;
    int64_t last_start = INT64_MIN;
    read([&](const TimelineEvent& event) {
      sorted = sorted && event.start_ps >= last_start;
      last_start = event.start_ps;
    });
    struct Open {
      int64_t end_ps;
      Index index;
      int32_t execution;
    };
    std::vector<Open> open;
    const auto emit = [&](TimelineEvent event) {
      while (!open.empty() && event.end_ps > open.back().end_ps) open.pop_back();
      if (event.execution < 0 && !open.empty()) event.execution = open.back().execution;
      const Index index = next_event_;
      EmitEvent(line_index, event, open.empty() ? std::nullopt : MaybeInt(open.back().index));
      if (event.end_ps > event.start_ps) open.push_back({event.end_ps, index, event.execution});
    };
    if (sorted) {
      read(emit);
      return;
    }
    std::vector<TimelineEvent> all;
    all.reserve(static_cast<size_t>(line.event_count));
    read([&](const TimelineEvent& event) { all.push_back(event); });
    std::stable_sort(all.begin(), all.end(), [](const TimelineEvent& a, const TimelineEvent& b) {
      return a.start_ps != b.start_ps ? a.start_ps < b.start_ps : a.end_ps > b.end_ps;
    });
    for (const TimelineEvent& event : all) emit(event);
  }

  // The allocator that serves a device: the busiest, where a device has several.
  int32_t AllocatorOf(const Execution& e) const {
    int32_t best = -1;
    for (size_t i = 0; i < content_.timeline.allocator_names.size(); ++i) {
      const auto key = KeyOf(content_.timeline.allocator_names[i].device);
      if (!key || *key != DeviceKey(e.kind, e.device_ordinal)) continue;
      if (best < 0 || content_.series[i].order.size() > content_.series[best].order.size()) {
        best = static_cast<int32_t>(i);
      }
    }
    return best;
  }

  void EmitExecutions() {
    for (const Execution& e : content_.executions.all) {
      ExecutionFact fact;
      fact.device = DeviceIndex({e.kind, e.device_ordinal});
      if (e.module >= 0) fact.module = e.module;
      fact.module_name = e.module_name;
      fact.sequence = e.sequence;
      fact.start_ns = content_.base.UnixNs(e.start_ps);
      fact.end_ns = content_.base.UnixNs(e.end_ps);
      fact.launched = e.launched;
      fact.failed_allocation_index = e.failed_allocation_index;
      if (e.line >= 0) fact.thread = content_.timeline.lines[e.line].thread;
      if (e.launch) fact.launch_event = numbers_.of_launch[{e.launch->line, e.launch->ordinal}];
      AddWait(e, &fact);
      AddMemory(e, &fact);
      sink_.Add(fact);
    }
  }

  void AddWait(const Execution& e, ExecutionFact* fact) const {
    if (e.retry_count > 0) {
      fact->wait_ns = e.retry_ps / 1000;
      fact->wait_evidence = "measured";
      fact->retry_count = e.retry_count;
    } else if (e.longest_quiet_ps / 1000 >= options_.wait_min_ns && e.longest_quiet_ps > 0) {
      fact->wait_ns = e.longest_quiet_ps / 1000;
      fact->wait_evidence = "inferred";
      fact->retry_count = std::max<int64_t>(e.prepare_count - 1, 1);
    }
  }

  void AddMemory(const Execution& e, ExecutionFact* fact) const {
    const int32_t allocator = AllocatorOf(e);
    if (allocator < 0) return;
    const AllocatorSeries& series = content_.series[allocator];
    fact->in_use_at_start_bytes = InUseAt(content_.timeline, series, e.start_ps);
    fact->peak_in_use_bytes = PeakWithin(content_.timeline, series, e.start_ps, e.end_ps);
    int64_t outputs = 0, temps = 0;
    for (const int32_t index : e.allocations) {
      const Match& match = content_.executions.matches[index];
      if (match.allocation == nullptr) continue;
      const bool output = match.allocation->allocation_class == AllocationClass::kOutput;
      (output ? outputs : temps) += content_.timeline.allocator_events[index].bytes;
    }
    fact->output_bytes = outputs;
    fact->temp_bytes = temps;
  }

  void EmitAllocations() {
    for (const PairedAllocation& paired : content_.allocations) {
      AllocationFact fact;
      fact.allocator = paired.allocator;
      fact.address = paired.address;
      fact.requested_bytes = paired.requested_bytes;
      fact.bytes = paired.bytes;
      if (paired.alloc_event >= 0) {
        AddOrigin(paired.alloc_event, &fact);
      } else {
        fact.origin = kBeforeCapture;
      }
      if (const int32_t end = paired.free_event >= 0 ? paired.free_event : paired.closed_by; end >= 0) {
        fact.free_ns = content_.base.UnixNs(content_.timeline.allocator_events[end].time_ps);
      }
      if (paired.free_event >= 0) fact.free_event = numbers_.of_allocator_event[paired.free_event];
      sink_.Add(fact);
    }
  }

  void AddOrigin(int32_t event_index, AllocationFact* fact) const {
    const AllocatorEvent& event = content_.timeline.allocator_events[event_index];
    fact->alloc_ns = content_.base.UnixNs(event.time_ps);
    fact->in_use_after_bytes = event.in_use_bytes;
    if (event.fragmentation >= 0 && event.fragmentation <= 1) fact->fragmentation = event.fragmentation;
    fact->alloc_event = numbers_.of_allocator_event[event_index];
    const Match& match = content_.executions.matches[event_index];
    if (match.execution >= 0) {
      const Execution& e = content_.executions.all[match.execution];
      fact->execution = match.execution;
      if (e.module >= 0) fact->module = e.module;
      if (match.allocation != nullptr) {
        const bool output = match.allocation->allocation_class == AllocationClass::kOutput;
        fact->allocation_index = match.allocation->index;
        fact->purpose = output ? "output" : "temp";
        fact->origin = (output ? "outputs of " : "temp of ") + e.module_name + " execution " +
                       std::to_string(e.sequence);
        return;
      }
    }
    const HostLine& line = content_.timeline.lines[event.line];
    bool transfer = false;
    int32_t buffer = -1;
    for (int32_t i = line.events[event.event].parent; i >= 0; i = line.events[i].parent) {
      transfer = transfer || line.events[i].role == EventRole::kTransfer;
      if (buffer < 0 && line.NameOf(line.events[i]).starts_with("BufferFromHost")) buffer = i;
    }
    fact->purpose = transfer ? "transfer" : "other";
    // The call that says the shape, else what encloses it most closely.
    const int32_t nearest = buffer >= 0 ? buffer : line.events[event.event].parent;
    if (nearest >= 0) fact->origin = line.NameOf(line.events[nearest]);
  }

  const Source& source_;
  const CaptureContent& content_;
  const ImportOptions& options_;
  FactSink& sink_;
  std::map<DeviceKey, Index> devices_;  // By kind and ordinal.
  EventNumbers numbers_;
  Index next_event_ = 0;
  Index line_start_ = 0;
};

}  // namespace

void EmitFacts(const Source& source, const CaptureContent& content, const ImportOptions& options,
               FactSink& sink) {
  Emitter(source, content, options, sink).Run();
}

}  // namespace oomdb
