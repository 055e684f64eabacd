#include <fmt/format.h>

#include <algorithm>

#include "cli/report_page.h"
#include "cli/units.h"

namespace oomdb {
namespace {

constexpr size_t kPlanWords = 40;
constexpr size_t kGroups = 10, kHealthyGroups = 5;

class PlanSection : ReportPage {
 public:
  explicit PlanSection(const ReportPage& page) : ReportPage(page) {}

  void Write() {
    Plan();
    Peak();
  }

 private:
  // A line of the plan: name, size, words, a bar.
  void PlanLine(const std::string& name, const std::string& size, const std::string& words,
                double part, double whole) {
    std::string line = "  " + PadRight(name, 12) + PadLeft(size, 10) + "   ";
    line += PadRight(Truncate(words, kPlanWords), kPlanWords) + " ";
    if (whole > 0) line += Bar(part, whole, width_ - DisplayWidth(line) - 1);
    Line(line);
  }

  void Classes(double whole) {
    const ReportPlan& plan = *report_.plan;
    std::string words =
        fmt::format("{}, of them {} donated", plan.parameter_count, plan.donated_parameter_count);
    if (plan.donated_bytes > 0) words += " (" + HumanBytes(plan.donated_bytes) + ")";
    PlanLine("parameters", HumanBytes(plan.parameter_bytes), words,
             static_cast<double>(plan.parameter_bytes), whole);
    PlanLine("outputs", HumanBytes(plan.output_bytes), "not aliased to a parameter",
             static_cast<double>(plan.output_bytes), whole);
    if (plan.constant_bytes > 0) {
      PlanLine("constants", HumanBytes(plan.constant_bytes), "",
               static_cast<double>(plan.constant_bytes), whole);
    }
    words = plan.heap_peak_bytes ? "heap peak " + HumanBytes(*plan.heap_peak_bytes)
                                 : "no heap trace: the peak is the plan";
    if (plan.temp_bytes == 0) words = "";
    PlanLine("temps", HumanBytes(plan.temp_bytes), words, static_cast<double>(plan.temp_bytes),
             whole);
  }

  void Plan() {
    const ReportPlan& plan = *report_.plan;
    Section("PLAN  " + Safe(plan.Label()), plan.has_plan ? "read" : "");
    if (!plan.has_plan)
      return Line("  the capture holds no HLO proto of this module: its plan is unknown");
    const double whole =
        static_cast<double>(std::max(plan.plan_bytes, plan.capacity_bytes.value_or(0)));
    if (plan.classes_known) {
      Classes(whole);
    } else {
      Line("  parameters, outputs and temps: not known, only their sum");
    }
    for (const ReportSpace& space : plan.other_spaces) {
      PlanLine(Safe(space.name), HumanBytes(space.bytes),
               fmt::format("memory space {}", space.memory_space), 0, 0);
    }
    PlanLine("total", HumanBytes(plan.plan_bytes), "what must fit beside everything else",
             static_cast<double>(plan.plan_bytes), whole);
    if (plan.capacity_bytes) {
      std::string words = plan.capacity_evidence + ": ";
      if (plan.memory_bytes && *plan.memory_bytes > 0 && plan.capacity_source != "device memory") {
        words += fmt::format("{} of the device's {}",
                             HumanPercent(*plan.capacity_bytes, *plan.memory_bytes),
                             HumanBytes(*plan.memory_bytes));
      } else {
        words += plan.capacity_source;
      }
      std::string line = "  " + PadRight("capacity", 12) +
                         PadLeft(HumanBytes(*plan.capacity_bytes), 10) + "   " +
                         PadRight(Truncate(words, kPlanWords), kPlanWords) + " ";
      const size_t room = width_ - DisplayWidth(line) - 1;
      const auto at = static_cast<size_t>(static_cast<double>(*plan.capacity_bytes) / whole *
                                          static_cast<double>(room));
      for (size_t i = 1; i < std::max<size_t>(at, 1); ++i) line += "─";
      Line(line + "┤");
    } else {
      PlanLine("capacity", "–", "unknown: --capacity 16GiB says it", 0, 0);
    }
  }

  void Peak() {
    const ReportPlan& plan = *report_.plan;
    if (!plan.has_plan || plan.groups.empty()) return;
    std::string roles;
    for (const ReportRole& role : plan.roles) {
      roles += fmt::format("{}{} {}", roles.empty() ? "" : "  ", role.role,
                           HumanPercent(role.bytes, plan.heap_peak_bytes.value_or(0)));
    }
    Section(plan.heap_peak_bytes ? "AT THE HEAP PEAK  " + HumanBytes(plan.peak_bytes)
                                 : "ALL OF THE PLAN",
            roles.empty() ? "read" : "temps by role: " + roles + "  inferred");
    struct Cells {
      std::string shape, role, op, line;
    };
    std::vector<Cells> cells;
    const size_t max_shape = width_ * 32 / 100, max_line = width_ * 26 / 100;
    size_t shape_width = 13, role_width = 8, line_width = 4;
    const size_t listed =
        std::min(plan.groups.size(), Top(WantsDetail() ? kGroups : kHealthyGroups));
    for (size_t i = 0; i < listed; ++i) {
      const ReportGroup& g = plan.groups[i];
      Cells c;
      c.shape = fmt::format("{} × {}", g.count, g.shape.empty() ? "(no shape)" : Safe(g.shape));
      c.role = g.role + (g.rematerialized ? " remat" : "");
      c.op = Safe(ShortOp(g.op_name));
      c.line = Safe(Place(g.source_file, g.source_line, g.function_name));
      shape_width = std::max(shape_width, std::min(DisplayWidth(c.shape), max_shape));
      role_width = std::max(role_width, DisplayWidth(c.role));
      line_width = std::max(line_width, std::min(DisplayWidth(c.line), max_line));
      cells.push_back(std::move(c));
    }
    const size_t op_width = width_ - 11 - shape_width - 1 - role_width - 1 - line_width - 1;
    Line(Paint(Style::kDim,
               PadLeft("bytes", 9) + "  " + PadRight("count × shape", shape_width) + " " +
                   PadRight("role", role_width) + " " + PadRight("op", op_width) + " line",
               color_));
    for (size_t i = 0; i < listed; ++i) {
      const ReportGroup& g = plan.groups[i];
      const std::string line = PadLeft(HumanBytes(g.bytes), 9) + "  " +
                               PadRight(Truncate(cells[i].shape, shape_width), shape_width) + " " +
                               PadRight(cells[i].role, role_width) + " " +
                               PadRight(TruncateFront(cells[i].op, op_width), op_width) + " " +
                               Truncate(cells[i].line, line_width);
      Line(line.substr(0, line.find_last_not_of(' ') + 1));
    }
    if (listed == plan.groups.size()) return;
    int64_t bytes = 0, buffers = 0;
    for (size_t i = listed; i < plan.groups.size(); ++i) {
      bytes += plan.groups[i].bytes;
      buffers += plan.groups[i].count;
    }
    Line(PadLeft(HumanBytes(bytes), 9) +
         fmt::format("  {} more in {} (--top {})", Plural(buffers, "buffer"),
                     Plural(static_cast<int64_t>(plan.groups.size() - listed), "group"),
                     plan.groups.size()));
  }
};

}  // namespace

void WritePlanSection(const ReportPage& page) { PlanSection(page).Write(); }

}  // namespace oomdb
