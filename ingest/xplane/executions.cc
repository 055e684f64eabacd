#include "ingest/xplane/executions.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "ingest/xplane/device_votes.h"

namespace oomdb {
namespace {

bool IsStreamExecutorEvent(std::string_view name) {
  return name.find("StreamExecutor") != std::string_view::npos;
}

class Finder {
 public:
  Finder(const Source& source, const SpaceIndex& space, const TimeBase& base,
         const ExecutionOptions& options, HostTimeline* timeline, ModuleIndex* modules)
      : source_(source),
        space_(space),
        base_(base),
        options_(options),
        timeline_(timeline),
        modules_(modules) {}

  Executions Run() {
    for (size_t i = 0; i < timeline_->lines.size(); ++i) {
      CollectSpans(static_cast<int32_t>(i));
      CollectCalls(static_cast<int32_t>(i));
    }
    DropCpuSpans();
    AddCpuRuns();
    AddTpuRuns();
    Sort();
    std::sort(calls_.begin(), calls_.end(),
              [](const Call& a, const Call& b) { return a.start_ps < b.start_ps; });
    for (Execution& e : executions_) LinkLaunch(&e);
    DevicesFromThreads();
    NameFromSizes();
    TakeDeviceVotes(source_, space_, base_, *timeline_, *modules_, &executions_);
    DeviceFromLoneliness();
    for (Execution& e : executions_) ResolveModule(&e);
    MatchAllocations();
    JudgeLaunches();
    Sort();  // Devices may have been learnt.
    Number();
    MarkEvents();
    return {std::move(executions_), std::move(matches_)};
  }

 private:
  // A call of a compiled function: the outermost of nested PjitFunction spans.
  struct Call {
    int64_t start_ps;
    int64_t end_ps;
    std::string module_name;
    EventPlace place;
  };

  void CollectCalls(int32_t line_index) {
    const HostLine& line = timeline_->lines[line_index];
    for (const TimelineEvent& event : line.events) {
      if (event.role != EventRole::kPjit || OutermostPjit(line, event.parent) >= 0) continue;
      calls_.push_back({event.start_ps, event.end_ps, line.MeaningOf(event).module_name,
                        {line_index, event.ordinal}});
    }
  }

  static int32_t OutermostPjit(const HostLine& line, int32_t event) {
    int32_t outermost = -1;
    for (; event >= 0; event = line.events[event].parent) {
      if (line.events[event].role == EventRole::kPjit) outermost = event;
    }
    return outermost;
  }

  // The outermost execution spans of a thread, and what lies in them.
  void CollectSpans(int32_t line_index) {
    HostLine& line = timeline_->lines[line_index];
    std::vector<int32_t> span_of(line.events.size(), -1);  // In executions_.
    for (size_t i = 0; i < line.events.size(); ++i) {
      TimelineEvent& event = line.events[i];
      if (event.parent >= 0) span_of[i] = span_of[event.parent];
      if (span_of[i] < 0 && event.role == EventRole::kExecute) {
        span_of[i] = static_cast<int32_t>(executions_.size());
        executions_.push_back(BeginSpan(line_index, event));
      }
      if (span_of[i] >= 0) AddToSpan(line, event, &executions_[span_of[i]]);
    }
  }

  Execution BeginSpan(int32_t line_index, const TimelineEvent& span) const {
    const HostLine& line = timeline_->lines[line_index];
    Execution e;
    e.line = line_index;
    e.start_ps = span.start_ps;
    e.end_ps = span.end_ps;
    int32_t nearest_call = -1;
    for (int32_t i = span.parent; i >= 0; i = line.events[i].parent) {
      const EventMeaning& meaning = line.MeaningOf(line.events[i]);
      if (e.device_ordinal < 0) e.device_ordinal = meaning.device_ordinal;
      if (IsStreamExecutorEvent(line.NameOf(line.events[i]))) e.span_mentions_gpu = true;
      if (meaning.role == EventRole::kExecuteNamed && e.module_name.empty()) {
        e.module_name = meaning.module_name;
      }
      if (meaning.role == EventRole::kPjit && nearest_call < 0) nearest_call = i;
    }
    // What encloses it most closely says which module it is, if the span itself doesn't.
    if (e.module_name.empty() && nearest_call >= 0) {
      e.module_name = line.MeaningOf(line.events[nearest_call]).module_name;
    }
    const int32_t outermost = OutermostPjit(line, span.parent);
    if (outermost >= 0) e.launch = EventPlace{line_index, line.events[outermost].ordinal};
    return e;
  }

