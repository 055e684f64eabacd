#include "cli/check/gates.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include "cli/nearest.h"
#include "render/terminal.h"
#include "render/units.h"
#include "schema/query.h"

namespace oomdb {
namespace {

// Of captures c: the run that is asked for; else all but the one that is compared with.
constexpr const char* kInScope =
    "(:run IS NULL OR c.run = :run) AND (:baseline IS NULL OR c.run IS NULL OR c.run <> :baseline)";

int64_t Number(const Value& value) { return std::get<int64_t>(value); }

std::string Text(const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? "-" : *text;
}

Value OrNull(const std::string& text) { return text.empty() ? Value() : Value(text); }

Parameters Scope(const GateLimits& limits) {
  return {{"run", OrNull(limits.run)}, {"baseline", OrNull(limits.baseline)}};
}

// Two sizes of one sentence; in bytes where rounded they would look alike.
std::pair<std::string, std::string> Sizes(int64_t found, int64_t limit) {
  if (HumanBytes(found) != HumanBytes(limit)) return {HumanBytes(found), HumanBytes(limit)};
  return {fmt::format("{} bytes", found), fmt::format("{} bytes", limit)};
}

void CheckBudget(Database& database, const GateLimits& limits, GateReport& report) {
  // What never ran counts only when nothing of its capture is larger.
  const Rows found = Query(
      database,
      fmt::format("WITH seen AS (SELECT c.run, m.name, m.plan_bytes, m.execution_count, "
                  "ROW_NUMBER() OVER (PARTITION BY m.capture_id ORDER BY m.plan_bytes DESC, "
                  "m.module_id) AS place FROM modules m JOIN captures c ON c.capture_id = "
                  "m.capture_id WHERE m.plan_bytes IS NOT NULL AND {}) SELECT run, name, "
                  "MAX(plan_bytes) FROM seen WHERE execution_count > 0 OR place = 1 GROUP BY run, "
                  "name ORDER BY run, name",
                  kInScope),
      Scope(limits));
  for (const Row& row : found.rows) {
    GateCase one = {"budget", fmt::format("{} ({})", Text(row[1]), Text(row[0])), ""};
    if (Number(row[2]) > *limits.budget_bytes) {
      const auto [needs, budget] = Sizes(Number(row[2]), *limits.budget_bytes);
      one.failure = fmt::format("{} of {} needs {} (read); the budget is {}", Text(row[1]),
                                Text(row[0]), needs, budget);
    }
    report.cases.push_back(std::move(one));
  }
  if (found.rows.empty())
    report.unchecked.push_back({"budget", "", "no module with a buffer assignment"});
}

void CheckGrowth(Database& database, const GateLimits& limits, GateReport& report) {
  // A device on which no module ran often enough says nothing; one that did and doesn't grow has no
  // row in `growth`.
  const Rows found = Query(
      database,
      fmt::format("WITH watched AS (SELECT e.capture_id, e.device_id, m.name, ROW_NUMBER() OVER "
                  "(PARTITION BY e.device_id ORDER BY COUNT(*) DESC, MIN(e.execution_id)) AS place "
                  "FROM executions e JOIN modules m ON m.module_id = e.module_id WHERE e.device_id "
                  "IS NOT NULL AND e.in_use_at_start_bytes IS NOT NULL GROUP BY e.capture_id, "
                  "e.device_id, m.module_id, m.name HAVING COUNT(*) >= (SELECT s.setting FROM "
                  "settings s WHERE s.name = 'growth_min_executions')) SELECT c.run, c.host, "
                  "d.ordinal, COALESCE(n.name, w.name), COALESCE(g.growth_bytes, 0) FROM watched w "
                  "JOIN captures c ON c.capture_id = w.capture_id JOIN devices d ON d.device_id = "
                  "w.device_id LEFT JOIN growth g ON g.device_id = w.device_id LEFT JOIN modules n "
                  "ON n.module_id = g.module_id WHERE w.place = 1 AND {} ORDER BY c.run, c.host, "
                  "d.ordinal, c.content_hash",
                  kInScope),
      Scope(limits));
  for (const Row& row : found.rows) {
    const std::string where =
        fmt::format("{} / {} device {}", Text(row[0]), Text(row[1]), Number(row[2]));
    GateCase one = {"max-growth", fmt::format("{} ({})", Text(row[3]), where), ""};
    if (Number(row[4]) > *limits.max_growth_bytes) {
      const auto [grows, most] = Sizes(Number(row[4]), *limits.max_growth_bytes);
      one.failure =
          fmt::format("{} of {} leaves {} behind per execution (measured); the limit is {}",
                      Text(row[3]), where, grows, most);
    }
    report.cases.push_back(std::move(one));
  }
  if (found.rows.empty()) {
    report.unchecked.push_back(
        {"max-growth", "", "no module ran often enough with its device's memory in use known"});
  }
}

void CheckRegression(Database& database, const GateLimits& limits, GateReport& report) {
  const auto peaks = [&](const std::string& where, const Parameters& parameters) {
    return Query(database,
                 fmt::format("SELECT c.run, m.name, MAX(m.peak_bytes) FROM modules m JOIN captures "
                             "c ON c.capture_id = m.capture_id WHERE m.peak_bytes IS NOT NULL AND "
                             "{} GROUP BY c.run, m.name ORDER BY c.run, m.name",
                             where),
                 parameters);
  };
  std::map<std::string, int64_t> base;
  for (const Row& row : peaks("c.run = :baseline", {{"baseline", limits.baseline}}).rows)
    base[Text(row[1])] = Number(row[2]);
  bool compared = false;
  for (const Row& row : peaks(kInScope, Scope(limits)).rows) {
    const auto before = base.find(Text(row[1]));
    if (before == base.end()) continue;
    compared = true;
    GateCase one = {"max-regression", fmt::format("{} ({})", Text(row[1]), Text(row[0])), ""};
    const auto rise = static_cast<double>(Number(row[2]) - before->second);
    const double percent = 100 * rise / std::max(1.0, static_cast<double>(before->second));
    if (percent > limits.max_regression_percent) {
      const auto [now, then] = Sizes(Number(row[2]), before->second);
      one.failure = fmt::format(
          "{} of {} peaks at {} (read), {:.3g} % above the {} of {}; the "
          "limit is {:.3g} %",
          Text(row[1]), Text(row[0]), now, percent, then, limits.baseline,
          limits.max_regression_percent);
    }
    report.cases.push_back(std::move(one));
  }
  if (!compared) {
    report.unchecked.push_back(
        {"max-regression", "", fmt::format("no module with a plan is in {} too", limits.baseline)});
  }
}

void CheckFindings(Database& database, const GateLimits& limits, GateReport& report) {
  const std::string severities = limits.fail_on == "error" ? "('error')" : "('error', 'warning')";
  const Rows found = Query(
      database,
      fmt::format("SELECT c.run, c.host, f.severity, f.rule, f.title, f.evidence FROM findings f "
                  "JOIN captures c ON c.capture_id = f.capture_id WHERE f.severity IN {} AND {} "
                  "ORDER BY c.run, c.host, f.severity, f.rule, f.finding_id",
                  severities, kInScope),
      Scope(limits));
  for (const Row& row : found.rows) {
    const std::string where = fmt::format("{} / {}", Text(row[0]), Text(row[1]));
    report.cases.push_back(
        {"fail-on", fmt::format("{} ({})", Text(row[3]), where),
         fmt::format("{} {} of {}: {} ({}); none of severity {} or worse is allowed", Text(row[2]),
                     Text(row[3]), where, HumanizeSentence(Text(row[4])), Text(row[5]),
                     limits.fail_on)});
  }
  if (found.rows.empty())
    report.cases.push_back(
        {"fail-on", fmt::format("no finding of {} or worse", limits.fail_on), ""});
}

void RequireRun(Database& database, const std::string& run, std::string_view what) {
  if (run.empty()) return;
  std::vector<std::string> runs;
  for (const Row& row :
       Query(database, "SELECT DISTINCT run FROM captures WHERE run IS NOT NULL").rows)
    runs.push_back(Text(row[0]));
  if (std::find(runs.begin(), runs.end(), run) == runs.end())
    throw Error(fmt::format("{}: no run {}{}", what, run, DidYouMean(run, runs)));
}

// XML 1.0 has no place for control characters, whichever way they are written; Sanitize has made
// them visible. The two of the basic plane that are no characters go too.
std::string Xml(std::string_view text) {
  std::string out;
  const std::string clean = Sanitize(text);
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
  double percent = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), percent);
  if (error != std::errc() || end != digits.data() + digits.size() || !std::isfinite(percent) ||
      percent < 0) {
    throw Error(fmt::format("{} {}: a percentage expected, such as 2%", what, text),
                ExitCode::kUsage);
  }
  return percent;
}

SettingOverrides GateSettings(const GateLimits& limits) {
  SettingOverrides overrides;
  if (!limits.max_growth_bytes.has_value()) return overrides;
  Database defaults = Database::Throwaway({});
  const Rows rows = Query(defaults, "SELECT setting FROM settings WHERE name = 'growth_min_bytes'");
  // Not the limit itself: what is just within it shall not make a finding either.
  if (*limits.max_growth_bytes < Number(rows.rows.at(0).at(0)))
    overrides["growth_min_bytes"] = *limits.max_growth_bytes + 1;
  return overrides;
}

GateReport RunGates(Database& database, const GateLimits& limits) {
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

}  // namespace oomdb
