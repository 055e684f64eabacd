// oomdb check: the gate for CI.
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/check/gates.h"
#include "cli/open_captures.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "queries/catalogue.h"
#include "queries/materialize.h"
#include "render/terminal.h"
#include "render/units.h"
#include "render/words.h"

namespace oomdb::cli {
namespace {

struct Options {
  std::vector<std::string> paths;
  std::string database;
  std::string run;
  std::string budget;
  std::string max_growth;
  std::string baseline;
  std::string max_regression;
  std::string fail_on;
  std::string junit;
  bool force = false;
  SettingOptions settings;
};

GateLimits ReadLimits(const Options& options) {
  GateLimits limits;
  limits.run = options.run;
  if (!options.budget.empty()) limits.budget_bytes = ParseDeviceBytes(options.budget, "--budget");
  if (!options.max_growth.empty())
    limits.max_growth_bytes = render::ParseBytes(options.max_growth, "--max-growth");
  limits.baseline = options.baseline;
  if (options.baseline.empty() != options.max_regression.empty())
    throw Error("--baseline RUN and --max-regression PERCENT go together", ExitCode::kUsage);
  if (!options.max_regression.empty())
    limits.max_regression_percent = ParsePercent(options.max_regression, "--max-regression");
  if (!options.baseline.empty() && options.baseline == options.run)
    throw Error("--run and --baseline name the same run", ExitCode::kUsage);
  limits.fail_on = options.fail_on;
  if (!options.fail_on.empty() && options.fail_on != "error" && options.fail_on != "warning") {
    throw Error(fmt::format("--fail-on {}: error or warning expected", options.fail_on),
                ExitCode::kUsage);
  }
  const bool any = limits.budget_bytes.has_value() || limits.max_growth_bytes.has_value() ||
                   !limits.baseline.empty() || !limits.fail_on.empty();
  if (!any) {
    throw Error(
        "nothing to check against: give at least one of --budget SIZE, --max-growth SIZE, "
        "--baseline RUN --max-regression PERCENT, --fail-on error|warning",
        ExitCode::kUsage);
  }
  return limits;
}

// A database with what is checked. `exit_code` takes that of the ingest.
schema::Database Open(const Options& options, const GateLimits& limits, ExitCode& exit_code) {
  schema::SettingOverrides overrides = ReadSettingOptions(options.settings);
  overrides.merge(GateSettings(limits));
  if (options.paths.empty() && options.database.empty())
    throw Error("nothing to check: name a capture, a folder or --db FILE", ExitCode::kUsage);
  // Folders of an unchanged program are to pass as two runs.
  return OpenCaptures(options.paths, options.database, overrides, exit_code, std::nullopt, {},
                      /*every_run=*/!limits.baseline.empty());
}

void WriteJUnit(const Options& options, const GateReport& report) {
  OutputOptions output;
  output.file = options.junit;
  output.format = "table";  // XML, whatever its name.
  output.force = options.force;
  Output out(output);
  out.stream() << JUnitXml(report);
  out.Finish();
}

ExitCode Run(const Options& options) {
  const GateLimits limits = ReadLimits(options);
  ExitCode exit_code = ExitCode::kClean;
  schema::Database database = Open(options, limits, exit_code);
  queries::MaterializeRules(database, queries::Catalogue::Get());
  const GateReport report = RunGates(database, limits);
  if (!options.junit.empty()) WriteJUnit(options, report);
  if (options.junit == "-") {
    // Standard output is the XML's.
  } else if (report.failures() > 0) {
    for (const GateCase& one : report.cases) {
      if (!one.failure.empty())
        std::cout << "failed: " << one.gate << ": " << render::Sanitize(one.failure) << '\n';
    }
  } else if (report.unchecked.empty()) {
    std::cout << fmt::format("ok: {} passed\n", render::Plural(std::ssize(report.cases), "check"));
  }
  for (const GateCase& one : report.unchecked)
    std::cerr << "oomdb: --" << one.gate << " can't be checked: " << render::Sanitize(one.failure)
              << '\n';
  if (report.failures() > 0) return ExitCode::kFindings;
  return report.unchecked.empty() ? exit_code : ExitCode::kFailed;
}

}  // namespace

void RegisterCheck(Verbs& verbs, ExitCode& exit_code) {
  Verb verb = verbs.Add("check", "Fail a build that needs more memory");
  const auto options = std::make_shared<Options>();
  verb.Option("PATH", options->paths, "Captures, or folders with captures anywhere below");
  verb.Option("--db", options->database,
              "Check what this database holds, instead of captures; else $OOMDB_DB")
      .Variable("OOMDB_DB")
      .Type("FILE");
  verb.Option("--run", options->run, "Check only this run; by default all but the baseline")
      .Type("NAME");
  verb.Option("--budget", options->budget,
              "Fail when the plan of a module that ran, or of the largest, needs more")
      .Type("SIZE");
  verb.Option("--max-growth", options->max_growth,
              "Fail when more is left behind per execution, on any device")
      .Type("SIZE");
  verb.Option("--baseline", options->baseline, "The run to compare with").Type("RUN");
  verb.Option("--max-regression", options->max_regression,
              "Fail when a module's peak exceeds the same module's peak in --baseline by more; of "
              "error logs, when one fails that did not, or needs or lacks more")
      .Type("PERCENT");
  verb.Option("--fail-on", options->fail_on, "Fail on findings of this severity or worse")
      .Type("error|warning");
  verb.Option("--junit", options->junit, "Also write JUnit XML to this file").Type("FILE");
  verb.Flag("-f,--force", options->force, "Overwrite the file of --junit");
  AddSettingOptions(verb, options->settings);
  verb.Footer(
      "At least one limit is needed. One line for each thing that fails: found, limit, and how "
      "the\n"
      "number is known. A limit that the captures hold no number for does not pass.\n"
      "Exit: 0 all is well, 1 something can't be checked, 3 a limit is passed, 4 part was "
      "rejected.\n"
      "Example: oomdb check --budget 16GiB --max-growth 1MiB "
      "sample_dbs/captures/grad_leak_oom");
  verb.Run([options, &exit_code] {
    AdoptDatabase(&options->paths, &options->database);
    exit_code = Run(*options);
  });
}

}  // namespace oomdb::cli