  void AddToSpan(const HostLine& line, const TimelineEvent& event, Execution* e) const {
    const EventMeaning& meaning = line.MeaningOf(event);
    if (meaning.device_ordinal >= 0) e->device_ordinal = meaning.device_ordinal;
    if (IsStreamExecutorEvent(line.NameOf(event))) e->span_mentions_gpu = true;
    switch (event.role) {
      case EventRole::kLaunch:
        e->launched = true;
        e->span_mentions_gpu = true;
        // Its own word beats what encloses it.
        if (event.stat_module >= 0) {
          e->module_name = timeline_->module_names[event.stat_module];
        } else if (!meaning.module_name.empty()) {
          e->module_name = meaning.module_name;
        }
        break;
      case EventRole::kExecuteNamed:
        e->module_name = meaning.module_name;
        break;
      case EventRole::kAllocation: {
        const AllocatorEvent& fact = timeline_->allocator_events[event.allocator_event];
        const AllocatorDevice& device = timeline_->allocator_names[fact.allocator].device;
        if (!device.kind.empty()) {
          e->span_mentions_gpu = true;
          if (e->device_ordinal < 0) e->device_ordinal = device.ordinal;
        }
        e->allocations.push_back(event.allocator_event);
        break;
      }
      case EventRole::kAllocating:
        // Nested ones lie in the first.
        if (e->allocating_spans.empty() || e->allocating_spans.back().second <= event.start_ps) {
          e->allocating_spans.emplace_back(event.start_ps, event.end_ps);
        }
        if (line.NameOf(event).ends_with("::ExecutePrepare")) ++e->prepare_count;
        break;
      case EventRole::kRetry:
        e->retry_ps += event.end_ps - event.start_ps;
        ++e->retry_count;
        break;
      default:
        break;
    }
  }

  // CPU and TPU clients open the same spans; there the runs tell the executions. In a program that uses a GPU beside them, a
  // span of which nothing is of a GPU and whose module ran on the CPU is the CPU's.
  void DropCpuSpans() {
    std::set<std::string, std::less<>> cpu_modules;
    for (const auto& [key, run] : timeline_->cpu_runs) cpu_modules.insert(run.module_name);
    const bool any_gpu =
        HasPlane(PlaneIndex::Kind::kGpu) ||
        std::any_of(executions_.begin(), executions_.end(),
                    [](const Execution& e) { return e.span_mentions_gpu; });
    const bool any_tpu = HasPlane(PlaneIndex::Kind::kTpu);
    std::erase_if(executions_, [&](const Execution& e) {
      return !e.span_mentions_gpu && (!any_gpu || any_tpu || cpu_modules.contains(e.module_name));
    });
  }

  bool HasPlane(PlaneIndex::Kind kind) const {
    return std::any_of(space_.planes.begin(), space_.planes.end(),
                       [kind](const PlaneIndex& plane) { return plane.kind == kind; });
  }

  void AddCpuRuns() {
    for (const auto& [key, run] : timeline_->cpu_runs) {
      if (run.module_name.empty()) continue;
      Execution e;
      e.kind = DeviceKind::kCpu;
      e.device_ordinal = key.first;
      e.start_ps = run.start_ps;
      e.end_ps = run.end_ps;
      e.module_name = run.module_name;
      e.program_id = run.program_id;
      e.launched = true;
      executions_.push_back(std::move(e));
    }
  }

  void AddTpuRuns() {
    Window window(source_);
    for (const PlaneIndex& plane : space_.planes) {
      if (plane.kind != PlaneIndex::Kind::kTpu) continue;
      for (const Extent& extent : plane.lines) {
        const LineHead head = ReadLineHead(&window, extent);
        if (head.name != kTpuModuleLine) continue;
        WalkEvents(&window, extent, [](int64_t) { return true; },
                   [&](const RawEvent& event) { AddTpuRun(plane, head, event); });
      }
    }
  }

  void AddTpuRun(const PlaneIndex& plane, const LineHead& head, const RawEvent& event) {
    Execution e;
    e.kind = DeviceKind::kTpu;
    e.device_ordinal = plane.ordinal;
    e.start_ps = base_.Picoseconds(head.timestamp_ns, event.offset_ps);
    e.end_ps = TimeBase::Saturate(static_cast<__int128>(e.start_ps) +
                                  std::max<int64_t>(event.duration_ps, 0));
    const SplitName split = SplitProgramId(plane.events.at(event.metadata_id).name);
    e.module_name = std::string(split.name);
    if (split.id >= 0) e.program_id = split.id;
    ForEachStat(event.body, [&](const RawStat& stat) {
      if (plane.stat_keys.at(stat.metadata_id) == StatKey::kProgramId) e.program_id = stat.number;
    });
    e.launched = true;
    executions_.push_back(std::move(e));
  }

