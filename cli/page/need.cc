// What a program needs against what there is, and what every remedy would leave of it, on one axis.
#include <fmt/format.h>

#include <algorithm>

#include "cli/page/context.h"
#include "cli/page/need_parts.h"
#include "cli/page/plot.h"
#include "render/scale.h"
#include "render/units.h"
#include "render/words.h"

namespace oomdb::cli::page {
namespace {

// A remedy's text in two: what to do, and how.
std::pair<std::string, std::string> Halves(const std::string& fix) {
  const std::string text = render::ShortPaths(render::HumanizeSentence(fix));
  const size_t colon = std::min(text.find(": "), text.find("; "));
  if (colon == std::string::npos || colon > 70) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 2)};
}

class Picture {
 public:
  Picture(const Context& context, const Need& need)
      : context_(context),
        out_(context.out),
        parts_(need.parts),
        remedies_(need.remedies),
        needs_(need.bytes),
        capacity_(need.capacity),
        memory_(need.memory) {}

  void Write() {
    const auto section = out_.In("section");
    const bool any = !remedies_.empty();
    WriteHead(out_, any ? "What it needs, and what would make it fit" : "What it needs",
              any ? "Solid: what is left at best. Fading: what may remain." : "",
              any ? "needs read · remedies inferred" : "read");
    const auto need = out_.In("div", {{"class", "need"}, {"id", "need"}});
    Rules();
    AsItIs();
    if (any) Combined();
    for (const ReportRemedy* remedy : remedies_) Remedy(*remedy);
  }

 private:
  std::string X(int64_t bytes) const {
    return render::Percent(static_cast<double>(bytes) / Highest());
  }
  // A little air on the right, where labels of lines stand.
  double Highest() const {
    const auto most = static_cast<double>(std::max(needs_, capacity_.value_or(0)));
    // A device many times larger says nothing about a need.
    return 1.05 * std::clamp(static_cast<double>(memory_.value_or(0)), most, 3 * most) + 1;
  }

  bool MemoryShown() const {
    return memory_ && static_cast<double>(*memory_) < Highest() &&
           (!capacity_ || *memory_ != *capacity_);
  }

  void Rules() {
    const auto rules = out_.In("div", {{"class", "rules"}});
    const auto svg = out_.In("svg", {{"height", "100%"}, {"aria-hidden", "true"}});
    const auto line = [&](int64_t bytes, const std::string& css) {
      out_.Leaf("line",
                {{"x1", X(bytes)}, {"x2", X(bytes)}, {"y1", "20"}, {"y2", "100%"}, {"class", css}});
    };
    if (MemoryShown()) line(*memory_, "dev");
    if (capacity_ && static_cast<double>(*capacity_) < Highest()) line(*capacity_, "cap");
  }

  void AsItIs() {
    const auto row = out_.In("div", {{"class", "r plain"}});
    {
      const auto cell = out_.In("div", {{"class", "lab"}});
      out_.Leaf("b", {}, context_.report.plan ? context_.report.plan->Label() : "As it is");
      std::string what;
      for (const NeedPart& part : parts_) what += (what.empty() ? "" : ", ") + part.name;
      out_.Leaf("div", {{"class", "cost"}}, what);
    }
    {
      const auto cell = out_.In("div", {{"class", "bar"}});
      Bar();
      const auto keys = out_.In("div", {{"class", "caps"}});
      for (const NeedPart& part : parts_)
        WriteKey(out_, "f-" + part.css, part.name + " " + render::HumanBytes(part.bytes));
    }
    const auto cell = out_.In("div", {{"class", "res"}});
    out_.Leaf("div", {{"class", "num"}, {"data-bytes", std::to_string(needs_)}},
              render::HumanBytes(needs_));
    if (!capacity_) {
      out_.Leaf("span", {{"class", "verdict idle"}}, "capacity unknown");
    } else if (needs_ > *capacity_) {
      out_.Leaf("span", {{"class", "verdict no"}},
                "✕ short by " + render::HumanBytes(needs_ - *capacity_));
    } else {
      out_.Leaf("span", {{"class", "verdict yes"}},
                "✓ " + render::HumanBytes(*capacity_ - needs_) + " left");
    }
  }

