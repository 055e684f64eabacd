// The pictures of the one screen, in text: three to five lines each.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "cli/report/page.h"
#include "render/units.h"

namespace oomdb::cli {
namespace {

constexpr size_t kWideWidth = 100;
constexpr size_t kMaxBars = 5;

class ScreenPictures : ReportPage {
 public:
  ScreenPictures(const ReportPage& page, const ReportVerdict& verdict)
      : ReportPage(page), verdict_(verdict) {}

  void Write(std::string_view name) {
    if (name == "need" || name == "curve") Need();
    if (name == "heap") Staircase();
    if ((name == "log" || name == "log buffers") && !report_.logs.empty())
      LogNumbers(report_.logs.front(), kMaxBars, width_ >= kWideWidth ? 40 : 28);
    if (name == "addresses" || name == "hosts") Items();
  }

 private:
  void Need() {
    if (!report_.plan || !report_.plan->has_plan) return;
    const ReportPlan& plan = *report_.plan;
    const int64_t capacity = plan.capacity_bytes.value_or(0);
    const double whole =
        static_cast<double>(std::max({plan.plan_bytes, capacity, plan.memory_bytes.value_or(0)}));
    const size_t words = width_ >= kWideWidth ? 58 : 38;
    // The largest, as many as there is room for: a number is never cut.
    std::vector<std::pair<int64_t, std::string_view>> classes;
    if (plan.classes_known) {
      classes = {{plan.temp_bytes, "temps"},
                 {plan.parameter_bytes, "parameters"},
                 {plan.output_bytes, "outputs"}};
      std::stable_sort(classes.begin(), classes.end(),
                       [](const auto& a, const auto& b) { return a.first > b.first; });
    }
    std::string parts = "read";
    for (const auto& [bytes, name] : classes) {
      const std::string part =
          fmt::format("{}{} {}", parts == "read" ? ": " : ", ", name, render::HumanBytes(bytes));
      if (bytes < plan.plan_bytes / 100 || parts.size() + part.size() > words) break;
      parts += part;
    }
    BarLine("needs", render::HumanBytes(plan.plan_bytes), parts, words,
            static_cast<double>(plan.plan_bytes), whole);
    if (capacity > 0) {
      BarLine("may use", render::HumanBytes(capacity),
              plan.capacity_evidence + ": " + plan.capacity_source, words,
              static_cast<double>(capacity), whole);
    }
    if (plan.memory_bytes.value_or(0) > capacity) {
      BarLine("device", render::HumanBytes(*plan.memory_bytes), "read: all of its memory", words,
              static_cast<double>(*plan.memory_bytes), whole);
    }
  }

  // What was in use at the start of each execution, in four rows.
  void Staircase() {
    if (!report_.run) return;
    const ReportDevice& device = report_.run->devices[report_.run->shown];
    const std::vector<int64_t>& starts = device.in_use_at_starts;
    if (starts.size() < 2) return;
    constexpr int64_t kRows = 4;
    constexpr size_t kWords = 56;  // Beside it.
    const int64_t highest = *std::max_element(starts.begin(), starts.end());
    const int64_t capacity = device.capacity_bytes.value_or(0);
    // A capacity that is far above would flatten it.
    const bool below_capacity = capacity > 0 && highest > capacity / 4;
    const int64_t step =
        std::max<int64_t>(1, (below_capacity ? std::max(capacity, highest) : highest) / kRows);
    const size_t columns = std::min(starts.size(), width_ - kWords);
    // Few steps are drawn wide.
    const size_t each = std::clamp<size_t>((width_ - kWords) / columns, 1, 4);
    for (int64_t row = kRows - 1; row >= 0; --row) {
      std::string line = "  ";
      for (size_t i = 0; i < columns; ++i) {
        const int64_t value = starts[i * (starts.size() - 1) / std::max<size_t>(1, columns - 1)];
        const int64_t above = value - step * row;
        const std::string_view cell =
            above <= 0 ? " " : render::HeightBar(std::min(above, step), step, true);
        for (size_t k = 0; k < each; ++k) line += cell;
      }
      if (row == kRows - 1 && below_capacity) {
        line += " ─ " + render::HumanBytes(capacity) + ", what may be used (measured)";
      } else if (row == kRows - 1 && capacity > 0) {
        line += fmt::format(" ─ {} of {} that may be used (measured)", render::HumanBytes(highest),
                            render::HumanBytes(capacity));
      }
      if (row == 0) {
        line += fmt::format("   {} → {} at the starts of the steps",
                            render::HumanBytes(starts.front()), render::HumanBytes(starts.back()));
      }
      Line(render::Truncate(line, width_));
    }
  }

  void Items() {
    if (verdict_.finding == nullptr) return;
    // Each kind has a scale of its own: what grows and what is in use are not compared.
    std::map<std::string, int64_t> whole;
    for (const ReportItem& item : verdict_.finding->items)
      whole[item.kind] = std::max(whole[item.kind], item.bytes.value_or(0));
    size_t shown = 0;
    for (const ReportItem& item : verdict_.finding->items) {
      if (!item.bytes || shown++ == kMaxBars) break;
      std::string words = item.count && *item.count > 1 ? fmt::format("{} × ", *item.count) : "";
      BarLine(render::Truncate(render::Safe(item.kind), 11), render::HumanBytes(*item.bytes),
              words + render::HumanizeSentence(render::Safe(item.label)),
              width_ >= kWideWidth ? 50 : 34, static_cast<double>(*item.bytes),
              static_cast<double>(whole[item.kind]));
    }
  }

  const ReportVerdict& verdict_;
};

}  // namespace

void WriteScreenPicture(const ReportPage& page, const ReportVerdict& verdict,
                        std::string_view name) {
  ScreenPictures(page, verdict).Write(name);
}

}  // namespace oomdb::cli
