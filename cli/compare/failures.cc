#include "cli/compare/failures.h"

#include <fmt/format.h>

#include <ostream>
#include <tuple>
#include <utility>

#include "cli/compare/difference.h"
#include "cli/compare/failures_page.h"
#include "cli/compare/gate.h"
#include "render/units.h"

namespace oomdb::cli {
namespace {

constexpr char kOrder[] =
    "stage, kind DESC, ABS(delta_bytes) DESC NULLS LAST, COALESCE(new_bytes, base_bytes) DESC, "
    "name, new_shape, base_shape, source_file, source_line";

RunFailures ReadFailures(schema::Database& database, const std::string& run) {
  RunFailures failures;
  for (const schema::Record& summary :
       schema::ReadView(database, "run_summaries", {{"run", run}})) {
    failures.has_log = summary.Integer("log_count") > 0;
    if (summary.Integer("oom_event_count") == 0) return failures;
  }
  for (const schema::Record& row : schema::ReadView(database, "stage_failures", {{"run", run}})) {
    const std::string stage = row.Text("stage");
    if (row.Flag("ends_run")) failures.main_stage = stage;
    failures.stages[stage] = {row.Text("host"),
                              row.Text("module_name"),
                              row.MaybeInteger("needed_bytes"),
                              row.MaybeInteger("short_bytes"),
                              row.MaybeInteger("free_bytes"),
                              row.Integer("failure_count")};
  }
  return failures;
}

int64_t FailedExecutions(schema::Database& database, const std::string& run) {
  size_t count = 0;
  for (const schema::Record& capture : schema::ReadView(database, "captures", {{"run", run}})) {
    count += schema::ReadView(database, "failed_executions",
                              {{"capture_id", capture.Cell("capture_id")}})
                 .size();
  }
  return static_cast<int64_t>(count);
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

// What there is of a run to compare.
std::string Holds(schema::Database& database, const std::string& run) {
  if (!schema::ReadView(database, "run_modules", {{"run", run}}).empty()) return "has plans";
  for (const schema::Record& summary :
       schema::ReadView(database, "run_summaries", {{"run", run}})) {
    if (summary.Integer("log_count") > 0) return "has no OOM in its log and no plan";
    if (summary.Integer("profile_count") == summary.Integer("capture_count"))
      return "is a device memory profile, which compares only with another one";
  }
  return "has neither a plan nor an error log";
}

}  // namespace

FailureComparison::FailureComparison(schema::Database& database, const std::string& base,
                                     const std::string& changed)
    : base_(ReadFailures(database, base)), new_(ReadFailures(database, changed)) {
  std::tie(base_.name, new_.name) = ShortNames(base, changed);
  if (!any()) return;
  if (base_.stages.empty()) base_.failed_executions = FailedExecutions(database, base);
  if (new_.stages.empty()) new_.failed_executions = FailedExecutions(database, changed);
  rows_ = schema::ReadTable(database, "failure_comparison", "*",
                            {{"base_run", base}, {"new_run", changed}}, kOrder);
}

void FailureComparison::Write(std::ostream& out, size_t top,
                              const render::TableOptions& look) const {
  WriteFailures(out, base_, new_, rows_, top, look);
}

std::vector<std::string> FailureComparison::Regressions(schema::Database& database) const {
  std::vector<std::string> regressions;
  const RegressionLimits limits(database);
  for (const auto& [stage, now] : new_.stages) {
    const auto before = base_.stages.find(stage);
    if (before == base_.stages.end()) {
      // One that fails later than before is none.
      const bool earlier = stage == "compile" && base_.stages.count("run") > 0;
      if (!base_.stages.empty() && !earlier) continue;
      std::string how = now.short_bytes ? ", short by " + render::HumanBytes(*now.short_bytes) : "";
      regressions.push_back(fmt::format("regression: {} fails (stage {}){}, {} did not (read)",
                                        new_.name, stage, how, base_.name));
      continue;
    }
    const Measure measure = MeasureOf(stage, before->second, now);
    if (!measure.before || !measure.now || !limits.ArePassed(*measure.before, *measure.now))
      continue;
    regressions.push_back(fmt::format("regression: {} {} {} (stage {}, read), before {}", new_.name,
                                      measure.words, render::HumanBytes(*measure.now), stage,
                                      render::HumanBytes(*measure.before)));
  }
  return regressions;
}

std::string NothingToCompare(schema::Database& database, const std::string& base,
                             const std::string& changed) {
  const auto [base_name, new_name] = ShortNames(base, changed);
  const std::string of_base = Holds(database, base), of_new = Holds(database, changed);
  const std::string also =
      of_base == of_new ? "nor has " + new_name : fmt::format("{} {}", new_name, of_new);
  return fmt::format("nothing to compare: {} {}, {}", base_name, of_base, also);
}

}  // namespace oomdb::cli
