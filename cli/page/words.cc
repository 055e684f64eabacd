// What the page says in words: headings, the verdict, what can't be told, findings, captures.
#include "render/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/page/context.h"
#include "cli/page/need_parts.h"
#include "cli/report/page.h"
#include "render/units.h"

namespace oomdb::cli::page {
namespace {

std::string ForPeople(const std::string& text) {
  return render::ShortPaths(render::HumanizeSentence(render::Safe(text)));
}

// A size is not broken between its number and its unit.
std::string Unbroken(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = std::string_view(text).substr(i);
    const bool unit = text[i] == ' ' && i > 0 && text[i - 1] >= '0' && text[i - 1] <= '9' &&
                      (rest.starts_with(" B ") || (rest.size() > 3 && rest.substr(2, 2) == "iB"));
    out += unit ? "\u00a0" : std::string(1, text[i]);
  }
  return out;
}

void WriteRemedy(render::Markup& out, const ReportRemedy& remedy) {
  const auto item = out.In("li");
  out.Leaf("span", {}, ForPeople(remedy.fix));
  std::string words;
  const auto add = [&](const std::string& text) { words += (words.empty() ? "" : " · ") + text; };
  if (remedy.saving_bytes) add("saves " + SavingWords(remedy));
  if (remedy.needs_bytes) add("then needs " + render::HumanBytes(*remedy.needs_bytes));
  if (!remedy.cost.empty() && remedy.cost != "none") add("costs " + ForPeople(remedy.cost));
  if (remedy.changes_results.value_or(false)) add("changes results");
  add(remedy.evidence);
  const auto line = out.In("div", {{"class", "cost"}});
  const std::string word(FitsWord(remedy));
  if (word == "yes") out.Leaf("span", {{"class", "yes"}}, "✓ fits ");
  if (word == "likely") out.Leaf("span", {{"class", "yes"}}, "✓ likely fits ");
  if (word == "no") out.Leaf("span", {{"class", "no"}}, "✕ not enough ");
  if (word == "?") out.Leaf("span", {{"class", "idle"}}, "? more likely not ");
  out.Text(words);
}

void WriteItems(render::Markup& out, const ReportFinding& finding) {
  if (finding.items.size() < 2) return;
  constexpr size_t kMostItems = 12;
  const auto table = out.In("table", {{"class", "t"}});
  for (size_t i = 0; i < std::min(finding.items.size(), kMostItems); ++i) {
    const ReportItem& item = finding.items[i];
    const auto row = out.In("tr");
    out.Leaf("td", {{"class", "r"}}, item.bytes ? render::HumanBytes(*item.bytes) : "");
    out.Leaf("td", {},
             (item.count.value_or(1) > 1 ? fmt::format("{} × ", *item.count) : "") +
                 ForPeople(item.label));
  }
  if (finding.items.size() > kMostItems) {
    const auto row = out.In("tr");
    out.Leaf("td");
    out.Leaf("td", {}, fmt::format("{} more", finding.items.size() - kMostItems));
  }
}

// Beside the need, remedies are rows of its picture.
bool RemediesAreDrawn(const Context& context) {
  return context.IsFirst("need") && NeedOf(context).has_value();
}

class Findings {
 public:
  explicit Findings(const Context& context) : context_(context), out_(context.out) {}

  void Write() {
    const std::vector<ReportFinding>& findings = context_.report.findings;
    if (findings.empty() && context_.report.quiet.empty()) return;
    const auto section = out_.In("section");
    WriteHead(
        out_, "Findings",
        findings.empty() ? "" : render::Plural(static_cast<int64_t>(findings.size()), "finding"),
        "");
    std::set<std::string> told;
    constexpr size_t kMost = 40;
    for (size_t i = 0; i < std::min(findings.size(), kMost); ++i) Finding(findings[i], &told);
    if (findings.size() > kMost)
      WriteNote(out_, fmt::format("{} more: SELECT title FROM findings", findings.size() - kMost));
    if (context_.report.quiet.empty()) return;
    std::string quiet = "Looked at and found well: ";
    for (size_t i = 0; i < context_.report.quiet.size(); ++i)
      quiet += (i == 0 ? "" : " · ") + context_.report.quiet[i];
    WriteNote(out_, quiet);
  }

