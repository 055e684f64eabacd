// What the name of a file says of it, in a folder that XLA dumped to. Thousands of files are told
// apart by this alone; few are ever opened.
//
//   [<time>.]module_<id>.<module>.<stage>.<ending>     a module's
//   <time>.peak_memory_tensors.txt                     a failed compilation's (TPU)
//
// <stage> differs by backend and version: cpu_after_optimizations, sm_8.0_gpu_after_optimizations,
// cl_933746096.after_optimizations (TPU, with libtpu's change), after_optimizations_after_buffer_…
#ifndef OOMDB_INGEST_DUMP_DUMP_NAMES_H_
#define OOMDB_INGEST_DUMP_DUMP_NAMES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/base/facts.h"

namespace oomdb::ingest {

// The more a file says of a module's memory, the earlier.
enum class DumpFileKind {
  kPlanProto,       // The optimized module; its buffer assignment may or may not be in it.
  kAssignmentText,  // …-buffer-assignment.txt
  kUsageReport,     // …-memory-usage-report.txt
  kFailedProto,     // oom_intermediate_module….hlo.pb: how far a failed compilation came.
  kFailureMark,     // Other files that only a failed compilation leaves.
  kOther,           // Early stages, passes, code: not needed here.
};

struct DumpFileName {
  DumpFileKind kind = DumpFileKind::kOther;
  std::string module;       // module_0001.jit_f: the same for all files of one; empty: none's.
  MaybeInt module_id;       // 1
  std::string module_name;  // jit_f
  uint64_t time = 0;        // The leading time stamp, 0 without one.
};

// std::nullopt: not a name that XLA gives to what it dumps. `file_name` is without folders; a
// compressor's suffix counts for nothing.
std::optional<DumpFileName> ParseDumpFileName(std::string_view file_name);

// The ending by which a text form of a plan is known, wherever it lies: kAssignmentText,
// kUsageReport, or kOther.
DumpFileKind TextPlanKind(std::string_view file_name);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_DUMP_DUMP_NAMES_H_
