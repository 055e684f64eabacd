#include "cli/page/compare_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cli/page/context.h"
#include "cli/page/document.h"
#include "cli/page/need_parts.h"
#include "cli/page/plan_memory.h"
#include "cli/page/plot.h"
#include "render/scale.h"
#include "render/terminal.h"
#include "render/units.h"
#include "render/words.h"
#include "schema/query.h"

namespace oomdb::cli::page {
namespace {

constexpr double kComparePageHeight = 260;
constexpr size_t kComparePageBuckets = 300;
constexpr size_t kComparePageTicks = 4;
constexpr size_t kComparePageMaxRows = 40;

// The plan of the module in a run; of several of that name the largest.
std::optional<ReportPlan> PlanOf(schema::Database& database, const std::string& run,
                                 const std::string& module) {
  for (const schema::Record& row : schema::ReadView(
           database, "run_modules", {{"run", run}, {"module_name", module}}, "place")) {
    const std::vector<schema::Record> modules =
        schema::ReadView(database, "modules", {{"module_id", row.Integer("module_id")}});
    if (modules.empty()) continue;
    ReportScope scope;
    const std::optional<int64_t> program = modules[0].MaybeInteger("program_id");
    scope.module = program ? fmt::format("{}({})", module, *program) : module;
    return ReadReportPlan(database, modules[0].Integer("capture_id"), scope, std::nullopt);
  }
  return std::nullopt;
}

class Page {
 public:
  Page(schema::Database& database, const Comparison& comparison)
      : database_(database), comparison_(comparison) {
    if (comparison.module.empty()) return;
    base_ = PlanOf(database, comparison.base_run, comparison.module);
    new_ = PlanOf(database, comparison.new_run, comparison.module);
  }

  std::string Write() {
    render::Markup head;
    {
      const auto eyebrow = head.In("div", {{"class", "eyebrow"}});
      const auto span = head.In("span");
      head.Leaf("span", {{"class", "kind warn"}, {"id", "verdict"}}, "COMPARED");
      head.Leaf("span", {}, comparison_.base_name + " → " + comparison_.new_name);
    }
    head.Leaf("h1", {{"id", "sentence"}}, comparison_.sentence);
    Parts();
    Curves();
    Buffers();
    Modules();
    Text();
    return Document(comparison_.sentence, head.Take(), out_.Take(), Json::object());
  }

 private:
  // What each needs, in parts on one axis.
  void Parts() {
    if (!base_ || !new_) return;
    const std::optional<Need> base = NeedOfPlan(*base_), changed = NeedOfPlan(*new_);
    if (!base || !changed) return;
    const auto section = out_.In("section");
    WriteHead(out_, "What " + comparison_.module + " needs, before and after", "",
              "read · roles inferred");
    const int64_t highest = std::max({base->bytes, changed->bytes, int64_t{1}});
    const auto table = out_.In("table", {{"class", "t numbers"}});
    for (const auto& [name, need] :
         {std::pair(comparison_.base_name, &*base), {comparison_.new_name, &*changed}}) {
      const auto row = out_.In("tr");
      out_.Leaf("td", {}, name);
      out_.Leaf("td", {{"class", "r"}, {"data-bytes", std::to_string(need->bytes)}},
                render::HumanBytes(need->bytes));
      const auto cell = out_.In("td", {{"class", "spark long"}});
      {
        const auto svg = out_.In("svg", {{"height", "30"}, {"aria-hidden", "true"}});
        int64_t x = 0;
        for (const NeedPart& part : need->parts) {
          const auto share = [&](int64_t bytes) {
            return render::Percent(static_cast<double>(bytes) / static_cast<double>(highest));
          };
          const auto rect = out_.In("rect", {{"x", share(x)},
                                             {"width", share(part.bytes)},
                                             {"height", "28"},
                                             {"class", "cell f-" + part.css}});
          out_.Leaf("title", {}, part.name + " " + render::HumanBytes(part.bytes));
          x += part.bytes;
        }
      }
      const auto keys = out_.In("div", {{"class", "caps"}});
      for (const NeedPart& part : need->parts)
        WriteKey(out_, "f-" + part.css, part.name + " " + render::HumanBytes(part.bytes));
    }
  }

  // Both plans in program order, each from its start to its end.
  void Curves() {
    if (!base_ || !new_) return;
    const std::optional<PlanMemory> base = ReadPlanMemory(database_, *base_),
                                    changed = ReadPlanMemory(database_, *new_);
    if (!base || !changed) return;
    const auto section = out_.In("section");
    WriteHead(out_, "In program order", "Each from its start to its end; grey: before.", "read");
    const int64_t highest = std::max(base_->peak_bytes, new_->peak_bytes);
    const Plot plot{kComparePageHeight, highest + highest / 12 + 1};
    {
      const auto div = out_.In("div", {{"class", "plot"}});
      WriteSizes(out_, plot, kComparePageTicks);
      const auto svg = out_.In("svg", {{"height", render::Coordinate(kComparePageHeight + 4)},
                                       {"role", "img"},
                                       {"aria-label", comparison_.sentence}});
      WriteGrid(out_, plot, kComparePageTicks);
      Curve(plot, *base_, *base, "f-packing", true);
      Curve(plot, *new_, *changed, "series changed", false);
    }
    const auto keys = out_.In("div", {{"class", "caps"}});
    WriteKey(out_, "f-packing",
             comparison_.base_name + ", peak " + render::HumanBytes(base_->peak_bytes));
    WriteKey(out_, "f-forward",
             comparison_.new_name + ", peak " + render::HumanBytes(new_->peak_bytes));
  }

