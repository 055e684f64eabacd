#include "ingest/xplane/fact_emitter.h"

#include <algorithm>
#include <map>

#include "ingest/plan/target.h"
#include "ingest/xplane/host_event_emitter.h"

namespace oomdb::ingest {
namespace {

constexpr std::string_view kBeforeCapture = "allocated before the capture began";

MaybeInt Nonzero(int64_t value) { return value != 0 ? MaybeInt(value) : std::nullopt; }

class Emitter {
 public:
  Emitter(const Source& source, const CaptureContent& content, FactSink& sink)
      : source_(source),
        content_(content),
        sink_(sink),
        host_events_(source, content.base, content.timeline, content.executions.all, sink) {
    FindDevices();
    FindAllocators();
  }

  void Run(const ImportOptions& options) {
    EmitCapture();
    for (const IssueFact& issue : content_.space.issues.all()) sink_.Add(issue);
    EmitDevices();
    EmitModules(options);
    EmitAllocators();
    host_events_.Emit(options.events);
    EmitExecutions(options.wait_min_ns);
    EmitGapCalls();
    EmitAllocations();
  }

 private:
  using DeviceKey = std::pair<DeviceKind, int64_t>;

  static std::optional<DeviceKey> KeyOf(const PlaneIndex& plane) {
    if (plane.kind == PlaneIndex::Kind::kGpu) return DeviceKey(DeviceKind::kGpu, plane.ordinal);
    if (plane.kind == PlaneIndex::Kind::kTpu) return DeviceKey(DeviceKind::kTpu, plane.ordinal);
    return std::nullopt;
  }

  void FindDevices() {
    for (const PlaneIndex& plane : content_.space.planes) {
      if (const auto key = KeyOf(plane)) devices_[*key].plane = &plane;
    }
    for (const AllocatorName& allocator : content_.timeline.allocator_names) {
      if (const auto key = KeyOf(allocator.device)) devices_[*key];
    }
    for (const ExecutionDraft& e : content_.executions.all) {
      if (e.device_ordinal >= 0) devices_[{e.kind, e.device_ordinal}];
    }
    Index next = 0;
    for (auto& [key, device] : devices_) device.index = next++;
  }

  // Where a device has several allocators, the busiest serves the executions.
  void FindAllocators() {
    for (size_t i = 0; i < content_.series.size(); ++i) {
      const auto key = KeyOf(content_.timeline.allocator_names[i].device);
      if (!key) continue;
      const AllocatorSeries*& busiest = devices_.at(*key).allocator;
      if (busiest == nullptr || content_.series[i].order.size() > busiest->order.size()) {
        busiest = &content_.series[i];
      }
    }
  }

  static std::optional<DeviceKey> KeyOf(const AllocatorDevice& device) {
    if (device.kind.empty()) return std::nullopt;
    return DeviceKey(device.kind == "tpu" ? DeviceKind::kTpu : DeviceKind::kGpu, device.ordinal);
  }

  std::optional<Index> DeviceIndex(const DeviceKey& key) const {
    const auto found = devices_.find(key);
    return found == devices_.end() ? std::nullopt : std::optional<Index>(found->second.index);
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
      const auto start = plane.numbers.find(std::string(kProfileStart));
      const auto stop = plane.numbers.find(std::string(kProfileStop));
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
    for (const auto& entry : devices_) {
      // No structured binding: the lambda below captures it, which clang 14 does not take.
      const auto& [kind, ordinal] = entry.first;
      const auto& device = entry.second;
      DeviceFact fact;
      fact.ordinal = ordinal;
      fact.local_ordinal = places[kind]++;
      fact.kind = std::string(ToString(kind));
      fact.name = fact.kind;
      if (device.plane != nullptr) {
        const auto text = [&](const char* name, const std::string& otherwise) {
          const auto found = device.plane->texts.find(name);
          return found == device.plane->texts.end() ? otherwise : found->second;
        };
        fact.name = text("device_type_string", device.plane->name);
        fact.vendor = text("device_vendor", "");
        const auto bytes = device.plane->numbers.find("memory_size");
        if (bytes != device.plane->numbers.end()) fact.memory_bytes = Nonzero(bytes->second);
      }
      // All devices of a capture are of one make.
      if (target_.empty()) target_ = TargetOfDevice(fact.name);
      sink_.Add(fact);
    }
  }