  // For executions on worker threads and on devices: the latest call of their function before them; the module name comes
  // from there too, when nothing else gives it.
  void LinkLaunch(Execution* e) {
    if (e->launch) return;
    auto call = std::upper_bound(calls_.begin(), calls_.end(), e->start_ps,
                                 [](int64_t t, const Call& c) { return t < c.start_ps; });
    for (int looked_at = 0; call != calls_.begin() && looked_at < kMaxCallsBack; ++looked_at) {
      --call;
      if (!e->module_name.empty() && call->module_name != e->module_name) continue;
      if (e->module_name.empty()) {
        if (call->end_ps < e->start_ps) continue;  // Only a call that is still open names it.
        e->module_name = call->module_name;
      }
      e->launch = call->place;
      return;
    }
  }

  // A worker thread serves one device: where its other executions agree on one, it is that.
  void DevicesFromThreads() {
    std::unordered_map<int32_t, std::set<int64_t>> devices;
    for (const Execution& e : executions_) {
      if (e.line >= 0 && e.device_ordinal >= 0) devices[e.line].insert(e.device_ordinal);
    }
    for (Execution& e : executions_) {
      if (e.line < 0 || e.device_ordinal >= 0) continue;
      const std::set<int64_t>& seen = devices[e.line];
      if (seen.size() == 1) e.device_ordinal = *seen.begin();
    }
  }

  void DeviceFromLoneliness() {
    std::set<int64_t> gpus;
    for (const PlaneIndex& plane : space_.planes) {
      if (plane.kind == PlaneIndex::Kind::kGpu) gpus.insert(plane.ordinal);
    }
    for (const AllocatorName& allocator : timeline_->allocator_names) {
      if (allocator.device.kind == "gpu") gpus.insert(allocator.device.ordinal);
    }
    for (const Execution& e : executions_) {
      if (e.kind == DeviceKind::kGpu && e.device_ordinal >= 0) gpus.insert(e.device_ordinal);
    }
    if (gpus.size() != 1) return;
    for (Execution& e : executions_) {
      if (e.kind == DeviceKind::kGpu && e.device_ordinal < 0) e.device_ordinal = *gpus.begin();
    }
  }

  std::vector<int64_t> RequestedSizes(const Execution& e) const {
    std::vector<int64_t> sizes;
    for (const int32_t index : e.allocations) {
      const AllocatorEvent& event = timeline_->allocator_events[index];
      if (!timeline_->allocator_names[event.allocator].device.kind.empty()) {
        sizes.push_back(event.requested_bytes);
      }
    }
    return sizes;
  }

  // How many of the sizes the module's candidates explain, each once.
  size_t Explained(const std::vector<int64_t>& sizes, int32_t module) const {
    std::unordered_map<int64_t, int64_t> left;
    for (const PlanAllocation* candidate : modules_->Candidates(module)) ++left[candidate->bytes];
    size_t explained = 0;
    for (const int64_t size : sizes) {
      const auto found = left.find(size);
      if (found == left.end() || found->second == 0) continue;
      --found->second;
      ++explained;
    }
    return explained;
  }

  // The only module of those whose plan explains all that the execution asked for; -1: none or several.
  int32_t OnlyExplanation(const Execution& e, const std::vector<int32_t>& among) const {
    const std::vector<int64_t> sizes = RequestedSizes(e);
    if (sizes.empty()) return -1;
    int32_t only = -1;
    for (const int32_t module : among) {
      if (Explained(sizes, module) != sizes.size()) continue;
      if (only >= 0) return -1;
      only = module;
    }
    return only;
  }

  void NameFromSizes() {
    std::vector<int32_t> all;
    for (size_t i = 0; i < modules_->modules().size(); ++i) all.push_back(static_cast<int32_t>(i));
    for (Execution& e : executions_) {
      if (!e.module_name.empty() || e.kind != DeviceKind::kGpu) continue;
      const int32_t module = OnlyExplanation(e, all);
      if (module >= 0) e.module_name = modules_->module(module).name;
    }
  }

  void ResolveModule(Execution* e) {
    if (e->module_name.empty()) return;
    if (!e->program_id) {
      const std::vector<int32_t>& named = modules_->Named(e->module_name);
      if (named.size() > 1) {
        e->module = OnlyExplanation(*e, named);
        return;
      }
    }
    e->module = modules_->FindOrAdd(e->module_name, e->program_id);
  }

