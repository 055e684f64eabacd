#include "cli/compare/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "cli/report/values.h"
#include "queries/catalogue.h"
#include "queries/materialize.h"
#include "render/units.h"
#include "schema/query.h"

namespace oomdb {
namespace {

// 0 for error: the smaller the worse.
int Rank(const std::string& severity) {
  return severity == "error" ? 0 : severity == "warning" ? 1 : 2;
}

std::vector<std::string> NewFindings(Database& database, const std::string& fail_on,
                                     const std::string& base, const std::string& changed) {
  MaterializeRules(database, Catalogue::Get());
  const Rows rows = Query(database,
                          "SELECT run, rule, module_name, severity, host, title, evidence FROM "
                          "findings WHERE run = :base OR run = :new ORDER BY run = :new, CASE "
                          "severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END, rule, "
                          "module_name, host, finding_id",
                          {{"base", base}, {"new", changed}});
  std::map<std::pair<std::string, std::string>, int> known;  // The worst rank of each.
  std::vector<std::string> failures;
  for (const Row& row : rows.rows) {
    const std::pair<std::string, std::string> key(Text(row[1]), Text(row[2]));
    const int rank = Rank(Text(row[3]));
    const auto before = known.find(key);
    if (before != known.end() && before->second <= rank) continue;
    known[key] = rank;
    if (Text(row[0]) != changed || rank > Rank(fail_on)) continue;
    failures.push_back(fmt::format("{} {}: {} ({})", Text(row[3]), key.first,
                                   HumanizeSentence(Text(row[5])), Text(row[6])));
  }
  return failures;
}

std::vector<std::string> Regressions(Database& database, const std::string& base,
                                     const std::string& changed) {
  const Rows rows =
      Query(database,
            "SELECT c.module_name, c.base_bytes, c.new_bytes FROM run_comparison c WHERE "
            "c.base_run = :base AND c.new_run = :new AND c.kind = 'module' AND c.delta_bytes >= "
            "(SELECT s.setting FROM settings s WHERE s.name = 'regression_min_bytes') AND 100 * "
            "c.delta_bytes > (SELECT s.setting FROM settings s WHERE s.name = "
            "'regression_min_percent') * c.base_bytes ORDER BY c.delta_bytes DESC, c.module_name",
            {{"base", base}, {"new", changed}});
  std::vector<std::string> failures;
  for (const Row& row : rows.rows) {
    const int64_t before = Integer(row[1]), now = Integer(row[2]);
    failures.push_back(fmt::format("regression: {} peaks {} higher (read): {}, before {}",
                                   Text(row[0]), HumanBytes(now - before), HumanBytes(now),
                                   HumanBytes(before)));
  }
  return failures;
}

}  // namespace

void CheckCompareGate(const std::string& fail_on) {
  for (const char* const known : {"", "error", "warning", "info", "regression"}) {
    if (fail_on == known) return;
  }
  throw Error(fmt::format("--fail-on {}: error, warning, info or regression expected", fail_on),
              ExitCode::kUsage);
}

std::vector<std::string> CompareGateFailures(Database& database, const std::string& fail_on,
                                             const std::string& base, const std::string& changed) {
  if (fail_on.empty()) return {};
  if (fail_on == "regression") return Regressions(database, base, changed);
  return NewFindings(database, fail_on, base, changed);
}

}  // namespace oomdb
