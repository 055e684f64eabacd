#include "cli/report/text.h"

#include "cli/report/page.h"
#include "render/terminal.h"

namespace oomdb::cli {

std::string ReportText(const Report& report, const ReportStyle& style) {
  std::string out;
  const ReportPage page(report, style, out);
  WriteHeadSection(page);
  WriteFindingsSection(page);
  WriteErrorLogSection(page);
  if (report.plan) WritePlanSection(page);
  if (report.plan) WriteAnatomySection(page);
  if (report.run) WriteRunSection(page);
  WriteAllocatorsSection(page);
  if (report.profile) WriteProfileSection(page);
  out += '\n';
  for (size_t i = 0; i < style.next.size(); ++i) {
    out += (i == 0 ? render::Paint(render::Style::kBold, "next", style.color) + "  " : "      ") +
           render::Sanitize(style.next[i]) + '\n';
  }
  return out;
}

}  // namespace oomdb::cli
