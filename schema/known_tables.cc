#include "schema/known_tables.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <utility>

#include "schema/migrations.h"

namespace oomdb::schema {
namespace {

void AddTo(std::multiset<std::string>& parts, std::string& part) {
  if (!part.empty()) parts.insert(std::exchange(part, ""));
}

void AddStatement(const std::vector<SqlToken>& tokens, KnownTables& known) {
  if (tokens.size() < 3 || tokens[0].text != "CREATE") return;
  if (tokens[1].text == "TABLE") known.tables[PlainName(tokens[2].text)] = ShapeOf(tokens, 2);
  if (tokens[1].text == "INDEX" || tokens[1].text == "UNIQUE")
    known.indexes.insert(JoinedTokens(tokens));
}

KnownTables Read(std::string_view sql) {
  KnownTables known;
  std::vector<SqlToken> statement;
  for (SqlToken& token : SqlTokens(sql)) {
    if (token.text == ";") {
      AddStatement(statement, known);
      statement.clear();
    } else {
      statement.push_back(std::move(token));
    }
  }
  return known;
}

}  // namespace

std::string PlainName(const std::string& token) {
  std::string name = token;
  if (name.size() >= 2 && (name[0] == '"' || name[0] == '`' || name[0] == '[' || name[0] == '\''))
    name = name.substr(1, name.size() - 2);
  for (char& c : name) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return name;
}

std::string JoinedTokens(const std::vector<SqlToken>& tokens) {
  std::string text;
  for (const SqlToken& token : tokens) text += (text.empty() ? "" : " ") + token.text;
  return text;
}

TableShape ShapeOf(const std::vector<SqlToken>& tokens, size_t name) {
  TableShape shape;
  if (name + 1 >= tokens.size() || tokens[name + 1].text != "(") return shape;
  const size_t close = ClosingToken(tokens, name + 1);
  std::string part;
  size_t depth = 0;
  for (size_t i = name + 2; i < tokens.size(); ++i) {
    const std::string& word = tokens[i].text;
    if (i == close) {
      AddTo(shape.parts, part);
      continue;
    }
    if (word == "(") ++depth;
    if (word == ")" && depth > 0) --depth;
    if (word == "," && depth == 0) {
      AddTo(i < close ? shape.parts : shape.options, part);
    } else {
      part += (part.empty() ? "" : " ") + word;
    }
  }
  AddTo(shape.options, part);
  return shape;
}

const KnownTables& TodaysTables() {
  static const KnownTables known = Read(SchemaSql());
  return known;
}

KnownTables MigratedTables(int version) {
  SQLite::Database connection(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  connection.exec(std::string(FirstSchemaSql()));
  std::span<const EmbeddedFile> migrations = Migrations();
  while (!migrations.empty() && MigrationNumber(migrations.back().path) > version)
    migrations = migrations.first(migrations.size() - 1);
  Migrate(connection, 1, migrations);
  KnownTables known;
  SQLite::Statement query(connection, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL");
  while (query.executeStep()) AddStatement(SqlTokens(query.getColumn(0).getString()), known);
  return known;
}

}  // namespace oomdb::schema
