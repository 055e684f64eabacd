// Error texts: what a program printed when it ran out of memory, alone or within a log.
#ifndef OOMDB_INGEST_LOG_LOG_IMPORTER_H_
#define OOMDB_INGEST_LOG_LOG_IMPORTER_H_

#include <string_view>

#include "ingest/base/facts.h"
#include "ingest/base/importer.h"
#include "ingest/source/source.h"

namespace oomdb::ingest {

// The Importer of this format (ingest/importers.h). By its name a text may be a log when it ends in
// .txt, .log, .out or .err (maybe compressed) or has no extension, and is not one of XLA's dumps.
bool ClaimsLog(std::string_view file_name);
// In a folder: true when it is a text with some form of failure in it. `named`: when it is a text.
bool HoldsLog(const Source& source, bool named);
// Throws Error when the content is not text. A text without a failure is a log all the same: an
// issue `no_oom_found` says so.
void ImportLog(const Source& source, const ImportOptions& options, FactSink& sink);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_LOG_LOG_IMPORTER_H_
