#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/report/page.h"
#include "render/units.h"

namespace oomdb::cli {
namespace {

// Columns at the right of a remedy: what it saves, what is needed then, whether that fits, how it
// is known.
constexpr size_t kSaves = 10, kNeeds = 11, kFits = 7, kEvidence = 10;
constexpr size_t kRight = kSaves + kNeeds + kFits + kEvidence;
// Where the text of a finding begins: "1 warning  ".
constexpr size_t kFindingsIndent = 11;
constexpr size_t kMaxItems = 4;
constexpr size_t kFindingsMaxRemedies = 4;
constexpr size_t kMaxFindings = 12;

// Findings that differ only in where they were made (the same number on another device or host) are
// shown once.
struct ShownFinding {
  const ReportFinding* finding = nullptr;
  std::vector<const ReportFinding*> like_it;
};

class FindingsSection : ReportPage {
 public:
  explicit FindingsSection(const ReportPage& page) : ReportPage(page) {}

  void Write() { Findings(); }

 private:
  std::vector<ShownFinding> Grouped() const {
    std::vector<ShownFinding> shown;
    for (const ReportFinding& f : report_.findings) {
      const auto like = std::find_if(shown.begin(), shown.end(), [&](const ShownFinding& s) {
        return s.finding->rule == f.rule && s.finding->severity == f.severity &&
               s.finding->module_name == f.module_name && s.finding->bytes == f.bytes;
      });
      if (like == shown.end()) {
        shown.push_back({&f, {}});
      } else {
        like->like_it.push_back(&f);
      }
    }
    return shown;
  }

  void Findings() {
    const std::vector<ShownFinding> findings = Grouped();
    const bool any_remedy = std::any_of(report_.findings.begin(), report_.findings.end(),
                                        [](const ReportFinding& f) { return !f.remedies.empty(); });
    if (findings.empty() && report_.quiet.empty()) return;
    const std::string heads = render::PadLeft("saves", kSaves) +
                              render::PadLeft("then needs", kNeeds) +
                              render::PadLeft("fits?", kFits) + std::string(kEvidence, ' ');
    Section("FINDINGS", any_remedy ? heads : "");
    std::set<std::string> told;  // A remedy stands once, where it first helps.
    for (size_t i = 0; i < std::min(findings.size(), kMaxFindings); ++i)
      Finding(i + 1, findings[i], &told);
    if (findings.size() > kMaxFindings) {
      Line(fmt::format("  … {} more: SELECT title FROM findings", findings.size() - kMaxFindings));
    }
    if (report_.quiet.empty()) return;
    std::string quiet = CaptureName(shown().capture_id);
    if (!quiet.empty()) quiet = "in " + quiet + ": ";
    const size_t before = quiet.size();
    for (const std::string& text : report_.quiet)
      quiet += (quiet.size() == before ? "" : " · ") + text;
    bool first = true;
    for (const std::string& part : render::Wrap(quiet, width_ - kFindingsIndent)) {
      Line(render::Paint(render::Style::kDim,
                         render::PadRight(first ? "  quiet" : "", kFindingsIndent) + part, color_));
      first = false;
    }
  }

  void Finding(size_t number, const ShownFinding& group, std::set<std::string>* told) {
    const ReportFinding& f = *group.finding;
    const render::Style style = f.severity == "error"     ? render::Style::kRed
                                : f.severity == "warning" ? render::Style::kYellow
                                                          : render::Style::kCyan;
    const size_t text_width = width_ - kFindingsIndent;
    std::string head = render::PadRight(fmt::format("{} {}", number, f.severity), kFindingsIndent);
    bool first = true;
    // The first one stands as the headline already: here only what kind of thing it is.
    const bool headline = number == 1 && !f.rule_title.empty() && f.severity != "info";
    // A log's warning is that it may not even have failed: then the title of its rule is too much.
    const std::string title = headline && !(FromLog(f) && f.severity == "warning")
                                  ? render::Safe(f.rule_title)
                                  : render::Safe(f.title_text);
    for (const std::string& part : render::Wrap(title, text_width - kEvidence)) {
      std::string line =
          render::Paint(style, first ? head : std::string(kFindingsIndent, ' '), color_) +
          render::Paint(render::Style::kBold, part, color_);
      if (first) {
        line +=
            std::string(text_width - render::DisplayWidth(part) - render::DisplayWidth(f.evidence),
                        ' ') +
            render::Paint(render::Style::kDim, f.evidence, color_);
      }
      Line(line);
      first = false;
    }
    if (const std::string in = CaptureName(f.capture_id); !in.empty())
      Indented("in " + in, kFindingsIndent);
    // What there is to see and to do stands at the finding that explains this one.
    if (!f.is_explained || f.is_symptom) {
      const bool listed = f.items.size() > 1 || HasTable(f);
      const std::string& detail = listed ? f.brief_text : f.detail_text;
      if (!detail.empty()) Indented(render::ShortPaths(render::Safe(detail)), kFindingsIndent);
    }
    if (!group.like_it.empty()) Indented(LikeIt(f, group.like_it), kFindingsIndent);
    if (!f.is_explained) Items(f, text_width);
    size_t shown = 0, left = 0;
    for (const ReportRemedy& remedy : f.remedies) {
      if (!told->insert(remedy.fix).second) continue;
      if (shown == kFindingsMaxRemedies) {
        ++left;
        continue;
      }
      ++shown;
      Remedy(remedy);
    }
    if (left > 0)
      Indented(fmt::format("  … {} more: SELECT * FROM remedies", left), kFindingsIndent);
  }