  // What each module is measured against: the least that a device has on which it ran, of one that
  // never ran any device; std::nullopt: unknown, or it is known to have failed.
  std::vector<MaybeInt> CapacitiesOfModules() const {
    const size_t count = content_.modules.modules().size();
    MaybeInt any;
    const auto least = [](MaybeInt* known, const MaybeInt& capacity) {
      if (capacity) *known = std::min(known->value_or(*capacity), *capacity);
    };
    for (const auto& [key, device] : devices_) least(&any, CapacityOf(device));
    std::vector<MaybeInt> capacities(count);
    std::vector<bool> failed(count);
    for (const ExecutionDraft& e : content_.executions.all) {
      if (e.module < 0) continue;
      if (e.launched.has_value() && !*e.launched) failed[e.module] = true;
      const auto device = devices_.find({e.kind, e.device_ordinal});
      if (device != devices_.end()) least(&capacities[e.module], CapacityOf(device->second));
    }
    for (size_t i = 0; i < count; ++i) {
      if (failed[i]) {
        capacities[i] = std::nullopt;
      } else if (!capacities[i]) {
        capacities[i] = any;
      }
    }
    return capacities;
  }

  void EmitModules(const ImportOptions& options) {
    std::vector<std::string_view> platforms(content_.modules.modules().size());
    for (const ExecutionDraft& e : content_.executions.all) {
      if (e.module >= 0) platforms[e.module] = ToString(e.kind);
    }
    // What never ran was compiled for what the capture has.
    const std::vector<MaybeInt> capacities = CapacitiesOfModules();
    const std::string_view usual = devices_.empty() ? "" : ToString(devices_.rbegin()->first.first);
    for (size_t i = 0; i < platforms.size(); ++i) {
      ModuleFact fact = content_.modules.module(static_cast<int32_t>(i));
      fact.platform = platforms[i].empty() ? usual : platforms[i];
      fact.target = target_;
      if (fact.plan != nullptr && options.WantsChanges(fact.plan->plan_bytes, capacities[i])) {
        CaptureIssues issues;
        fact.changes = content_.modules.ReadChanges(source_, static_cast<int32_t>(i), fact.platform,
                                                    options, &issues);
        for (const IssueFact& issue : issues.all()) sink_.Add(issue);
      }
      sink_.Add(fact);
    }
  }

