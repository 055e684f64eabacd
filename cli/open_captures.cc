#include "cli/open_captures.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string_view>
#include <utility>

#include "cli/ingest/job.h"
#include "cli/interrupt.h"
#include "cli/nearest.h"
#include "cli/watchdog.h"
#include "queries/catalogue.h"
#include "render/terminal.h"
#include "schema/query.h"
#include "schema/text_runs.h"

namespace oomdb::cli {
namespace {

std::string file_being_read;

// Only what went wrong, and that a log has no failure in it: the verb itself says what was read.
class Problems : public IngestObserver {
 public:
  void Stored(const std::string& path, const schema::CaptureSummary& summary) override {
    if (const std::string nothing = NoOomFound(summary); !nothing.empty())
      std::cerr << "oomdb: " << render::Sanitize(path + ": " + nothing) << '\n';
  }
  void Rejected(const std::string&, const std::string& reason) override {
    std::cerr << "oomdb: " << render::Sanitize(reason) << '\n';
  }
  void PassedOver(const std::string&, const std::string&) override {}
};

}  // namespace

void AdoptDatabase(std::vector<std::string>* paths, std::string* database) {
  if (paths->size() != 1) return;
  std::error_code error;
  // Of a pipe nothing may be read before its time.
  if (!std::filesystem::is_regular_file(paths->front(), error)) return;
  constexpr std::string_view kMagic("SQLite format 3\0", 16);  // https://sqlite.org/fileformat.html
  std::string begin(kMagic.size(), '\0');
  std::ifstream file(paths->front(), std::ios::binary);
  if (!file.read(begin.data(), static_cast<std::streamsize>(begin.size())) || begin != kMagic)
    return;
  *database = std::move(paths->front());
  paths->clear();
}

schema::Database OpenCaptures(const std::vector<std::string>& paths, const std::string& file,
                              const schema::SettingOverrides& settings, ExitCode& exit_code,
                              const std::optional<std::string>& run,
                              const ingest::ByteObserver& standard_input, bool every_run) {
  if (paths.empty()) {
    if (file.empty()) {
      throw Error("nothing to compare: name captures, a folder or --db FILE", ExitCode::kUsage);
    }
    return OpenFile(file, settings);
  }
  schema::Database database =
      schema::Database::ThrowawayWithLazyViews(queries::Catalogue::Get().views(), settings);
  AddCaptures(database, paths, exit_code, run, standard_input, every_run);
  return database;
}

schema::Database OpenFile(const std::string& path, const schema::SettingOverrides& settings) {
  WatchReading(path);
  file_being_read = path + ": ";
  schema::Database database =
      schema::Database::OpenReadOnly(path, queries::Catalogue::Get().views(), settings);
  SayNotice(database);
  return database;
}

const std::string& FileBeingRead() { return file_being_read; }

void SayNotice(const schema::Database& database) {
  if (!database.notice().empty())
    std::cerr << "oomdb: " << render::Sanitize(database.notice()) << '\n';
}

void AddCaptures(schema::Database& database, const std::vector<std::string>& paths,
                 ExitCode& exit_code, const std::optional<std::string>& run,
                 const ingest::ByteObserver& standard_input, bool every_run) {
  IngestRequest request;
  request.paths = paths;
  request.run = run;
  request.runs_from_paths = every_run;
  request.standard_input = standard_input;
  Problems problems;
  const IngestTotals totals = IngestPaths(database, request, problems, &StopRequested());
  if (totals.interrupted) throw Error("interrupted", ExitCode::kInterrupted);
  if (totals.stored == 0) throw Error("no capture could be read", ExitCode::kFailed);
  exit_code = totals.exit_code();
  // Who names the run has said what belongs together.
  if (!run) schema::AdoptErrorTexts(database);
}

std::vector<std::string> RunNames(schema::Database& database) {
  std::vector<std::string> names;
  for (const schema::Record& run : schema::ReadView(database, "run_summaries", {}, "run"))
    names.push_back(run.Text("run"));
  return names;
}

std::vector<std::string> ContentsOf(schema::Database& database, const std::string& run) {
  std::vector<std::string> hashes;
  for (const schema::Record& row :
       schema::ReadView(database, "captures", {{"run", run}}, "content_hash"))
    hashes.push_back(row.Text("content_hash"));
  return hashes;
}

void CheckRun(schema::Database& database, const std::string& run) {
  const std::vector<std::string> names = RunNames(database);
  if (std::find(names.begin(), names.end(), run) != names.end()) return;
  if (names.empty()) {
    throw Error("the database holds no capture: oomdb ingest --db FILE PATH stores some");
  }
  if (!run.empty()) {
    throw Error(fmt::format("no capture of run {}{}", run, DidYouMean(run, names)),
                ExitCode::kUsage);
  }
}

}  // namespace oomdb::cli
