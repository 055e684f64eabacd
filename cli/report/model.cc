#include "cli/report/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "cli/nearest.h"
#include "queries/catalogue.h"
#include "schema/query.h"

namespace oomdb {
namespace {

// What explains a failure stands before what describes it.
constexpr auto kRuleOrder = std::to_array<std::string_view>({"host_skew",
                                                             "compile_oom",
                                                             "runtime_oom",
                                                             "on_chip_oom",
                                                             "host_oom",
                                                             "step_does_not_fit",
                                                             "grows_per_execution",
                                                             "other_arrays_take_room",
                                                             "fragmentation",
                                                             "no_donation",
                                                             "replicated_parameters",
                                                             "capacity_below_memory",
                                                             "padding_waste",
                                                             "forward_dominates",
                                                             "backward_dominates",
                                                             "workspace_dominates",
                                                             "allocator_retry",
                                                             "truncated_capture",
                                                             "lost_events",
                                                             "plan_differs_between_hosts",
                                                             "sweep_limit",
                                                             "already_rematerialized"});

int RuleRank(const std::string& rule) {
  const auto found = std::find(kRuleOrder.begin(), kRuleOrder.end(), rule);
  return static_cast<int>(found - kRuleOrder.begin());
}

int SeverityRank(const std::string& severity) {
  return severity == "error" ? 0 : severity == "warning" ? 1 : 2;
}

class Reader {
 public:
  Reader(Database& database, const ReportScope& scope) : database_(database), scope_(scope) {}

  Report Read() {
    ReadCaptures();
    ReadFindings();
    ChooseCapture();
    const int64_t shown = report_.captures[report_.shown].capture_id;
    const std::optional<int64_t> module = ModuleOfWorstFinding();
    report_.plan = ReadReportPlan(database_, CaptureOfPlan(module, shown), scope_, module);
    report_.texts = ReadReportErrorTexts(database_, report_.captures[report_.shown]);
    if (report_.plan) report_.run = ReadReportRun(database_, *report_.plan);
    const bool told = report_.run && !report_.run->devices[report_.run->shown].allocator.empty();
    if (!told) report_.allocators = ReadReportAllocators(database_, shown);
    report_.profile = ReadReportProfile(database_, report_.captures[report_.shown]);
    FindQuiet();
    return std::move(report_);
  }

 private:
  void ReadCaptures() {
    Parameters which;
    if (!scope_.run.empty()) which["run"] = scope_.run;
    if (!scope_.host.empty()) which["host"] = scope_.host;
    for (const Record& row :
         ReadView(database_, "capture_summaries", which, "run, host, path, capture_id")) {
      report_.captures.push_back({.capture_id = row.Integer("capture_id"),
                                  .run = row.Text("run"),
                                  .host = row.Text("host"),
                                  .path = row.Text("path"),
                                  .kind = row.Text("kind"),
                                  .status = row.Text("status"),
                                  .format_note = row.Text("format_note"),
                                  .jax_version = row.Text("jax_version"),
                                  .duration_ns = row.MaybeInteger("duration_ns"),
                                  .bytes = row.Integer("bytes"),
                                  .device_count = row.Integer("device_count"),
                                  .device_kind = row.Text("device_kind"),
                                  .module_count = row.Integer("module_count"),
                                  .execution_count = row.Integer("execution_count"),
                                  .failed_count = row.Integer("failed_count"),
                                  .has_allocators = row.Integer("device_allocator_count") > 0,
                                  .largest_plan_bytes = row.Integer("largest_plan_bytes")});
    }
    if (report_.captures.empty()) ThrowNoCapture();
    for (const Record& row : ReadViewWhere(database_, "ingest_issues", "severity <> 'info'", {},
                                           "capture_id, severity, what, detail")) {
      ReportCapture* const c = CaptureOf(row.Integer("capture_id"));
      if (c == nullptr) continue;
      const std::string severity = row.Text("severity");
      const int64_t count = row.Integer("count");
      c->damaged = c->damaged || severity == "error";
      c->issues.push_back(severity + ": " + row.Text("detail") +
                          (count > 1 ? fmt::format(" (× {})", count) : ""));
    }
  }

