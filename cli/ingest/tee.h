// --tee: a program's output goes on to whoever reads it while we read it too.
#ifndef OOMDB_CLI_INGEST_TEE_H_
#define OOMDB_CLI_INGEST_TEE_H_

#include <string>
#include <vector>

#include "ingest/source/source.h"

namespace oomdb::cli {

// Writes what it sees to standard output at once, unchanged; when nobody reads that any more, it
// stops writing and the input is read on. Throws Error (kUsage) when "-" is not among `paths`.
ingest::ByteObserver PassThrough(const std::vector<std::string>& paths);

}  // namespace oomdb::cli

#endif  // OOMDB_CLI_INGEST_TEE_H_
