// The runs of a database, newest first: what became of each, and what it needed.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <tuple>

#include "cli/page/context.h"
#include "render/scale.h"
#include "render/units.h"
#include "render/words.h"

namespace oomdb::cli::page {
namespace {

constexpr size_t kMaxRuns = 500;

struct Run {
  std::string name;
  std::optional<int64_t> started_ns;  // Of its first capture that says it.
  std::set<std::string> hosts;
  const ReportCapture* worst = nullptr;
  int64_t largest_plan = 0;
};

auto Badness(const ReportCapture& c) {
  return std::tuple(c.error_count, c.warning_count, c.failed_count);
}

std::vector<Run> RunsOf(const Report& report) {
  std::map<std::string, Run> by_name;
  for (const ReportCapture& c : report.captures) {
    Run& run = by_name[c.run];
    run.name = c.run.empty() ? "without a run" : c.run;
    if (c.started_unix_ns && (!run.started_ns || *c.started_unix_ns < *run.started_ns))
      run.started_ns = c.started_unix_ns;
    if (!c.host.empty()) run.hosts.insert(c.host);
    if (run.worst == nullptr || Badness(c) > Badness(*run.worst)) run.worst = &c;
    run.largest_plan = std::max(run.largest_plan, c.largest_plan_bytes);
  }
  std::vector<Run> runs;
  for (auto& [name, run] : by_name) runs.push_back(std::move(run));
  std::stable_sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) {
    return a.started_ns.value_or(0) > b.started_ns.value_or(0);
  });
  return runs;
}

// "2026-09-21 14:13", UTC.
std::string When(const std::optional<int64_t>& unix_ns) {
  if (!unix_ns) return "";
  using std::chrono::floor;
  const std::chrono::sys_time<std::chrono::nanoseconds> time{std::chrono::nanoseconds(*unix_ns)};
  const auto day = floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(floor<std::chrono::minutes>(time - day));
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count());
}

// The verdict of its worst capture; what a capture can't be called is no more than a warning.
std::pair<std::string, std::string> VerdictOfRun(const Report& report, const Run& run) {
  const ReportCapture& c = *run.worst;
  std::string words = c.status != "complete" ? "truncated" : VerdictOfCapture(report, c);
  if (c.worst_verdict.empty() && !c.worst_title.empty())
    words = c.error_count > 0 ? "error" : "warning";
  return {words, c.error_count > 0 ? "no" : words == "well" ? "yes" : ""};
}

void WriteRun(const Report& report, const Run& run, int64_t highest, render::Markup& out) {
  const auto row = out.In("tr");
  out.Leaf("td", {{"class", "when"}}, When(run.started_ns));
  out.Leaf("td", {}, run.name);
  out.Leaf("td", {}, run.hosts.empty() ? "" : std::to_string(run.hosts.size()));
  const auto [words, css] = VerdictOfRun(report, run);
  out.Leaf("td", {{"class", css}}, words);
  out.Leaf("td", {{"class", "r"}},
           run.largest_plan > 0 ? render::HumanBytes(run.largest_plan) : "");
  {
    const auto cell = out.In("td", {{"class", "spark"}});
    const auto svg = out.In("svg", {{"height", "12"}, {"aria-hidden", "true"}});
    const double share =
        highest > 0 ? static_cast<double>(run.largest_plan) / static_cast<double>(highest) : 0;
    out.Leaf(
        "rect",
        {{"y", "2"}, {"height", "8"}, {"width", render::Percent(share)}, {"class", "f-forward"}});
  }
  out.Leaf("td", {}, run.worst->worst_title);
}

}  // namespace

bool WriteFleet(const Context& context) {
  const std::vector<Run> runs = RunsOf(context.report);
  if (runs.size() < 2) return false;
  render::Markup& out = context.out;
  int64_t highest = 0;
  for (const Run& run : runs) highest = std::max(highest, run.largest_plan);
  const auto section = out.In("section", {{"id", "fleet"}});
  WriteHead(out, "Runs",
            fmt::format("{}, newest first; below: {}", runs.size(),
                        context.report.captures[context.report.shown].name),
            "");
  {
    const auto frame = out.In("div", {{"class", "wide"}});
    const auto table = out.In("table", {{"class", "t"}});
    {
      const auto head = out.In("tr");
      for (const char* name :
           {"started (UTC)", "run", "hosts", "verdict", "largest plan", "", "worst finding"})
        out.Leaf("th", {}, name);
    }
    for (size_t i = 0; i < std::min(runs.size(), kMaxRuns); ++i) {
      WriteRun(context.report, runs[i], highest, out);
    }
  }
  if (runs.size() > kMaxRuns) WriteNote(out, fmt::format("{} older runs", runs.size() - kMaxRuns));
  return true;
}

}  // namespace oomdb::cli::page
