#include <fmt/format.h>

#include <algorithm>

#include "cli/report/model.h"
#include "render/units.h"
#include "render/words.h"
#include "schema/query.h"

namespace oomdb::cli {
namespace {

constexpr char kCantTell[] = "can't tell";

// Whether it may lead: what a rule only suggests leads where it explains a failure, and what is
// wrong but is no verdict stands beside one.
bool Leads(const ReportFinding& f) { return f.severity != "info" && !f.verdict.empty(); }

bool IsOfShown(const Report& report, const ReportOpenQuestion& question) {
  if (question.capture_id != report.captures[report.shown].capture_id) return false;
  if (question.module_id && report.plan && question.module_id != report.plan->module_id)
    return false;
  if (!question.device_id || !report.run) return true;
  return question.device_id == report.run->devices[report.run->shown].device_id;
}

// What a capture without findings lacks to be called well; empty: nothing.
std::string Doubt(const Report& report) {
  const ReportCapture& shown = report.captures[report.shown];
  if (shown.failed_count > 0) {
    return fmt::format("why {} failed before launch: no rule explains it, see RUN below",
                       render::Plural(shown.failed_count, "execution"));
  }
  if (shown.status != "complete" || shown.damaged)
    return "how it ended: the capture is incomplete, what follows is what could be read";
  if (!report.plan) {
    if (shown.kind == "oom_log") {
      return report.logs.empty() ? "what happened: no out-of-memory error in this log"
                                 : "what happened: no failure in this log, what it says of memory "
                                   "is below";
    }
    if (report.allocators.empty() && report.profile) {
      return fmt::format("more than what was held: {} live on the devices in {}",
                         render::HumanBytes(report.profile->buffer_bytes),
                         render::Plural(report.profile->buffer_count, "buffer"));
    }
    return report.allocators.empty()
               ? "anything: this capture holds nothing about memory, neither a module nor an "
                 "allocator"
               : "whether a program fits: this capture has no compiled module, its allocators are "
                 "below";
  }
  const ReportPlan& plan = *report.plan;
  if (plan.capacity_bytes && plan.plan_bytes > *plan.capacity_bytes) {
    // It would be a finding if it had not run: the pool grew, or the capacity is another.
    return fmt::format("what {} may use: it needs {}, more than the {} of {}, and yet it ran",
                       plan.Label(), render::HumanBytes(plan.plan_bytes), plan.capacity_source,
                       render::HumanBytes(*plan.capacity_bytes));
  }
  if (report.quiet.empty() && report.open.empty()) {
    return plan.capacity_bytes
               ? fmt::format("how {} runs: it needs {} of {}, and no execution is in the capture",
                             plan.Label(), render::HumanBytes(plan.plan_bytes),
                             render::HumanBytes(*plan.capacity_bytes))
               : fmt::format(
                     "whether {} fits: it needs {}; capacity unknown: set it with "
                     "--capacity",
                     plan.Label(), render::HumanBytes(plan.plan_bytes));
  }
  return "";
}

std::string WhatIsWell(const ReportPlan& plan) {
  if (!plan.capacity_bytes)
    return fmt::format("{} needs {}, and it ran", plan.Label(),
                       render::HumanBytes(plan.plan_bytes));
  return fmt::format("{} needs {} of {}", plan.Label(), render::HumanBytes(plan.plan_bytes),
                     render::HumanBytes(*plan.capacity_bytes));
}

}  // namespace

ReportVerdict VerdictOf(const Report& report) {
  ReportVerdict verdict;
  for (const ReportFinding& f : report.findings) {
    if (verdict.finding == nullptr && Leads(f) && !f.is_explained) verdict.finding = &f;
    if (f.severity != "info" && f.verdict.empty() && !f.is_explained) verdict.beside.push_back(&f);
  }
  if (verdict.finding != nullptr) {
    verdict.words = verdict.finding->verdict;
    verdict.sentence = verdict.finding->title_text;
    // Those stand in the list.
    verdict.beside.clear();
  } else {
    verdict.words = kCantTell;
    const std::string doubt = Doubt(report);
    if (!doubt.empty()) verdict.unknown.push_back(doubt);
    if (!report.plan && report.captures[report.shown].kind == "oom_log")
      verdict.tell.push_back("the log to its end, where the failure is printed");
  }
  // A failure answers enough.
  if (verdict.finding != nullptr && verdict.finding->severity == "error") return verdict;
  for (const ReportOpenQuestion& question : report.open) {
    if (!IsOfShown(report, question)) continue;
    const auto add = [](std::vector<std::string>* texts, const std::string& text) {
      if (std::find(texts->begin(), texts->end(), text) == texts->end()) texts->push_back(text);
    };
    add(&verdict.unknown, question.title);
    add(&verdict.tell, question.tell);
  }
  if (verdict.finding != nullptr) return verdict;
  if (!verdict.unknown.empty()) {
    verdict.sentence = verdict.unknown.front();
  } else {
    verdict.words = "well";
    verdict.sentence = WhatIsWell(*report.plan);
  }
  return verdict;
}

std::vector<std::string> PicturesOf(schema::Database& database, const std::string& verdict) {
  std::vector<std::string> pictures;
  for (const schema::Record& row :
       schema::ReadView(database, "verdict_kinds", {{"verdict", verdict}})) {
    const std::string list = row.Text("pictures");
    for (size_t begin = 0; begin < list.size();) {
      const size_t end = std::min(list.find(", ", begin), list.size());
      pictures.push_back(list.substr(begin, end - begin));
      begin = end + 2;
    }
  }
  return pictures;
}

std::string VerdictOfCapture(const Report& report, const ReportCapture& capture) {
  if (!capture.worst_verdict.empty()) return capture.worst_verdict;
  const bool whole = capture.status == "complete" && !capture.damaged &&
                     capture.failed_count == 0 && capture.module_count > 0;
  // What another capture explains is no less wrong with this one.
  const auto wrong =
      std::find_if(report.findings.begin(), report.findings.end(), [&](const ReportFinding& f) {
        return f.capture_id == capture.capture_id && f.severity != "info" && !f.verdict.empty();
      });
  if (wrong != report.findings.end()) return wrong->verdict;
  const bool open =
      std::any_of(report.open.begin(), report.open.end(),
                  [&](const ReportOpenQuestion& q) { return q.capture_id == capture.capture_id; });
  return whole && !open ? "well" : kCantTell;
}

}  // namespace oomdb::cli
