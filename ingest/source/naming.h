// The run and the host that a path names.
#ifndef OOMDB_INGEST_SOURCE_NAMING_H_
#define OOMDB_INGEST_SOURCE_NAMING_H_

#include <string>
#include <string_view>

namespace oomdb::ingest {

struct CaptureNames {
  std::string run;   // Never empty.
  std::string host;  // Empty: the path names none (the capture's own host name counts then).
};

// From the absolute path, links not resolved:
//   …/plugins/profile/<run>/<host>.xplane.pb  the profiler's layout, also with .gz, .zst, .xz and
//   the like …/<folder>/<anything else>                run = <folder>, no host a folder (a dump)
//   run = its own name, no host
//   "-"                                       run = "stdin", no host
// Reads the working directory for a relative path, and whether `path` is a folder; nothing else.
CaptureNames NamesFromPath(const std::string& path);

// `file_name` without one suffix of a compressor (.gz, .gzip, .zst, .zstd, .xz), in any case.
std::string_view WithoutCompressedSuffix(std::string_view file_name);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_SOURCE_NAMING_H_
