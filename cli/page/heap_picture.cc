// The allocator over time: layers in use, executions, waits, the request that failed, the capacity.
#include <fmt/format.h>

#include <algorithm>

#include "cli/page/chart.h"
#include "cli/page/heap.h"
#include "cli/page/heap_chart.h"
#include "cli/page/plot.h"
#include "render/scale.h"
#include "render/units.h"
#include "render/words.h"

namespace oomdb::cli::page {
namespace {

constexpr double kHeapPictureHeight = 320;
constexpr size_t kHeapPictureTicks = 5;
constexpr size_t kHeapPictureMaxStarts = 80;  // Circles; more are a line.
constexpr size_t kMaxNumbered = 32;           // Executions with their numbers.
constexpr size_t kMaxExecutions = 400;  // Boxes; of more only the failed and the ends are drawn.

class Picture {
 public:
  Picture(const Context& context, const Heap& heap)
      : context_(context),
        out_(context.out),
        heap_(heap),
        made_(ChartOf(heap)),
        layers_(made_.layers),
        axis_(made_.axis),
        chart_(made_.chart),
        drawn_(made_.drawn) {}

  void Write() {
    const auto section = out_.In("section");
    WriteHead(out_, "In use over time: " + heap_.allocator,
              "Click, or use ← → and P: what lives then is listed.", "measured · origins inferred");
    const auto two = out_.In("div", {{"class", "two"}});
    {
      const auto left = out_.In("div");
      Draw();
      Keys();
      Notes();
    }
    WriteLive(context_, chart_);
  }

 private:
  int64_t Asked() const { return heap_.failure ? heap_.failure->bytes.value_or(0) : 0; }

  void Draw() {
    const int64_t highest = *std::max_element(layers_.total.begin(), layers_.total.end());
    const HeapExecution* const failed = made_.failed;
    // What was in use when it asked: the allocator's own word comes first.
    const bool told = heap_.capacity_bytes && heap_.failure && heap_.failure->free_bytes;
    const int64_t at_failure =
        told ? *heap_.capacity_bytes - *heap_.failure->free_bytes : chart_.total[chart_.first];
    int64_t top = std::max(highest, failed != nullptr ? at_failure + Asked() : 0);
    if (heap_.capacity_bytes && *heap_.capacity_bytes < 3 * top)
      top = std::max(top, *heap_.capacity_bytes);
    const Plot plot{kHeapPictureHeight, top + top / 14 + 1};
    const auto div = out_.In("div", {{"class", "plot"}});
    WriteSizes(out_, plot, kHeapPictureTicks);
    const auto svg =
        out_.In("svg", {{"id", "heap"},
                        {"height", render::Coordinate(kHeapPictureHeight + 54)},
                        {"role", "img"},
                        {"class", "chart"},
                        {"aria-label", fmt::format("In use over time: highest {}, {} at the end",
                                                   render::HumanBytes(highest),
                                                   render::HumanBytes(layers_.total.back()))}});
    {
      const auto defs = out_.In("defs");
      WriteHatch(out_, "over", "hatch");
    }
    WriteGrid(out_, plot, kHeapPictureTicks);
    WriteStack(out_, plot, chart_.places, drawn_);
    Labels(plot);
    if (failed != nullptr && Asked() > 0) Request(plot, *failed, at_failure);
    Starts(plot);
    if (heap_.capacity_bytes && *heap_.capacity_bytes <= plot.highest) {
      WriteLevel(out_, plot, *heap_.capacity_bytes, "cap",
                 "pool " + render::HumanBytes(*heap_.capacity_bytes));
    }
    AfterRemedy(plot);
    Executions();
    for (const TimeAxis::Cut& cut : axis_.cuts()) {
      out_.Leaf("text",
                {{"x", render::Percent(cut.place > 0.8 ? 1 : cut.place)},
                 {"y", render::Coordinate(kHeapPictureHeight + 48)},
                 {"text-anchor", cut.place > 0.8 ? "end" : "middle"},
                 {"class", "s"}},
                fmt::format("// {} not to scale //", render::HumanNanoseconds(cut.long_ns)));
    }
    WriteCursor(context_, chart_, kHeapPictureHeight + 6);
  }

