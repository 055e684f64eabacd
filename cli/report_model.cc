#include "cli/report_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "cli/nearest.h"
#include "cli/report_values.h"
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
    report_.texts = ReadReportErrorTexts(database_, shown);
    if (report_.plan) report_.run = ReadReportRun(database_, *report_.plan);
    const bool told = report_.run && !report_.run->devices[report_.run->shown].allocator.empty();
    if (!told) report_.allocators = ReadReportAllocators(database_, shown);
    report_.profile = ReadReportProfile(database_, report_.captures[report_.shown], scope_);
    FindQuiet();
    report_.top_asked = scope_.top.has_value();
    return std::move(report_);
  }

 private:
  std::vector<Row> Ask(const std::string& sql, const Parameters& parameters = {}) {
    return Query(database_, sql, parameters).rows;
  }

  void ReadCaptures() {
    const std::vector<Row> rows = Ask(
        "SELECT c.capture_id, c.run, c.host, c.path, c.kind, c.status, c.format_note, "
        "c.jax_version, c.duration_ns, "
        "c.bytes, (SELECT COUNT(*) FROM devices d WHERE d.capture_id = c.capture_id), "
        "(SELECT MAX(d.kind) FROM devices d WHERE d.capture_id = c.capture_id), "
        "(SELECT COUNT(*) FROM modules m WHERE m.capture_id = c.capture_id), "
        "(SELECT COUNT(*) FROM executions e WHERE e.capture_id = c.capture_id), "
        "(SELECT COUNT(*) FROM executions e WHERE e.capture_id = c.capture_id AND e.failed = 1), "
        "(SELECT COUNT(*) FROM allocators a WHERE a.capture_id = c.capture_id AND a.device_id IS "
        "NOT NULL), "
        "(SELECT MAX(m.plan_bytes) FROM modules m WHERE m.capture_id = c.capture_id) "
        "FROM captures c WHERE (:run = '' OR c.run = :run) AND (:host = '' OR c.host = :host) "
        "ORDER BY c.run, c.host, c.path, c.capture_id",
        {{"run", scope_.run}, {"host", scope_.host}});
    for (const Row& row : rows) {
      ReportCapture c;
      c.capture_id = Integer(row[0]);
      c.run = Text(row[1]);
      c.host = Text(row[2]);
      c.path = Text(row[3]);
      c.kind = Text(row[4]);
      c.status = Text(row[5]);
      c.format_note = Text(row[6]);
      c.jax_version = Text(row[7]);
      c.duration_ns = MaybeInteger(row[8]);
      c.bytes = Integer(row[9]);
      c.device_count = Integer(row[10]);
      c.device_kind = Text(row[11]);
      c.module_count = Integer(row[12]);
      c.execution_count = Integer(row[13]);
      c.failed_count = Integer(row[14]);
      c.has_allocators = Integer(row[15]) > 0;
      c.largest_plan_bytes = Integer(row[16]);
      report_.captures.push_back(std::move(c));
    }
    if (report_.captures.empty()) ThrowNoCapture();
    for (const Row& row : Ask("SELECT capture_id, severity, detail, count FROM ingest_issues WHERE "
                              "severity <> 'info' "
                              "ORDER BY capture_id, severity, what, detail")) {
      for (ReportCapture& c : report_.captures) {
        if (c.capture_id != Integer(row[0])) continue;
        c.damaged = c.damaged || Text(row[1]) == "error";
        c.issues.push_back(Text(row[1]) + ": " + Text(row[2]) +
                           (Integer(row[3]) > 1 ? fmt::format(" (× {})", Integer(row[3])) : ""));
      }
    }
  }

  [[noreturn]] void ThrowNoCapture() {
    std::vector<std::string> names;
    const bool by_host = scope_.run.empty();
    for (const Row& row : Ask(by_host ? "SELECT DISTINCT host FROM captures"
                                      : "SELECT DISTINCT run FROM captures")) {
      names.push_back(Text(row[0]));
    }
    if (scope_.run.empty() && scope_.host.empty()) {
      throw Error("the database holds no capture: oomdb ingest --db FILE PATH stores some");
    }
    throw Error(fmt::format("no capture of {} {}{}", by_host ? "host" : "run",
                            by_host ? scope_.host : scope_.run,
                            DidYouMean(by_host ? scope_.host : scope_.run, names)),
                ExitCode::kUsage);
  }

  ReportCapture* CaptureOf(int64_t capture_id) {
    for (ReportCapture& c : report_.captures) {
      if (c.capture_id == capture_id) return &c;
    }
    return nullptr;
  }

  void ReadFindings() {
    std::map<std::string, size_t> index;
    for (const Row& row : Ask("SELECT finding_id, capture_id, run, host, rule, severity, evidence, "
                              "title, detail, device, "
                              "module_id, module_name, bytes FROM findings")) {
      ReportFinding f;
      f.finding_id = Text(row[0]);
      f.capture_id = Integer(row[1]);
      if (CaptureOf(f.capture_id) == nullptr) continue;
      f.run = Text(row[2]);
      f.host = Text(row[3]);
      f.rule = Text(row[4]);
      f.severity = Text(row[5]);
      f.evidence = Text(row[6]);
      f.title = Text(row[7]);
      f.detail = Text(row[8]);
      f.device = MaybeInteger(row[9]);
      f.module_id = MaybeInteger(row[10]);
      f.module_name = Text(row[11]);
      f.bytes = MaybeInteger(row[12]);
      f.rule_title = Catalogue::Get().Find(f.rule)->title;
      report_.findings.push_back(std::move(f));
    }
    std::sort(report_.findings.begin(), report_.findings.end(),
              [](const ReportFinding& a, const ReportFinding& b) {
                return std::tuple(SeverityRank(a.severity), RuleRank(a.rule), a.run, a.host,
                                  a.device.value_or(-1), a.module_name, a.finding_id) <
                       std::tuple(SeverityRank(b.severity), RuleRank(b.rule), b.run, b.host,
                                  b.device.value_or(-1), b.module_name, b.finding_id);
              });
    if (report_.findings.empty()) return;
    for (size_t i = 0; i < report_.findings.size(); ++i) index[report_.findings[i].finding_id] = i;
    for (const Row& row : Ask("SELECT finding_id, kind, label, bytes, count FROM finding_items "
                              "ORDER BY finding_id, position")) {
      const auto found = index.find(Text(row[0]));
      if (found == index.end()) continue;
      report_.findings[found->second].items.push_back(
          {Text(row[1]), Text(row[2]), MaybeInteger(row[3]), MaybeInteger(row[4])});
    }
    for (const Row& row : Ask("SELECT finding_id, fix, saving_bytes, needs_bytes, fits, cost, "
                              "changes_results, evidence "
                              "FROM remedies ORDER BY finding_id, position")) {
      const auto found = index.find(Text(row[0]));
      if (found == index.end()) continue;
      report_.findings[found->second].remedies.push_back(
          {Text(row[1]), MaybeInteger(row[2]), MaybeInteger(row[3]), MaybeBool(row[4]),
           Text(row[5]), MaybeBool(row[6]), Text(row[7])});
    }
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

  // An error text has no plan of its own: that of the dump or capture which it is joined to.
  int64_t CaptureOfPlan(std::optional<int64_t> module, int64_t shown) {
    if (!module) return shown;
    const std::vector<Row> rows =
        Ask("SELECT capture_id FROM modules WHERE module_id = :module", {{"module", *module}});
    return rows.empty() ? shown : Integer(rows[0][0]);
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
