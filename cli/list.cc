// oomdb list: what there is.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/nearest.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "queries/catalogue.h"
#include "schema/describe.h"
#include "schema/migrations.h"
#include "schema/query.h"

namespace oomdb {
namespace {

struct Options {
  std::string database;
  std::string what;
  SettingOptions settings;
  OutputOptions output;
};

// What needs a database, and the SQL that lists it.
struct Listing {
  const char* name;
  const char* sql;
};
constexpr Listing kListings[] = {
    {"captures",
     "SELECT c.capture_id, c.run, c.host, c.kind, c.status, (SELECT COUNT(*) FROM devices d "
     "WHERE d.capture_id = c.capture_id) AS devices, (SELECT COUNT(*) FROM modules m WHERE "
     "m.capture_id = c.capture_id) AS modules, (SELECT COUNT(*) FROM executions e WHERE "
     "e.capture_id = c.capture_id) AS executions, c.bytes, c.path FROM captures c ORDER BY "
     "c.run, c.host, c.path, c.capture_id"},
    {"modules",
     "SELECT c.run, c.host, m.module_id, m.name, m.program_id, m.execution_count AS executions, "
     "m.parameter_bytes, m.donated_bytes, m.output_bytes, m.temp_bytes, m.plan_bytes, "
     "m.peak_bytes FROM modules m JOIN captures c ON c.capture_id = m.capture_id ORDER BY c.run, "
     "c.host, m.plan_bytes DESC NULLS LAST, m.name, m.program_id, m.module_id"},
    {"executions",
     "SELECT c.run, c.host, d.ordinal AS device, e.execution_id, e.module_name, e.sequence, "
     "e.start_ns - MIN(e.start_ns) OVER (PARTITION BY e.capture_id) AS after_ns, "
     "e.end_ns - e.start_ns AS duration_ns, e.failed, e.in_use_at_start_bytes, "
     "e.peak_in_use_bytes, e.wait_ns FROM executions e JOIN captures c ON c.capture_id = "
     "e.capture_id LEFT JOIN devices d ON d.device_id = e.device_id ORDER BY c.run, c.host, "
     "d.ordinal, e.start_ns, e.execution_id"},
};

const std::vector<std::string> kNames = {"captures", "executions", "modules",
                                         "rules",    "settings",   "tables"};

// Sizes and times in units, where the format is one for people.
void Write(Output& output, const std::vector<std::string>& columns, const std::vector<Row>& rows) {
  TableOptions look = output.table_options();
  look.human = true;
  WriteTable(output.stream(), columns, rows, look);
  output.Finish();
}

std::string FirstSentence(const std::string& text) {
  const size_t stop = text.find(". ");
  return stop == std::string::npos ? text : text.substr(0, stop + 1);
}

// Storage (`stored_…`, strings) is behind views and no interface: left out.
void ListTables(Output& output) {
  std::vector<Row> rows;
  for (const TableDescription& table : DescribeTables(SchemaSql())) {
    if (table.name.rfind("stored_", 0) == 0 || table.name == "strings") continue;
    rows.push_back({table.name, std::string("table"), FirstSentence(table.meaning)});
  }
  for (const CatalogueEntry& entry : Catalogue::Get().entries()) {
    // Those are in finding_items and remedies.
    if (entry.kind == ViewKind::kItems || entry.kind == ViewKind::kRemedies) continue;
    rows.push_back(
        {entry.id, std::string(entry.kind == ViewKind::kRule ? "rule" : "view"), entry.title});
  }
  std::sort(rows.begin(), rows.end());
  Write(output, {"name", "kind", "what"}, rows);
}

void ListRules(Output& output) {
  std::vector<Row> rows;
  for (const CatalogueEntry* rule : Catalogue::Get().Rules()) {
    rows.push_back({rule->id, rule->title, rule->asks});
  }
  Write(output, {"rule", "title", "asks"}, rows);
}

// With a database its own values, else the defaults.
void ListSettings(const Options& options, Output& output) {
  const SettingOverrides overrides = ReadSettingOptions(options.settings);
  Database database = options.database.empty()
                          ? Database::Throwaway({}, overrides)
                          : Database::OpenReadOnly(options.database, {}, overrides);
  const Rows result = Query(database, "SELECT name, setting, meaning FROM settings ORDER BY name");
  Write(output, result.columns, result.rows);
}

void Run(const Options& options) {
  Output output(options.output);
  if (options.what == "tables") return ListTables(output);
  if (options.what == "rules") return ListRules(output);
  if (options.what == "settings") return ListSettings(options, output);
  for (const Listing& listing : kListings) {
    if (options.what != listing.name) continue;
    Database database =
        Database::OpenReadOnly(RequireDatabase(options.database), Catalogue::Get().views(),
                               ReadSettingOptions(options.settings));
    const Rows result = Query(database, listing.sql);
    return Write(output, result.columns, result.rows);
  }
  throw Error(
      fmt::format("list {}: captures, executions, modules, rules, settings or tables expected{}",
                  options.what, DidYouMean(options.what, kNames)),
      ExitCode::kUsage);
}

}  // namespace

void RegisterList(Verbs& verbs, ExitCode&) {
  Verb verb = verbs.Add("list", "List captures, modules, executions, rules, settings or tables");
  const auto options = std::make_shared<Options>();
  AddDatabaseOption(verb, options->database);
  verb.Option("WHAT", options->what, "captures, executions, modules, rules, settings or tables")
      .Required();
  AddSettingOptions(verb, options->settings);
  AddOutputOptions(verb, options->output);
  verb.Footer(
      "rules, settings and tables need no database.\n"
      "Example: oomdb list modules --db oom.db");
  verb.Run([options] { Run(*options); });
}

}  // namespace oomdb
