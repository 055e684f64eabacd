#include "cli/page/report_page.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "cli/page/context.h"
#include "cli/page/document.h"
#include "cli/page/plan_memory.h"
#include "render/words.h"
#include "schema/query.h"

namespace oomdb::cli::page {
namespace {

using Write = bool (*)(const Context&);

struct Picture {
  std::string_view name;  // As in verdict_kinds.picture.
  Write write;
};

// In the order in which they stand where the verdict asks for none of them. A log's buffers explain
// its numbers.
constexpr Picture kPictures[] = {{"need", WriteNeed},           {"log buffers", WriteLogBuffers},
                                 {"hosts", WriteHosts},         {"heap", WriteHeap},
                                 {"curve", WriteCurve},         {"icicle", WriteIcicle},
                                 {"addresses", WriteAddresses}, {"log", WriteLogNumbers},
                                 {"profile", WriteProfileLines}};

std::string PictureOf(schema::Database& database, const std::string& verdict) {
  for (const schema::Record& row :
       schema::ReadView(database, "verdict_kinds", {{"verdict", verdict}}))
    return row.Text("picture");
  return "";
}

// The text report in a box; its line ends are kept.
void WriteText(const Context& context, const ReportStyle& style) {
  ReportStyle plain = style;
  plain.color = false;
  plain.width = 100;
  const std::string text = ReportText(context.report, plain);
  render::Markup& out = context.out;
  const auto section = out.In("section");
  const auto details = out.In("details", {{"id", "as-text"}});
  out.Leaf("summary", {}, "The report as text");
  const auto pre = out.In("pre");
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    out.Text(std::string_view(text).substr(begin, end - begin));
    out.Raw("\n");
    begin = end + 1;
  }
}

}  // namespace

std::string ReportHtml(schema::Database& database, const Report& report, const ReportStyle& style) {
  const ReportVerdict verdict = VerdictOf(report);
  Json charts = Json::object();
  std::optional<PlanMemory> memory;
  if (report.plan) memory = ReadPlanMemory(database, *report.plan);
  render::Markup head, main;
  const auto context = [&](render::Markup& out) {
    return Context{database, report, verdict, out, charts, memory ? &*memory : nullptr};
  };
  WriteVerdict(context(head));
  const Context in_main = context(main);
  WriteOpenQuestions(in_main);
  const std::string first = PictureOf(database, verdict.words);
  for (const bool wanted : {true, false}) {
    for (const Picture& picture : kPictures) {
      if ((picture.name == first) == wanted) picture.write(in_main);
    }
  }
  WriteCaptures(in_main);
  WriteFindings(in_main);
  WriteText(in_main, style);
  return Document(render::Upper(verdict.words) + ": " + verdict.sentence, head.Take(), main.Take(),
                  charts);
}

}  // namespace oomdb::cli::page
