#include <fmt/format.h>

#include <algorithm>

#include "cli/report/page.h"
#include "render/units.h"

namespace oomdb::cli {
namespace {

constexpr size_t kPlanWords = 40;
constexpr size_t kPlanGroups = 10, kHealthyGroups = 5;

class PlanSection : ReportPage {
 public:
  explicit PlanSection(const ReportPage& page) : ReportPage(page) {}

  void Write() {
    Plan();
    Advice();
    Peak();
  }

 private:
  void PlanLine(const std::string& name, const std::string& size, const std::string& words,
                double part, double whole) {
    BarLine(name, size, words, kPlanWords, part, whole);
  }

  void Classes(double whole) {
    const ReportPlan& plan = *report_.plan;
    std::string words =
        fmt::format("{}, of them {} donated", plan.parameter_count, plan.donated_parameter_count);
    if (plan.donated_bytes > 0) words += " (" + render::HumanBytes(plan.donated_bytes) + ")";
    PlanLine("parameters", render::HumanBytes(plan.parameter_bytes), words,
             static_cast<double>(plan.parameter_bytes), whole);
    PlanLine("outputs", render::HumanBytes(plan.output_bytes), "not aliased to a parameter",
             static_cast<double>(plan.output_bytes), whole);
    if (plan.constant_bytes > 0) {
      PlanLine("constants", render::HumanBytes(plan.constant_bytes), "",
               static_cast<double>(plan.constant_bytes), whole);
    }
    words = plan.heap_peak_bytes ? "heap peak " + render::HumanBytes(*plan.heap_peak_bytes)
                                 : "no heap trace: the peak is the plan";
    if (plan.temp_bytes == 0) words = "";
    PlanLine("temps", render::HumanBytes(plan.temp_bytes), words,
             static_cast<double>(plan.temp_bytes), whole);
  }

  void Plan() {
    const ReportPlan& plan = *report_.plan;
    Section("PLAN  " + render::Safe(plan.Label()), plan.has_plan ? "read" : "");
    if (!plan.has_plan)
      return Line("  the capture holds no HLO proto of this module: its plan is unknown");
    const double whole =
        static_cast<double>(std::max(plan.plan_bytes, plan.capacity_bytes.value_or(0)));
    if (plan.classes_known) {
      Classes(whole);
    } else {
      Line("  parameters, outputs and temps: unknown; only their sum is known");
    }
    for (const ReportSpace& space : plan.other_spaces) {
      PlanLine(render::Safe(space.name), render::HumanBytes(space.bytes),
               fmt::format("memory space {}", space.memory_space), 0, 0);
    }
    PlanLine("total", render::HumanBytes(plan.plan_bytes), "what must fit beside everything else",
             static_cast<double>(plan.plan_bytes), whole);
    if (plan.capacity_bytes) {
      std::string words = plan.capacity_evidence + ": ";
      if (plan.capacity_source == "setting") {
        words = "as set";
      } else if (plan.memory_bytes && *plan.memory_bytes > 0 &&
                 plan.capacity_source != "device memory") {
        words += fmt::format("{} of the device's {}",
                             render::HumanPercent(*plan.capacity_bytes, *plan.memory_bytes),
                             render::HumanBytes(*plan.memory_bytes));
      } else {
        words += plan.capacity_source;
      }
      std::string line = "  " + render::PadRight("capacity", 12) +
                         render::PadLeft(render::HumanBytes(*plan.capacity_bytes), 10) + "   " +
                         render::PadRight(render::Truncate(words, kPlanWords), kPlanWords) + " ";
      const size_t room = width_ - render::DisplayWidth(line) - 1;
      const auto at = static_cast<size_t>(static_cast<double>(*plan.capacity_bytes) / whole *
                                          static_cast<double>(room));
      for (size_t i = 1; i < std::max<size_t>(at, 1); ++i) line += "─";
      Line(line + "┤");
    } else {
      PlanLine("capacity", "–", "unknown; set it with --capacity 16GiB", 0, 0);
    }
  }

  // Where one remedy is not enough, how several add up; one alone stands among the findings.
  void Advice() {
    const std::vector<ReportStep>& steps = report_.plan->advice;
    if (steps.size() < 2) return;
    Line("");
    Spread("  to make it fit, in this order", "then needs   to spare  fits?", render::Style::kBold);
    for (size_t i = 0; i < steps.size(); ++i) {
      const ReportStep& step = steps[i];
      const int64_t spare = step.spare_bytes.value_or(0);
      const std::string_view fits = step.fits                     ? (*step.fits ? "yes" : "no")
                                    : step.likely.value_or(false) ? "likely"
                                                                  : "?";
      const std::string right =
          render::PadLeft(step.needs_bytes ? render::HumanBytes(*step.needs_bytes) : "?", 10) +
          render::PadLeft(!step.spare_bytes ? "?"
                          : spare < 0       ? "-" + render::HumanBytes(-spare)
                                            : render::HumanBytes(spare),
                          11) +
          render::PadLeft(fits, 7);
      const std::string text = fmt::format("  {} {}", i + 1, render::Safe(step.step));
      Spread(render::Truncate(text, width_ - 30), right);
    }
  }

  void Peak() {
    const ReportPlan& plan = *report_.plan;
    if (!plan.has_plan || plan.groups.empty()) return;
    std::string roles;
    for (const ReportRole& role : plan.roles) {
      roles += fmt::format("{}{} {}", roles.empty() ? "" : "  ", role.role,
                           render::HumanPercent(role.bytes, plan.heap_peak_bytes.value_or(0)));
    }
    Section(plan.heap_peak_bytes ? "AT THE PEAK  " + render::HumanBytes(plan.peak_bytes)
                                 : "ALL OF THE PLAN",
            roles.empty() ? "read" : "temps by role: " + roles + "  inferred");
    const size_t listed =
        std::min(plan.groups.size(), Top(WantsDetail() ? kPlanGroups : kHealthyGroups));
    Buffers(plan.groups, listed, 32, 26);
    if (listed == plan.groups.size()) return;
    int64_t bytes = 0, buffers = 0;
    for (size_t i = listed; i < plan.groups.size(); ++i) {
      bytes += plan.groups[i].bytes;
      buffers += plan.groups[i].count;
    }
    Line(render::PadLeft(render::HumanBytes(bytes), 9) +
         fmt::format("  {} more in {} (--top {})", render::Plural(buffers, "buffer"),
                     render::Plural(static_cast<int64_t>(plan.groups.size() - listed), "group"),
                     plan.groups.size()));
  }
};

}  // namespace

void WritePlanSection(const ReportPage& page) { PlanSection(page).Write(); }

}  // namespace oomdb::cli