  [[noreturn]] void ThrowNoCapture() {
    if (scope_.run.empty() && scope_.host.empty()) {
      throw Error("the database holds no capture: oomdb ingest --db FILE PATH stores some");
    }
    const std::string what = scope_.run.empty() ? "host" : "run";
    const std::string& asked = scope_.run.empty() ? scope_.host : scope_.run;
    std::set<std::string> names;
    for (const Record& row : ReadView(database_, "captures")) names.insert(row.Text(what));
    throw Error(fmt::format("no capture of {} {}{}", what, asked,
                            DidYouMean(asked, {names.begin(), names.end()})),
                ExitCode::kUsage);
  }

  ReportCapture* CaptureOf(int64_t capture_id) {
    for (ReportCapture& c : report_.captures) {
      if (c.capture_id == capture_id) return &c;
    }
    return nullptr;
  }

  void ReadFindings() {
    for (const Record& row : ReadView(database_, "findings")) {
      if (CaptureOf(row.Integer("capture_id")) == nullptr) continue;
      report_.findings.push_back({.finding_id = row.Text("finding_id"),
                                  .capture_id = row.Integer("capture_id"),
                                  .run = row.Text("run"),
                                  .host = row.Text("host"),
                                  .rule = row.Text("rule"),
                                  .rule_title = Catalogue::Get().Find(row.Text("rule"))->title,
                                  .severity = row.Text("severity"),
                                  .evidence = row.Text("evidence"),
                                  .title = row.Text("title"),
                                  .detail = row.Text("detail"),
                                  .device = row.MaybeInteger("device"),
                                  .module_id = row.MaybeInteger("module_id"),
                                  .module_name = row.Text("module_name"),
                                  .bytes = row.MaybeInteger("bytes")});
      ReportFinding& f = report_.findings.back();
      f.bytes_evidence = IsSizeOfPlan(f) ? "read" : f.evidence;
    }
    std::sort(report_.findings.begin(), report_.findings.end(),
              [](const ReportFinding& a, const ReportFinding& b) {
                return std::tuple(SeverityRank(a.severity), RuleRank(a.rule), a.run, a.host,
                                  a.device.value_or(-1), a.module_name, a.finding_id) <
                       std::tuple(SeverityRank(b.severity), RuleRank(b.rule), b.run, b.host,
                                  b.device.value_or(-1), b.module_name, b.finding_id);
              });
    if (report_.findings.empty()) return;
    std::map<std::string, ReportFinding*> by_id;
    for (ReportFinding& f : report_.findings) by_id[f.finding_id] = &f;
    for (const Record& row : ReadView(database_, "finding_items", {}, "finding_id, position")) {
      const auto found = by_id.find(row.Text("finding_id"));
      if (found == by_id.end()) continue;
      found->second->items.push_back({row.Text("kind"), row.Text("label"),
                                      row.MaybeInteger("bytes"), row.MaybeInteger("count")});
    }
    for (const Record& row : ReadView(database_, "remedies", {}, "finding_id, position")) {
      const auto found = by_id.find(row.Text("finding_id"));
      if (found == by_id.end()) continue;
      found->second->remedies.push_back({.fix = row.Text("fix"),
                                         .saving_bytes = row.MaybeInteger("saving_bytes"),
                                         .needs_bytes = row.MaybeInteger("needs_bytes"),
                                         .fits = row.MaybeFlag("fits"),
                                         .cost = row.Text("cost"),
                                         .changes_results = row.MaybeFlag("changes_results"),
                                         .evidence = row.Text("evidence")});
    }
  }

  bool IsSizeOfPlan(const ReportFinding& f) {
    if (!f.bytes || !f.module_id) return false;
    const std::vector<Record> module =
        ReadView(database_, "modules", {{"module_id", *f.module_id}});
    return !module.empty() && module[0].MaybeInteger("plan_bytes") == f.bytes;
  }

