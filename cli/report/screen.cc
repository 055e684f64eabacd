// The report in one screen: what happened, the picture that the cause needs, what takes the memory,
// what to do. What does not fit is named, and `--all` has it.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "cli/report/page.h"
#include "render/units.h"

namespace oomdb::cli {
namespace {

// What fits above the prompt of a terminal of 100 columns and more, and of a narrower one.
constexpr size_t kMostLines = 24, kMostLinesNarrow = 32;
constexpr size_t kFullWidth = 100;
constexpr size_t kScreenIndent = 7;  // "WHAT   "
constexpr size_t kScreenMaxRemedies = 4, kMaxParts = 3, kMaxOthers = 4;
constexpr size_t kNeeds = 11, kFits = 8, kEvidence = 12;

using Lines = std::vector<std::string>;

class Screen : ReportPage {
 public:
  Screen(const Report& report, const ReportStyle& style, std::string& text)
      : ReportPage(report, style, text), style_(style), text_(text), verdict_(VerdictOf(report)) {}

  void Write() {
    Lines head = Written([&] { WriteIncidentHead(*this); });
    Lines picture = Picture();
    Lines what = Written([&] { What(); });
    Lines remedies = Written([&] { Remedies(); });
    Lines others = Written([&] { Others(); });
    const Lines more = Written([&] { More(); });
    // The least telling goes first.
    const size_t most = style_.width >= kFullWidth ? kMostLines : kMostLinesNarrow;
    const std::pair<Lines*, size_t> shrink[] = {{&others, 1},   {&what, 2},   {&picture, 3},
                                                {&remedies, 4}, {&others, 0}, {&what, 0},
                                                {&head, 6}};
    for (const auto& [block, least] : shrink) {
      while (Height({&head, &picture, &what, &remedies, &others, &more}) > most &&
             block->size() > least) {
        block->pop_back();
      }
    }
    text_.clear();
    bool first = true;
    for (const Lines* block : {&std::as_const(head), &std::as_const(picture), &std::as_const(what),
                               &std::as_const(remedies), &std::as_const(others), &more}) {
      if (block->empty()) continue;
      if (!first && block != &others) text_ += '\n';
      first = false;
      for (const std::string& line : *block) text_ += line + '\n';
    }
  }

 private:
  template <typename Body>
  Lines Written(const Body& body) {
    text_.clear();
    body();
    Lines lines;
    for (size_t begin = 0; begin < text_.size();) {
      const size_t end = text_.find('\n', begin);
      lines.push_back(text_.substr(begin, end - begin));
      begin = end + 1;
    }
    return lines;
  }

  static size_t Height(std::initializer_list<const Lines*> blocks) {
    size_t height = 0;
    for (const Lines* block : blocks) height += block->empty() ? 0 : block->size() + 1;
    return height;
  }

  bool Asks(std::string_view picture) const {
    return std::find(style_.pictures.begin(), style_.pictures.end(), picture) !=
           style_.pictures.end();
  }

  // ---- the picture: the first of those that the verdict asks for and that has something to show

  Lines Picture() {
    for (const std::string& name : style_.pictures) {
      Lines lines = Written([&] { WriteScreenPicture(*this, verdict_, name); });
      if (!lines.empty()) return lines;
    }
    return Written([&] { WriteScreenPicture(*this, verdict_, "log"); });
  }

  // ---- what takes it

  // Lines of a block: the first with its name, and how it is known at the right margin.
  void Named(std::string_view name, const std::vector<std::string>& lines,
             const std::string& evidence = "") {
    for (size_t i = 0; i < lines.size(); ++i) {
      const std::string right = i == 0 ? evidence : "";
      const size_t room = width_ - kScreenIndent - (right.empty() ? 0 : right.size() + 2);
      std::string line = render::PadRight(i == 0 ? name : std::string_view(), kScreenIndent);
      line = render::Paint(render::Style::kBold, line, color_);
      const std::string cut = render::Truncate(lines[i], room);
      line += right.empty() ? cut
                            : render::PadRight(cut, room + 2) +
                                  render::Paint(render::Style::kDim, right, color_);
      Line(line);
    }
  }

  std::vector<std::string> GroupLines(const std::vector<ReportGroup>& groups) const {
    std::vector<std::string> lines;
    for (size_t i = 0; i < std::min(groups.size(), kMaxParts); ++i) {
      const ReportGroup& g = groups[i];
      std::string line =
          fmt::format("{}  {} × {}", render::PadLeft(render::HumanBytes(g.bytes), 8), g.count,
                      g.shape.empty() ? "(no shape)" : render::Safe(g.shape));
      if (!g.role.empty()) line += "  " + g.role;
      const std::string place =
          render::Safe(render::Place(g.source_file, g.source_line, g.function_name));
      line += "  " + (place.empty() ? render::Safe(render::ShortOp(g.op_name)) : place);
      lines.push_back(line);
    }
    return lines;
  }