 private:
  void Finding(const ReportFinding& f, std::set<std::string>* told) {
    const auto article = out_.In("article", {{"class", "finding " + f.severity}});
    {
      const auto head = out_.In("div", {{"class", "head"}});
      out_.Leaf("h3", {}, f.title_text);
      const ReportCapture* const capture = context_.report.CaptureOf(f.capture_id);
      std::string where =
          capture != nullptr && context_.report.captures.size() > 1 ? "in " + capture->name : "";
      if (f.device) where += fmt::format("{}device {}", where.empty() ? "" : ", ", *f.device);
      out_.Leaf("span", {{"class", "sub"}}, where);
      out_.Leaf("span", {{"class", "ev"}}, f.severity + " · " + f.evidence);
    }
    if (!f.is_explained || f.is_symptom) {
      if (!f.detail_text.empty()) out_.Leaf("p", {}, render::ShortPaths(f.detail_text));
      if (f.items.size() > 1 && &f != context_.verdict.finding) {
        const auto details = out_.In("details");
        out_.Leaf("summary", {},
                  "Evidence: " + render::Plural(static_cast<int64_t>(f.items.size()), "item"));
        WriteItems(out_, f);
      }
    }
    // Those of the verdict stand above, with what is needed then where that is drawn.
    if (&f == context_.verdict.finding) {
      const std::optional<Need> need = RemediesAreDrawn(context_) ? NeedOf(context_) : std::nullopt;
      for (const ReportRemedy& remedy : f.remedies) {
        const bool above = !need || std::find(need->remedies.begin(), need->remedies.end(),
                                              &remedy) != need->remedies.end();
        if (above) told->insert(remedy.fix);
      }
    }
    std::vector<const ReportRemedy*> fresh;  // A remedy stands once, where it first helps.
    for (const ReportRemedy& remedy : f.remedies) {
      if (told->insert(remedy.fix).second) fresh.push_back(&remedy);
    }
    if (fresh.empty()) return;
    const auto list = out_.In("ol", {{"class", "do"}});
    for (const ReportRemedy* remedy : fresh) WriteRemedy(out_, *remedy);
  }

  const Context& context_;
  render::Markup& out_;
};

}  // namespace

void WriteHead(render::Markup& out, std::string_view title, std::string_view how,
               std::string_view evidence) {
  const auto head = out.In("div", {{"class", "head"}});
  out.Leaf("h2", {}, title);
  if (!how.empty()) out.Leaf("span", {{"class", "sub"}}, how);
  if (!evidence.empty()) out.Leaf("span", {{"class", "ev"}}, evidence);
}

void WriteNote(render::Markup& out, std::string_view text) {
  out.Leaf("p", {{"class", "note"}}, text);
}

void WriteTextBox(render::Markup& out, std::string_view text) {
  const auto pre = out.In("pre");
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    out.Text(text.substr(begin, end - begin));
    out.Raw("\n");
    begin = end + 1;
  }
}

void WriteKey(render::Markup& out, std::string_view css, std::string_view text) {
  const auto key = out.In("span", {{"class", "key"}});
  out.Leaf("span", {{"class", fmt::format("sw {}", css)}});
  out.Text(text);
}

void WriteVerdict(const Context& context) {
  render::Markup& out = context.out;
  const ReportVerdict& verdict = context.verdict;
  const ReportFinding* const finding = verdict.finding;
  {
    const auto eyebrow = out.In("div", {{"class", "eyebrow"}});
    {
      const auto left = out.In("span");
      out.Leaf("span",
               {{"class", finding != nullptr && finding->severity == "error" ? "kind"
                          : verdict.words == "well"                          ? "kind good"
                                                                             : "kind warn"},
                {"id", "verdict"}},
               render::Upper(verdict.words));
      out.Leaf("span", {}, ReportIdentity(context.report));
    }
    out.Leaf("button", {{"class", "btn"}, {"id", "copy"}, {"type", "button"}, {"hidden", "hidden"}},
             "Copy for an issue");
  }
  {
    const auto h1 = out.In("h1", {{"id", "sentence"}});
    out.Text(Unbroken(verdict.sentence));
  }
  if (finding != nullptr && !finding->detail_text.empty()) {
    out.Leaf("p", {{"class", "lede"}},
             render::ShortPaths(finding->brief_text.empty() ? finding->detail_text
                                                            : finding->brief_text));
  }
  for (const ReportFinding* beside : verdict.beside)
    out.Leaf("p", {{"class", "lede"}}, "But: " + beside->title_text);
}

void WriteOpenQuestions(const Context& context) {
  const ReportVerdict& verdict = context.verdict;
  if (verdict.unknown.empty()) return;
  render::Markup& out = context.out;
  const auto card = out.In("section", {{"class", "card"}});
  WriteHead(out, verdict.finding == nullptr ? "I can't tell" : "What else I can't tell", "", "");
  {
    const auto list = out.In("ul");
    for (const std::string& unknown : verdict.unknown)
      out.Leaf("li", {}, "Can't tell " + unknown + ".");
  }
  if (verdict.tell.empty()) return;
  out.Leaf("h3", {}, "To know, give it");
  const auto list = out.In("ul");
  for (const std::string& tell : verdict.tell) out.Leaf("li", {}, tell);
}

void WriteWhatToDo(const Context& context) {
  const ReportFinding* const finding = context.verdict.finding;
  if (finding == nullptr || finding->remedies.empty() || RemediesAreDrawn(context)) return;
  render::Markup& out = context.out;
  const auto section = out.In("section");
  const bool both = finding->items.size() > 1;
  const auto columns = out.In("div", {{"class", both ? "even" : ""}});
  {
    const auto column = out.In("div");
    WriteHead(out, "What to do", "", "inferred");
    const auto list = out.In("ol", {{"class", "do"}});
    for (const ReportRemedy& remedy : finding->remedies) WriteRemedy(out, remedy);
  }
  if (!both) return;
  const auto column = out.In("div");
  WriteHead(out, "Evidence", "", finding->evidence);
  WriteItems(out, *finding);
}

void WriteFindings(const Context& context) { Findings(context).Write(); }

}  // namespace oomdb::cli::page
