#include "schema/forget.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <utility>

#include "schema/known_tables.h"

namespace oomdb::schema {
namespace {

// A table's own text: the columns that refer to `strings` say so with REFERENCES, so a new one
// needs nothing here. Of tables that people added nothing is touched: what their indexes compute is
// theirs, and their names would stand in our SQL.
std::vector<std::pair<std::string, std::string>> ReferencesTo(SQLite::Database& connection,
                                                              const std::string& target) {
  std::vector<std::pair<std::string, std::string>> found;
  SQLite::Statement query(
      connection,
      "SELECT t.name, f.\"from\" FROM sqlite_master t, pragma_foreign_key_list(t.name) f WHERE "
      "t.type = 'table' AND f.\"table\" = ? ORDER BY 1, 2");
  query.bind(1, target);
  while (query.executeStep()) {
    const std::string table = query.getColumn(0).getString();
    if (TodaysTables().tables.count(PlainName(table)) > 0)
      found.emplace_back(table, query.getColumn(1).getString());
  }
  return found;
}

std::string NotReferenced(SQLite::Database& connection, const std::string& target,
                          const std::string& key) {
  std::string sql = fmt::format("DELETE FROM {} WHERE TRUE", target);
  for (const auto& [table, column] : ReferencesTo(connection, target)) {
    sql += fmt::format(" AND {} NOT IN (SELECT {} FROM {} WHERE {} IS NOT NULL)", key, column,
                       table, column);
  }
  return sql;
}

}  // namespace

void DeleteCaptureRows(SQLite::Database& connection, const std::vector<int64_t>& capture_ids) {
  connection.exec("CREATE TEMP TABLE forgotten (capture_id INTEGER PRIMARY KEY)");
  SQLite::Statement insert(connection, "INSERT OR IGNORE INTO temp.forgotten VALUES (?)");
  for (const int64_t id : capture_ids) {
    insert.bind(1, id);
    insert.exec();
    insert.reset();
  }
  for (const auto& [table, column] : ReferencesTo(connection, "oom_events")) {
    connection.exec(
        fmt::format("DELETE FROM {} WHERE {} IN (SELECT oom_event_id FROM oom_events WHERE "
                    "capture_id IN (SELECT capture_id FROM temp.forgotten))",
                    table, column));
  }
  // Every table with the key; captures itself is not among its own references.
  for (const auto& [table, column] : ReferencesTo(connection, "captures")) {
    connection.exec(fmt::format(
        "DELETE FROM {} WHERE {} IN (SELECT capture_id FROM temp.forgotten)", table, column));
  }
  connection.exec(
      "DELETE FROM captures WHERE capture_id IN (SELECT capture_id FROM temp.forgotten)");
  connection.exec("DROP TABLE temp.forgotten");
}

void ForgetCaptures(Database& database, const std::vector<int64_t>& capture_ids) {
  SQLite::Database& connection = database.connection();
  SQLite::Transaction transaction(connection, SQLite::TransactionBehavior::IMMEDIATE);
  DeleteCaptureRows(connection, capture_ids);
  connection.exec(
      "DELETE FROM run_labels WHERE run NOT IN (SELECT run FROM captures WHERE run IS NOT NULL)");
  // Plans that no module has: first their rows, then themselves, then the texts.
  const std::string unused =
      "plan_id NOT IN (SELECT plan_id FROM stored_modules WHERE plan_id IS NOT NULL)";
  for (const auto& [table, column] : ReferencesTo(connection, "stored_plans")) {
    if (table != "stored_modules")
      connection.exec(fmt::format("DELETE FROM {} WHERE {}", table, unused));
  }
  connection.exec("DELETE FROM stored_plans WHERE " + unused);
  connection.exec(NotReferenced(connection, "strings", "string_id"));
  transaction.commit();
}

}  // namespace oomdb::schema
