#include "ingest/xplane/xplane_importer.h"

#include <algorithm>
#include <future>
#include <vector>

#include "ingest/base/phases.h"
#include "ingest/xplane/fact_emitter.h"
#include "ingest/xplane/line_context.h"

namespace oomdb::ingest {
namespace {

bool EndsWithAny(std::string_view name, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(),
                     [&](std::string_view end) { return name.ends_with(end); });
}

// Plans smaller than this together are read in less time than a thread costs.
constexpr uint64_t kWorthAThread = 256 << 10;

uint64_t PlanBytes(const SpaceIndex& space) {
  uint64_t bytes = 0;
  for (const PlaneIndex& plane : space.planes) {
    for (const ModuleMetadata& module : plane.modules) bytes += module.hlo ? module.hlo->length : 0;
  }
  return bytes;
}

}  // namespace

bool ClaimsXPlane(std::string_view file_name) {
  return EndsWithAny(file_name, {".xplane.pb", ".xplane.pb.gz", ".xplane.pb.zst", ".xplane.pb.xz"});
}

void ImportXPlane(const Source& source, const ImportOptions& options, FactSink& sink) {
  SpaceIndex space = IndexSpace(source);
  const TimeBase base = FindTimeBase(source, space);
  // Plans are read on a thread of their own while the lines are walked.
  CaptureIssues plan_issues;
  std::future<ModuleIndex> plans =
      std::async(PlanBytes(space) > kWorthAThread ? std::launch::async : std::launch::deferred,
                 [&source, &planes = space.planes, &options, &plan_issues] {
                   return ModuleIndex(source, planes, options, &plan_issues);
                 });
  HostTimeline timeline = ReadHostTimeline(source, space, base, &space.issues);
  ModuleIndex modules = [&] {
    const InPhase waiting(Phase::kReplay);
    return plans.get();
  }();
  for (const IssueFact& issue : plan_issues.all()) {
    space.issues.Add(issue.severity, issue.what, issue.detail, issue.count);
  }
  Executions executions =
      FindExecutions(source, &space, base, {.truncated = space.truncated}, &timeline, &modules);
  std::vector<AllocatorSeries> series = BuildSeries(timeline);
  const std::vector<PairedAllocation> allocations = PairAllocations(timeline, &series);
  AddAllContexts(source, base, options.wait_min_ns, &timeline, &executions.all, &space.issues);
  EmitFacts(source, {space, base, timeline, modules, executions, series, allocations}, options,
            sink);
}

}  // namespace oomdb::ingest
