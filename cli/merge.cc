// oomdb merge: databases made on different hosts into one.
#include "schema/merge.h"

#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "cli/interrupt.h"
#include "cli/open_captures.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "cli/writing.h"
#include "render/terminal.h"
#include "render/words.h"

namespace oomdb::cli {
namespace {

struct Options {
  std::string out;
  std::vector<std::string> in;
};

// Before anything is written: one wrong name among many must not leave half a merge.
void CheckInputs(const Options& options) {
  for (const std::string& path : options.in) {
    std::error_code ignored;
    if (path == options.out || std::filesystem::equivalent(path, options.out, ignored)) {
      throw Error(
          fmt::format("{}: can't be merged into itself; OUT must not be one of the IN files", path),
          ExitCode::kUsage);
    }
    schema::Database::OpenReadOnly(path, {});
  }
}

void Talk(const std::string& path, const schema::MergeSummary& summary) {
  std::string line = fmt::format("{}: {} added, {} already there", path,
                                 render::Plural(summary.added, "capture"), summary.already_there);
  if (summary.labels_differ > 0) {
    line +=
        fmt::format("; {} in conflict with those of the same run: the text that sorts first stays",
                    render::Plural(summary.labels_differ, "label"));
  }
  std::cerr << render::Sanitize(line) << '\n';
}

void Run(const Options& options) {
  IgnoreBrokenPipes();
  CheckInputs(options);
  schema::Database out = OpenToWrite(options.out);
  for (const std::string& path : options.in) {
    if (StopRequested()) {
      throw Error("interrupted: what came before is merged; the same command goes on",
                  ExitCode::kInterrupted);
    }
    schema::Database in = schema::Database::OpenReadOnly(path, {});
    SayNotice(in);
    Talk(path, schema::MergeDatabase(out, in, &StopRequested()));
  }
  std::cerr << fmt::format("next: oomdb list captures --db {}\n", ShellQuote(options.out));
}

}  // namespace

void RegisterMerge(Verbs& verbs, ExitCode&) {
  Verb verb = verbs.Add("merge", "Merge databases from different hosts into one");
  const auto options = std::make_shared<Options>();
  verb.Option("OUT", options->out, "The database to merge into; made when it is missing")
      .Required();
  verb.Option("IN", options->in, "The databases to read").Required();
  verb.Footer(
      "Captures are merged by run and content: any order and any number of times give the same\n"
      "result. Hosts and labels come along; where two databases name the host of one capture\n"
      "differently, that of the path that sorts first wins.\n"
      "Exit: 0 merged, 1 an IN is missing or damaged, 5 one is newer than this oomdb or not an "
      "oomdb database.\n"
      "Example: oomdb merge all.db oom.db");
  verb.Run([options] { Run(*options); });
}

}  // namespace oomdb::cli
