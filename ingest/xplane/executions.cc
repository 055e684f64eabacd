#include "ingest/xplane/executions.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "ingest/xplane/device_votes.h"
#include "ingest/xplane/execution_spans.h"

namespace oomdb::ingest {
namespace {

// Which module explains the sizes that an execution asked for.
class SizeReader {
 public:
  explicit SizeReader(const ModuleIndex& modules) : modules_(modules) {}

  // The only module of `among` whose plan explains all sizes; of several, the only one of which
  // nothing is left then, if `all_made` says that the execution got all it asked for. -1: none or
  // several.
  int32_t OnlyExplanation(std::vector<int64_t> sizes, const std::vector<int32_t>& among,
                          bool all_made) {
    if (sizes.empty() || among.empty()) return -1;
    std::sort(sizes.begin(), sizes.end());
    // Lists of one length that begin with the same module are the same list.
    const auto [answer, is_new] =
        answers_.try_emplace({std::move(sizes), among.front(), among.size(), all_made}, -1);
    if (is_new) answer->second = Find(std::get<0>(answer->first), among, all_made);
    return answer->second;
  }

 private:
  int32_t Find(const std::vector<int64_t>& sizes, const std::vector<int32_t>& among,
               bool all_made) {
    std::vector<int32_t> explain, exactly;
    for (const int32_t module : among) {
      if (steps_left_ < sizes.size()) return -1;
      RequestMatcher matcher(modules_.Requests(module));
      for (const int64_t size : sizes) {
        --steps_left_;
        if (matcher.Take(size) == nullptr) break;
      }
      if (matcher.taken() != sizes.size()) continue;
      explain.push_back(module);
      if (matcher.taken() == modules_.Requests(module).size()) exactly.push_back(module);
    }
    if (explain.size() == 1) return explain[0];
    return all_made && exactly.size() == 1 ? exactly[0] : -1;
  }

  const ModuleIndex& modules_;
  size_t steps_left_ = 50'000'000;  // Seconds; recorded programs need thousands.
  std::map<std::tuple<std::vector<int64_t>, int32_t, size_t, bool>, int32_t> answers_;
};

class Finder {
 public:
  Finder(const Source& source, SpaceIndex* space, const TimeBase& base,
         const ExecutionOptions& options, HostTimeline* timeline, ModuleIndex* modules)
      : source_(source),
        space_(*space),
        base_(base),
        options_(options),
        timeline_(*timeline),
        modules_(*modules),
        sizes_(*modules) {}

  Executions Run() {
    SpanCollection spans = CollectSpans(&timeline_, &space_.issues);
    span_count_ = spans.executions.size();
    executions_ = std::move(spans.executions);
    for (ExecutionDraft& e : executions_) spans.calls.Link(&e);
    DropSpansOfOtherClients();
    AddCpuRuns();
    AddTpuRuns();
    for (ExecutionDraft& e : executions_) spans.calls.Link(&e);
    DevicesFromThreads();
    NamesFromSizes();
    Sort();
    TakeDeviceVotes(source_, space_, base_, timeline_, &executions_);
    DeviceFromLoneliness();
    for (ExecutionDraft& e : executions_) ResolveModule(&e);
    Sort();  // Devices may have been learnt.
    MatchAllocations();
    Number();
    MarkEvents();
    return {std::move(executions_), std::move(matches_)};
  }

 private:
  // CPU and TPU clients open the same spans; there the runs tell the executions. In a program that
  // uses a GPU beside them, a span that nothing says to be of the GPU's client is the CPU's if its
  // module ran there.
  void DropSpansOfOtherClients() {
    std::set<std::string, std::less<>> cpu_modules;
    for (const auto& [key, run] : timeline_.cpu_runs) {
      if (!run.module_name.empty()) cpu_modules.insert(run.module_name);
    }
    const bool any_gpu =
        HasPlane(PlaneIndex::Kind::kGpu) ||
        std::any_of(executions_.begin(), executions_.end(),
                    [](const ExecutionDraft& e) { return e.client == Client::kGpu; });
    const bool any_tpu = HasPlane(PlaneIndex::Kind::kTpu);
    std::erase_if(executions_, [&](const ExecutionDraft& e) {
      if (e.client != Client::kUnknown) return e.client == Client::kCpu;
      return !any_gpu || any_tpu || cpu_modules.contains(e.module_name);
    });
  }

  bool HasPlane(PlaneIndex::Kind kind) const {
    return std::any_of(space_.planes.begin(), space_.planes.end(),
                       [kind](const PlaneIndex& plane) { return plane.kind == kind; });
  }

