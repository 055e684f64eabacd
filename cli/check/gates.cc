#include "cli/check/gates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/ascii.h"
#include "cli/nearest.h"
#include "cli/open_captures.h"
#include "render/terminal.h"
#include "render/units.h"
#include "schema/query.h"

namespace oomdb::cli {
namespace {

// What is looked at of a view with a column run: the run that is asked for; else all but the one
// that is compared with. In the order of `order`.
std::vector<schema::Record> InScope(schema::Database& database, std::string_view view,
                                    const GateLimits& limits, std::string_view order) {
  const auto or_null = [](const std::string& text) {
    return text.empty() ? schema::Value() : schema::Value(text);
  };
  return schema::ReadViewWhere(
      database, view,
      "(:run IS NULL OR run = :run) AND (:baseline IS NULL OR run IS NULL OR run <> :baseline)",
      {{"run", or_null(limits.run)}, {"baseline", or_null(limits.baseline)}}, order);
}

std::string Name(const schema::Record& row, std::string_view column) {
  return row.IsNull(column) ? "-" : row.Text(column);
}

// Two sizes of one sentence; in bytes where rounded they would look alike.
std::pair<std::string, std::string> Sizes(int64_t found, int64_t limit) {
  if (render::HumanBytes(found) != render::HumanBytes(limit))
    return {render::HumanBytes(found), render::HumanBytes(limit)};
  return {fmt::format("{} bytes", found), fmt::format("{} bytes", limit)};
}

void CheckBudget(schema::Database& database, const GateLimits& limits, GateReport& report) {
  bool any = false;
  for (const schema::Record& row : InScope(database, "gate_modules", limits, "run, module_name")) {
    if (row.IsNull("plan_bytes")) continue;
    any = true;
    const std::string module = Name(row, "module_name"), run = Name(row, "run");
    GateCase one = {"budget", fmt::format("{} ({})", module, run), ""};
    if (const int64_t bytes = row.Integer("plan_bytes"); bytes > *limits.budget_bytes) {
      const auto [needs, budget] = Sizes(bytes, *limits.budget_bytes);
      one.failure =
          fmt::format("{} of {} needs {} (read); the budget is {}", module, run, needs, budget);
    }
    report.cases.push_back(std::move(one));
  }
  if (!any) report.unchecked.push_back({"budget", "", "no module with a buffer assignment"});
}

void CheckGrowth(schema::Database& database, const GateLimits& limits, GateReport& report) {
  const std::vector<schema::Record> found =
      InScope(database, "gate_devices", limits, "run, host, device, content_hash");
  for (const schema::Record& row : found) {
    const std::string module = Name(row, "module_name");
    const std::string where = fmt::format("{} / {} device {}", Name(row, "run"), Name(row, "host"),
                                          row.Integer("device"));
    GateCase one = {"max-growth", fmt::format("{} ({})", module, where), ""};
    if (const int64_t bytes = row.Integer("growth_bytes"); bytes > *limits.max_growth_bytes) {
      const auto [grows, most] = Sizes(bytes, *limits.max_growth_bytes);
      one.failure =
          fmt::format("{} of {} leaves {} behind per execution (measured); the limit is {}", module,
                      where, grows, most);
    }
    report.cases.push_back(std::move(one));
  }
  if (found.empty()) {
    report.unchecked.push_back(
        {"max-growth", "", "no module ran often enough on a device whose memory in use is known"});
  }
}

// What is above the baseline's, in per cent of that.
double Rise(int64_t now, int64_t before) {
  return 100 * static_cast<double>(now - before) / std::max(1.0, static_cast<double>(before));
}

// "… needs 3 GiB (read), 50 % above the 2 GiB of main; the limit is 5 %"; empty within the limit.
std::string AboveLimit(const std::string& subject, const char* verb, int64_t now, int64_t before,
                       const GateLimits& limits) {
  const double percent = Rise(now, before);
  if (percent <= limits.max_regression_percent) return "";
  const auto [is, was] = Sizes(now, before);
  return fmt::format("{} {} {} (read), {:.3g} % above the {} of {}; the limit is {:.3g} %", subject,
                     verb, is, percent, was, limits.baseline, limits.max_regression_percent);
}

// Their modules' peaks. Returns the runs of which some module could be compared.
std::set<std::string> CheckPeaks(schema::Database& database, const GateLimits& limits,
                                 GateReport& report) {
  std::map<std::string, int64_t> base;
  for (const schema::Record& row :
       schema::ReadView(database, "gate_modules", {{"run", limits.baseline}})) {
    if (const auto peak = row.MaybeInteger("peak_bytes")) base[row.Text("module_name")] = *peak;
  }
  std::set<std::string> compared;
  for (const schema::Record& row : InScope(database, "gate_modules", limits, "run, module_name")) {
    const std::string module = row.Text("module_name"), run = Name(row, "run");
    const auto before = base.find(module);
    const std::optional<int64_t> peak = row.MaybeInteger("peak_bytes");
    if (before == base.end() || !peak) continue;
    compared.insert(run);
    report.cases.push_back({"max-regression", fmt::format("{} ({})", module, run),
                            AboveLimit(fmt::format("{} of {}", module, run), "peaks at", *peak,
                                       before->second, limits)});
  }
  return compared;
}

// What the error logs of a run say, by stage.
struct LoggedFailures {
  bool has_log = false;
  std::map<std::string, schema::Record> stages;
};

LoggedFailures ReadLoggedFailures(schema::Database& database, const std::string& run) {
  LoggedFailures failures;
  for (const schema::Record& row : schema::ReadView(database, "run_summaries", {{"run", run}}))
    failures.has_log = row.Integer("log_count") > 0;
  if (!failures.has_log) return failures;
  for (schema::Record& row : schema::ReadView(database, "stage_failures", {{"run", run}})) {
    const std::string stage = row.Text("stage");
    failures.stages.emplace(stage, std::move(row));
  }
  return failures;
}

// Of a stage in which both fail: what a program needs, else what it is short of; the request that
// happened to fail while running only tells that nothing changed, where it is the same. nullopt:
// they can't be compared.
std::optional<std::string> FailureAboveLimit(const std::string& stage, const schema::Record& now,
                                             const schema::Record& before, const std::string& run,
                                             const GateLimits& limits) {
  const bool program = stage == "compile" || stage == "chip";
  const auto needs = now.MaybeInteger("needed_bytes"), needed = before.MaybeInteger("needed_bytes");
  const auto lacks = now.MaybeInteger("short_bytes"), lacked = before.MaybeInteger("short_bytes");
  const std::string subject = fmt::format("{} (stage {})", run, stage);
  if (program && needs && needed) return AboveLimit(subject, "needs", *needs, *needed, limits);
  if (lacks && lacked) return AboveLimit(subject, "is short by", *lacks, *lacked, limits);
  if (needs && needs == needed) return "";
  return std::nullopt;
}

// Returns whether something could be compared.
bool CheckFailures(schema::Database& database, const std::string& run, const LoggedFailures& base,
                   const GateLimits& limits, GateReport& report) {
  const LoggedFailures found = ReadLoggedFailures(database, run);
  if (!base.has_log || !found.has_log) return false;
  bool compared = false;
  const auto add = [&](const std::string& stage, std::string failure) {
    compared = true;
    report.cases.push_back({"max-regression", fmt::format("failure in stage {} ({})", stage, run),
                            std::move(failure)});
  };
  for (const auto& [stage, now] : found.stages) {
    const auto before = base.stages.find(stage);
    if (before == base.stages.end()) {
      // One that fails later than before got further.
      const bool earlier = stage == "compile" && base.stages.count("run") > 0;
      const bool further = !base.stages.empty() && !earlier;
      add(stage, further ? ""
                         : fmt::format("{} fails (stage {}, read), {} did not", run, stage,
                                       limits.baseline));
    } else if (std::optional<std::string> failure =
                   FailureAboveLimit(stage, now, before->second, run, limits)) {
      add(stage, *std::move(failure));
    }
  }
  for (const auto& [stage, before] : base.stages) {
    if (found.stages.empty()) add(stage, "");
  }
  return compared;
}

void CheckRegression(schema::Database& database, const GateLimits& limits, GateReport& report) {
  std::set<std::string> compared = CheckPeaks(database, limits, report);
  const LoggedFailures base = ReadLoggedFailures(database, limits.baseline);
  const std::vector<std::string> contents = ContentsOf(database, limits.baseline);
  for (const std::string& run : RunNames(database)) {
    const bool in_scope = limits.run.empty() ? run != limits.baseline : run == limits.run;
    if (!in_scope || run.empty()) continue;
    if (CheckFailures(database, run, base, limits, report)) compared.insert(run);
    // The same captures have not regressed, whatever numbers are in them.
    if (compared.count(run) == 0 && ContentsOf(database, run) == contents) {
      compared.insert(run);
      report.cases.push_back({"max-regression", fmt::format("the same captures ({})", run), ""});
    }
  }
  if (compared.empty()) {
    report.unchecked.push_back(
        {"max-regression", "",
         fmt::format("no module with a plan, and no failure in an error log, is also in {}",
                     limits.baseline)});
  }
}

void CheckFindings(schema::Database& database, const GateLimits& limits, GateReport& report) {
  bool any = false;
  for (const schema::Record& row :
       InScope(database, "findings", limits, "run, host, severity, rule, finding_id")) {
    const std::string severity = row.Text("severity"), rule = row.Text("rule");
    if (severity != "error" && severity != limits.fail_on) continue;
    any = true;
    const std::string where = fmt::format("{} / {}", Name(row, "run"), Name(row, "host"));
    report.cases.push_back(
        {"fail-on", fmt::format("{} ({})", rule, where),
         fmt::format("{} {} of {}: {} ({}); findings of severity {} or worse are not allowed",
                     severity, rule, where, render::HumanizeSentence(row.Text("title")),
                     row.Text("evidence"), limits.fail_on)});
  }
  if (!any)
    report.cases.push_back(
        {"fail-on", fmt::format("no finding of {} or worse", limits.fail_on), ""});
}

void RequireRun(schema::Database& database, const std::string& run, std::string_view what) {
  if (run.empty()) return;
  const std::vector<std::string> runs = RunNames(database);
  if (std::find(runs.begin(), runs.end(), run) == runs.end())
    throw Error(fmt::format("{}: no run {}{}", what, run, DidYouMean(run, runs)));
}

// XML 1.0 has no place for control characters, whichever way they are written; Sanitize has made
// them visible. The two of the basic plane that are no characters go too.
std::string Xml(std::string_view text) {
  std::string out;
  const std::string clean = render::Sanitize(text);
  for (size_t i = 0; i < clean.size(); ++i) {
    const std::string_view rest = std::string_view(clean).substr(i, 3);
    if (rest == "\xef\xbf\xbe" || rest == "\xef\xbf\xbf") {
      out += "\xef\xbf\xbd";
      i += 2;
    } else if (clean[i] == '&') {
      out += "&amp;";
    } else if (clean[i] == '<') {
      out += "&lt;";
    } else if (clean[i] == '>') {
      out += "&gt;";
    } else if (clean[i] == '"') {
      out += "&quot;";
    } else {
      out += clean[i];
    }
  }
  return out;
}

}  // namespace

int64_t GateReport::failures() const {
  return std::count_if(cases.begin(), cases.end(),
                       [](const GateCase& one) { return !one.failure.empty(); });
}

double ParsePercent(std::string_view text, std::string_view what) {
  std::string_view digits = text;
  if (!digits.empty() && digits.back() == '%') digits.remove_suffix(1);
  while (!digits.empty() && digits.back() == ' ') digits.remove_suffix(1);
  const std::optional<double> percent = WholeNumber<double>(digits);
  if (!percent || !std::isfinite(*percent) || *percent < 0) {
    throw Error(fmt::format("{} {}: a percentage expected, such as 2%", what, text),
                ExitCode::kUsage);
  }
  return *percent;
}

schema::SettingOverrides GateSettings(const GateLimits& limits) {
  schema::SettingOverrides overrides;
  if (!limits.max_growth_bytes.has_value()) return overrides;
  schema::Database defaults = schema::Database::Throwaway({});
  // Not the limit itself: what is just within it shall not make a finding either.
  if (*limits.max_growth_bytes < schema::SettingOf(defaults, "growth_min_bytes"))
    overrides["growth_min_bytes"] = *limits.max_growth_bytes + 1;
  return overrides;
}

GateReport RunGates(schema::Database& database, const GateLimits& limits) {
  RequireRun(database, limits.run, "--run");
  RequireRun(database, limits.baseline, "--baseline");
  GateReport report;
  if (limits.budget_bytes.has_value()) CheckBudget(database, limits, report);
  if (limits.max_growth_bytes.has_value()) CheckGrowth(database, limits, report);
  if (!limits.baseline.empty()) CheckRegression(database, limits, report);
  if (!limits.fail_on.empty()) CheckFindings(database, limits, report);
  return report;
}

std::string JUnitXml(const GateReport& report) {
  const std::string counts = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\"",
                                         report.cases.size() + report.unchecked.size(),
                                         report.failures(), report.unchecked.size());
  std::string xml = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n  <testsuite name=\"oomdb "
      "check\" {0}>\n",
      counts);
  for (const GateCase& one : report.cases) {
    xml += fmt::format("    <testcase classname=\"oomdb.{}\" name=\"{}\"", one.gate, Xml(one.name));
    xml += one.failure.empty() ? std::string("/>\n")
                               : fmt::format("><failure type=\"{}\" message=\"{}\"/></testcase>\n",
                                             one.gate, Xml(one.failure));
  }
  for (const GateCase& one : report.unchecked) {
    xml += fmt::format(
        "    <testcase classname=\"oomdb.{0}\" name=\"{0}\"><error type=\"unchecked\" "
        "message=\"{1}\"/></testcase>\n",
        one.gate, Xml(one.failure));
  }
  return xml + "  </testsuite>\n</testsuites>\n";
}

}  // namespace oomdb::cli
