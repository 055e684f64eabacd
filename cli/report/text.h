// A report for the eye: plain text for a terminal, and Markdown for a ticket.
#ifndef OOMDB_CLI_REPORT_TEXT_H_
#define OOMDB_CLI_REPORT_TEXT_H_

#include <optional>
#include <string>
#include <vector>

#include "cli/report/model.h"

namespace oomdb::cli {

struct ReportStyle {
  size_t width = 100;  // Columns; at least 80 are used.
  bool color = false;
  // Groups of buffers and Python lines to list; not given: 10, of a healthy capture 5 groups.
  std::optional<size_t> top;
  bool stack = false;  // All Python frames of each group of buffers, not only the user's own.
  // What to type next, ready to paste.
  std::vector<std::string> next;
  // What the verdict asks to see first, as in verdict_kinds.
  std::vector<std::string> pictures = {};
};

// What happened, the picture that the cause needs, what to do: at most 24 lines of 100 columns, 32 of
// fewer. What is left out is named; ReportText has it.
std::string ReportScreen(const Report& report, const ReportStyle& style);

// The first screen says what happened, why and what to do; everything under it is the proof. Text
// from a capture is sanitized: it can't drive a terminal.
std::string ReportText(const Report& report, const ReportStyle& style);

// Whose capture it is, in one line: run and host, devices, what was recorded, executions.
std::string ReportIdentity(const Report& report);

// The same as GitHub Markdown: the findings as headings, the text report below as it is.
std::string ReportMarkdown(const Report& report, const ReportStyle& style);

// One JSON object: the same facts under stable keys, exact, the evidence word beside every number.
std::string ReportJson(const Report& report);

}  // namespace oomdb::cli

#endif  // OOMDB_CLI_REPORT_TEXT_H_