  // The capture with the worst finding; else the one with the most failed executions; else the
  // first.
  void ChooseCapture() {
    for (const ReportFinding& f : report_.findings) {
      ReportCapture& c = *CaptureOf(f.capture_id);
      if (f.severity == "error") ++c.error_count;
      if (f.severity == "warning") ++c.warning_count;
      if (c.worst_title.empty() && f.severity != "info") c.worst_title = f.title;
    }
    for (size_t i = 0; i < report_.captures.size(); ++i) {
      const ReportCapture &c = report_.captures[i], &best = report_.captures[report_.shown];
      const auto worth = [](const ReportCapture& x) {
        return std::tuple(x.error_count, x.failed_count, x.warning_count, x.execution_count > 0,
                          x.largest_plan_bytes);
      };
      if (worth(c) > worth(best)) report_.shown = i;
    }
    // Findings of the shown capture first, where severity is equal: the headline is about it.
    const int64_t shown = report_.captures[report_.shown].capture_id;
    std::stable_sort(
        report_.findings.begin(), report_.findings.end(),
        [&](const ReportFinding& a, const ReportFinding& b) {
          return std::tuple(SeverityRank(a.severity), a.capture_id != shown, RuleRank(a.rule)) <
                 std::tuple(SeverityRank(b.severity), b.capture_id != shown, RuleRank(b.rule));
        });
  }

  bool Found(std::string_view rule) const {
    const int64_t shown = report_.captures[report_.shown].capture_id;
    return std::any_of(
        report_.findings.begin(), report_.findings.end(),
        [&](const ReportFinding& f) { return f.rule == rule && f.capture_id == shown; });
  }

  // Of the shown capture's module, the one that its worst finding is about.
  std::optional<int64_t> ModuleOfWorstFinding() const {
    const int64_t shown = report_.captures[report_.shown].capture_id;
    for (const ReportFinding& f : report_.findings) {
      if (f.capture_id == shown && f.severity != "info" && f.module_id) return f.module_id;
    }
    return std::nullopt;
  }

  // An error log has no plan of its own: that of the dump or capture which it is joined to.
  int64_t CaptureOfPlan(std::optional<int64_t> module, int64_t shown) {
    if (!module) return shown;
    const std::vector<Record> rows = ReadView(database_, "modules", {{"module_id", *module}});
    return rows.empty() ? shown : rows[0].Integer("capture_id");
  }

  // Only what the capture holds the evidence for: of one that is not whole nothing is said to be
  // well.
  void FindQuiet() {
    const ReportCapture& capture = report_.captures[report_.shown];
    if (!report_.plan || !report_.plan->has_plan) return;
    if (capture.status != "complete" || capture.damaged) return;
    const ReportPlan& plan = *report_.plan;
    const bool fits = plan.capacity_bytes && plan.plan_bytes <= *plan.capacity_bytes;
    if (fits) report_.quiet.push_back("the plan fits the capacity");
    if (plan.donated_parameter_count > 0 && !Found("no_donation")) {
      report_.quiet.push_back(fmt::format("donation complete ({} of {} parameters)",
                                          plan.donated_parameter_count, plan.parameter_count));
    }
    if (!report_.run) return;
    const ReportDevice& device = report_.run->devices[report_.run->shown];
    if (device.in_use_at_starts.size() >= 3 && !Found("grows_per_execution")) {
      report_.quiet.push_back(
          fmt::format("no growth over {} executions", device.in_use_at_starts.size()));
    }
    if (capture.has_allocators && device.wait_count == 0)
      report_.quiet.push_back("no waits for memory");
    if (device.failed_count > 0 && !Found("fragmentation"))
      report_.quiet.push_back("no fragmentation");
  }

  Database& database_;
  const ReportScope& scope_;
  Report report_;
};

}  // namespace

Report ReadReport(Database& database, const ReportScope& scope) {
  return Reader(database, scope).Read();
}

}  // namespace oomdb
