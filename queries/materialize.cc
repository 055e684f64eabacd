#include "queries/materialize.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <cctype>
#include <set>
#include <string>

namespace oomdb {
namespace {

// The identifiers of a statement, without those in comments and texts: what it may mention.
std::set<std::string> Identifiers(std::string_view sql) {
  std::set<std::string> found;
  for (size_t i = 0; i < sql.size();) {
    const char c = sql[i];
    if (c == '-' && i + 1 < sql.size() && sql[i + 1] == '-') {
      i = std::min(sql.find('\n', i), sql.size());
    } else if (c == '\'') {
      i = std::min(sql.find('\'', i + 1), sql.size() - 1) + 1;
    } else if (std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_') {
      size_t end = i;
      while (end < sql.size() &&
             (std::isalnum(static_cast<unsigned char>(sql[end])) != 0 || sql[end] == '_'))
        ++end;
      found.emplace(sql.substr(i, end - i));
      i = end;
    } else {
      ++i;
    }
  }
  return found;
}

class Planner {
 public:
  explicit Planner(const Catalogue& catalogue) : catalogue_(catalogue) {}

  std::vector<std::string> Order() {
    for (const CatalogueEntry& entry : catalogue_.entries()) {
      const bool asked = entry.kind == ViewKind::kRule || entry.kind == ViewKind::kItems ||
                         entry.kind == ViewKind::kRemedies;
      if (asked) Visit(entry);
    }
    return std::move(order_);
  }

 private:
  void Visit(const CatalogueEntry& entry) {
    if (!visited_.insert(entry.id).second) return;
    const std::set<std::string> names = Identifiers(entry.select);
    for (const std::string& name : names) {
      // A plain view over a stored table has that table's indexes.
      if (name.starts_with("stored_")) return;
    }
    for (const std::string& name : names) {
      if (const CatalogueEntry* mentioned = catalogue_.Find(name)) Visit(*mentioned);
    }
    // Items and remedies are asked for once: they may stay views.
    if (entry.kind == ViewKind::kFact || entry.kind == ViewKind::kRule) order_.push_back(entry.id);
  }

  const Catalogue& catalogue_;
  std::set<std::string> visited_;
  std::vector<std::string> order_;
};

}  // namespace

std::vector<std::string> MaterializationOrder(const Catalogue& catalogue) {
  return Planner(catalogue).Order();
}

void MaterializeRules(Database& database, const Catalogue& catalogue) {
  for (const std::string& id : MaterializationOrder(catalogue)) {
    MaterializeView(database, catalogue, id);
  }
}

void MaterializeView(Database& database, const Catalogue& catalogue, const std::string& id,
                     const std::string& condition) {
  SQLite::Database& connection = database.connection();
  // Where the views of this session are: see Database::OpenReadOnly and Database::Throwaway.
  const std::string schema = database.path().empty() ? "main" : "temp";
  SQLite::Statement made(connection,
                         fmt::format("SELECT type FROM {}.sqlite_schema WHERE name = ?", schema));
  made.bind(1, id);
  if (made.executeStep()) {
    const std::string type = made.getColumn(0).getString();
    made.reset();
    connection.exec(fmt::format("DROP {} {}.{}", type == "table" ? "TABLE" : "VIEW", schema, id));
  }
  connection.exec(fmt::format("CREATE TABLE {}.{} AS SELECT * FROM ({}){}", schema, id,
                              catalogue.Find(id)->select,
                              condition.empty() ? "" : " WHERE " + condition));
}

}  // namespace oomdb
