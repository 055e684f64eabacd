// Finding the folders among files that XLA dumped to.
#ifndef OOMDB_INGEST_DUMP_DUMP_FOLDERS_H_
#define OOMDB_INGEST_DUMP_DUMP_FOLDERS_H_

#include <string>
#include <vector>

#include "ingest/dump/dump_names.h"

namespace oomdb::ingest {

struct DumpFile {
  std::string file_name;  // In the dump's folder.
  DumpFileName name;
};

// A folder with the files that may say what its modules' memory is, by module and, in one, the best
// first.
struct DumpFolder {
  std::string path;
  std::vector<DumpFile> files;  // None of kind kOther.
  size_t other_files = 0;       // That belong to the dump and are not needed.
};

// Takes the files of dumps out of `files` (paths, sorted), which keeps the rest: what has another
// name, and what lies in folders where no file holds a plan. The dumps are sorted by path.
// Opens nothing.
std::vector<DumpFolder> TakeDumpFolders(std::vector<std::string>& files);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_DUMP_DUMP_FOLDERS_H_