  // Names in layers that lie still at the right edge.
  void Labels(const Plot& plot) {
    int64_t low = 0;
    size_t quiet = chart_.places.size() - 1;
    while (quiet > 0 && chart_.places[quiet] > 0.84) --quiet;
    for (size_t l = 0; l < drawn_.size(); ++l) {
      const std::vector<int64_t>& bytes = drawn_[l].bytes;
      const int64_t last = bytes.back();
      const bool still = std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(quiet),
                                     bytes.end(), [&](int64_t b) { return b == last; });
      const double height = plot.Y(low) - plot.Y(low + last);
      if (still && height >= 15) {
        const std::string css = drawn_[l].css.substr(2);
        out_.Leaf("text",
                  {{"x", "99%"},
                   {"y", render::Coordinate(plot.Y(low) - height / 2 + 4)},
                   {"text-anchor", "end"},
                   {"class", "s roomy t-" + css}},
                  render::HumanBytes(last) + " " + layers_.layers[l].name);
      }
      low += last;
    }
  }

  // A ghost of the block that was asked for, upon what was in use; what is above the pool is hatched.
  void Request(const Plot& plot, const HeapExecution& failed, int64_t in_use) {
    const double from = axis_.Place(std::max(failed.start_ns, failed.end_ns - failed.wait_ns));
    const std::string x = render::Percent(from), width = render::Percent(1 - from);
    const int64_t top = in_use + Asked();
    const auto box = [&](int64_t low, int64_t high, const std::string& css) {
      out_.Leaf("rect", {{"x", x},
                         {"y", plot.At(high)},
                         {"width", width},
                         {"height", render::Coordinate(plot.Y(low) - plot.Y(high))},
                         {"class", css}});
    };
    if (heap_.capacity_bytes && top > *heap_.capacity_bytes)
      box(std::max(in_use, *heap_.capacity_bytes), top, "over");
    box(in_use, top, "ghost");
    const double y = plot.Y(in_use + Asked() / 2);
    out_.Leaf(
        "text",
        {{"x", "99%"}, {"y", render::Coordinate(y)}, {"text-anchor", "end"}, {"class", "bad halo"}},
        "asked for " + render::HumanBytes(Asked()));
    if (heap_.failure->free_bytes) {
      out_.Leaf("text",
                {{"x", "99%"},
                 {"y", render::Coordinate(y + 16)},
                 {"text-anchor", "end"},
                 {"class", "s halo"}},
                render::HumanBytes(*heap_.failure->free_bytes) + " free");
    }
  }

  // In use at the start of every execution: what stays between them.
  void Starts(const Plot& plot) {
    std::vector<const HeapExecution*> starts;
    for (const HeapExecution& e : heap_.executions) {
      if (e.in_use_at_start) starts.push_back(&e);
    }
    if (starts.size() > kHeapPictureMaxStarts) return;
    for (const HeapExecution* e : starts) {
      const auto circle = out_.In("circle", {{"cx", render::Percent(axis_.Place(e->start_ns))},
                                             {"cy", plot.At(*e->in_use_at_start)},
                                             {"r", "3.2"},
                                             {"class", "start"},
                                             {"data-bytes", std::to_string(*e->in_use_at_start)}});
      out_.Leaf("title", {},
                fmt::format("{} when execution {} starts", render::HumanBytes(*e->in_use_at_start),
                            e->sequence));
    }
  }

  // Where the first remedy that says it would lead.
  void AfterRemedy(const Plot& plot) {
    const ReportFinding* const finding = context_.verdict.finding;
    if (finding == nullptr || context_.report.plan == std::nullopt) return;
    for (const ReportRemedy& remedy : finding->remedies) {
      if (!remedy.needs_bytes || !remedy.saving_bytes || *remedy.needs_bytes >= plot.highest)
        continue;
      // Of one that makes the program itself smaller, the need is no level of the pool.
      if (finding->bytes == context_.report.plan->plan_bytes) return;
      const std::string y = plot.At(*remedy.needs_bytes);
      out_.Leaf("line", {{"x1", "0"}, {"x2", "100%"}, {"y1", y}, {"y2", y}, {"class", "after"}});
      out_.Leaf("text",
                {{"x", "4"},
                 {"y", render::Coordinate(plot.Y(*remedy.needs_bytes) - 6)},
                 {"class", "fix halo"}},
                "after the first remedy: " + render::HumanBytes(*remedy.needs_bytes));
      return;
    }
  }