  void Curve(const Plot& plot, const ReportPlan& plan, const PlanMemory& memory,
             const std::string& css, bool filled) {
    std::vector<double> places, drawn;
    for (size_t p = 0; p < memory.temps.size(); ++p)
      places.push_back(static_cast<double>(p) / static_cast<double>(memory.temps.size()));
    Layer layer{css, {}};
    const int64_t always = plan.peak_bytes - plan.heap_peak_bytes.value_or(0);
    for (const size_t p :
         render::PointsToDraw(places, memory.temps, kComparePageBuckets, {memory.peak})) {
      drawn.push_back(places[p]);
      layer.bytes.push_back(always + memory.temps[p]);
    }
    if (filled) return WriteStack(out_, plot, drawn, {layer});
    WriteOutline(out_, plot, drawn, layer);
  }

  // To the right what the new run has more, to the left what it has less.
  void Buffers() {
    if (comparison_.buffers.empty()) return;
    const auto section = out_.In("section");
    WriteHead(out_, "What makes the difference at the peak",
              "Right: more in " + comparison_.new_name + ". Left: less.", "read");
    int64_t most = 1;
    for (const Difference* d : comparison_.buffers) most = std::max(most, std::abs(d->delta()));
    {
      const auto frame = out_.In("div", {{"class", "wide"}});
      const auto table = out_.In("table", {{"class", "t"}});
      for (size_t i = 0; i < std::min(comparison_.buffers.size(), kComparePageMaxRows); ++i)
        Buffer(*comparison_.buffers[i], most);
    }
    if (comparison_.buffers.size() > kComparePageMaxRows)
      WriteNote(out_, fmt::format("{} smaller differences",
                                  comparison_.buffers.size() - kComparePageMaxRows));
  }

  void Buffer(const Difference& d, int64_t most) {
    const auto row = out_.In("tr");
    out_.Leaf("td", {{"class", "r"}, {"data-delta", std::to_string(d.delta())}},
              render::SignedBytes(d.delta()));
    {
      const auto cell = out_.In("td", {{"class", "spark wider"}});
      const auto svg = out_.In("svg", {{"height", "14"}, {"aria-hidden", "true"}});
      const double share =
          0.5 * static_cast<double>(std::abs(d.delta())) / static_cast<double>(most);
      out_.Leaf("line",
                {{"x1", "50%"}, {"x2", "50%"}, {"y1", "0"}, {"y2", "14"}, {"class", "axis"}});
      out_.Leaf("rect", {{"x", render::Percent(d.delta() > 0 ? 0.5 : 0.5 - share)},
                         {"y", "2"},
                         {"width", render::Percent(share)},
                         {"height", "10"},
                         {"class", d.delta() > 0 ? "more" : "less"}});
    }
    out_.Leaf("td", {}, d.change);
    out_.Leaf("td", {{"class", "mono"}},
              render::CountOf(d.base_count.value_or(0), d.base_shape) + " → " +
                  render::CountOf(d.new_count.value_or(0), d.new_shape));
    const std::string op = render::ShortOp(d.op_name);
    out_.Leaf("td", {}, op.empty() ? d.kind : render::TruncateFront(render::Safe(op), 60));
    out_.Leaf("td", {}, d.place);
  }

  void Modules() {
    if (comparison_.modules.size() < 2) return;
    const auto section = out_.In("section");
    WriteHead(out_, "Modules, by their peaks", "", "read");
    const auto frame = out_.In("div", {{"class", "wide"}});
    const auto table = out_.In("table", {{"class", "t"}});
    {
      const auto head = out_.In("tr");
      for (const std::string& name :
           {std::string("module"), comparison_.base_name, comparison_.new_name,
            std::string("difference"), std::string()})
        out_.Leaf("th", {}, name);
    }
    for (size_t i = 0; i < std::min(comparison_.modules.size(), kComparePageMaxRows); ++i) {
      const auto& [name, d] = comparison_.modules[i];
      const auto row = out_.In("tr");
      out_.Leaf("td", {}, name);
      for (const std::string& cell :
           {render::BytesOrDash(d->base_bytes), render::BytesOrDash(d->new_bytes),
            render::SignedBytes(d->delta()), d->change})
        out_.Leaf("td", {}, cell);
    }
  }

  void Text() {
    const auto section = out_.In("section");
    const auto details = out_.In("details", {{"id", "as-text"}});
    out_.Leaf("summary", {}, "The comparison as text");
    WriteTextBox(out_, comparison_.text);
  }

  schema::Database& database_;
  const Comparison& comparison_;
  render::Markup out_;
  std::optional<ReportPlan> base_, new_;
};

}  // namespace

std::string CompareHtml(schema::Database& database, const Comparison& comparison) {
  return Page(database, comparison).Write();
}

}  // namespace oomdb::cli::page
