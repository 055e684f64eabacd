// Device memory profiles: what each Python stack holds on the devices, as pprof
// (jax.profiler.save_device_memory_profile, usually memory.prof). Buffers, and the code of
// executables; not the temporaries of a program that runs.
#ifndef OOMDB_INGEST_PROFILE_PROFILE_IMPORTER_H_
#define OOMDB_INGEST_PROFILE_PROFILE_IMPORTER_H_

#include <string_view>

#include "ingest/base/facts.h"
#include "ingest/base/importer.h"
#include "ingest/source/source.h"

namespace oomdb::ingest {

// The Importer of this format (ingest/importers.h): *.prof and *.pprof.
bool ClaimsProfile(std::string_view file_name);
// Throws Error when the content is not a pprof profile of memory.
void ImportProfile(const Source& source, const ImportOptions& options, FactSink& sink);

// Whether ImportProfile would take it. Other profilers' files have the same names, and people save
// profiles under any name: so the content decides, whether it was named or not.
bool HoldsProfile(const Source& source, bool named);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PROFILE_PROFILE_IMPORTER_H_
