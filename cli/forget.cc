// oomdb forget: captures out of a database.
#include "schema/forget.h"

#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ascii.h"
#include "cli/nearest.h"
#include "cli/open_captures.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "cli/writing.h"
#include "render/terminal.h"
#include "schema/query.h"

namespace oomdb::cli {
namespace {

struct Options {
  std::string database;
  std::string run;
  std::string capture;
};

// A path that several runs have a capture of doesn't say which of them to forget.
void RefuseSeveralRuns(const std::vector<schema::Record>& found, const std::string& given) {
  std::string which;
  bool differ = false;
  for (const schema::Record& capture : found) {
    which += fmt::format("{}{} of run {}", which.empty() ? "" : ", ", capture.Integer("capture_id"),
                         capture.Text("run"));
    differ = differ || capture.Text("run") != found.front().Text("run");
  }
  if (differ) {
    throw Error(
        fmt::format("{} is a capture of several runs: name one of them by its id with "
                    "--capture ({}), or a run with --run",
                    given, which));
  }
}

// Throws Error when there is none: a misspelt name must not look like success.
std::vector<schema::Record> Find(schema::Database& database, const Options& options) {
  constexpr std::string_view kOrder = "path, capture_id";
  if (!options.run.empty()) {
    std::vector<schema::Record> found =
        schema::ReadView(database, "captures", {{"run", options.run}}, kOrder);
    if (!found.empty()) return found;
    throw Error(
        fmt::format("no run {}{}", options.run, DidYouMean(options.run, RunNames(database))));
  }
  const std::optional<int64_t> id = WholeNumber<int64_t>(options.capture);
  const std::string absolute =
      std::filesystem::absolute(options.capture).lexically_normal().string();
  std::vector<schema::Record> found = schema::ReadViewWhere(
      database, "captures", "capture_id = :id OR path = :given OR path = :absolute",
      {{"id", id.has_value() ? schema::Value(*id) : schema::Value()},
       {"given", options.capture},
       {"absolute", absolute}},
      kOrder);
  if (found.empty()) {
    throw Error(fmt::format("no capture {}; `oomdb list captures` names them", options.capture));
  }
  RefuseSeveralRuns(found, options.capture);
  return found;
}

void Run(const Options& options) {
  if (options.run.empty() == options.capture.empty()) {
    throw Error("forget: one of --run and --capture is needed", ExitCode::kUsage);
  }
  schema::Database database = OpenToWrite(RequireDatabase(options.database), /*must_exist=*/true);
  const std::vector<schema::Record> found = Find(database, options);
  std::vector<int64_t> ids;
  for (const schema::Record& capture : found) ids.push_back(capture.Integer("capture_id"));
  schema::ForgetCaptures(database, ids);
  for (const schema::Record& capture : found)
    std::cerr << "forgotten: " << render::Sanitize(capture.Text("path")) << '\n';
}

}  // namespace

void RegisterForget(Verbs& verbs, ExitCode&) {
  Verb verb = verbs.Add("forget", "Remove a run or a capture from a database");
  const auto options = std::make_shared<Options>();
  AddDatabaseOption(verb, options->database);
  verb.Option("--run", options->run, "All captures of this run, and its labels").Type("NAME");
  verb.Option("--capture", options->capture, "One capture, by its id or its path").Type("ID|PATH");
  verb.Footer(
      "The files that were read are not touched.\n"
      "Example: oomdb forget --db oom.db --run run1");
  verb.Run([options] { Run(*options); });
}

}  // namespace oomdb::cli
