// One folder that XLA dumped to, as one capture of kind xla_dump: the best plan of each module.
//
// Per module, the first of these whose content has it: the optimized module's proto with its buffer
// assignment, the buffer assignment as text, the memory-usage report. The module of a compilation
// that failed counts even without any of them: from its oom_intermediate_module.
#ifndef OOMDB_INGEST_DUMP_DUMP_H_
#define OOMDB_INGEST_DUMP_DUMP_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ingest/base/facts.h"
#include "ingest/base/importer.h"
#include "ingest/dump/dump_folders.h"

namespace oomdb::ingest {

// A module of the dump, and its files to be read: the next only when the one before can't be.
struct DumpModule {
  std::string module;  // As in DumpFileName.
  std::string module_name;
  std::vector<DumpFile> files;  // The chosen one and what is worse; never empty.
  bool failed = false;          // Its compilation failed.
};

struct Dump {
  std::string path;
  std::vector<DumpModule> modules;
  bool failed_unnamed = false;  // Some compilation failed, and no file says which.
  // XXH3-128, hex, over the names (sorted, without a compressor's suffix) and content hashes of the
  // chosen files, and the names of those that tell of a failure. So neither where the folder lies
  // nor what it holds besides counts, and a folder that a later compilation added to is new.
  std::string content_hash;
  int64_t bytes = 0;              // Uncompressed, of the chosen files.
  std::string compression;        // Of the first chosen file that has one, as Source::compression.
  std::vector<IssueFact> issues;  // Of files that could not be opened.
};

// Chooses: opens of each module what is needed to tell whether a buffer assignment is in it.
Dump OpenDump(const DumpFolder& folder);

// Throws Error only from `sink`: a module that can't be read is an issue.
void ImportDump(const Dump& dump, const ImportOptions& options, FactSink& sink);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_DUMP_DUMP_H_
