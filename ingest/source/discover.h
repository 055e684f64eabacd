// Finding the files below a path.
#ifndef OOMDB_INGEST_SOURCE_DISCOVER_H_
#define OOMDB_INGEST_SOURCE_DISCOVER_H_

#include <cstddef>
#include <string>
#include <vector>

namespace oomdb::ingest {

struct Discovery {
  std::vector<std::string> files;  // Sorted; each begins with the path that was asked for.
  std::vector<std::string>
      unreadable;  // "PATH: reason" of folders that could not be listed; sorted.
};

struct DiscoverLimits {
  size_t max_files = 1000000;
  size_t max_depth = 128;  // Folders below the path asked for.
};

// All regular files below `path`, or `path` itself when it is not a folder ("-" too). Symbolic
// links are followed, but every real folder is visited once, so that a loop ends; of several names
// of one folder or file the one without a link wins. Pipes, sockets and devices inside a folder are
// passed over. Throws Error when `path` does not exist or can't be read, or when a limit is passed.
Discovery DiscoverFiles(const std::string& path, const DiscoverLimits& limits = {});

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_SOURCE_DISCOVER_H_
