// What a module was compiled for, in the words under which settings.sql lists how much memory such
// devices have at most: sm_9.0, gfx942, tpu_v5e.
#ifndef OOMDB_INGEST_PLAN_TARGET_H_
#define OOMDB_INGEST_PLAN_TARGET_H_

#include <string>
#include <string_view>

namespace oomdb::ingest {

// By what follows the module's name in the name of a dumped file, as in
// module_0001.jit_f.sm_8.0_gpu_after_optimizations.hlo.pb; empty: it doesn't say.
std::string TargetOfFile(std::string_view file_name, std::string_view module_name);

// By the name of a device, "TPU v5 lite"; empty: it doesn't say.
std::string TargetOfDevice(std::string_view device_name);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_TARGET_H_
