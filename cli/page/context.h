// What the parts of the page share. A part is a function in a file of its own that writes one
// section, or nothing where the capture holds nothing for it.
#ifndef OOMDB_CLI_PAGE_CONTEXT_H_
#define OOMDB_CLI_PAGE_CONTEXT_H_

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "cli/json.h"
#include "cli/report/model.h"
#include "render/markup.h"
#include "schema/database.h"

namespace oomdb::cli::page {

struct PlanMemory;

struct Context {
  schema::Database& database;
  const Report& report;
  const ReportVerdict& verdict;
  render::Markup& out;
  Json& charts;                    // By id: what the script needs to move in them (chart.h).
  std::vector<std::string> first;  // The pictures that the verdict asks for.
  const PlanMemory* plan_memory = nullptr;  // Of the report's plan; null without a heap trace.

  bool IsFirst(std::string_view picture) const { return !first.empty() && first[0] == picture; }
  bool IsWanted(std::string_view picture) const {
    return std::find(first.begin(), first.end(), picture) != first.end();
  }
};

// The heading of a section: what it shows, how to read it, and how its numbers are known.
void WriteHead(render::Markup& out, std::string_view title, std::string_view how,
               std::string_view evidence);
void WriteNote(render::Markup& out, std::string_view text);
// Text in a box, its line ends as they are.
void WriteTextBox(render::Markup& out, std::string_view text);
// A coloured square before what it stands for.
void WriteKey(render::Markup& out, std::string_view css, std::string_view text);

// The pictures. Each says whether it had anything to draw.
bool WriteNeed(const Context& context);          // The need against the room, and the remedies.
bool WriteCurve(const Context& context);         // The plan in program order, and what lives there.
bool WriteIcicle(const Context& context);        // The heap peak by line, operation and buffer.
bool WriteHeap(const Context& context);          // The allocator over time.
bool WriteAddresses(const Context& context);     // The pool by address, when a request failed.
bool WriteHosts(const Context& context);         // The hosts of a job side by side.
bool WriteLogBuffers(const Context& context);    // What an error log says is too much, as tiles.
bool WriteLogNumbers(const Context& context);    // The numbers of an error log as bars.
bool WriteProfileLines(const Context& context);  // Who holds the memory, by a profile.

// And what is said in words.
bool WriteFleet(const Context& context);  // The runs, where they are several.
void WriteVerdict(const Context& context);
void WriteOpenQuestions(const Context& context);
void WriteWhatToDo(const Context& context);  // Of the verdict, where no picture has its remedies.
void WriteFindings(const Context& context);
void WriteCaptures(const Context& context);

}  // namespace oomdb::cli::page

#endif  // OOMDB_CLI_PAGE_CONTEXT_H_
