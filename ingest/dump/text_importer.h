// The text forms of a plan, as a dump's file or named alone.
#ifndef OOMDB_INGEST_DUMP_TEXT_IMPORTER_H_
#define OOMDB_INGEST_DUMP_TEXT_IMPORTER_H_

#include <string_view>

#include "ingest/base/facts.h"
#include "ingest/base/importer.h"
#include "ingest/source/source.h"

namespace oomdb::ingest {

// The module that a text describes; its name, number and platform are those of the file's name.
// Throws Error when the content is of neither form.
ModuleFact ReadTextModule(const Source& source);

// The Importer of a single text (ingest/importers.h): a capture of kind xla_dump.
bool ClaimsPlanText(std::string_view file_name);
void ImportPlanText(const Source& source, const ImportOptions& options, FactSink& sink);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_DUMP_TEXT_IMPORTER_H_