  // Empty where there is only one.
  std::string CaptureName(int64_t capture_id) const {
    const ReportCapture* const capture = report_.CaptureOf(capture_id);
    return report_.captures.size() < 2 || capture == nullptr ? "" : render::Safe(capture->name);
  }

  bool FromLog(const ReportFinding& f) const {
    return std::any_of(report_.captures.begin(), report_.captures.end(),
                       [&](const ReportCapture& c) {
                         return c.capture_id == f.capture_id && c.kind == "oom_log";
                       });
  }

  // Whether what a finding is made of stands in a table below.
  bool HasTable(const ReportFinding& f) const {
    const auto is = [&](std::initializer_list<std::string_view> kinds) {
      return std::find(kinds.begin(), kinds.end(), f.items.front().kind) != kinds.end();
    };
    if (f.items.empty()) return false;
    if (is({"listed in the error log"})) {
      return std::any_of(report_.logs.begin(), report_.logs.end(), [&](const ReportErrorLog& t) {
        return t.capture_id == f.capture_id && !t.buffers.empty();
      });
    }
    if (!report_.plan || report_.plan->module_id != f.module_id) return false;
    // Of a plan without a heap trace the table has all temps in one row.
    if (is({"at the plan's peak"})) return report_.plan->heap_peak_bytes.has_value();
    // What survives and who may hold it is in the sentence, and where the run is shown.
    if (is({"still live", "holder"})) return report_.run && f.device == RunDevice();
    return is({"parameter", "output", "constant", "temp", "temp at the peak"});
  }

  std::optional<int64_t> RunDevice() const {
    return report_.run->devices[report_.run->shown].ordinal;
  }

  // "the same on GPU 1, 2 and 5 more"
  std::string LikeIt(const ReportFinding& f,
                     const std::vector<const ReportFinding*>& others) const {
    std::vector<std::string> names;
    for (const ReportFinding* other : others) {
      std::string name;
      if (other->capture_id != f.capture_id) name = CaptureName(other->capture_id);
      if (other->device)
        name += fmt::format("{}device {}", name.empty() ? "" : " ", *other->device);
      if (other->capture_id == f.capture_id && other->module_id != f.module_id) {
        name += name.empty() ? "another module of that name" : " (another module of that name)";
      }
      if (!name.empty()) names.push_back(name);
    }
    std::string text = "the same on ";
    constexpr size_t kNamed = 7;
    for (size_t i = 0; i < std::min(names.size(), kNamed); ++i)
      text += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > kNamed) text += fmt::format(" and {} more", names.size() - kNamed);
    return names.empty() ? fmt::format("and {} more like it", others.size()) : text;
  }

  // The evidence, where it is more than one thing (a single one is in the title) and does not stand
  // in the table of the peak.
  void Items(const ReportFinding& f, size_t text_width) {
    if (f.items.size() < 2) return;
    if (HasTable(f)) return;
    for (size_t i = 0; i < std::min(f.items.size(), kMaxItems); ++i) {
      const ReportItem& item = f.items[i];
      std::string line =
          render::PadLeft(item.bytes ? render::HumanBytes(*item.bytes) : "", 9) + "  ";
      if (item.count.value_or(1) > 1) line += fmt::format("{} × ", *item.count);
      line += render::ShortPaths(render::HumanizeSentence(render::Safe(item.label)));
      Line(std::string(kFindingsIndent, ' ') +
           render::Paint(render::Style::kDim, render::Truncate(line, text_width), color_));
    }
  }

  void Remedy(const ReportRemedy& remedy) {
    std::string text =
        "▸ " + render::ShortPaths(render::HumanizeSentence(render::Safe(remedy.fix)));
    if (!remedy.cost.empty() && remedy.cost != "none")
      text += " (cost: " + render::HumanizeSentence(render::Safe(remedy.cost)) + ")";
    if (remedy.changes_results.value_or(false)) text += " — changes results";
    std::string right =
        render::PadLeft(SavingWords(remedy), kSaves) +
        render::PadLeft(remedy.needs_bytes ? render::HumanBytes(*remedy.needs_bytes) : "", kNeeds) +
        render::PadLeft(FitsWord(remedy), kFits) + render::PadLeft(remedy.evidence, kEvidence);
    const size_t room = width_ - kFindingsIndent - kRight - 1;
    bool first = true;
    for (const std::string& part : render::Wrap(text, room)) {
      std::string line = std::string(kFindingsIndent, ' ') + (first ? part : "  " + part);
      if (first) line += std::string(room + 1 - render::DisplayWidth(part), ' ') + right;
      Line(line);
      first = false;
    }
  }
};

}  // namespace

void WriteFindingsSection(const ReportPage& page) { FindingsSection(page).Write(); }

}  // namespace oomdb::cli