  void Bar() {
    std::string words = "Needs " + render::HumanBytes(needs_) + ":";
    for (const NeedPart& part : parts_)
      words += " " + part.name + " " + render::HumanBytes(part.bytes);
    if (capacity_) words += "; there is " + render::HumanBytes(*capacity_);
    const auto svg = out_.In("svg", {{"height", "68"}, {"role", "img"}, {"aria-label", words}});
    {
      const auto defs = out_.In("defs");
      WriteHatch(out_, "missing", "hatch");
      const auto gradient = out_.In("linearGradient", {{"id", "fade"}});
      out_.Leaf("stop", {{"offset", "0"}, {"class", "fade-in"}});
      out_.Leaf("stop", {{"offset", "1"}, {"class", "fade-out"}});
    }
    // Beside the other, or not at all.
    const bool both =
        MemoryShown() && (!capacity_ || static_cast<double>(*memory_ - *capacity_) > Highest() / 6);
    if (capacity_ && static_cast<double>(*capacity_) < Highest())
      Level(*capacity_, "capacity " + render::HumanBytes(*capacity_), "b", both);
    if (both) Level(*memory_, "device " + render::HumanBytes(*memory_), "s roomy", true);
    Parts(22, 40);
    if (!capacity_ || needs_ <= *capacity_) return;
    const std::string width = X(needs_ - *capacity_);
    for (const std::string css : {"veil", "missing"}) {
      out_.Leaf(
          "rect",
          {{"x", X(*capacity_)}, {"y", "19"}, {"width", width}, {"height", "46"}, {"class", css}});
    }
  }

  // `left`: its words stand before it.
  void Level(int64_t bytes, const std::string& words, const std::string& css, bool left) {
    left = left || static_cast<double>(bytes) > Highest() * 0.8;
    out_.Leaf(
        "text",
        {{"x", X(bytes)}, {"y", "13"}, {"text-anchor", left ? "end" : "middle"}, {"class", css}},
        words);
  }

  void Parts(int y, int height) {
    int64_t x = 0;
    for (const NeedPart& part : parts_) {
      const auto cell = out_.In("svg", {{"x", X(x)},
                                        {"y", std::to_string(y)},
                                        {"width", X(part.bytes)},
                                        {"height", std::to_string(height)}});
      out_.Leaf("title", {}, part.name + " " + render::HumanBytes(part.bytes));
      out_.Leaf(
          "rect",
          {{"width", "100%"}, {"height", std::to_string(height)}, {"class", "cell f-" + part.css}});
      // A name that is cut off is no name.
      if (static_cast<double>(part.bytes) > Highest() / 6) {
        out_.Leaf("text", {{"x", "8"}, {"y", "17"}, {"class", "t-" + part.css}}, part.name);
        out_.Leaf("text", {{"x", "8"}, {"y", "33"}, {"class", "s t-" + part.css}},
                  render::HumanBytes(part.bytes));
      }
      x += part.bytes;
    }
  }

  // Filled in by the script when remedies are ticked; without one it isn't shown.
  void Combined() {
    const auto row =
        out_.In("div", {{"class", "r plain both"}, {"id", "both"}, {"hidden", "hidden"}});
    {
      const auto cell = out_.In("div", {{"class", "lab"}});
      out_.Leaf("b", {}, "With the ticked remedies");
      out_.Leaf("div", {{"class", "cost"}, {"id", "both-what"}}, "none ticked");
    }
    {
      const auto cell = out_.In("div", {{"class", "bar"}});
      const auto svg = out_.In("svg", {{"height", "28"}, {"aria-hidden", "true"}});
      out_.Leaf("rect", {{"id", "both-left"},
                         {"x", "0"},
                         {"y", "4"},
                         {"width", "0"},
                         {"height", "20"},
                         {"class", "left"}});
      out_.Leaf("rect", {{"id", "both-fade"},
                         {"x", "0"},
                         {"y", "4"},
                         {"width", X(needs_)},
                         {"height", "20"},
                         {"class", "fade"}});
    }
    const auto cell = out_.In("div", {{"class", "res"}, {"aria-live", "polite"}});
    out_.Leaf("div", {{"class", "num"}, {"id", "both-num"}}, "–");
    out_.Leaf("span", {{"class", "verdict idle"}, {"id", "both-fits"}}, "tick some");
  }

