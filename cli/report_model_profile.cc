#include "cli/report_model.h"
#include "cli/report_values.h"
#include "schema/query.h"

namespace oomdb {
namespace {

constexpr int64_t kLines = 10;

}  // namespace

std::optional<ReportProfile> ReadReportProfile(Database& database, const ReportCapture& capture,
                                               const ReportScope& scope) {
  const std::vector<Row> found =
      Query(database,
            "SELECT c.capture_id, c.path FROM captures c WHERE c.kind = 'device_memory_profile' "
            "AND (c.capture_id = :shown OR (c.run = :run AND COALESCE(c.host, '') IN ('', :host))) "
            "ORDER BY CASE WHEN c.capture_id = :shown THEN 0 ELSE 1 END, c.started_unix_ns DESC "
            "NULLS LAST, c.path DESC, c.capture_id DESC LIMIT 1",
            {{"shown", capture.capture_id}, {"run", capture.run}, {"host", capture.host}})
          .rows;
  if (found.empty()) return std::nullopt;
  ReportProfile profile;
  profile.path = Text(found[0][1]);
  for (const Row& row :
       Query(database,
             "SELECT kind, device, source_file, source_line, function_name, bytes, count FROM "
             "profile_lines WHERE capture_id = :capture ORDER BY bytes DESC NULLS LAST, "
             "source_file, source_line, function_name, device, kind",
             {{"capture", Integer(found[0][0])}})
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
