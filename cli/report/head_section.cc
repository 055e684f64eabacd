#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "cli/report/page.h"
#include "render/units.h"

namespace oomdb::cli {
namespace {

constexpr size_t kMaxCaptures = 16;

// Whether a finding is what a person came for. Hints about a program that runs are not: the report
// says that it is well, and lists them.
bool IsNews(const ReportFinding& f) { return f.severity != "info" || !f.is_hint; }

std::string FileName(const ReportCapture& c) {
  return render::Safe(std::filesystem::path(c.path).filename().string());
}

std::string NameOf(const ReportCapture& c) {
  if (c.run.empty() && c.host.empty()) return render::Safe(c.path);
  return render::Safe(c.host.empty() ? c.run : c.run + " / " + c.host);
}

class HeadSection : ReportPage {
 public:
  explicit HeadSection(const ReportPage& page) : ReportPage(page) {}

  void Write() {
    Headline();
    Identity();
    Captures();
  }

 private:
  // What happened, in one sentence.
  void Headline() {
    const ReportFinding* worst = report_.findings.empty() ? nullptr : &report_.findings.front();
    if (worst != nullptr && IsNews(*worst)) {
      std::string right;
      if (IsAboutPlan(*worst) && report_.plan->plan_bytes > report_.plan->capacity_bytes)
        right = "short by " +
                render::HumanBytes(report_.plan->plan_bytes - *report_.plan->capacity_bytes);
      const std::string sentence = render::Safe(worst->title_text);
      const std::vector<std::string> lines =
          render::Wrap(sentence, width_ - (right.empty() ? 0 : right.size() + 2));
      const render::Style style =
          worst->severity == "error" ? render::Style::kRed : render::Style::kYellow;
      for (size_t i = 0; i < lines.size(); ++i) Spread(lines[i], i == 0 ? right : "", style);
      return;
    }
    if (shown().failed_count > 0) {
      return Sentence(fmt::format("{} failed before launch, and no rule explains it: see RUN below",
                                  render::Plural(shown().failed_count, "execution")),
                      render::Style::kYellow);
    }
    if (!report_.plan && shown().kind == "oom_log") {
      return Sentence(report_.logs.empty()
                          ? "no out-of-memory error in this log"
                          : "no failure in this log; what it says of memory is below",
                      render::Style::kGreen);
    }
    if (!report_.plan && report_.allocators.empty() && report_.profile) {
      const ReportProfile& profile = *report_.profile;
      return Sentence(fmt::format("{} live on the devices in {}, held as shown below",
                                  render::HumanBytes(profile.buffer_bytes),
                                  render::Plural(profile.buffer_count, "buffer")),
                      render::Style::kGreen);
    }
    if (!report_.plan) {
      return Sentence(
          report_.allocators.empty()
              ? "this capture holds nothing about memory: neither a module nor an allocator"
              : "this capture has no compiled module: there is no plan to compare with the "
                "allocators below",
          render::Style::kYellow);
    }
    if (shown().status != "complete" || shown().damaged) {
      return Sentence("the capture is incomplete: what follows is what could be read",
                      render::Style::kYellow);
    }
    const ReportPlan& plan = *report_.plan;
    std::string sentence;
    if (!plan.has_plan) {
      sentence = fmt::format("nothing found; the plan of {} is not in the capture",
                             render::Safe(plan.Label()));
    } else if (plan.capacity_bytes && plan.plan_bytes > *plan.capacity_bytes) {
      // It would be a finding if it had not run: the pool grew, or the capacity is not what it is
      // taken for.
      return Sentence(fmt::format("{} needs {}, more than the {} of {}, and yet it ran",
                                  render::Safe(plan.Label()), render::HumanBytes(plan.plan_bytes),
                                  plan.capacity_source, render::HumanBytes(*plan.capacity_bytes)),
                      render::Style::kYellow);
    } else if (plan.capacity_bytes) {
      sentence = fmt::format("all is well: {} needs {} of {}", render::Safe(plan.Label()),
                             render::HumanBytes(plan.plan_bytes),
                             render::HumanBytes(*plan.capacity_bytes));
    } else {
      sentence = fmt::format("nothing found: {} needs {}; capacity unknown: set it with --capacity",
                             render::Safe(plan.Label()), render::HumanBytes(plan.plan_bytes));
    }
    Sentence(sentence, render::Style::kGreen);
  }

  // The shown plan's size against its capacity.
  bool IsAboutPlan(const ReportFinding& f) const {
    return report_.plan && f.module_id == report_.plan->module_id &&
           f.bytes == report_.plan->plan_bytes && report_.plan->capacity_bytes;
  }

  void Sentence(const std::string& text, render::Style style) {
    for (const std::string& part : render::Wrap(text, width_))
      Line(render::Paint(style, part, color_));
  }

  void Identity() {
    const ReportCapture& c = shown();
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
    } else if (!report_.allocators.empty()) {
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
    // Where run and host repeat, the file tells captures apart.
    std::map<std::string, int> uses;
    for (const ReportCapture& c : report_.captures) ++uses[NameOf(c)];
    const auto name_of = [&](const ReportCapture& c) {
      const std::string name = NameOf(c);
      if (uses[name] == 1) return name;
      return FileName(c);
    };
    for (const ReportCapture& c : report_.captures) {
      name_width = std::max(name_width, render::DisplayWidth(name_of(c)));
    }
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
      const std::string name = name_of(c);
      const bool snapshot = c.kind == "device_memory_profile";
      std::string verdict = !c.worst_title.empty()   ? render::Safe(c.worst_title)
                            : c.status != "complete" ? "truncated"
                            : snapshot               ? "what was held, by Python line"
                                                     : "nothing found";
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
    Line(fmt::format(
        "below: {} (--run, --host choose another)",
        render::Safe(shown().run + (shown().host.empty() ? "" : " / " + shown().host))));
  }
};

}  // namespace

void WriteHeadSection(const ReportPage& page) { HeadSection(page).Write(); }

}  // namespace oomdb::cli