  void Remedy(const ReportRemedy& remedy) {
    const std::string word(FitsWord(remedy));
    const int64_t needs = *remedy.needs_bytes;
    const std::string id = fmt::format("remedy-{}", ++number_);
    const auto [what, how] = Halves(remedy.fix);
    const auto row = out_.In("div", {{"class", "r remedy"},
                                     {"data-remedy", remedy.remedy},
                                     {"data-needs", std::to_string(needs)},
                                     {"data-total", std::to_string(needs_)},
                                     {"data-capacity", std::to_string(capacity_.value_or(0))},
                                     {"data-highest", fmt::format("{:.0f}", Highest())},
                                     {"data-fits", word}});
    {
      const auto cell = out_.In("div", {{"class", "lab"}});
      const auto label = out_.In("label", {{"for", id}});
      out_.Leaf("input", {{"type", "checkbox"}, {"id", id}, {"hidden", "hidden"}});
      out_.Leaf("b", {}, what);
      std::string cost = how;
      if (!remedy.cost.empty() && remedy.cost != "none") {
        cost += (cost.empty() ? "costs " : " · costs ") + render::HumanizeSentence(remedy.cost);
      }
      if (remedy.changes_results.value_or(false)) cost += " · changes results";
      if (!cost.empty()) out_.Leaf("span", {{"class", "cost"}}, cost);
    }
    {
      const auto cell = out_.In("div", {{"class", "bar"}});
      const auto svg = out_.In("svg", {{"height", "26"}, {"aria-hidden", "true"}});
      // Of a replayed plan the range is known; a bound may save nothing.
      const int64_t least = remedy.needs_low_bytes.value_or(needs);
      const int64_t most =
          remedy.needs_low_bytes ? remedy.needs_high_bytes.value_or(needs_) : needs_;
      out_.Leaf("rect",
                {{"x", "0"}, {"y", "7"}, {"width", X(least)}, {"height", "12"}, {"class", "left"}});
      out_.Leaf("rect", {{"x", X(least)},
                         {"y", "7"},
                         {"width", X(std::max<int64_t>(0, most - least))},
                         {"height", "12"},
                         {"class", "fade"}});
    }
    const auto cell = out_.In("div", {{"class", "res"}});
    {
      const auto line = out_.In("div", {{"class", "resline"}});
      out_.Leaf("b", {}, render::HumanBytes(needs));
      const std::string css = word == "yes" || word == "likely" ? "yes"
                              : word == "no"                    ? "no"
                                                                : "idle";
      const std::string text = word == "yes"      ? "✓ fits"
                               : word == "likely" ? "✓ likely fits"
                               : word == "no"     ? "✕ not enough"
                               : word == "?"      ? "? more likely not"
                                                  : "";
      out_.Leaf("span", {{"class", "verdict " + css}}, text);
    }
    if (remedy.saving_bytes) out_.Leaf("div", {{"class", "cost"}}, "saves " + SavingWords(remedy));
  }

  const Context& context_;
  render::Markup& out_;
  const std::vector<NeedPart>& parts_;
  const std::vector<const ReportRemedy*>& remedies_;
  const int64_t needs_;
  const std::optional<int64_t> capacity_, memory_;
  int number_ = 0;
};

}  // namespace

bool WriteNeed(const Context& context) {
  const std::optional<Need> need = NeedOf(context);
  if (need) Picture(context, *need).Write();
  return need.has_value();
}

}  // namespace oomdb::cli::page
