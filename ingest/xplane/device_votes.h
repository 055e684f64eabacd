// What device kernels and driver calls say of executions that the host events leave open: which of
// several modules of one name ran, on which device, and that it was launched at all.
#ifndef OOMDB_INGEST_XPLANE_DEVICE_VOTES_H_
#define OOMDB_INGEST_XPLANE_DEVICE_VOTES_H_

#include "ingest/xplane/executions.h"

namespace oomdb::ingest {

// Walks the kernels of GPU planes and the driver calls of host threads. Driver calls, and the
// kernels that bear their correlation ids, fill program_id; kernels alone, by the time at which
// they ran, likely_program_id. Both fill device_ordinal and launched where these are open. Expects
// the executions by start.
void TakeDeviceVotes(const Source& source, const SpaceIndex& space, const TimeBase& base,
                     const HostTimeline& timeline, std::vector<ExecutionDraft>* executions);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_XPLANE_DEVICE_VOTES_H_
