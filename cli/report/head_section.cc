#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/report/page.h"
#include "render/units.h"

namespace oomdb::cli {
namespace {

constexpr size_t kMaxCaptures = 16;

std::string FileName(const ReportCapture& c) {
  return render::Safe(std::filesystem::path(c.path).filename().string());
}

class HeadSection : ReportPage {
 public:
  explicit HeadSection(const ReportPage& page) : ReportPage(page) {}

  void Write() {
    Headline();
    Identity();
    Captures();
  }

  void WriteIncident() {
    Headline();
    Identity();
    if (report_.captures.size() < 2) return;
    Line(render::Truncate(fmt::format("of {} captures: {} (--capture chooses another)",
                                      report_.captures.size(), render::Safe(shown().name)),
                          width_));
  }

 private:
  // What happened: the verdict, and one sentence.
  void Headline() {
    const ReportVerdict verdict = VerdictOf(report_);
    const ReportFinding* const worst = verdict.finding;
    const render::Style style = verdict.words == "well" ? render::Style::kGreen
                                : worst != nullptr && worst->severity == "error"
                                    ? render::Style::kRed
                                    : render::Style::kYellow;
    std::string right;
    if (worst != nullptr && IsAboutPlan(*worst) &&
        report_.plan->plan_bytes > report_.plan->capacity_bytes)
      right = "short by " +
              render::HumanBytes(report_.plan->plan_bytes - *report_.plan->capacity_bytes);
    Told(render::Upper(verdict.words), verdict.sentence, right, style);
    const size_t indent = verdict.words.size();
    // Of a verdict that is known, what else is not.
    const bool cant_tell = worst == nullptr;
    for (size_t i = cant_tell ? 1 : 0; i < verdict.unknown.size(); ++i) {
      Told(render::PadLeft(cant_tell ? "nor" : "open", indent), verdict.unknown[i], "",
           render::Style::kYellow);
    }
    for (const std::string& tell : verdict.tell)
      Told(render::PadLeft("ask", indent), tell, "", std::nullopt);
    for (const ReportFinding* beside : verdict.beside)
      Told(render::PadLeft("but", indent), beside->title_text, "", render::Style::kYellow);
  }

  // A word, and beside it a text of as many lines as it takes. `right`, which the details say too,
  // stands at the right margin of a single line.
  void Told(const std::string& word, const std::string& text, const std::string& right,
            std::optional<render::Style> style) {
    const size_t indent = word.size() + 2;
    const std::string safe = render::Safe(text);
    const bool beside =
        !right.empty() && indent + render::DisplayWidth(safe) + 2 + right.size() <= width_;
    const std::vector<std::string> lines = render::Wrap(safe, width_ - indent);
    for (size_t i = 0; i < lines.size(); ++i) {
      Spread((i == 0 ? word + "  " : std::string(indent, ' ')) + lines[i], beside ? right : "",
             style);
    }
  }

  // The shown plan's size against its capacity.
  bool IsAboutPlan(const ReportFinding& f) const {
    return report_.plan && f.module_id == report_.plan->module_id &&
           f.bytes == report_.plan->plan_bytes && report_.plan->capacity_bytes;
  }

  void Identity() {
    const ReportCapture& c = shown();
    const std::string line = ReportIdentity(report_);
    for (const std::string& part : render::Wrap(line, width_)) Line(part);
    constexpr size_t kMaxIssues = 3;
    for (size_t i = 0; i < std::min(c.issues.size(), kMaxIssues); ++i) {
      for (const std::string& part : render::Wrap("! " + render::Safe(c.issues[i]), width_))
        Line(render::Paint(render::Style::kYellow, part, color_));
    }
    if (c.issues.size() > kMaxIssues)
      Line(fmt::format("! {} more in ingest_issues", c.issues.size() - kMaxIssues));
  }

