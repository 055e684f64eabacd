#include "queries/materialize.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "queries/generated_views.h"
#include "schema/sql_names.h"

namespace oomdb::queries {
namespace {

bool IsEvidence(const CatalogueEntry& entry) {
  return entry.kind == ViewKind::kItems || entry.kind == ViewKind::kRemedies;
}

// Orders the views that were asked for, and those that they stand on, each after those it mentions.
class Planner {
 public:
  explicit Planner(const Catalogue& catalogue) : catalogue_(catalogue) {}

  void Visit(const CatalogueEntry& entry) {
    if (!visited_.insert(entry.id).second) return;
    const std::vector<std::string_view> names = schema::SqlNames(entry.select);
    // A view over stored tables alone has those tables' indexes: it stays one.
    const auto is_view = [&](std::string_view name) {
      return name != entry.id && catalogue_.Find(name) != nullptr;
    };
    const auto is_stored = [](std::string_view name) { return name.starts_with("stored_"); };
    if (std::any_of(names.begin(), names.end(), is_stored) &&
        std::none_of(names.begin(), names.end(), is_view)) {
      return;
    }
    if (empty_tables_.count(entry.empty_without) == 0) {
      for (const std::string_view name : names) {
        if (const CatalogueEntry* mentioned = catalogue_.Find(name)) Visit(*mentioned);
      }
    }
    // Items and remedies are asked for once: they may stay views.
    if (entry.kind == ViewKind::kFact || entry.kind == ViewKind::kRule) order_.push_back(&entry);
  }

  void VisitRules() {
    for (const CatalogueEntry& entry : catalogue_.entries()) {
      if (entry.kind == ViewKind::kRule) Visit(entry);
    }
  }

  // What views without rows stand on is not visited.
  void SetEmptyTables(std::set<std::string> tables) { empty_tables_ = std::move(tables); }

  // Those since it was last asked.
  std::vector<const CatalogueEntry*> TakeOrder() { return std::exchange(order_, {}); }

 private:
  const Catalogue& catalogue_;
  std::set<std::string> empty_tables_;
  std::set<std::string> visited_;
  std::vector<const CatalogueEntry*> order_;
};

// Of the tables that views are empty without.
std::set<std::string> EmptyTables(schema::Database& database, const Catalogue& catalogue) {
  std::set<std::string> empty;
  for (const CatalogueEntry& entry : catalogue.entries()) {
    const std::string& table = entry.empty_without;
    if (table.empty() || empty.count(table) > 0) continue;
    SQLite::Statement any(database.connection(), fmt::format("SELECT 1 FROM {} LIMIT 1", table));
    if (!any.executeStep()) empty.insert(table);
  }
  return empty;
}

// The rules that found something; all of them are tables.
std::set<std::string> RulesWithFindings(schema::Database& database, const Catalogue& catalogue) {
  std::set<std::string> rules;
  for (const CatalogueEntry* rule : catalogue.Rules()) {
    SQLite::Statement any(database.connection(), fmt::format("SELECT 1 FROM {} LIMIT 1", rule->id));
    if (any.executeStep()) rules.insert(rule->id);
  }
  return rules;
}

// Puts a table or another view in the place of the view. `as`: what follows its name.
void Replace(schema::Database& database, const CatalogueEntry& entry, std::string_view kind,
             const std::string& as) {
  SQLite::Database& connection = database.connection();
  // Where the views of this session are: see Database::OpenReadOnly and Database::Throwaway.
  const std::string schema = database.path().empty() ? "main" : "temp";
  database.ForgetView(entry.id);
  SQLite::Statement made(connection,
                         fmt::format("SELECT type FROM {}.sqlite_schema WHERE name = ?", schema));
  made.bind(1, entry.id);
  if (made.executeStep()) {
    const std::string type = made.getColumn(0).getString();
    made.reset();
    connection.exec(
        fmt::format("DROP {} {}.{}", type == "table" ? "TABLE" : "VIEW", schema, entry.id));
  }
  connection.exec(fmt::format("CREATE {} {}.{}{}", kind, schema, entry.id, as));
}

void MakeEmpty(schema::Database& database, const CatalogueEntry& entry) {
  std::string columns;
  for (const ColumnMeaning& column : entry.columns) {
    columns += (columns.empty() ? "" : ", ") + column.name;
  }
  Replace(database, entry, "TABLE", " (" + columns + ")");
}

}  // namespace

std::vector<std::string> MaterializationOrder(const Catalogue& catalogue) {
  Planner planner(catalogue);
  planner.VisitRules();
  for (const CatalogueEntry& entry : catalogue.entries()) {
    if (IsEvidence(entry)) planner.Visit(entry);
  }
  std::vector<std::string> ids;
  for (const CatalogueEntry* entry : planner.TakeOrder()) ids.push_back(entry->id);
  return ids;
}

void MaterializeRules(schema::Database& database, const Catalogue& catalogue) {
  const std::set<std::string> empty_tables = EmptyTables(database, catalogue);
  const auto make = [&](const std::vector<const CatalogueEntry*>& entries) {
    for (const CatalogueEntry* entry : entries) {
      if (empty_tables.count(entry->empty_without) > 0) {
        MakeEmpty(database, *entry);
      } else {
        MaterializeView(database, catalogue, entry->id);
      }
    }
  };
  SQLite::Transaction transaction(database.connection());
  Planner planner(catalogue);
  planner.SetEmptyTables(empty_tables);
  planner.VisitRules();
  make(planner.TakeOrder());
  // What only the evidence stands on is computed where there is something to give evidence of.
  const std::set<std::string> found = RulesWithFindings(database, catalogue);
  for (const CatalogueEntry& entry : catalogue.entries()) {
    if (IsEvidence(entry) && found.count(std::string(RuleOf(entry))) > 0) planner.Visit(entry);
  }
  make(planner.TakeOrder());
  // Of the rules that found nothing nobody need plan the evidence.
  for (const CatalogueEntry& view : FindingViews(catalogue.entries(), found)) {
    database.MakeViewsFor(view.select);
    Replace(database, view, "VIEW", " AS " + view.select);
  }
  transaction.commit();
}

void MaterializeView(schema::Database& database, const Catalogue& catalogue, const std::string& id,
                     const std::string& condition) {
  const CatalogueEntry& entry = *catalogue.Find(id);
  database.MakeViewsFor(entry.select);
  Replace(database, entry, "TABLE",
          fmt::format(" AS SELECT * FROM ({}){}", entry.select,
                      condition.empty() ? "" : " WHERE " + condition));
}

}  // namespace oomdb::queries
