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

struct NamedPicture {
  std::string_view name;  // As in verdict_kinds.pictures.
  Write write;
};

// In the order in which they stand where the verdict asks for none of them. A log's buffers explain
// its numbers.
constexpr NamedPicture kPictures[] = {
    {"need", WriteNeed},      {"log buffers", WriteLogBuffers}, {"hosts", WriteHosts},
    {"curve", WriteCurve},    {"icicle", WriteIcicle},          {"heap", WriteHeap},
    {"log", WriteLogNumbers}, {"addresses", WriteAddresses},    {"profile", WriteProfileLines}};

// First those that are asked for, then all others, each once; what to do stands after the first.
void WritePictures(const Context& context) {
  std::vector<NamedPicture> order;
  for (const std::string& name : context.first) {
    for (const NamedPicture& picture : kPictures) {
      if (picture.name == name) order.push_back(picture);
    }
  }
  for (const NamedPicture& picture : kPictures) {
    if (!context.IsWanted(picture.name)) order.push_back(picture);
  }
  bool any = false;
  for (const NamedPicture& picture : order) {
    if (!picture.write(context) || any) continue;
    any = true;
    WriteWhatToDo(context);
  }
  if (!any) WriteWhatToDo(context);
}

void WriteText(const Context& context, const ReportStyle& style) {
  ReportStyle plain = style;
  plain.color = false;
  plain.width = 100;
  const std::string text = ReportText(context.report, plain);
  render::Markup& out = context.out;
  const auto section = out.In("section");
  const auto details = out.In("details", {{"id", "as-text"}});
  out.Leaf("summary", {}, "The report as text");
  WriteTextBox(out, text);
}

}  // namespace

std::string ReportHtml(schema::Database& database, const Report& report, const ReportStyle& style) {
  const ReportVerdict verdict = VerdictOf(report);
  Json charts = Json::object();
  std::optional<PlanMemory> memory;
  if (report.plan) memory = ReadPlanMemory(database, *report.plan);
  render::Markup head, main;
  const auto context = [&](render::Markup& out) {
    return Context{database,
                   report,
                   verdict,
                   out,
                   charts,
                   PicturesOf(database, verdict.words),
                   memory ? &*memory : nullptr};
  };
  WriteVerdict(context(head));
  const Context in_main = context(main);
  WriteFleet(in_main);
  WriteOpenQuestions(in_main);
  WritePictures(in_main);
  WriteCaptures(in_main);
  WriteFindings(in_main);
  WriteText(in_main, style);
  return Document(render::Upper(verdict.words) + ": " + verdict.sentence, head.Take(), main.Take(),
                  charts);
}

}  // namespace oomdb::cli::page
