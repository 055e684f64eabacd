// The captures that a page is about, where they are several, and who holds memory by a profile.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "cli/page/context.h"
#include "cli/page/plot.h"
#include "render/scale.h"
#include "render/units.h"
#include "render/words.h"

namespace oomdb::cli::page {
namespace {

constexpr size_t kMaxCaptures = 500;
constexpr size_t kMaxLines = 20;

std::string KindOf(const ReportCapture& c) {
  if (c.kind == "oom_log") return "error log";
  if (c.kind == "xla_dump") return "dump";
  if (c.kind == "device_memory_profile") return "memory profile";
  if (c.kind == "hlo") return "plan";
  return render::Plural(c.execution_count, "execution") +
         (c.failed_count > 0 ? fmt::format(", {} failed", c.failed_count) : "");
}

void WriteBar(render::Markup& out, int64_t bytes, int64_t highest, const std::string& css) {
  const auto svg = out.In("svg", {{"height", "12"}, {"aria-hidden", "true"}});
  const double share = highest > 0 ? static_cast<double>(bytes) / static_cast<double>(highest) : 0;
  out.Leaf("rect",
           {{"y", "2"}, {"height", "8"}, {"width", render::Percent(share)}, {"class", css}});
}

}  // namespace

void WriteCaptures(const Context& context) {
  const Report& report = context.report;
  if (report.captures.size() < 2) return;
  render::Markup& out = context.out;
  std::vector<const ReportCapture*> order;
  int64_t highest = 0;
  for (const ReportCapture& c : report.captures) {
    order.push_back(&c);
    highest = std::max(highest, c.largest_plan_bytes);
  }
  std::stable_sort(order.begin(), order.end(), [](const ReportCapture* a, const ReportCapture* b) {
    return std::tie(a->error_count, a->warning_count) > std::tie(b->error_count, b->warning_count);
  });
  const auto section = out.In("section");
  WriteHead(out, "Captures", fmt::format("{}, the worst first", order.size()), "");
  {
    const auto frame = out.In("div", {{"class", "wide"}});
    const auto table = out.In("table", {{"class", "t"}});
    {
      const auto head = out.In("tr");
      for (const char* name : {"capture", "what", "verdict", "largest plan", "", "worst finding"})
        out.Leaf("th", {}, name);
    }
    for (size_t i = 0; i < std::min(order.size(), kMaxCaptures); ++i) {
      const ReportCapture& c = *order[i];
      const auto row =
          out.In("tr", {{"class", &c == &report.captures[report.shown] ? "shown" : ""}});
      out.Leaf("td", {}, c.name);
      out.Leaf("td", {}, KindOf(c));
      std::string verdict = c.status != "complete" ? "truncated" : VerdictOfCapture(report, c);
      // Another capture's finding explains what is wrong here: it is not well all the same.
      if (c.worst_verdict.empty() && !c.worst_title.empty())
        verdict = c.error_count > 0 ? "error" : "warning";
      out.Leaf("td",
               {{"class", c.error_count > 0   ? "no"
                          : verdict == "well" ? "yes"
                                              : ""}},
               verdict);
      out.Leaf("td", {{"class", "r"}},
               c.largest_plan_bytes > 0 ? render::HumanBytes(c.largest_plan_bytes) : "");
      {
        const auto cell = out.In("td", {{"class", "spark"}});
        WriteBar(out, c.largest_plan_bytes, highest, "f-forward");
      }
      out.Leaf("td", {}, c.worst_title);
    }
  }
  if (order.size() > kMaxCaptures)
    WriteNote(out, fmt::format("{} more captures in the database", order.size() - kMaxCaptures));
}

bool WriteProfileLines(const Context& context) {
  if (!context.report.profile || context.report.profile->lines.empty()) return false;
  const ReportProfile& profile = *context.report.profile;
  render::Markup& out = context.out;
  const auto section = out.In("section");
  WriteHead(out, "Who held the memory",
            fmt::format("{} in {}, by the Python line that made it",
                        render::HumanBytes(profile.buffer_bytes),
                        render::Plural(profile.buffer_count, "buffer")),
            "measured");
  const auto table = out.In("table", {{"class", "t"}});
  for (size_t i = 0; i < std::min(profile.lines.size(), kMaxLines); ++i) {
    const ReportProfileLine& line = profile.lines[i];
    const auto row = out.In("tr");
    out.Leaf("td", {{"class", "r"}}, render::BytesOrDash(line.bytes));
    {
      const auto cell = out.In("td", {{"class", "spark"}});
      WriteBar(out, line.bytes.value_or(0), profile.buffer_bytes, "f-forward");
    }
    const std::string place = render::Place(line.source_file, line.source_line, line.function_name);
    out.Leaf("td", {}, place.empty() ? "no line outside installed packages" : place);
    out.Leaf("td", {}, render::Plural(line.count, "buffer") + " on " + line.device);
  }
  return true;
}

}  // namespace oomdb::cli::page