  // Each allocation event takes the first untaken candidate of its size.
  void MatchAllocations() {
    matches_.resize(timeline_->allocator_events.size());
    untaken_.resize(executions_.size());
    for (size_t i = 0; i < executions_.size(); ++i) {
      const Execution& e = executions_[i];
      std::vector<const PlanAllocation*> candidates;
      if (e.module >= 0) candidates = modules_->Candidates(e.module);
      for (const int32_t index : e.allocations) {
        const AllocatorEvent& event = timeline_->allocator_events[index];
        matches_[index].execution = static_cast<int32_t>(i);
        if (timeline_->allocator_names[event.allocator].device.kind.empty()) continue;
        const auto taken = std::find_if(candidates.begin(), candidates.end(), [&](const auto* c) {
          return c->bytes == event.requested_bytes;
        });
        if (taken == candidates.end()) continue;
        matches_[index].allocation = *taken;
        candidates.erase(taken);
      }
      untaken_[i] = candidates.empty() ? nullptr : candidates.front();
    }
  }

  // An execution without any sign of a launch failed when an allocation of its plan was never made: and that can only be
  // said where the capture has allocator events at all, and all of them.
  void JudgeLaunches() {
    const bool allocators_tell =
        std::any_of(timeline_->allocator_names.begin(), timeline_->allocator_names.end(),
                    [](const AllocatorName& a) { return !a.device.kind.empty(); });
    for (size_t i = 0; i < executions_.size(); ++i) {
      Execution& e = executions_[i];
      if (e.launched || !allocators_tell || options_.truncated || untaken_[i] == nullptr) continue;
      e.launched = false;
      e.failed_allocation_index = untaken_[i]->index;
    }
  }

  void Sort() {
    // Matches refer to executions by index: they are made anew in the new order.
    std::vector<int32_t> order(executions_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int32_t>(i);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
      const Execution &x = executions_[a], &y = executions_[b];
      return std::tie(x.start_ps, x.kind, x.device_ordinal, x.module_name) <
             std::tie(y.start_ps, y.kind, y.device_ordinal, y.module_name);
    });
    std::vector<Execution> sorted;
    std::vector<int32_t> new_index(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      new_index[order[i]] = static_cast<int32_t>(i);
      sorted.push_back(std::move(executions_[order[i]]));
    }
    executions_ = std::move(sorted);
    for (Match& match : matches_) {
      if (match.execution >= 0) match.execution = new_index[match.execution];
    }
  }

  void Number() {
    std::map<std::tuple<DeviceKind, int64_t, int32_t, std::string>, int64_t> count;
    for (Execution& e : executions_) {
      e.sequence = ++count[{e.kind, e.device_ordinal, e.module, e.module < 0 ? e.module_name : ""}];
      if (e.module >= 0) ++modules_->module(e.module).execution_count;
    }
  }

  void MarkEvents() {
    for (HostLine& line : timeline_->lines) {
      for (TimelineEvent& event : line.events) event.execution = -1;
    }
    for (size_t i = 0; i < executions_.size(); ++i) {
      const Execution& e = executions_[i];
      if (e.line < 0) continue;
      auto& events = timeline_->lines[e.line].events;
      auto event = std::lower_bound(
          events.begin(), events.end(), e.start_ps,
          [](const TimelineEvent& a, int64_t start) { return a.start_ps < start; });
      for (; event != events.end() && event->start_ps <= e.end_ps; ++event) {
        const bool encloses = event->start_ps == e.start_ps && event->end_ps > e.end_ps;
        if (!encloses && event->end_ps <= e.end_ps) event->execution = static_cast<int32_t>(i);
      }
    }
  }

  static constexpr int kMaxCallsBack = 1000;

  const Source& source_;
  const SpaceIndex& space_;
  const TimeBase& base_;
  const ExecutionOptions options_;
  HostTimeline* timeline_;
  ModuleIndex* modules_;
  std::vector<Execution> executions_;
  std::vector<Match> matches_;
  std::vector<const PlanAllocation*> untaken_;  // Per execution: the first candidate nobody took.
  std::vector<Call> calls_;
};

}  // namespace

std::string_view ToString(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kCpu:
      return "cpu";
    case DeviceKind::kGpu:
      return "gpu";
    case DeviceKind::kTpu:
      return "tpu";
  }
  return "gpu";
}

Executions FindExecutions(const Source& source, const SpaceIndex& space, const TimeBase& base,
                          const ExecutionOptions& options, HostTimeline* timeline, ModuleIndex* modules) {
  return Finder(source, space, base, options, timeline, modules).Run();
}

}  // namespace oomdb
