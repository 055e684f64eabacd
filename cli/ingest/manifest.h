// A manifest: a CSV file that says which captures there are, and what they are of.
#ifndef OOMDB_CLI_INGEST_MANIFEST_H_
#define OOMDB_CLI_INGEST_MANIFEST_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oomdb::cli {

struct ManifestRow {
  int64_t line = 0;  // On which it begins, from 1.
  std::string path;  // A file or folder; relative ones are taken from the manifest's folder.
  std::optional<std::string> run;
  std::optional<std::string> host;
  std::map<std::string, std::string> labels;
  std::string problem;  // Not empty: the row can't be used, and why.
};

// One record of RFC 4180: cells between commas, quoted where they hold one, a quote (doubled) or a
// line break. CR LF and LF end it; so does the end of the text.
struct CsvRecord {
  int64_t line = 0;
  std::vector<std::string> cells;
};

// All records but empty lines; a byte order mark is passed over. Throws Error, with the line, for a
// quote that doesn't close or stands within a bare cell.
std::vector<CsvRecord> ParseCsv(std::string_view text);

// The header names the columns, in any order: `path`, perhaps `run` and `host`; each other one is a
// label. An empty cell says nothing. `folder` is that of the manifest. Throws Error (kUsage) for a
// header without a path, with a name twice or an empty one.
std::vector<ManifestRow> ParseManifest(std::string_view text, const std::string& folder);

// The same of a file; its errors name it.
std::vector<ManifestRow> ReadManifest(const std::string& path);

}  // namespace oomdb::cli

#endif  // OOMDB_CLI_INGEST_MANIFEST_H_
