// oomdb report: what happened, why, and what to do, of captures or of a database.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/ingest/tee.h"
#include "cli/open_captures.h"
#include "cli/options.h"
#include "cli/page/report_page.h"
#include "cli/pager.h"
#include "cli/report/model.h"
#include "cli/report/text.h"
#include "cli/verbs.h"
#include "queries/catalogue.h"
#include "queries/materialize.h"
#include "render/terminal.h"

namespace oomdb::cli {
namespace {

struct Options {
  std::vector<std::string> paths;
  std::string database;
  ReportScope scope;
  std::string json_file;
  std::string html_file;
  std::string format;  // Empty: by the name of -o, else text.
  std::optional<int64_t> top;
  OutputOptions output;
  SettingOptions settings;
  std::string fail_on;
  bool tee = false;
  bool stack = false;
  bool all = false, brief = false, no_pager = false;
};

std::vector<std::string> NextCommands(const Options& options, const Report& report) {
  std::vector<std::string> next;
  const std::string rule = report.findings.empty() ? "" : report.findings.front().rule;
  if (!rule.empty())
    next.push_back(fmt::format("oomdb show {}    what this means, and the SQL behind it", rule));
  if (!options.paths.empty()) {
    std::string paths;
    for (const std::string& path : options.paths) paths += " " + ShellQuote(path);
    // What came by standard input is gone.
    const bool again =
        std::find(options.paths.begin(), options.paths.end(), "-") == options.paths.end();
    if (again) {
      next.push_back(fmt::format("oomdb ingest --db oom.db{}", paths));
      next.push_back("oomdb query --db oom.db \"SELECT * FROM findings\"");
    }
  } else {
    next.push_back(fmt::format("oomdb query --db {} \"SELECT * FROM findings\"",
                               ShellQuote(options.database)));
  }
  return next;
}

ExitCode FindingsExit(const Report& report, const std::string& fail_on) {
  if (fail_on.empty()) return ExitCode::kClean;
  for (const ReportFinding& f : report.findings) {
    const bool counts = f.severity == "error" || (f.severity == "warning" && fail_on != "error") ||
                        fail_on == "info";
    if (counts) return ExitCode::kFindings;
  }
  return ExitCode::kClean;
}

// Beside the report itself; `-` is standard output.
void WriteBeside(const std::string& file, const std::string& text, bool force) {
  OutputOptions output;
  if (file != "-") output.file = file;
  output.force = force;
  output.format = "table";  // What is written has a format of its own.
  Output out(output);
  out.stream() << text;
  out.Finish();
}

std::string FormatOf(const Options& options) {
  if (!options.format.empty()) return options.format;
  const std::string_view file = options.output.file;
  for (const auto& [ending, format] :
       {std::pair{".html", "html"}, {".htm", "html"}, {".json", "json"}, {".md", "markdown"}}) {
    if (file.ends_with(ending)) return format;
  }
  return "text";
}

// Each output goes to a place of its own.
void CheckOutputs(const Options& options) {
  const std::pair<std::string_view, const std::string&> beside[] = {{"--json", options.json_file},
                                                                    {"--html", options.html_file}};
  for (const auto& [name, file] : beside) {
    if (file.empty()) continue;
    if (file == "-" && !options.output.file.empty()) {
      throw Error(
          fmt::format("{} - writes only that, to standard output: -o has nothing to write", name),
          ExitCode::kUsage);
    }
    if (file == options.output.file)
      throw Error(fmt::format("{} and -o name the same file", name), ExitCode::kUsage);
  }
  if (!options.json_file.empty() && options.json_file == options.html_file)
    throw Error("--json and --html name the same file", ExitCode::kUsage);
  const bool alone = options.json_file == "-" || options.html_file == "-" ||
                     (FormatOf(options) != "text" && FormatOf(options) != "markdown" &&
                      options.output.file.empty());
  if (options.tee && alone) {
    throw Error(
        fmt::format("--tee writes to standard output, where the {} goes: name a file for "
                    "one of them",
                    options.html_file == "-" || FormatOf(options) == "html" ? "page" : "JSON"),
        ExitCode::kUsage);
  }
}

// One screen, where a person looks at it and asks for no more.
bool IsBrief(const Options& options, const render::Terminal& terminal) {
  if (options.brief) return true;
  return terminal.interactive && !options.all && !options.stack && !options.top &&
         options.output.file.empty() && !options.tee;
}

void Check(const Options& options) {
  for (const std::string ending : {".csv", ".jsonl"}) {
    if (options.format.empty() && options.output.file.ends_with(ending)) {
      throw Error(
          fmt::format("-o {}: a report is text, JSON, Markdown or HTML; name a .txt, .json, "
                      ".md or .html file, or say --format",
                      options.output.file),
          ExitCode::kUsage);
    }
  }
  if (!options.paths.empty() && !options.database.empty()) {
    const char* const variable = std::getenv("OOMDB_DB");
    if (variable == nullptr || variable != options.database) {
      std::cerr << "oomdb: --db " << render::Sanitize(options.database)
                << " is not read: captures are named\n";
    }
  }
  if (options.paths.empty() && options.database.empty()) {
    throw Error("nothing to report on: name a capture, a folder or --db FILE", ExitCode::kUsage);
  }
  const std::string format = FormatOf(options);
  if (format != "text" && format != "json" && format != "markdown" && format != "html") {
    throw Error(fmt::format("--format {}: text, json, markdown or html expected", format),
                ExitCode::kUsage);
  }
  if (!options.fail_on.empty() && options.fail_on != "error" && options.fail_on != "warning" &&
      options.fail_on != "info") {
    throw Error(fmt::format("--fail-on {}: error, warning or info expected", options.fail_on),
                ExitCode::kUsage);
  }
  CheckOutputs(options);
  std::vector<std::string> inputs = options.paths;
  if (!options.database.empty()) inputs.push_back(options.database);
  RefuseToOverwriteInputs(options.output.file, inputs);
  RefuseToOverwriteInputs(options.json_file, inputs);
  RefuseToOverwriteInputs(options.html_file, inputs);
  if (options.brief && (options.all || options.stack || options.top || format != "text"))
    throw Error("--brief is one screen of text: not with --all, --stack, --top or another --format",
                ExitCode::kUsage);
  if (options.top.value_or(1) < 1)
    throw Error("--top: a number above 0 expected", ExitCode::kUsage);
}

ExitCode Run(const Options& options) {
  Check(options);
  ExitCode exit_code = ExitCode::kClean;
  const ingest::ByteObserver standard_input =
      options.tee ? PassThrough(options.paths) : ingest::ByteObserver();
  schema::Database database =
      OpenCaptures(options.paths, options.database, ReadSettingOptions(options.settings), exit_code,
                   std::nullopt, standard_input);
  queries::MaterializeRules(database, queries::Catalogue::Get());
  const Report report = ReadReport(database, options.scope);

  const bool to_file = !options.output.file.empty();
  const render::Terminal terminal =
      render::DescribeTerminal(1, render::ParseColorMode(options.output.color));
  ReportStyle style;
  style.width = to_file ? 100 : std::min<size_t>(terminal.width, 120);
  style.color = terminal.color && !to_file;
  if (options.top) style.top = static_cast<size_t>(*options.top);
  style.stack = options.stack;
  style.next = NextCommands(options, report);

  if (!options.json_file.empty())
    WriteBeside(options.json_file, ReportJson(report), options.output.force);
  if (!options.html_file.empty()) {
    WriteBeside(options.html_file, page::ReportHtml(database, report, style), options.output.force);
  }
  if (options.json_file != "-" && options.html_file != "-") {
    const std::string format = FormatOf(options);
    OutputOptions output = options.output;
    output.format = "table";  // Not of this verb: it has formats of its own.
    const bool brief = IsBrief(options, terminal);
    if (brief) style.pictures = PicturesOf(database, VerdictOf(report).words);
    const std::string text = format == "json"       ? ReportJson(report)
                             : format == "markdown" ? ReportMarkdown(report, style)
                             : format == "html"     ? page::ReportHtml(database, report, style)
                             : brief                ? ReportScreen(report, style)
                                                    : ReportText(report, style);
    const bool is_long = format == "text" && !brief && terminal.interactive && !to_file;
    if (!is_long || options.no_pager || options.tee || !ShowInPager(text)) {
      Output out(output);
      out.stream() << text;
      out.Finish();
    }
  }
  const ExitCode findings = FindingsExit(report, options.fail_on);
  return findings != ExitCode::kClean ? findings : exit_code;
}

}  // namespace

void RegisterReport(Verbs& verbs, ExitCode& exit_code) {
  Verb verb = verbs.Add("report", "Say what happened, why, and what to do");
  const auto options = std::make_shared<Options>();
  verb.Option("CAPTURE", options->paths,
              "Captures, error logs, run folders or log directories; - is standard input");
  verb.Option("--db", options->database,
              "Report on this database, where no capture is named; else $OOMDB_DB")
      .Variable("OOMDB_DB")
      .Type("FILE");
  verb.Option("--module", options->scope.module,
              "The module to show, such as 'jit_train_step(42)'; by default the one that failed, "
              "else the largest")
      .Type("NAME");
  verb.Option("--run", options->scope.run, "Only captures of this run").Type("NAME");
  verb.Option("--host", options->scope.host, "Only captures of this host").Type("NAME");
  verb.Option("--capture", options->scope.capture,
              "Only this capture, as the table of captures names it, or by its path or id")
      .Type("NAME");
  verb.Flag("--brief", options->brief,
            "What happened and what to do, in one screen: what a terminal shows by itself");
  verb.Flag("--all", options->all,
            "With the proof: the plan, buffers, executions, logs; what is written anywhere else");
  verb.Flag("--no-pager", options->no_pager,
            "Not through $OOMDB_PAGER, $PAGER or less, as long text goes on a terminal");
  verb.Option("--top", options->top,
              "Groups of buffers to list; by default 10, for a healthy capture 5; JSON has all")
      .Type("N");
  verb.Flag("--stack", options->stack,
            "Under each group of buffers all Python frames, those of libraries too");
  verb.Option("--json", options->json_file,
              "Also write JSON to this file; - writes only that, to standard output")
      .Type("FILE");
  verb.Option("--html", options->html_file,
              "Also write a page with pictures to this file, for a browser; - writes only that, to "
              "standard output")
      .Type("FILE");
  verb.Flag("--tee", options->tee,
            "Pass standard input through to standard output as it arrives, before the report");
  verb.Option("--fail-on", options->fail_on, "Exit with 3 on findings of this severity or worse")
      .Type("error|warning|info");
  AddSettingOptions(verb, options->settings);
  verb.Option("--format", options->format,
              "text, json, markdown or html; by default what the name of -o ends in, else text")
      .Type("FORMAT");
  verb.Option("-o,--output", options->output.file, "Write to this file instead of standard output")
      .Type("FILE");
  verb.Flag("-f,--force", options->output.force, "Overwrite the file of -o, --json or --html");
  verb.Option("--color", options->output.color, "auto, always or never").ShowDefault().Type("WHEN");
  verb.Footer(
      "Captures are read into a temporary database; nothing is written beside them.\n"
      "Exit: 0 reported, 1 nothing could be read, 3 findings (--fail-on), 4 part was rejected or "
      "truncated.\n"
      "A program's output: python train.py 2>&1 | oomdb report - --tee\n"
      "To look at it: oomdb report sample_dbs/captures/grad_leak_oom --html page.html\n"
      "Example: oomdb report sample_dbs/captures/attention_oom");
  verb.Run([options, &exit_code] {
    AdoptDatabase(&options->paths, &options->database);
    exit_code = Run(*options);
  });
}

}  // namespace oomdb::cli
