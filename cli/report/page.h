// What the sections of the text report are written with: a page of a width, and words for what
// stands on it.
#ifndef OOMDB_CLI_REPORT_PAGE_H_
#define OOMDB_CLI_REPORT_PAGE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/report/model.h"
#include "cli/report/text.h"
#include "render/terminal.h"
#include "render/words.h"

namespace oomdb::cli {

// A section is a class derived from this, in a file of its own, with the function below that writes
// it. All write to one text.
class ReportPage {
 public:
  // `report` and `out` must outlive it.
  ReportPage(const Report& report, const ReportStyle& style, std::string& out);

 protected:
  const ReportCapture& shown() const { return report_.captures[report_.shown]; }

  void Line(std::string_view text);  // Without the spaces at its end.
  // `left`, and `right` at the right edge of the page; `style` for the left part.
  void Spread(const std::string& left, const std::string& right,
              std::optional<render::Style> style = std::nullopt);
  void Section(const std::string& title, const std::string& right);
  // Wrapped, each line `indent` columns in.
  void Indented(const std::string& text, size_t indent);
  // A name, a size, what it is, and a bar that shows how much of `whole` it is; none when that is
  // 0.
  void BarLine(const std::string& name, const std::string& size, const std::string& words,
               size_t words_width, double part, double whole);
  // What an error log states, the first `most` of its numbers, as BarLines.
  void LogNumbers(const ReportErrorLog& log, size_t most, size_t words_width);
  // The table of the first `listed` groups of buffers. Of the page's width, shapes get at most
  // `shape_percent` and Python lines `line_percent`.
  void Buffers(const std::vector<ReportGroup>& groups, size_t listed, size_t shape_percent,
               size_t line_percent);
  // Calls, innermost first, under the group that they lead to.
  void Stack(const std::vector<std::string>& frames);
  // What is live, by origin, up to `most` lines.
  void Live(const std::vector<ReportLiveGroup>& groups, size_t most);
  // Whether there is something to prove; a healthy capture takes half the lines, unless --top asks
  // for more.
  bool WantsDetail() const;
  // How many of a list to show; `usual` unless --top says it.
  size_t Top(size_t usual) const { return top_.value_or(usual); }

  const Report& report_;
  const size_t width_;
  const bool color_;
  const std::optional<size_t> top_;
  const bool stack_;

 private:
  std::string& out_;
};

// A picture of verdict_kinds.pictures, in text; nothing where the report has nothing to draw.
void WriteScreenPicture(const ReportPage& page, const ReportVerdict& verdict,
                        std::string_view name);
void WriteIncidentHead(const ReportPage& page);  // What happened and where, of many captures too.
void WriteHeadSection(const ReportPage& page);   // What happened, where, and the table of captures.
void WriteFindingsSection(const ReportPage& page);  // Why, and what to do.
void WritePlanSection(
    const ReportPage& page);  // The plan and what is live at its peak. Requires a plan.
void WriteAnatomySection(const ReportPage& page);   // What its memory is for. Requires a plan.
void WriteRunSection(const ReportPage& page);       // What happened on the devices. Requires a run.
void WriteErrorLogSection(const ReportPage& page);  // What the error logs say, if there are any.
void WriteAllocatorsSection(const ReportPage& page);  // The allocators, where there is no run.
void WriteProfileSection(const ReportPage& page);     // Who holds the memory. Requires a profile.

}  // namespace oomdb::cli

#endif  // OOMDB_CLI_REPORT_PAGE_H_
