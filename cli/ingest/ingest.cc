// oomdb ingest: captures into a database file.
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/ingest/explain_time.h"
#include "cli/ingest/job.h"
#include "cli/ingest/manifest.h"
#include "cli/ingest/progress.h"
#include "cli/ingest/tee.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "cli/writing.h"
#include "render/terminal.h"
#include "render/words.h"

namespace oomdb::cli {
namespace {

struct Options {
  std::string database;
  std::vector<std::string> paths;
  std::string run;
  std::string host;
  std::vector<std::string> labels;
  std::string manifest;
  std::string events = "memory";
  int threads = 1;
  bool verbose = false;
  bool tee = false;
  bool explain_time = false;
};

ingest::EventSelection ParseEvents(const std::string& text) {
  if (text == "memory") return ingest::EventSelection::kMemory;
  if (text == "all") return ingest::EventSelection::kAll;
  if (text == "none") return ingest::EventSelection::kNone;
  throw Error(fmt::format("--events {}: memory, all or none expected", text), ExitCode::kUsage);
}

// "3 modules, 1 device": adds what there is of it.
void AppendCount(std::string* text, int64_t count, const std::string& what) {
  if (count > 0) *text += (text->empty() ? "" : ", ") + what;
}
void AppendPlural(std::string* text, int64_t count, const char* what) {
  AppendCount(text, count, render::Plural(count, what));
}

// "2 fatal, 1 advice": the failures that a log tells of.
void AppendOomEvents(std::string* text, const schema::CaptureSummary& summary) {
  const int64_t unknown = summary.oom_events - summary.fatal_oom_events - summary.advice_oom_events;
  for (const auto& [count, what] :
       {std::pair(summary.fatal_oom_events, "fatal"),
        std::pair(summary.advice_oom_events, "advice"), std::pair(unknown, "that may be fatal")}) {
    AppendCount(text, count, fmt::format("{} {}", count, what));
  }
}

// One line per file on standard error, below it how far it is. A terminal must not obey what stands
// in a capture: all of it is sanitized.
class Talk : public IngestObserver {
 public:
  explicit Talk(bool verbose) : verbose_(verbose) {}

