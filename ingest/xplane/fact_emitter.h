// Turns what was read from a capture into facts, in an order that depends on the content only.
#ifndef OOMDB_INGEST_XPLANE_FACT_EMITTER_H_
#define OOMDB_INGEST_XPLANE_FACT_EMITTER_H_

#include "ingest/base/importer.h"
#include "ingest/xplane/allocator_series.h"
#include "ingest/xplane/executions.h"
#include "ingest/xplane/host_timeline.h"
#include "ingest/xplane/module_index.h"

namespace oomdb::ingest {

// All that was read. The timeline holds the context of its events already.
struct CaptureContent {
  const SpaceIndex& space;
  const TimeBase& base;
  const HostTimeline& timeline;
  const ModuleIndex& modules;
  const Executions& executions;
  const std::vector<AllocatorSeries>& series;
  const std::vector<PairedAllocation>& allocations;
};

void EmitFacts(const Source& source, const CaptureContent& content, const ImportOptions& options,
               FactSink& sink);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_XPLANE_FACT_EMITTER_H_
