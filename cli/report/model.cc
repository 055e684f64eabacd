#include "cli/report/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "cli/nearest.h"
#include "schema/query.h"

namespace oomdb::cli {
namespace {

class Reader {
 public:
  Reader(schema::Database& database, const ReportScope& scope)
      : database_(database), scope_(scope) {}

  Report Read() {
    ReadCaptures();
    report_.findings = ReadReportFindings(
        database_, [&](int64_t capture_id) { return CaptureOf(capture_id) != nullptr; });
    ChooseCapture();
    const int64_t shown = report_.captures[report_.shown].capture_id;
    const std::optional<int64_t> module = ModuleOfWorstFinding();
    report_.plan = ReadReportPlan(database_, CaptureOfPlan(module, shown), scope_, module);
    report_.logs = ReadReportErrorLogs(database_, report_.captures[report_.shown]);
    if (report_.plan) report_.run = ReadReportRun(database_, *report_.plan);
    const bool told = report_.run && !report_.run->devices[report_.run->shown].allocator.empty();
    if (!told) report_.allocators = ReadReportAllocators(database_, shown);
    report_.profile = ReadReportProfile(database_, report_.captures[report_.shown]);
    FindQuiet();
    return std::move(report_);
  }

 private:
  void ReadCaptures() {
    schema::Parameters which;
    if (!scope_.run.empty()) which["run"] = scope_.run;
    if (!scope_.host.empty()) which["host"] = scope_.host;
    for (const schema::Record& row :
         schema::ReadView(database_, "capture_summaries", which, "run, host, path, capture_id")) {
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
    for (const schema::Record& row :
         schema::ReadViewWhere(database_, "ingest_issues", "severity <> 'info'", {},
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
    for (const schema::Record& row : schema::ReadView(database_, "captures"))
      names.insert(row.Text(what));
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

  // The capture with the worst finding; else the one with the most failed executions; else the
  // first.
  void ChooseCapture() {
    for (const ReportFinding& f : report_.findings) {
      ReportCapture& c = *CaptureOf(f.capture_id);
      if (f.severity == "error") ++c.error_count;
      if (f.severity == "warning") ++c.warning_count;
      if (c.worst_title.empty() && f.severity != "info") c.worst_title = f.title_text;
    }
    for (size_t i = 0; i < report_.captures.size(); ++i) {
      const ReportCapture &c = report_.captures[i], &best = report_.captures[report_.shown];
      const auto worth = [](const ReportCapture& x) {
        return std::tuple(x.error_count, x.failed_count, x.warning_count, x.execution_count > 0,
                          x.largest_plan_bytes);
      };
      if (worth(c) > worth(best)) report_.shown = i;
    }
    SortReportFindings(report_.captures[report_.shown].capture_id, &report_.findings);
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
    const std::vector<schema::Record> rows =
        schema::ReadView(database_, "modules", {{"module_id", *module}});
    return rows.empty() ? shown : rows[0].Integer("capture_id");
  }

  // Only what the capture holds the evidence for: of one that is not whole nothing is said to be
  // well.
  void FindQuiet() {
    const ReportCapture& capture = report_.captures[report_.shown];
    if (!report_.plan || capture.status != "complete" || capture.damaged) return;
    const std::optional<int64_t> device =
        report_.run ? report_.run->devices[report_.run->shown].device_id : std::nullopt;
    report_.quiet =
        ReadReportQuiet(database_, report_.findings, capture.capture_id, *report_.plan, device);
  }

  schema::Database& database_;
  const ReportScope& scope_;
  Report report_;
};

}  // namespace

Report ReadReport(schema::Database& database, const ReportScope& scope) {
  return Reader(database, scope).Read();
}

}  // namespace oomdb::cli
