#include "ingest/xplane/xplane_importer.h"

#include <algorithm>
#include <vector>

#include "ingest/xplane/fact_emitter.h"
#include "ingest/xplane/line_context.h"

namespace oomdb {
namespace {

bool EndsWithAny(std::string_view name, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(),
                     [&](std::string_view end) { return name.ends_with(end); });
}

}  // namespace

bool ClaimsXPlane(std::string_view file_name) {
  return EndsWithAny(file_name, {".xplane.pb", ".xplane.pb.gz", ".xplane.pb.zst", ".xplane.pb.xz"});
}

void ImportXPlane(const Source& source, const ImportOptions& options, FactSink& sink) {
  SpaceIndex space = IndexSpace(source);
  const TimeBase base = FindTimeBase(source, space);
  HostTimeline timeline = ReadHostTimeline(source, space, base, &space.issues);
  ModuleIndex modules(source, space, &space.issues);
  Executions executions =
      FindExecutions(source, &space, base, {.truncated = space.truncated}, &timeline, &modules);
  std::vector<AllocatorSeries> series = BuildSeries(timeline);
  const std::vector<PairedAllocation> allocations = PairAllocations(timeline, &series);
  AddAllContexts(source, base, options.wait_min_ns, &timeline, &executions.all);
  EmitFacts(source, {space, base, timeline, modules, executions, series, allocations}, options,
            sink);
}

}  // namespace oomdb
