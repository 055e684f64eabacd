#include "cli/report_model.h"
#include "cli/report_values.h"
#include "schema/query.h"

namespace oomdb {
namespace {

constexpr int64_t kLines = 10;

struct Found {
  int64_t capture_id = 0;
  std::string path;
};

// The capture itself; else the last one of its run and host; else the last one in a folder above
// it: a program saves its profile where the folders of its captures begin.
std::optional<Found> FindProfile(Database& database, const ReportCapture& capture) {
  std::optional<Found> found;
  int best = 3;
  for (const Row& row :
       Query(database,
             "SELECT capture_id, path, run, host FROM captures WHERE kind = "
             "'device_memory_profile' ORDER BY started_unix_ns DESC NULLS LAST, path DESC, "
             "capture_id DESC")
           .rows) {
    const std::string path = Text(row[1]);
    const std::string host = Text(row[3]);
    const std::string folder = path.substr(0, path.rfind('/') + 1);
    const int worth = Integer(row[0]) == capture.capture_id                                   ? 0
                      : Text(row[2]) == capture.run && (host.empty() || host == capture.host) ? 1
                      : !folder.empty() && capture.path.starts_with(folder)                   ? 2
                                                                                              : 3;
    if (worth >= best) continue;
    best = worth;
    found = Found{Integer(row[0]), path};
  }
  return found;
}

}  // namespace

std::optional<ReportProfile> ReadReportProfile(Database& database, const ReportCapture& capture,
                                               const ReportScope& scope) {
  const std::optional<Found> found = FindProfile(database, capture);
  if (!found) return std::nullopt;
  ReportProfile profile;
  profile.path = found->path;
  for (const Row& row :
       Query(database,
             "SELECT kind, device, source_file, source_line, function_name, bytes, count FROM "
             "profile_lines WHERE capture_id = :capture ORDER BY bytes DESC NULLS LAST, "
             "source_file, source_line, function_name, device, kind",
             {{"capture", found->capture_id}})
           .rows) {
    ReportProfileLine line{Text(row[0]), Text(row[1]),         Text(row[2]),   MaybeInteger(row[3]),
                           Text(row[4]), MaybeInteger(row[5]), Integer(row[6])};
    if (line.kind == "executable") {
      profile.executable_count += line.count;
      if (line.bytes) profile.executable_bytes = profile.executable_bytes.value_or(0) + *line.bytes;
      continue;
    }
    profile.buffer_count += line.count;
    profile.buffer_bytes += line.bytes.value_or(0);
    if (static_cast<int64_t>(profile.lines.size()) < scope.top.value_or(kLines)) {
      profile.lines.push_back(std::move(line));
    } else {
      ++profile.more_lines;
      profile.more_bytes += line.bytes.value_or(0);
    }
  }
  return profile;
}

}  // namespace oomdb