  void EmitAllocators() {
    const HostTimeline& timeline = content_.timeline;
    for (size_t i = 0; i < timeline.allocator_names.size(); ++i) {
      const AllocatorSeries& series = content_.series[i];
      AllocatorFact fact;
      fact.name = timeline.allocator_names[i].name;
      if (const auto key = KeyOf(timeline.allocator_names[i].device))
        fact.device = DeviceIndex(*key);
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

  void EmitExecutions(int64_t wait_min_ns) {
    for (const ExecutionDraft& e : content_.executions.all) {
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
      if (e.launch) fact.launch_event = host_events_.NumberOfLaunch(*e.launch);
      AddWait(e, wait_min_ns, &fact);
      AddMemory(e, &fact);
      sink_.Add(fact);
    }
  }

  void EmitGapCalls() {
    for (const GapCall& call : content_.timeline.gap_calls) {
      const HostLine& line = content_.timeline.lines[call.line];
      GapCallFact fact;
      fact.module = call.module;
      fact.thread = line.thread;
      fact.name = line.plane->events.at(call.name).name;
      if (call.caller >= 0) fact.caller = line.plane->events.at(call.caller).name;
      fact.gaps = call.gaps;
      fact.all_gaps = call.all_gaps;
      fact.calls = call.calls;
      fact.depth = call.depth;
      fact.encloses = call.encloses;
      fact.last_start_ns = content_.base.UnixNs(call.last_start_ps);
      sink_.Add(fact);
    }
  }

  static void AddWait(const ExecutionDraft& e, int64_t wait_min_ns, ExecutionFact* fact) {
    if (e.retry_count > 0) {
      fact->wait_ns = e.retry_ps / 1000;
      fact->wait_evidence = "measured";
      fact->retry_count = e.retry_count;
    } else if (e.longest_quiet_ps / 1000 >= wait_min_ns && e.longest_quiet_ps > 0) {
      fact->wait_ns = e.longest_quiet_ps / 1000;
      fact->wait_evidence = "inferred";
      fact->retry_count = std::max<int64_t>(e.prepare_count - 1, 1);
    }
  }

  void AddMemory(const ExecutionDraft& e, ExecutionFact* fact) const {
    const auto device = devices_.find({e.kind, e.device_ordinal});
    if (device == devices_.end() || device->second.allocator == nullptr) return;
    const AllocatorSeries& series = *device->second.allocator;
    fact->in_use_at_start_bytes = InUseAt(content_.timeline, series, e.start_ps);
    fact->peak_in_use_bytes = PeakWithin(content_.timeline, series, e.start_ps, e.end_ps);
    fact->output_bytes = e.output_bytes;
    fact->temp_bytes = e.temp_bytes;
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
      if (const int32_t end = paired.free_event >= 0 ? paired.free_event : paired.closed_by;
          end >= 0) {
        fact.free_ns = content_.base.UnixNs(content_.timeline.allocator_events[end].time_ps);
      }
      if (paired.free_event >= 0) {
        fact.free_event = host_events_.NumberOfAllocatorEvent(paired.free_event);
      }
      sink_.Add(fact);
    }
  }

  void AddOrigin(int32_t event_index, AllocationFact* fact) const {
    const AllocatorEvent& event = content_.timeline.allocator_events[event_index];
    fact->alloc_ns = content_.base.UnixNs(event.time_ps);
    fact->in_use_after_bytes = event.in_use_bytes;
    if (event.fragmentation >= 0 && event.fragmentation <= 1)
      fact->fragmentation = event.fragmentation;
    fact->alloc_event = host_events_.NumberOfAllocatorEvent(event_index);
    const AllocationMatch& match = content_.executions.matches[event_index];
    if (match.execution >= 0) {
      const ExecutionDraft& e = content_.executions.all[match.execution];
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
    AddSurroundings(event, fact);
  }

  // What no plan explains is of the call around it that says a shape, else of what encloses it most
  // closely.
  void AddSurroundings(const AllocatorEvent& event, AllocationFact* fact) const {
    const HostLine& line = content_.timeline.lines[event.line];
    fact->purpose = "other";
    int32_t origin = line.events[event.event].parent;
    bool shape_known = false;
    int looked_at = 0;
    for (int32_t i = origin; i >= 0 && looked_at < kMaxSpansAround;
         i = line.events[i].parent, ++looked_at) {
      const EventRole role = line.events[i].role;
      if (role == EventRole::kTransfer || role == EventRole::kHostBuffer)
        fact->purpose = "transfer";
      if (role == EventRole::kHostBuffer && !shape_known) {
        origin = i;
        shape_known = true;
      }
    }
    if (origin >= 0) fact->origin = line.NameOf(line.events[origin]);
  }

  const Source& source_;
  const CaptureContent& content_;
  FactSink& sink_;
  HostEventEmitter host_events_;
  struct Device {
    Index index = 0;
    const PlaneIndex* plane = nullptr;           // Null: the capture has none of it.
    const AllocatorSeries* allocator = nullptr;  // Null: it recorded no allocator.
  };
  // The pool's, else the device's memory.
  static MaybeInt CapacityOf(const Device& device) {
    if (device.allocator != nullptr && device.allocator->capacity_bytes > 0)
      return device.allocator->capacity_bytes;
    if (device.plane == nullptr) return std::nullopt;
    const auto bytes = device.plane->numbers.find("memory_size");
    return bytes == device.plane->numbers.end() ? std::nullopt : Nonzero(bytes->second);
  }
  std::map<DeviceKey, Device> devices_;
  std::string target_;  // What modules were compiled for; empty: unknown.
};

}  // namespace

void EmitFacts(const Source& source, const CaptureContent& content, const ImportOptions& options,
               FactSink& sink) {
  Emitter(source, content, sink).Run(options);
}

}  // namespace oomdb::ingest