  void Captures() {
    if (report_.captures.size() < 2) return;
    Section(fmt::format("CAPTURES  {}", report_.captures.size()), "");
    size_t name_width = 0;
    for (const ReportCapture& c : report_.captures)
      name_width = std::max(name_width, render::DisplayWidth(render::Safe(c.name)));
    name_width = std::min<size_t>(name_width, 40);
    // The worst first where they are many.
    std::vector<size_t> order;
    for (size_t i = 0; i < report_.captures.size(); ++i) order.push_back(i);
    if (order.size() > kMaxCaptures) {
      std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        const ReportCapture &x = report_.captures[a], &y = report_.captures[b];
        return std::tuple(x.error_count, x.warning_count) >
               std::tuple(y.error_count, y.warning_count);
      });
    }
    for (size_t i = 0; i < std::min(order.size(), kMaxCaptures); ++i) {
      const ReportCapture& c = report_.captures[order[i]];
      const std::string name = render::Safe(c.name);
      const bool snapshot = c.kind == "device_memory_profile";
      std::string verdict = c.status != "complete" ? "truncated"
                            : snapshot             ? "what was held, by Python line"
                                                   : VerdictOfCapture(report_, c);
      if (!c.worst_title.empty()) verdict = render::Safe(c.worst_title);
      const char* mark = order[i] == report_.shown ? "▸ " : "  ";
      std::string counts = c.kind == "oom_log"    ? "error log"
                           : c.kind == "xla_dump" ? "dump"
                           : snapshot             ? "memory profile"
                                                  : fmt::format("{:>5} exec", c.execution_count);
      if (c.failed_count > 0) counts += fmt::format(", {} failed", c.failed_count);
      const std::string line = fmt::format(
          "{}{}  {}  {}", mark, render::PadRight(render::Truncate(name, name_width), name_width),
          render::PadRight(counts, 20), verdict);
      const std::string cut = render::Truncate(line, width_);
      Line(c.error_count > 0     ? render::Paint(render::Style::kRed, cut, color_)
           : c.warning_count > 0 ? render::Paint(render::Style::kYellow, cut, color_)
                                 : cut);
    }
    if (order.size() > kMaxCaptures) Line(fmt::format("  … {} more", order.size() - kMaxCaptures));
    Line(fmt::format("below: {} (--capture chooses another)", render::Safe(shown().name)));
  }
};

}  // namespace

std::string ReportIdentity(const Report& report) {
  const ReportCapture& c = report.captures[report.shown];
  std::string line = render::Safe(c.run.empty() ? c.path : c.run);
  if (!c.host.empty()) line += " / " + render::Safe(c.host);
  if (c.device_count > 0) {
    line += fmt::format(" · {} {}{}", c.device_count, render::Upper(c.device_kind),
                        c.device_count == 1 ? "" : "s");
  }
  if (c.execution_count == 0 && c.module_count > 0)
    line += " · " + render::Plural(c.module_count, "module");
  if (c.module_count > 0) line += " · plan read";
  if (c.kind == "oom_log") {
    line += " · " + (c.path == "-" ? std::string("standard input") : "error log " + FileName(c));
  } else if (c.kind == "device_memory_profile") {
    line += " · device memory profile";
  } else if (c.has_allocators) {
    line += " · allocator measured";
  } else if (!report.allocators.empty()) {
    line += " · host allocator measured";
  } else {
    line += c.status == "complete" ? " · no allocator events"
                                   : " · no allocator events in what could be read";
  }
  if (c.duration_ns && *c.duration_ns > 0)
    line += " over " + render::HumanNanoseconds(*c.duration_ns);
  if (c.execution_count > 0) line += " · " + render::Plural(c.execution_count, "execution");
  if (c.failed_count > 0) line += fmt::format(", {} failed before launch", c.failed_count);
  if (c.status != "complete") line += " · TRUNCATED";
  return line;
}

void WriteHeadSection(const ReportPage& page) { HeadSection(page).Write(); }

void WriteIncidentHead(const ReportPage& page) { HeadSection(page).WriteIncident(); }

}  // namespace oomdb::cli