  void AddCpuRuns() {
    for (const auto& [key, run] : timeline_.cpu_runs) {
      if (run.module_name.empty()) continue;
      ExecutionDraft e;
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
        WalkEvents(
            &window, extent, [](int64_t) { return true; },
            [&](const RawEvent& event) { AddTpuRun(plane, head, event); });
      }
    }
  }

  void AddTpuRun(const PlaneIndex& plane, const LineHead& head, const RawEvent& event) {
    if (executions_.size() >= kMaxExecutions) {
      space_.issues.Add("error", "too_many_executions",
                        "more TPU runs than can be kept; the rest is left out");
      return;
    }
    ExecutionDraft e;
    e.kind = DeviceKind::kTpu;
    e.device_ordinal = plane.ordinal;
    const TimeSpan span = base_.SpanOf(head, event);
    e.start_ps = span.start_ps;
    e.end_ps = span.end_ps;
    const SplitName split = SplitProgramId(plane.events.at(event.metadata_id).name);
    e.module_name = std::string(split.name);
    e.program_id = split.id;
    ForEachStat(event.stats, [&](const RawStat& stat) {
      if (plane.stat_keys.at(stat.metadata_id) == StatKey::kProgramId) e.program_id = stat.number;
    });
    e.launched = true;
    executions_.push_back(std::move(e));
  }

  // A worker thread serves one device: where its other executions agree on one, it is that.
  void DevicesFromThreads() {
    std::map<int32_t, std::set<int64_t>> devices;
    for (const ExecutionDraft& e : executions_) {
      if (e.line >= 0 && e.device_ordinal >= 0) devices[e.line].insert(e.device_ordinal);
    }
    for (ExecutionDraft& e : executions_) {
      if (e.line < 0 || e.device_ordinal >= 0) continue;
      const std::set<int64_t>& seen = devices[e.line];
      if (seen.size() == 1) e.device_ordinal = *seen.begin();
    }
  }

  // What ran on a GPU ran on the only one there is.
  void DeviceFromLoneliness() {
    std::set<int64_t> gpus;
    for (const PlaneIndex& plane : space_.planes) {
      if (plane.kind == PlaneIndex::Kind::kGpu) gpus.insert(plane.ordinal);
    }
    for (const AllocatorName& allocator : timeline_.allocator_names) {
      if (allocator.device.kind == "gpu") gpus.insert(allocator.device.ordinal);
    }
    for (const ExecutionDraft& e : executions_) {
      if (e.kind == DeviceKind::kGpu && e.device_ordinal >= 0) gpus.insert(e.device_ordinal);
    }
    if (gpus.size() != 1) return;
    for (ExecutionDraft& e : executions_) {
      if (e.kind == DeviceKind::kGpu && e.device_ordinal < 0) e.device_ordinal = *gpus.begin();
    }
  }

  bool OfDevice(const AllocatorEvent& event) const {
    return !timeline_.allocator_names[event.allocator].device.kind.empty();
  }

  // The events of its device's memory up to the last allocation: what comes then only frees.
  std::vector<const AllocatorEvent*> EventsOfRequests(const ExecutionDraft& e) const {
    std::vector<const AllocatorEvent*> events;
    size_t count = 0;
    for (const int32_t index : e.memory_events) {
      const AllocatorEvent& event = timeline_.allocator_events[index];
      if (!OfDevice(event)) continue;
      events.push_back(&event);
      if (event.is_allocation) count = events.size();
    }
    events.resize(count);
    return events;
  }

  // What it asked for and did not free to start anew.
  std::vector<int64_t> RequestedSizes(const ExecutionDraft& e) const {
    std::multimap<int64_t, int64_t> held;  // Address to size.
    for (const AllocatorEvent* event : EventsOfRequests(e)) {
      if (event->is_allocation) {
        held.emplace(event->address, event->requested_bytes);
      } else if (const auto freed = held.find(event->address); freed != held.end()) {
        held.erase(freed);
      }
    }
    std::vector<int64_t> sizes;
    for (const auto& [address, size] : held) sizes.push_back(size);
    return sizes;
  }

