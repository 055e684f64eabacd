#include "cli/report/model.h"
#include "schema/query.h"

namespace oomdb::cli {
namespace {

struct Found {
  int64_t capture_id = 0;
  std::string path;
};

// The capture itself; else the last one of its run and host; else the last one in a folder above
// it: a program saves its profile where the folders of its captures begin.
std::optional<Found> FindProfile(schema::Database& database, const ReportCapture& capture) {
  std::optional<Found> found;
  int best = 3;
  for (const schema::Record& row :
       schema::ReadView(database, "captures", {{"kind", std::string("device_memory_profile")}},
                        "started_unix_ns DESC NULLS LAST, path DESC, capture_id DESC")) {
    const std::string path = row.Text("path");
    const std::string host = row.Text("host");
    const std::string folder = path.substr(0, path.rfind('/') + 1);
    const int worth = row.Integer("capture_id") == capture.capture_id                            ? 0
                      : row.Text("run") == capture.run && (host.empty() || host == capture.host) ? 1
                      : !folder.empty() && capture.path.starts_with(folder)                      ? 2
                                                                            : 3;
    if (worth >= best) continue;
    best = worth;
    found = Found{row.Integer("capture_id"), path};
  }
  return found;
}

}  // namespace

std::optional<ReportProfile> ReadReportProfile(schema::Database& database,
                                               const ReportCapture& capture) {
  const std::optional<Found> found = FindProfile(database, capture);
  if (!found) return std::nullopt;
  ReportProfile profile;
  profile.path = found->path;
  for (const schema::Record& row : schema::ReadView(
           database, "profile_lines", {{"capture_id", found->capture_id}},
           "bytes DESC NULLS LAST, source_file, source_line, function_name, device, kind")) {
    ReportProfileLine line{.kind = row.Text("kind"),
                           .device = row.Text("device"),
                           .source_file = row.Text("source_file"),
                           .source_line = row.MaybeInteger("source_line"),
                           .function_name = row.Text("function_name"),
                           .bytes = row.MaybeInteger("bytes"),
                           .count = row.Integer("count")};
    if (line.kind == "executable") {
      profile.executable_count += line.count;
      if (line.bytes) profile.executable_bytes = profile.executable_bytes.value_or(0) + *line.bytes;
      continue;
    }
    profile.buffer_count += line.count;
    profile.buffer_bytes += line.bytes.value_or(0);
    profile.lines.push_back(std::move(line));
  }
  return profile;
}

}  // namespace oomdb::cli
