#include "cli/report/model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "cli/nearest.h"
#include "render/units.h"
#include "schema/query.h"

namespace oomdb::cli {
namespace {

std::vector<std::string> Components(const std::string& path) {
  std::vector<std::string> components;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t slash = std::min(path.find('/', begin), path.size());
    components.push_back(path.substr(begin, slash - begin));
    begin = slash + 1;
  }
  return components;
}

// Of several paths what is not common to all: of x/a/host.pb and x/b/host.pb "a/…" and "b/…".
std::vector<std::string> DifferingParts(const std::vector<std::string>& paths) {
  std::vector<std::vector<std::string>> split;
  for (const std::string& path : paths) split.push_back(Components(path));
  size_t least = split[0].size();
  for (const auto& components : split) least = std::min(least, components.size());
  const auto common = [&split](const auto& component) {
    return std::all_of(split.begin(), split.end(),
                       [&](const auto& one) { return component(one) == component(split[0]); });
  };
  size_t first = 0;
  while (first + 1 < least && common([&](const auto& one) { return one[first]; })) ++first;
  size_t last = 0;
  while (first + last + 1 < least &&
         common([&](const auto& one) { return one[one.size() - 1 - last]; })) {
    ++last;
  }
  std::vector<std::string> parts;
  for (const auto& components : split) {
    const auto begin = components.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = components.end() - static_cast<std::ptrdiff_t>(last);
    parts.push_back(fmt::format("{}{}", fmt::join(begin, end, "/"), last > 0 ? "/…" : ""));
  }
  return parts;
}

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
    FindOpen();
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
                                  .started_unix_ns = row.MaybeInteger("started_unix_ns"),
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
    NameReportCaptures(&report_.captures);
    if (!scope_.capture.empty()) KeepAsked();
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

  // By its id, its path or the name that the table of captures gives it.
  void KeepAsked() {
    std::error_code error;
    const std::filesystem::path absolute = std::filesystem::absolute(scope_.capture, error);
    const std::string path = error ? scope_.capture : absolute.lexically_normal().string();
    std::vector<std::string> names;
    std::vector<ReportCapture> kept;
    for (const ReportCapture& c : report_.captures) {
      if (c.path == path || c.path == scope_.capture || c.name == scope_.capture ||
          std::to_string(c.capture_id) == scope_.capture) {
        kept.push_back(c);
      }
      names.push_back(c.name);
    }
    if (kept.empty()) {
      throw Error(fmt::format("no capture {}{}", scope_.capture, DidYouMean(scope_.capture, names)),
                  ExitCode::kUsage);
    }
    report_.captures = std::move(kept);
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
    std::set<std::pair<int64_t, std::string>> counted;
    for (const ReportFinding& f : report_.findings) {
      ReportCapture& c = *CaptureOf(f.capture_id);
      // One failure counts once, on however many devices it shows; its worst comes first.
      const std::string& what = f.incident_id.empty() ? f.finding_id : f.incident_id;
      if (f.severity != "info" && counted.emplace(f.capture_id, what).second)
        ++(f.severity == "error" ? c.error_count : c.warning_count);
      if (c.worst_title.empty() && f.severity != "info") c.worst_title = f.title_text;
      if (c.worst_verdict.empty() && f.severity != "info" && !f.is_explained)
        c.worst_verdict = f.verdict;
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

  void FindOpen() {
    for (const schema::Record& row :
         schema::ReadView(database_, "open_questions", {}, "rule, title, tell")) {
      if (CaptureOf(row.Integer("capture_id")) == nullptr) continue;
      report_.open.push_back({.capture_id = row.Integer("capture_id"),
                              .device_id = row.MaybeInteger("device_id"),
                              .module_id = row.MaybeInteger("module_id"),
                              .title = render::HumanizeSentence(row.Text("title")),
                              .tell = render::HumanizeSentence(row.Text("tell"))});
    }
  }

  schema::Database& database_;
  const ReportScope& scope_;
  Report report_;
};

}  // namespace

void NameReportCaptures(std::vector<ReportCapture>* captures) {
  std::map<std::string, std::vector<ReportCapture*>> by_name;
  for (ReportCapture& c : *captures) {
    c.name = c.run.empty() && c.host.empty() ? c.path
             : c.host.empty()                ? c.run
             : c.run.empty()                 ? c.host
                                             : c.run + " / " + c.host;
    by_name[c.name].push_back(&c);
  }
  for (const auto& [name, alike] : by_name) {
    if (alike.size() < 2) continue;
    std::vector<std::string> paths;
    for (const ReportCapture* c : alike) paths.push_back(c->path);
    const std::vector<std::string> parts = DifferingParts(paths);
    for (size_t i = 0; i < alike.size(); ++i) {
      // One file that was read again when it had become another.
      alike[i]->name = std::count(paths.begin(), paths.end(), paths[i]) == 1
                           ? parts[i]
                           : fmt::format("{} (capture {})", name, alike[i]->capture_id);
    }
  }
}

const ReportCapture* Report::CaptureOf(int64_t capture_id) const {
  for (const ReportCapture& c : captures) {
    if (c.capture_id == capture_id) return &c;
  }
  return nullptr;
}

std::string SavingWords(const ReportRemedy& remedy) {
  if (!remedy.saving_bytes) return "";
  const bool replayed = remedy.needs_low_bytes && remedy.needs_high_bytes;
  return (replayed ? "≈ " : "≤ ") + render::HumanBytes(*remedy.saving_bytes);
}

std::string_view FitsWord(const ReportRemedy& remedy) {
  if (remedy.fits) return *remedy.fits ? "yes" : "no";
  if (remedy.likely) return *remedy.likely ? "likely" : "?";
  return "";
}

Report ReadReport(schema::Database& database, const ReportScope& scope) {
  return Reader(database, scope).Read();
}

}  // namespace oomdb::cli