  void NamesFromSizes() {
    std::vector<int32_t> all(modules_.modules().size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int32_t>(i);
    for (ExecutionDraft& e : executions_) {
      if (!e.module_name.empty() || e.kind != DeviceKind::kGpu) continue;
      const int32_t module =
          sizes_.OnlyExplanation(RequestedSizes(e), all, e.launched.value_or(false));
      if (module >= 0) e.module_name = modules_.module(module).name;
    }
  }

  // Of several modules of one name: by what launched it, else by the sizes, else by the kernels
  // that ran next.
  void ResolveModule(ExecutionDraft* e) {
    if (e->module_name.empty()) return;
    if (!e->program_id) {
      e->module = sizes_.OnlyExplanation(RequestedSizes(*e), modules_.Named(e->module_name),
                                         e->launched.value_or(false));
      if (e->module >= 0) return;
      e->program_id = e->likely_program_id;
    }
    e->module = modules_.FindOrAdd(e->module_name, e->program_id);
  }

  // What is left of the plan of an execution without any sign of a launch failed; that can only be
  // said where the capture has allocator events, and all of them.
  void MatchAllocations() {
    matches_.resize(timeline_.allocator_events.size());
    const bool allocators_tell =
        std::any_of(timeline_.allocator_names.begin(), timeline_.allocator_names.end(),
                    [](const AllocatorName& a) { return !a.device.kind.empty(); });
    const RunRequests none;
    for (size_t i = 0; i < executions_.size(); ++i) {
      ExecutionDraft& e = executions_[i];
      for (const int32_t index : e.memory_events)
        matches_[index].execution = static_cast<int32_t>(i);
      RequestMatcher matcher(e.module >= 0 ? modules_.Requests(e.module) : none);
      Match(&matcher, &e);
      if (e.launched || !allocators_tell || options_.truncated) continue;
      if (const PlanAllocation* missing = matcher.FirstUntaken()) {
        e.launched = false;
        e.failed_allocation_index = missing->index;
      }
    }
  }

  // Each allocation event takes the first untaken allocation of the plan that has its size.
  void Match(RequestMatcher* matcher, ExecutionDraft* e) {
    std::map<int64_t, const AllocatorEvent*> held;  // By address.
    for (const AllocatorEvent* event : EventsOfRequests(*e)) {
      AllocationMatch& match = matches_[event - timeline_.allocator_events.data()];
      if (event->is_allocation) {
        match.allocation = matcher->Take(event->requested_bytes);
        if (match.allocation == nullptr) continue;
        held[event->address] = event;
        BytesFor(*match.allocation, e) += event->bytes;
      } else if (const auto freed = held.find(event->address); freed != held.end()) {
        const AllocationMatch& made = matches_[freed->second - timeline_.allocator_events.data()];
        matcher->GiveBack(made.allocation);
        BytesFor(*made.allocation, e) -= freed->second->bytes;
        held.erase(freed);
      }
    }
  }

  static int64_t& BytesFor(const PlanAllocation& allocation, ExecutionDraft* e) {
    return allocation.allocation_class == AllocationClass::kOutput ? e->output_bytes
                                                                   : e->temp_bytes;
  }

  void Sort() {
    std::stable_sort(executions_.begin(), executions_.end(),
                     [](const ExecutionDraft& x, const ExecutionDraft& y) {
                       return std::tie(x.start_ps, x.kind, x.device_ordinal, x.module_name) <
                              std::tie(y.start_ps, y.kind, y.device_ordinal, y.module_name);
                     });
  }

  void Number() {
    std::map<std::tuple<DeviceKind, int64_t, int32_t, std::string>, int64_t> count;
    for (ExecutionDraft& e : executions_) {
      e.sequence = ++count[{e.kind, e.device_ordinal, e.module, e.module < 0 ? e.module_name : ""}];
      if (e.module >= 0) ++modules_.module(e.module).execution_count;
    }
  }

  // From the spans as they were collected to the executions as they are now.
  void MarkEvents() {
    std::vector<int32_t> execution_of(span_count_, -1);
    for (size_t i = 0; i < executions_.size(); ++i) {
      if (executions_[i].span >= 0) execution_of[executions_[i].span] = static_cast<int32_t>(i);
    }
    for (HostLine& line : timeline_.lines) {
      for (TimelineEvent& event : line.events) {
        if (event.execution >= 0) event.execution = execution_of[event.execution];
      }
    }
  }

  const Source& source_;
  SpaceIndex& space_;
  const TimeBase& base_;
  const ExecutionOptions options_;
  HostTimeline& timeline_;
  ModuleIndex& modules_;
  SizeReader sizes_;
  size_t span_count_ = 0;
  std::vector<ExecutionDraft> executions_;
  std::vector<AllocationMatch> matches_;
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

Executions FindExecutions(const Source& source, SpaceIndex* space, const TimeBase& base,
                          const ExecutionOptions& options, HostTimeline* timeline,
                          ModuleIndex* modules) {
  return Finder(source, space, base, options, timeline, modules).Run();
}

}  // namespace oomdb::ingest
