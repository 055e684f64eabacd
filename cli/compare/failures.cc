#include "cli/compare/failures.h"

#include <fmt/format.h>

#include <ostream>
#include <set>
#include <utility>

#include "cli/compare/failures_page.h"
#include "cli/compare/words.h"
#include "cli/report/values.h"
#include "render/units.h"

namespace oomdb {
namespace {

constexpr char kRows[] =
    "SELECT * FROM failure_comparison WHERE base_run = :base AND new_run = :new ORDER BY stage, "
    "kind DESC, ABS(delta_bytes) DESC NULLS LAST, COALESCE(new_bytes, base_bytes) DESC, name, "
    "new_shape, base_shape, source_file, source_line";

// The first of a stage is the one that failure_comparison compares; the last in its text ended the
// program.
constexpr char kFailures[] =
    "SELECT f.stage, f.host, f.module_name, f.needed_bytes, f.short_bytes, f.free_bytes, "
    "COUNT(*) OVER (PARTITION BY f.stage), "
    "ROW_NUMBER() OVER (ORDER BY COALESCE(f.fatal, 0) DESC, f.line DESC NULLS LAST, "
    "f.oom_event_id DESC) "
    "FROM oom_failures f WHERE f.run = :run "
    "ORDER BY f.stage, f.short_bytes DESC NULLS LAST, f.needed_bytes DESC NULLS LAST, "
    "f.line DESC NULLS LAST, f.oom_event_id DESC";

RunFailures ReadFailures(Database& database, const std::string& run) {
  RunFailures failures;
  const auto holds = [&](const char* sql) {
    return !Query(database, sql, {{"run", run}}).rows.empty();
  };
  failures.has_text = holds("SELECT 1 FROM captures WHERE run = :run AND kind = 'oom_log' LIMIT 1");
  if (!holds("SELECT 1 FROM captures c JOIN oom_events o ON o.capture_id = c.capture_id WHERE "
             "c.run = :run LIMIT 1"))
    return failures;
  for (const Row& row : Query(database, kFailures, {{"run", run}}).rows) {
    const std::string stage = Text(row[0]);
    if (Integer(row[7]) == 1) failures.main_stage = stage;
    failures.stages.try_emplace(
        stage, StageFailure{Text(row[1]), Text(row[2]), MaybeInteger(row[3]), MaybeInteger(row[4]),
                            MaybeInteger(row[5]), Integer(row[6])});
  }
  return failures;
}

int64_t FailedExecutions(Database& database, const std::string& run) {
  return Integer(Query(database,
                       "SELECT COUNT(*) FROM failed_executions f JOIN captures c ON c.capture_id = "
                       "f.capture_id WHERE c.run = :run",
                       {{"run", run}})
                     .rows.at(0)
                     .at(0));
}

// What the two are to be measured by: what is missing, else what a program needs. The request that
// happened to fail while running says nothing about the rest.
struct Measure {
  const char* words = "";
  std::optional<int64_t> before, now;
};

Measure MeasureOf(const std::string& stage, const StageFailure& before, const StageFailure& now) {
  if (before.short_bytes && now.short_bytes)
    return {"is short by", before.short_bytes, now.short_bytes};
  if (stage == "compile" || stage == "chip")
    return {"needs", before.needed_bytes, now.needed_bytes};
  return {};
}

int64_t Setting(Database& database, const std::string& name) {
  return Integer(
      Query(database, "SELECT setting FROM settings WHERE name = :name", {{"name", name}})
          .rows.at(0)
          .at(0));
}

// What there is of a run to compare.
std::string Holds(Database& database, const std::string& run) {
  if (!Query(database, "SELECT 1 FROM run_modules WHERE run = :run LIMIT 1", {{"run", run}})
           .rows.empty())
    return "has plans";
  std::set<std::string> kinds;
  for (const Row& row :
       Query(database, "SELECT DISTINCT kind FROM captures WHERE run = :run", {{"run", run}}).rows)
    kinds.insert(Text(row[0]));
  if (kinds.count("oom_log") > 0) return "has no OOM in its log and no plan";
  if (kinds == std::set<std::string>{"device_memory_profile"})
    return "is a device memory profile, which compares with another one only";
  return "has neither a plan nor an error log";
}

}  // namespace

FailureComparison::FailureComparison(Database& database, const std::string& base,
                                     const std::string& changed)
    : base_name_(ShortNames(base, changed).first),
      new_name_(ShortNames(base, changed).second),
      base_(ReadFailures(database, base)),
      new_(ReadFailures(database, changed)) {
  if (!any()) return;
  if (base_.stages.empty()) base_.failed_executions = FailedExecutions(database, base);
  if (new_.stages.empty()) new_.failed_executions = FailedExecutions(database, changed);
  rows_ = Query(database, kRows, {{"base", base}, {"new", changed}});
}

void FailureComparison::Write(std::ostream& out, size_t top, const TableOptions& look) const {
  FailurePage(base_, new_, base_name_, new_name_, rows_).Write(out, top, look);
}

std::vector<std::string> FailureComparison::Regressions(Database& database) const {
  std::vector<std::string> regressions;
  const int64_t min_bytes = Setting(database, "regression_min_bytes");
  const int64_t min_percent = Setting(database, "regression_min_percent");
  for (const auto& [stage, now] : new_.stages) {
    const auto before = base_.stages.find(stage);
    if (before == base_.stages.end()) {
      // One that fails later than before is none.
      const bool earlier = stage == "compile" && base_.stages.count("run") > 0;
      if (!base_.stages.empty() && !earlier) continue;
      std::string how = now.short_bytes ? ", short by " + HumanBytes(*now.short_bytes) : "";
      regressions.push_back(fmt::format("regression: {} fails (stage {}){}, {} did not (read)",
                                        new_name_, stage, how, base_name_));
      continue;
    }
    const Measure measure = MeasureOf(stage, before->second, now);
    if (!measure.before || !measure.now) continue;
    const int64_t risen = *measure.now - *measure.before;
    if (risen < min_bytes ||
        100.0 * static_cast<double>(risen) <=
            static_cast<double>(min_percent) * static_cast<double>(*measure.before)) {
      continue;
    }
    regressions.push_back(fmt::format("regression: {} {} {} (stage {}, read), before {}", new_name_,
                                      measure.words, HumanBytes(*measure.now), stage,
                                      HumanBytes(*measure.before)));
  }
  return regressions;
}

std::string NothingToCompare(Database& database, const std::string& base,
                             const std::string& changed) {
  const auto [base_name, new_name] = ShortNames(base, changed);
  const std::string of_base = Holds(database, base), of_new = Holds(database, changed);
  const std::string also =
      of_base == of_new ? "nor has " + new_name : fmt::format("{} {}", new_name, of_new);
  return fmt::format("nothing to compare: {} {}, {}", base_name, of_base, also);
}

}  // namespace oomdb
