#include "cli/compare/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "queries/catalogue.h"
#include "queries/materialize.h"
#include "render/units.h"
#include "schema/query.h"

namespace oomdb::cli {
namespace {

// 0 for error: the smaller the worse.
int Rank(const std::string& severity) {
  return severity == "error" ? 0 : severity == "warning" ? 1 : 2;
}

std::vector<std::string> NewFindings(schema::Database& database, const std::string& fail_on,
                                     const std::string& base, const std::string& changed) {
  queries::MaterializeRules(database, queries::Catalogue::Get());
  std::map<std::pair<std::string, std::string>, int> known;  // The worst rank of each.
  std::vector<std::string> failures;
  for (const schema::Record& row : schema::ReadViewWhere(
           database, "findings", "run = :base OR run = :new", {{"base", base}, {"new", changed}},
           "run = :new, CASE severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 "
           "END, rule, module_name, host, finding_id")) {
    const std::pair key(row.Text("rule"), row.Text("module_name"));
    const int rank = Rank(row.Text("severity"));
    const auto before = known.find(key);
    if (before != known.end() && before->second <= rank) continue;
    known[key] = rank;
    if (row.Text("run") != changed || rank > Rank(fail_on)) continue;
    failures.push_back(fmt::format("{} {}: {} ({})", row.Text("severity"), key.first,
                                   render::HumanizeSentence(row.Text("title")),
                                   row.Text("evidence")));
  }
  return failures;
}

std::vector<std::string> Regressions(schema::Database& database, const std::string& base,
                                     const std::string& changed) {
  const RegressionLimits limits(database);
  std::vector<std::string> failures;
  for (const schema::Record& row :
       schema::ReadView(database, "run_comparison",
                        {{"base_run", base}, {"new_run", changed}, {"kind", std::string("module")}},
                        "delta_bytes DESC, module_name")) {
    const std::optional<int64_t> before = row.MaybeInteger("base_bytes");
    const std::optional<int64_t> now = row.MaybeInteger("new_bytes");
    if (!before || !now || !limits.ArePassed(*before, *now)) continue;
    failures.push_back(fmt::format("regression: {} peaks {} higher (read): {}, before {}",
                                   row.Text("module_name"), render::HumanBytes(*now - *before),
                                   render::HumanBytes(*now), render::HumanBytes(*before)));
  }
  return failures;
}

}  // namespace

RegressionLimits::RegressionLimits(schema::Database& database)
    : min_bytes_(schema::SettingOf(database, "regression_min_bytes")),
      min_percent_(schema::SettingOf(database, "regression_min_percent")) {}

bool RegressionLimits::ArePassed(int64_t before, int64_t now) const {
  const int64_t risen = now - before;
  return risen >= min_bytes_ && 100.0 * static_cast<double>(risen) >
                                    static_cast<double>(min_percent_) * static_cast<double>(before);
}

void CheckCompareGate(const std::string& fail_on) {
  for (const char* const known : {"", "error", "warning", "info", "regression"}) {
    if (fail_on == known) return;
  }
  throw Error(fmt::format("--fail-on {}: error, warning, info or regression expected", fail_on),
              ExitCode::kUsage);
}

std::vector<std::string> CompareGateFailures(schema::Database& database, const std::string& fail_on,
                                             const std::string& base, const std::string& changed) {
  if (fail_on.empty()) return {};
  if (fail_on == "regression") return Regressions(database, base, changed);
  return NewFindings(database, fail_on, base, changed);
}

}  // namespace oomdb::cli
