#include <fmt/format.h>

#include "cli/report/text.h"
#include "render/terminal.h"
#include "render/units.h"
#include "render/words.h"

namespace oomdb::cli {
namespace {

// What would be markup in Markdown or HTML is escaped: names come from a capture.
std::string Escape(std::string_view text) {
  std::string escaped;
  for (const char c : render::Sanitize(text)) {
    if (c == '<') {
      escaped += "&lt;";
    } else if (c == '&') {
      escaped += "&amp;";
    } else {
      if (std::string_view("\\`*_[]|#").find(c) != std::string_view::npos) escaped += '\\';
      escaped += c;
    }
  }
  return escaped;
}

std::string Sentence(std::string_view text) { return Escape(render::HumanizeSentence(text)); }

std::string Size(const std::optional<int64_t>& bytes) {
  return bytes ? render::HumanBytes(*bytes) : "";
}

std::string Name(const std::string& run, const std::string& host) {
  return Escape(host.empty() ? run : run + " / " + host);
}

// A code fence longer than any in the text.
std::string Fence(const std::string& text) {
  std::string fence = "```";
  while (text.find(fence) != std::string::npos) fence += '`';
  return fence;
}

}  // namespace

std::string ReportMarkdown(const Report& report, const ReportStyle& style) {
  const ReportCapture& shown = report.captures[report.shown];
  const ReportVerdict verdict = VerdictOf(report);
  std::string out =
      fmt::format("# {}: {}\n\n", render::Upper(verdict.words), Escape(verdict.sentence));
  for (const std::string& tell : verdict.tell) out += fmt::format("ask: {}\n\n", Escape(tell));
  out += fmt::format("{} · {}", Name(shown.run, shown.host), shown.status);
  if (shown.execution_count > 0)
    out += fmt::format(" · {} executions, {} failed before launch", shown.execution_count,
                       shown.failed_count);
  out += '\n';
  for (const ReportFinding& f : report.findings) {
    out += fmt::format("\n## {}: {}\n\n{} ({})\n", f.severity, Escape(f.title_text),
                       Escape(f.detail_text), f.evidence);
    if (report.captures.size() > 1 || f.device) {
      const ReportCapture* const capture = report.CaptureOf(f.capture_id);
      out += fmt::format("\n{}{} · rule `{}`\n",
                         capture == nullptr ? Name(f.run, f.host) : Escape(capture->name),
                         f.device ? fmt::format(" · device {}", *f.device) : "", f.rule);
    }
    if (!f.remedies.empty()) {
      out +=
          "\n| remedy | saves | then needs | fits | cost | evidence "
          "|\n|---|---:|---:|---|---|---|\n";
      for (const ReportRemedy& remedy : f.remedies) {
        const std::string changes =
            remedy.changes_results.value_or(false) ? " (changes results)" : "";
        out += fmt::format("| {}{} | {} | {} | {} | {} | {} |\n", Sentence(remedy.fix), changes,
                           SavingWords(remedy), Size(remedy.needs_bytes), FitsWord(remedy),
                           Sentence(remedy.cost), remedy.evidence);
      }
    }
  }
  ReportStyle plain = style;
  plain.color = false;
  const std::string text = ReportText(report, plain);
  const std::string fence = Fence(text);
  return out + "\n" + fence + "text\n" + text + fence + "\n";
}

}  // namespace oomdb::cli
