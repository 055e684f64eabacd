// oomdb list: what there is.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/nearest.h"
#include "cli/open_captures.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "queries/catalogue.h"
#include "schema/describe.h"
#include "schema/migrations.h"
#include "schema/query.h"

namespace oomdb::cli {
namespace {

struct Options {
  std::string database;
  std::string what;
  SettingOptions settings;
  OutputOptions output;
};

// What a view lists: its columns and their order.
struct Listing {
  const char* name;
  const char* view;
  const char* columns;
  const char* order;
  bool needs_database = true;  // Else oomdb comes with rows of its own.
};
constexpr Listing kListings[] = {
    {"captures", "capture_summaries",
     "capture_id, run, host, kind, status, device_count AS devices, module_count AS modules, "
     "execution_count AS executions, bytes, path",
     "run, host, path, capture_id"},
    {"modules", "listed_modules",
     "run, host, module_id, name, program_id, executions, parameter_bytes, donated_bytes, "
     "output_bytes, temp_bytes, plan_bytes, peak_bytes",
     "run, host, plan_bytes DESC NULLS LAST, name, program_id, module_id"},
    {"executions", "listed_executions",
     "run, host, device, execution_id, module_name, sequence, after_ns, duration_ns, failed, "
     "in_use_at_start_bytes, peak_in_use_bytes, wait_ns",
     "run, host, device, start_ns, execution_id"},
    {"remedies", "remedy_kinds", "remedy, what, assumes, changes_results", "remedy", false},
    {"settings", "settings", "name, setting, meaning", "name", false},
};

const std::vector<std::string> kNames = {"captures", "executions", "modules", "remedies",
                                         "rules",    "settings",   "tables"};

// "captures, executions, … or tables".
std::string Names() {
  std::string names;
  for (const std::string& name : kNames) {
    names += names.empty() ? "" : name == kNames.back() ? " or " : ", ";
    names += name;
  }
  return names;
}

// Sizes and times in units, where the format is one for people.
void Write(Output& output, const schema::Rows& table) {
  render::TableOptions look = output.table_options();
  look.human = true;
  render::WriteTable(output.stream(), table.columns, table.rows, look);
  output.Finish();
}

std::string FirstSentence(const std::string& text) {
  const size_t stop = text.find(". ");
  return stop == std::string::npos ? text : text.substr(0, stop + 1);
}

// Storage (`stored_…`, strings) is behind views and no interface: left out.
void ListTables(Output& output) {
  std::vector<schema::Row> rows;
  for (const schema::TableDescription& table : schema::DescribeTables(schema::SchemaSql())) {
    if (table.name.rfind("stored_", 0) == 0 || table.name == "strings") continue;
    rows.push_back({table.name, std::string("table"), FirstSentence(table.meaning)});
  }
  for (const queries::CatalogueEntry& entry : queries::Catalogue::Get().entries()) {
    // Those are in finding_items and remedies.
    if (entry.kind == queries::ViewKind::kItems || entry.kind == queries::ViewKind::kRemedies)
      continue;
    rows.push_back({entry.id, std::string(entry.kind == queries::ViewKind::kRule ? "rule" : "view"),
                    entry.title});
  }
  std::sort(rows.begin(), rows.end());
  Write(output, {{"name", "kind", "what"}, std::move(rows)});
}

void ListRules(Output& output) {
  std::vector<schema::Row> rows;
  for (const queries::CatalogueEntry* rule : queries::Catalogue::Get().Rules()) {
    rows.push_back({rule->id, rule->title, rule->asks});
  }
  Write(output, {{"rule", "title", "asks"}, std::move(rows)});
}

schema::Database Open(const Options& options, const Listing& listing) {
  const std::vector<schema::ViewDefinition>& views = queries::Catalogue::Get().views();
  const schema::SettingOverrides overrides = ReadSettingOptions(options.settings);
  if (options.database.empty() && !listing.needs_database)
    return schema::Database::ThrowawayWithLazyViews(views, overrides);
  return OpenFile(RequireDatabase(options.database), overrides);
}

void Run(const Options& options) {
  Output output(options.output);
  if (options.what == "tables") return ListTables(output);
  if (options.what == "rules") return ListRules(output);
  for (const Listing& listing : kListings) {
    if (options.what != listing.name) continue;
    schema::Database database = Open(options, listing);
    return Write(output,
                 schema::ReadTable(database, listing.view, listing.columns, {}, listing.order));
  }
  throw Error(fmt::format("list {}: {} expected{}", options.what, Names(),
                          DidYouMean(options.what, kNames)),
              ExitCode::kUsage);
}

}  // namespace

void RegisterList(Verbs& verbs, ExitCode&) {
  Verb verb =
      verbs.Add("list", "List captures, modules, executions, remedies, rules, settings or tables");
  const auto options = std::make_shared<Options>();
  AddDatabaseOption(verb, options->database);
  verb.Option("WHAT", options->what, Names()).Required();
  AddSettingOptions(verb, options->settings);
  AddOutputOptions(verb, options->output);
  verb.Footer(
      "remedies, rules, settings and tables need no database.\n"
      "Example: oomdb list modules --db oom.db");
  verb.Run([options] { Run(*options); });
}

}  // namespace oomdb::cli
