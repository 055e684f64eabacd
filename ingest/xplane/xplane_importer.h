// The importer of profiler captures (XSpace, .xplane.pb).
#ifndef OOMDB_INGEST_XPLANE_XPLANE_IMPORTER_H_
#define OOMDB_INGEST_XPLANE_XPLANE_IMPORTER_H_

#include <string_view>

#include "ingest/base/facts.h"
#include "ingest/base/importer.h"
#include "ingest/source/source.h"

namespace oomdb::ingest {

// True for *.xplane.pb, also with .gz, .zst or .xz behind it.
bool ClaimsXPlane(std::string_view file_name);

// Reads a capture in two passes (space_index.h, line_walk.h) and hands all its facts to `sink`.
// Throws Error when the source is not an XSpace. What is unreadable inside a capture is an issue;
// the rest is handed over.
void ImportXPlane(const Source& source, const ImportOptions& options, FactSink& sink);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_XPLANE_XPLANE_IMPORTER_H_
