// The plan in program order: how many bytes are live at every position, stacked by role.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/page/chart.h"
#include "cli/page/plan_memory.h"
#include "cli/page/plot.h"
#include "render/scale.h"
#include "render/units.h"
#include "render/words.h"

namespace oomdb::cli::page {
namespace {

constexpr double kCurveHeight = 380;
constexpr size_t kCurveBuckets = 300;  // Of each, four points at most.
constexpr size_t kCurveTicks = 4;

class Curve {
 public:
  Curve(const Context& context, const PlanMemory& memory)
      : context_(context), plan_(*context.report.plan), memory_(memory) {}

  void Write() {
    Prepare();
    render::Markup& out = context_.out;
    const auto section = out.In("section");
    WriteHead(out, "Where in the program the memory is needed",
              "Live bytes in program order, as the plan has it. Click, or use ← → and P for the "
              "peak.",
              "read · roles inferred");
    {
      const auto two = out.In("div", {{"class", "two"}});
      {
        const auto left = out.In("div");
        Picture();
        Keys();
        Doubt();
      }
      WriteLive(context_, chart_);
    }
  }

 private:
  void Prepare() {
    // Parameters, outputs and constants are there all along.
    base_ = plan_.peak_bytes - *plan_.heap_peak_bytes;
    chart_.id = "curve";
    chart_.name = "Position in the program";
    std::vector<double> positions;
    for (size_t p = 0; p < memory_.temps.size(); ++p) positions.push_back(static_cast<double>(p));
    const std::vector<size_t> drawn =
        render::PointsToDraw(positions, memory_.temps, kCurveBuckets, {memory_.peak});
    for (const std::string_view role : kRoles) layers_.push_back({"f-" + std::string(role), {}});
    const auto end = static_cast<double>(memory_.temps.size());
    for (const size_t p : drawn) {
      if (p == memory_.peak) chart_.first = chart_.at.size();
      chart_.at.push_back(static_cast<int64_t>(p));
      chart_.places.push_back(static_cast<double>(p) / end);
      chart_.total.push_back(memory_.temps[p] + base_);
      chart_.say.push_back(p == memory_.peak
                               ? "at the peak"
                               : fmt::format("at position {} of {}", p, memory_.temps.size()));
      for (size_t r = 0; r < kRoles.size(); ++r) layers_[r].bytes.push_back(memory_.by_role[p][r]);
    }
    std::map<Chart::Group, size_t> groups;
    const auto group_of = [&](Chart::Group group) {
      const auto [entry, added] = groups.emplace(std::move(group), chart_.groups.size());
      if (added) chart_.groups.push_back(entry->first);
      return entry->second;
    };
    for (const PlanStretch& s : memory_.stretches) {
      const PlanBuffer& b = memory_.buffers[s.buffer];
      chart_.live.push_back({s.bytes, s.from, s.to,
                             group_of({"f-" + std::string(kRoles[b.role]), b.shape, b.What()})});
    }
    const auto always = static_cast<int64_t>(memory_.temps.size()) + 1;
    for (const ReportGroup& g : plan_.groups) {
      if (g.role != "parameter" && g.role != "output" && g.role != "constant") continue;
      const size_t group = group_of({"f-parameter", g.shape, g.role});
      // One entry a buffer, as the table counts them; few are enough.
      if (g.count <= 500) {
        for (int64_t i = 0; i < g.count; ++i)
          chart_.live.push_back({g.bytes / g.count, 0, always, group});
      } else {
        chart_.live.push_back({g.bytes, 0, always, group});
      }
    }
    KeepLargest(&chart_);
  }

