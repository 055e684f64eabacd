// oomdb ingest: captures into a database file.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/ingest_job.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "queries/catalogue.h"

namespace oomdb {
namespace {

struct Options {
  std::string database;
  std::vector<std::string> paths;
  std::string run;
  std::string host;
  std::vector<std::string> labels;
  std::string events = "memory";
  bool verbose = false;
};

EventSelection ParseEvents(const std::string& text) {
  if (text == "memory") return EventSelection::kMemory;
  if (text == "all") return EventSelection::kAll;
  if (text == "none") return EventSelection::kNone;
  throw Error(fmt::format("--events {}: memory, all or none expected", text), ExitCode::kUsage);
}

// "3 modules", "1 module", "" for none.
void AppendCount(std::string* text, int64_t count, const char* what) {
  if (count == 0) return;
  if (!text->empty()) *text += ", ";
  *text += fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// One line per file on standard error. A terminal must not obey what stands in a capture: all of it
// is sanitized.
class Talk : public IngestObserver {
 public:
  explicit Talk(bool verbose) : verbose_(verbose) {}

  void Stored(const std::string& path, const CaptureSummary& summary) override {
    std::string what;
    if (summary.already_there) {
      what = "there already";
    } else {
      AppendCount(&what, summary.devices, "device");
      AppendCount(&what, summary.modules, "module");
      AppendCount(&what, summary.executions, "execution");
      AppendCount(&what, summary.allocations, "allocation");
      AppendCount(&what, summary.events, "event");
      if (what.empty()) what = "nothing in it that concerns memory";
    }
    if (summary.truncated) what += "; truncated: what was whole is kept";
    std::string name = summary.run.value_or("-");
    if (summary.host.has_value()) name += " / " + *summary.host;
    Line(fmt::format("{}: {} {} ({})", path, summary.kind, name, what));
    for (const IssueFact& issue : summary.issues) {
      if (issue.severity == "info" && !verbose_) continue;
      const std::string times = issue.count == 1 ? "" : fmt::format(" (× {})", issue.count);
      Line(fmt::format("  {} {}: {}{}", issue.severity, issue.what, issue.detail, times));
    }
    const auto shown = static_cast<int64_t>(summary.issues.size());
    if (summary.issue_count > shown)
      Line(fmt::format("  {} more in ingest_issues", summary.issue_count - shown));
  }

  void Rejected(const std::string&, const std::string& reason) override {
    Line("rejected: " + reason);
  }

  void PassedOver(const std::string& path, const std::string& reason) override {
    if (verbose_) Line(fmt::format("passed over: {}: {}", path, reason));
  }

  void Line(const std::string& text) { std::cerr << Sanitize(text) << '\n'; }

 private:
  const bool verbose_;
};

// What people do next, ready to paste.
std::string NextCommand(const std::string& database) {
  return fmt::format(
      "oomdb query --db {} --human \"SELECT severity, rule, run, host, title FROM findings\"",
      ShellQuote(database));
}

ExitCode Run(const Options& options) {
  IngestRequest request;
  request.paths = options.paths;
  if (!options.run.empty()) request.run = options.run;
  if (!options.host.empty()) request.host = options.host;
  for (const std::string& text : options.labels)
    request.labels.insert_or_assign(SplitAssignment(text, "--label").first,
                                    SplitAssignment(text, "--label").second);
  request.options.events = ParseEvents(options.events);

  IgnoreBrokenPipes();
  Database database =
      Database::OpenForIngest(RequireDatabase(options.database), Catalogue::Get().views());
  Talk talk(options.verbose);
  const IngestTotals totals = IngestPaths(database, request, talk, &StopRequested());
  if (totals.interrupted) {
    talk.Line(fmt::format("interrupted: the {} before are stored; the same command goes on",
                          totals.stored));
  } else if (totals.stored > 0) {
    talk.Line("next: " + NextCommand(options.database));
  }
  return totals.exit_code();
}

}  // namespace

void RegisterIngest(CLI::App& app, ExitCode& exit_code) {
  CLI::App* const verb = app.add_subcommand("ingest", "Read captures into a database");
  const auto options = std::make_shared<Options>();
  AddDatabaseOption(*verb, options->database);
  verb->add_option("PATH", options->paths,
                   "Captures, or folders with captures anywhere below; - is standard input")
      ->required();
  verb->add_option("--run", options->run,
                   "The run they belong to, instead of the one in their path")
      ->type_name("NAME");
  verb->add_option("--host", options->host,
                   "The host they were recorded on, instead of the one in their path")
      ->type_name("NAME");
  verb->add_option("--label", options->labels,
                   "A coordinate of the run in a sweep, such as batch=8; repeatable")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  verb->add_option("--events", options->events, "Which host events to store: memory, all or none")
      ->type_name("WHICH")
      ->capture_default_str();
  verb->add_flag("-v,--verbose", options->verbose, "Also say what was passed over");
  verb->footer(
      "The same capture again changes nothing, except --run, --host and --label where given.\n"
      "Exit: 0 all stored, 1 nothing stored, 4 part was rejected or truncated.\n"
      "Example: oomdb ingest --db oom.db logs/");
  verb->callback([options, &exit_code] { exit_code = Run(*options); });
}

}  // namespace oomdb