  void Executions() {
    const bool all = heap_.executions.size() <= kMaxExecutions;
    const bool numbered = heap_.executions.size() <= kMaxNumbered;
    for (const HeapExecution& e : heap_.executions) {
      if (!all && !e.failed) continue;
      const double from = axis_.Place(e.start_ns);
      const double to = std::max(axis_.Place(e.end_ns), from + 0.002);
      const auto box = out_.In("svg", {{"x", render::Percent(from)},
                                       {"y", render::Coordinate(kHeapPictureHeight + 12)},
                                       {"width", render::Percent(to - from)},
                                       {"height", "18"}});
      out_.Leaf("title", {},
                fmt::format("{} execution {}: {}{}", e.module_name, e.sequence,
                            render::HumanNanoseconds(e.end_ns - e.start_ns),
                            e.failed ? ", failed before launch" : ""));
      out_.Leaf("rect", {{"width", "100%"},
                         {"height", "18"},
                         {"class", e.failed ? "execution failed" : "execution"}});
      std::string words = std::to_string(e.sequence);
      if (e.failed && to - from > 0.15) {
        words += " failed";
        if (e.wait_ns > 0) words += ", waited " + render::HumanNanoseconds(e.wait_ns);
      }
      if (numbered && to - from > 0.012) {
        out_.Leaf("text",
                  {{"x", "50%"},
                   {"y", "13"},
                   {"text-anchor", "middle"},
                   {"class", e.failed ? "s bad roomy" : "s"}},
                  words);
      }
    }
    if (heap_.executions.empty()) return;
    out_.Leaf("text",
              {{"x", "0"}, {"y", render::Coordinate(kHeapPictureHeight + 48)}, {"class", "s"}},
              render::Plural(static_cast<int64_t>(heap_.executions.size()), "execution") +
                  (all ? "" : ", only failed ones drawn"));
  }

  void Keys() {
    const auto keys = out_.In("div", {{"class", "caps"}});
    bool kept = false;
    for (size_t l = 0; l < drawn_.size(); ++l) {
      const std::vector<int64_t>& bytes = layers_.layers[l].bytes;
      const int64_t most = *std::max_element(bytes.begin(), bytes.end());
      if (most == 0) continue;
      const bool is_kept = drawn_[l].css.starts_with("f-kept");
      if (is_kept && kept) continue;
      kept = kept || is_kept;
      WriteKey(out_, drawn_[l].css,
               is_kept ? "kept outputs, dark: the oldest"
                       : fmt::format("{}, at most {}", layers_.layers[l].name,
                                     render::HumanBytes(most)));
    }
  }

  void Notes() {
    for (const HeapExecution& e : heap_.executions) {
      if (e.wait_ns <= 0) continue;
      WriteNote(out_, fmt::format("{} execution {} waited {} for memory.", e.module_name,
                                  e.sequence, render::HumanNanoseconds(e.wait_ns)));
      return;
    }
  }

  const Context& context_;
  render::Markup& out_;
  const Heap& heap_;
  const HeapChart made_;
  const HeapLayers& layers_;
  const TimeAxis& axis_;
  const Chart& chart_;
  const std::vector<Layer>& drawn_;
};

}  // namespace

bool WriteHeap(const Context& context) {
  const std::optional<Heap> heap = ReadHeap(context.database, context.report);
  if (!heap || std::none_of(heap->allocations.begin(), heap->allocations.end(),
                            [](const HeapAllocation& a) { return a.from_ns.has_value(); })) {
    return false;
  }
  Picture(context, *heap).Write();
  return true;
}

}  // namespace oomdb::cli::page