  void Picture() {
    render::Markup& out = context_.out;
    const int64_t top = std::max(plan_.peak_bytes, plan_.capacity_bytes.value_or(0));
    // A plan far below the capacity is drawn to its own scale.
    const bool tiny = plan_.capacity_bytes && plan_.peak_bytes < *plan_.capacity_bytes / 3;
    const int64_t high = tiny ? plan_.peak_bytes : top;
    const Plot plot{kCurveHeight, high + high / 12};
    const auto div = out.In("div", {{"class", "plot"}});
    WriteSizes(out, plot, kCurveTicks);
    const auto svg = out.In(
        "svg",
        {{"id", chart_.id},
         {"height", render::Coordinate(kCurveHeight + 24)},
         {"role", "img"},
         {"class", "chart"},
         {"aria-label",
          fmt::format("{} positions in program order; the peak of {} is at position {}",
                      memory_.temps.size(), render::HumanBytes(plan_.peak_bytes), memory_.peak)}});
    WriteGrid(out, plot, kCurveTicks);
    std::vector<Layer> layers{{"f-parameter", std::vector<int64_t>(chart_.at.size(), base_)}};
    layers.insert(layers.end(), layers_.begin(), layers_.end());
    WriteStack(out, plot, chart_.places, layers);
    if (plan_.capacity_bytes && !tiny) {
      WriteLevel(out, plot, *plan_.capacity_bytes, "cap",
                 "capacity " + render::HumanBytes(*plan_.capacity_bytes), HigherAtStart());
    }
    const double peak = chart_.places[chart_.first];
    const double y = plot.Y(plan_.peak_bytes);
    const bool right = peak < 0.75;
    out.Leaf("circle", {{"cx", render::Percent(peak)},
                        {"cy", render::Coordinate(y)},
                        {"r", "4"},
                        {"class", "mark"}});
    out.Leaf("text",
             {{"x", render::Percent(peak)},
              {"dx", right ? "9" : "-9"},
              {"y", render::Coordinate(y - 5)},
              {"text-anchor", right ? "start" : "end"},
              {"class", "bad halo"}},
             "peak " + render::HumanBytes(plan_.peak_bytes));
    out.Leaf("text", {{"x", "0"}, {"y", render::Coordinate(kCurveHeight + 17)}, {"class", "s"}},
             "start of the program");
    out.Leaf("text",
             {{"x", "100%"},
              {"y", render::Coordinate(kCurveHeight + 17)},
              {"text-anchor", "end"},
              {"class", "s"}},
             render::Plural(static_cast<int64_t>(memory_.temps.size()), "position"));
    WriteCursor(context_, chart_, kCurveHeight + 4);
  }

  // Where the words of a line are in the way of more.
  bool HigherAtStart() const {
    int64_t start = 0, end = 0;
    for (size_t i = 0; i < chart_.at.size(); ++i) {
      if (chart_.places[i] < 0.25) start = std::max(start, chart_.total[i]);
      if (chart_.places[i] > 0.75) end = std::max(end, chart_.total[i]);
    }
    return start > end;
  }

  void Keys() {
    render::Markup& out = context_.out;
    const auto keys = out.In("div", {{"class", "caps"}});
    WriteKey(out, "f-parameter", "parameters, outputs, constants " + render::HumanBytes(base_));
    for (const ReportRole& role : plan_.roles) {
      if (role.bytes > 0) {
        WriteKey(out, "f-" + std::string(kRoles[RoleIndex(role.role)]),
                 fmt::format("{} {} at the peak", role.role, render::HumanBytes(role.bytes)));
      }
    }
  }

  // Where sharing is more than beginning at one place, the curve says what it is worth.
  void Doubt() {
    const int64_t highest = memory_.temps[memory_.peak];
    if (highest == *plan_.heap_peak_bytes) return;
    WriteNote(
        context_.out,
        fmt::format("The curve reaches {} of temps; XLA's own replay {}: buffers share memory "
                    "in ways that are not drawn.",
                    render::HumanBytes(highest), render::HumanBytes(*plan_.heap_peak_bytes)));
  }

  const Context& context_;
  const ReportPlan& plan_;
  const PlanMemory& memory_;
  Chart chart_;
  std::vector<Layer> layers_;
  int64_t base_ = 0;
};

}  // namespace

bool WriteCurve(const Context& context) {
  if (context.plan_memory == nullptr) return false;
  Curve(context, *context.plan_memory).Write();
  return true;
}

}  // namespace oomdb::cli::page
