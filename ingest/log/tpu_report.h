// What libtpu prints below "Ran out of memory in memory space": totals, the program's requirement
// by kind, its largest allocations.
#ifndef OOMDB_INGEST_LOG_TPU_REPORT_H_
#define OOMDB_INGEST_LOG_TPU_REPORT_H_

#include "ingest/log/oom_event.h"

namespace oomdb::ingest {

// The compiler prints `arguments 0B` when it gave up before it charged them: the program alone is
// above the capacity. Such zeros are unknown.
void ForgetUnchargedArguments(OomEvent* event);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_LOG_TPU_REPORT_H_