  void What() {
    if (Asks("heap") && report_.run && !report_.run->live.empty()) {
      std::vector<std::string> lines;
      for (size_t i = 0; i < std::min<size_t>(report_.run->live.size(), 2); ++i) {
        const ReportLiveGroup& live = report_.run->live[i];
        lines.push_back(render::PadLeft(render::HumanBytes(live.bytes), 8) + "  " +
                        (live.count > 1 ? fmt::format("{} × ", live.count) : "") +
                        render::Safe(live.origin.empty() ? "unknown" : live.origin));
      }
      Named("HELD", lines, "measured");
      lines.clear();
      for (size_t i = 0; i < std::min<size_t>(report_.run->between.size(), 2); ++i) {
        const ReportGapCall& call = report_.run->between[i];
        lines.push_back(
            render::Safe(call.event) +
            (call.caller.empty() ? "" : " at " + render::Safe(call.caller)) +
            (call.all_gaps > 0 ? fmt::format(", in {} of {} gaps", call.gaps, call.all_gaps) : ""));
      }
      Named("CALLED", lines, "inferred");
      return;
    }
    if (report_.plan && !report_.plan->groups.empty() && (Asks("need") || Asks("curve")))
      return Named("WHAT", GroupLines(report_.plan->groups),
                   width_ >= kFullWidth ? "read, roles inferred" : "read");
    if (!report_.logs.empty() && !report_.logs.front().buffers.empty())
      return Named("WHAT", GroupLines(report_.logs.front().buffers), "read");
    if (verdict_.finding == nullptr) return;
    const ReportFinding& f = *verdict_.finding;
    const std::string& detail = f.items.size() > 1 ? f.brief_text : f.detail_text;
    if (!detail.empty()) {
      Named("WHY",
            render::Wrap(render::ShortPaths(render::Safe(detail)),
                         width_ - kScreenIndent - kEvidence),
            f.evidence);
    }
  }

  // ---- what to do

  // "fused attention; then check that …" is "fused attention".
  static std::string Short(const std::string& fix) {
    constexpr size_t kLeast = 12;
    size_t end = fix.size();
    for (std::string_view stop : {": ", "; "}) {
      const size_t at = fix.find(stop, kLeast);
      if (at != std::string::npos) end = std::min(end, at);
    }
    return fix.substr(0, end);
  }

  void Remedies() {
    std::vector<const ReportRemedy*> remedies;
    std::set<std::string> told;
    const auto take = [&](const ReportFinding& f) {
      for (const ReportRemedy& remedy : f.remedies) {
        if (told.insert(remedy.fix).second) remedies.push_back(&remedy);
      }
    };
    if (verdict_.finding != nullptr) take(*verdict_.finding);
    // What is no verdict, or has nothing to do by itself: what else is advised.
    for (const ReportFinding& f : report_.findings) {
      if (remedies.empty() && f.severity != "info") take(f);
    }
    if (remedies.empty()) return;
    const size_t room = width_ - kScreenIndent - 2 - kNeeds - kFits;
    const bool any_needs = std::any_of(remedies.begin(), remedies.end(), [](const ReportRemedy* r) {
      return r->needs_bytes.has_value() || r->fits.has_value();
    });
    Spread(any_needs ? "DO     inferred" : "DO",
           any_needs ? render::PadLeft("then needs", kNeeds) + render::PadLeft("fits?", kFits) : "",
           render::Style::kBold);
    for (size_t i = 0; i < std::min(remedies.size(), kScreenMaxRemedies); ++i) {
      const ReportRemedy& remedy = *remedies[i];
      const std::vector<std::string> lines =
          render::Wrap(render::ShortPaths(render::Safe(Short(remedy.fix))) +
                           (remedy.changes_results.value_or(false) ? " (changes results)" : ""),
                       any_needs ? room : width_ - kScreenIndent - 2);
      for (size_t k = 0; k < lines.size(); ++k) {
        std::string line =
            render::PadLeft(k == 0 ? fmt::format("{} ", i + 1) : "", kScreenIndent) + lines[k];
        if (k == 0 && any_needs) {
          line = render::PadRight(line, width_ - kNeeds - kFits);
          line += render::PadLeft(remedy.needs_bytes ? render::HumanBytes(*remedy.needs_bytes) : "",
                                  kNeeds);
          line += render::PadLeft(FitsWord(remedy), kFits);
        }
        Line(line);
      }
    }
    if (remedies.size() > kScreenMaxRemedies) {
      Line(std::string(kScreenIndent, ' ') +
           fmt::format("{} more with --all", remedies.size() - kScreenMaxRemedies));
    }
  }

  // ---- what else there is

  void Others() {
    std::vector<std::string> lines;
    size_t left = 0;
    std::set<std::string> told;
    for (const ReportFinding& f : report_.findings) {
      if (&f == verdict_.finding || !told.insert(f.title_text).second) continue;
      if (f.severity == "info") continue;
      if (lines.size() == kMaxOthers - 1) {
        ++left;
        continue;
      }
      lines.push_back(f.severity + ": " + render::Safe(f.title_text));
    }
    if (left > 0) lines.push_back(fmt::format("{} more findings with --all", left));
    Named("ALSO", lines);
  }

  void More() {
    std::string all;
    const auto add = [&](bool there, std::string_view what) {
      if (there) all += (all.empty() ? "" : ", ") + std::string(what);
    };
    add(!report_.findings.empty(), "findings");
    add(report_.plan.has_value(), "plan, buffers at the peak");
    add(report_.run.has_value(), "executions");
    add(!report_.logs.empty(), "error log");
    add(report_.profile.has_value(), "who holds what");
    Named("MORE", {"--all" + (all.empty() ? "" : ": " + all),
                   style_.next.empty() ? std::string() : style_.next.front()});
  }

  const ReportStyle& style_;
  std::string& text_;
  const ReportVerdict verdict_;
};

}  // namespace

std::string ReportScreen(const Report& report, const ReportStyle& style) {
  std::string text;
  Screen(report, style, text).Write();
  return text;
}

}  // namespace oomdb::cli
