#include "cli/whatif/choose_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "base/error.h"
#include "cli/nearest.h"
#include "cli/open_captures.h"
#include "render/units.h"
#include "schema/query.h"
#include "schema/replays.h"

namespace oomdb::cli {
namespace {

using schema::Record;

bool IsOfCapture(const Record& row, const std::string& capture) {
  return capture.empty() || capture == std::to_string(row.Integer("capture_id")) ||
         capture == row.Text("path");
}

bool IsNamed(const Record& row, const std::string& module) {
  return module.empty() || module == row.Text("module_name") || module == row.Text("name");
}

// Leaves the rows for which `keep` holds; when there are none, what was asked for is not there.
template <typename Keep>
void Narrow(std::vector<Record>* rows, const std::string& what, const std::string& asked,
            const char* column, const Keep& keep) {
  if (asked.empty()) return;
  std::set<std::string> names;
  for (const Record& row : *rows) names.insert(row.Text(column));
  std::erase_if(*rows, [&](const Record& row) { return !keep(row); });
  if (!rows->empty()) return;
  throw Error(
      fmt::format("no {} {}{}", what, asked, DidYouMean(asked, {names.begin(), names.end()})),
      ExitCode::kUsage);
}

// What a replay lacks, and how to get it.
[[noreturn]] void RefuseMissing(const Record& row, const std::string& file) {
  const std::string module = row.Text("name");
  const std::string missing = row.Text("missing");
  const std::string path = row.Text("path");
  if (missing == "text") {
    throw Error(
        fmt::format("{}: the plan of {} is a text, and a what-if needs the module's HLO "
                    "proto (*.hlo.pb)",
                    path, module));
  }
  if (missing == "plan" || file.empty()) {
    throw Error(fmt::format("{}: no plan of {} in it: a what-if needs the module's HLO proto", path,
                            module));
  }
  if (missing == "size") {
    throw Error(
        fmt::format("the plan of {} ({}) is below the setting replay_min_bytes, so what a "
                    "what-if needs of it was not stored: ask the capture itself: oomdb "
                    "what-if {}",
                    module, render::HumanBytes(row.Integer("plan_bytes")), path));
  }
  throw Error(fmt::format(
      "what a what-if needs of {} was not stored with capture {} (by oomdb {}): ingest it again to "
      "ask what-if: oomdb forget --db {} --capture {}, then oomdb ingest --db {} {}",
      module, row.Integer("capture_id"), row.Text("ingester_version"), file,
      row.Integer("capture_id"), file, path));
}

}  // namespace

ChosenPlan ChoosePlan(schema::Database& database, const PlanScope& scope, const std::string& file) {
  if (!scope.run.empty()) CheckRun(database, scope.run);
  std::vector<Record> rows = schema::ReadView(database, "replays", {},
                                              "plan_bytes DESC NULLS LAST, capture_id, module_id");
  if (rows.empty()) throw Error("no module with its HLO proto in it");
  Narrow(&rows, "module of run", scope.run, "run",
         [&](const Record& row) { return row.Text("run") == scope.run; });
  Narrow(&rows, "module of host", scope.host, "host",
         [&](const Record& row) { return row.Text("host") == scope.host; });
  Narrow(&rows, "module of capture", scope.capture, "path",
         [&](const Record& row) { return IsOfCapture(row, scope.capture); });
  Narrow(&rows, "module", scope.module, "name",
         [&](const Record& row) { return IsNamed(row, scope.module); });
  // A plan that was read from a text is often that of a module whose HLO proto is there, too.
  const auto at = std::find_if(rows.begin(), rows.end(), [](const Record& row) {
    const std::string missing = row.Text("missing");
    return missing != "text" && missing != "plan";
  });
  if (at == rows.end()) RefuseMissing(rows.front(), file);
  if (at->IsNull("replay_bytes")) RefuseMissing(*at, file);
  ChosenPlan plan;
  plan.module = at->Text("module_name");
  plan.run = at->Text("run");
  plan.host = at->Text("host");
  plan.platform = at->Text("platform");
  plan.plans = std::count_if(rows.begin(), rows.end(),
                             [](const Record& row) { return !row.IsNull("replay_bytes"); });
  plan.capacity_bytes = at->MaybeInteger("capacity_bytes");
  plan.replay = schema::ReplayOf(database, at->Integer("plan_id")).value_or("");
  return plan;
}

}  // namespace oomdb::cli