  void Stored(const std::string& path, const schema::CaptureSummary& summary) override {
    stored_.push_back(path);
    // Of what is already there, the last line says how many.
    if (summary.already_there && !summary.truncated && !verbose_) return;
    std::string what;
    if (summary.already_there) {
      what = "already there";
    } else {
      AppendPlural(&what, summary.devices, "device");
      AppendPlural(&what, summary.modules, "module");
      AppendPlural(&what, summary.executions, "execution");
      AppendPlural(&what, summary.allocations, "allocation");
      AppendPlural(&what, summary.events, "event");
      AppendPlural(&what, summary.samples, "stack");
      // Statistics alone are no failure, and no advice.
      if (const std::string none = NoOomFound(summary); none.empty()) {
        AppendOomEvents(&what, summary);
      } else if (what.empty()) {
        what = none;
        AppendPlural(&what, summary.oom_events, "memory statistic");
      }
      if (what.empty()) what = "nothing in it that concerns memory";
    }
    if (summary.truncated) what += "; truncated: what was whole is kept";
    std::string name = summary.run.value_or("-");
    if (summary.host.has_value()) name += " / " + *summary.host;
    Line(fmt::format("{}: {} {} ({})", path, summary.kind, name, what));
    for (const ingest::IssueFact& issue : summary.issues) {
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

  void Progress(int64_t files, int64_t all_files, int64_t bytes, int64_t all_bytes) override {
    progress_.Show(files, all_files, bytes, all_bytes);
  }

  // What was stored, or already there.
  const std::vector<std::string>& stored() const { return stored_; }

  void Line(const std::string& text) {
    progress_.Clear();
    std::cerr << render::Sanitize(text) << '\n';
  }

 private:
  const bool verbose_;
  std::vector<std::string> stored_;
  oomdb::cli::Progress progress_;
};

std::vector<IngestItem> ManifestItems(const std::string& path) {
  std::vector<IngestItem> items;
  for (ManifestRow& row : ReadManifest(path)) {
    items.push_back({std::move(row.path), std::move(row.run), std::move(row.host),
                     std::move(row.labels), fmt::format("{} line {}", path, row.line),
                     std::move(row.problem)});
  }
  return items;
}

// "3 stored, 4 already there, 1 rejected"; empty for a single file, whose own line says it.
std::string Summary(const IngestTotals& totals) {
  if (totals.already_there == 0 && totals.stored + totals.rejected < 2) return "";
  std::string line = fmt::format("{} stored", totals.stored - totals.already_there);
  if (totals.already_there > 0) line += fmt::format(", {} already there", totals.already_there);
  if (totals.rejected > 0) line += fmt::format(", {} rejected", totals.rejected);
  return line;
}

// What people do next, ready to paste.
std::string NextCommand(const std::string& database) {
  return fmt::format(
      "oomdb query --db {} --human \"SELECT severity, rule, run, host, title FROM findings\"",
      ShellQuote(database));
}

ExitCode Run(const Options& options) {
  std::optional<ingest::PhaseTimes> times;
  if (options.explain_time) {
    if (options.threads > 1) {
      throw Error("--explain-time follows one thread: leave -j out", ExitCode::kUsage);
    }
    times.emplace();
  }
  IngestRequest request;
  request.paths = options.paths;
  if (!options.run.empty()) request.run = options.run;
  if (!options.host.empty()) request.host = options.host;
  for (const std::string& text : options.labels)
    request.labels.insert_or_assign(SplitAssignment(text, "--label").first,
                                    SplitAssignment(text, "--label").second);
  if (options.paths.empty() && options.manifest.empty())
    throw Error("nothing to ingest: name a PATH or --manifest FILE", ExitCode::kUsage);
  request.options.events = ParseEvents(options.events);
  request.threads = options.threads;
  if (options.tee) request.standard_input = PassThrough(options.paths);
  RequireDatabase(options.database);
  if (!options.manifest.empty()) request.items = ManifestItems(options.manifest);

  IgnoreBrokenPipes();
  schema::Database database = OpenToWrite(RequireDatabase(options.database));
  Talk talk(options.verbose);
  const IngestTotals totals = IngestPaths(database, request, talk, &StopRequested());
  if (const std::string summary = Summary(totals); !summary.empty()) talk.Line(summary);
  if (totals.interrupted) {
    talk.Line(fmt::format("interrupted: the {} before are stored; the same command goes on",
                          totals.stored));
  } else if (totals.stored > 0) {
    talk.Line("next: " + NextCommand(options.database));
  }
  if (times.has_value()) std::cerr << ExplainTime(*times, talk.stored());
  return totals.exit_code();
}

}  // namespace

void RegisterIngest(Verbs& verbs, ExitCode& exit_code) {
  Verb verb = verbs.Add("ingest", "Read captures into a database");
  const auto options = std::make_shared<Options>();
  AddDatabaseOption(verb, options->database);
  verb.Option("PATH", options->paths,
              "Captures and logs, or folders with some anywhere below; - is standard input");
  verb.Option("--manifest", options->manifest,
              "A CSV file that names captures: columns path, optionally run and host, and labels")
      .Type("FILE");
  verb.Option("--run", options->run, "The run they belong to, instead of the one in their path")
      .Type("NAME");
  verb.Option("--host", options->host,
              "The host they were recorded on, instead of the one in their path")
      .Type("NAME");
  verb.Option("--label", options->labels,
              "A coordinate of the run in a sweep, such as batch=8; repeatable")
      .Type("NAME=VALUE")
      .OneValue();
  verb.Option("--events", options->events, "Which host events to store: memory, all or none")
      .Type("WHICH")
      .ShowDefault();
  verb.Option("-j,--threads", options->threads,
              "Read this many captures at once while one is stored; the result is the same")
      .Type("N")
      .Between(1, 256)
      .ShowDefault();
  verb.Flag("--tee", options->tee, "Pass standard input through to standard output as it arrives");
  verb.Flag("--explain-time", options->explain_time,
            "Also say what the time went into, and how it compares to reading the files");
  verb.Flag("-v,--verbose", options->verbose, "Also say what was passed over or already there");
  verb.Footer(
      "Ingesting a capture again changes nothing but --run, --host and --label where given.\n"
      "Paths in a manifest are relative to its folder; what it says wins over --run and --host.\n"
      "--explain-time: read (and decompress, hash), parse, replay (of plans, and waiting\nfor it), "
      "write (and index, commit), other.\n"
      "Exit: 0 all stored, 1 nothing stored, 4 part was rejected or truncated.\n"
      "Example: oomdb ingest --db oom.db logs/");
  verb.Run([options, &exit_code] { exit_code = Run(*options); });
}

}  // namespace oomdb::cli
