// The formats oomdb reads. To add one: a folder or file with its importer, and a line in
// importers.cc.
#ifndef OOMDB_INGEST_IMPORTERS_H_
#define OOMDB_INGEST_IMPORTERS_H_

#include <span>

#include "ingest/base/importer.h"

namespace oomdb::ingest {

// In the order in which they are asked.
std::span<const Importer> Importers();

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_IMPORTERS_H_
