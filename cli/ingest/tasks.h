// What an ingest has to do, in the order in which it does it.
#ifndef OOMDB_CLI_INGEST_TASKS_H_
#define OOMDB_CLI_INGEST_TASKS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/ingest/job.h"
#include "ingest/dump/dump_folders.h"

namespace oomdb::cli {

// One file to read, or a folder that XLA dumped to, which is one capture; or a problem to tell; or
// the end of a folder, in which something should have been found.
struct IngestTask {
  size_t item = 0;   // Of those asked for.
  std::string path;  // The file; else the path that was asked for.
  bool in_folder = false;
  bool ends_folder = false;
  std::string problem;  // Not empty: there is nothing to read here, and why.
  std::shared_ptr<const ingest::DumpFolder> dump;  // Not null: the path is this folder.
  int64_t bytes = 0;  // As it lies there: of a compressed file, the compressed size.

  bool is_file() const { return problem.empty() && !ends_folder; }
};

// Finds the files of all items: sorted per item, the items in their order.
std::vector<IngestTask> FindIngestTasks(const std::vector<IngestItem>& items);

}  // namespace oomdb::cli

#endif  // OOMDB_CLI_INGEST_TASKS_H_
