// …-memory-usage-report.txt: what people read, so sizes are rounded and small things left out. Used
// where nothing better was kept. Two forms:
//
//   Total bytes used: 26495521796 (24.68GiB)           older: lists the allocations, with classes
//     24.38GiB( 99%);  308.00MiB; allocation 13: size 24.38GiB, preallocated-temp:
//
//   Memory Space: default (color=0)                    newer: a total per memory space, no classes
//   Total bytes: 151459840 (144.44MiB)
//
// and, in both, the slots of allocations, which values take in turns:
//    8.00GiB( 32%);   8.00GiB;  17179869184;   3; bf16[8,4096,2048], 2×f32[8,16,4096,128]
#ifndef OOMDB_INGEST_DUMP_USAGE_REPORT_H_
#define OOMDB_INGEST_DUMP_USAGE_REPORT_H_

#include <string_view>

#include "ingest/plan/plan.h"

namespace oomdb::ingest {

bool IsUsageReport(std::string_view text);

// A slot becomes a buffer: its shape is the list of those that take turns in it, and it has no
// instruction. The newer form gives plan_bytes only (thread-local allocations included): see
// Plan::classes_known. What is missing or rounded stands in the plan's issues.
Plan ReadUsageReport(std::string_view text);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_DUMP_USAGE_REPORT_H_
