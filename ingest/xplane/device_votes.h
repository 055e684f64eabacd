// What device kernels and driver calls say of executions that the host events leave open: which of several modules of one
// name ran, on which device, and that it was launched at all.
#ifndef OOMDB_INGEST_XPLANE_DEVICE_VOTES_H_
#define OOMDB_INGEST_XPLANE_DEVICE_VOTES_H_

#include "ingest/xplane/executions.h"

namespace oomdb {

// Walks the kernels of GPU planes and the driver calls of host threads, in memory that grows with the executions only.
// Fills program_id, device_ordinal and launched where they are open and there is evidence.
void TakeDeviceVotes(const Source& source, const SpaceIndex& space, const TimeBase& base,
                     const HostTimeline& timeline, const ModuleIndex& modules,
                     std::vector<Execution>* executions);

}  // namespace oomdb

#endif  // OOMDB_INGEST_XPLANE_DEVICE_VOTES_H_
