// Bare HLO protos: *.hlo.pb as XLA dumps them, *.hlo_proto.pb as XProf writes them beside a
// capture. Each is a capture of its own with one module.
#ifndef OOMDB_INGEST_PLAN_HLO_IMPORTER_H_
#define OOMDB_INGEST_PLAN_HLO_IMPORTER_H_

#include <string>
#include <string_view>

#include "ingest/base/facts.h"
#include "ingest/base/importer.h"
#include "ingest/source/source.h"

namespace oomdb::ingest {

// XXH3-128 of an HLO proto's bytes, 32 hex digits: what plans are stored under.
std::string HloHash(std::string_view bytes);

// The number N of a name `module(N)`, std::nullopt where there is none.
MaybeInt ProgramIdOfName(std::string_view name);

// gpu, tpu or cpu; empty: unknown. Told by HloModuleProto.device_type, else by what follows the
// module's name in the file's: `sm_8.0_gpu_after_optimizations`, `cl_933746096.after_optimizations`
// (TPU), `cpu_after_optimizations`.
std::string PlatformOf(std::string_view device_type, std::string_view file_name,
                       std::string_view module_name);

// The module in `source`, an HloProto. Throws Error when the content is none.
ModuleFact ReadHloModule(const Source& source, const ImportOptions& options = {});

// The Importer of this format (ingest/importers.h). `file_name` may have folders in front.
bool ClaimsHlo(std::string_view file_name);
// Throws Error when the content is not an HloProto with a module.
void ImportHlo(const Source& source, const ImportOptions& options, FactSink& sink);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_HLO_IMPORTER_H_
