// What our tables look like in a file, whichever version made it: read from schema.sql,
// first_schema.sql and the migrations, so a new table or column needs nothing here.
#ifndef OOMDB_SCHEMA_KNOWN_TABLES_H_
#define OOMDB_SCHEMA_KNOWN_TABLES_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "schema/sql_tokens.h"

namespace oomdb::schema {

// A CREATE TABLE by its parts, in any order: SQLite appends columns that a migration
// adds, schema.sql has them where they belong.
struct TableShape {
  std::multiset<std::string> parts;    // Columns with all they declare, and constraints.
  std::multiset<std::string> options;  // STRICT, WITHOUT ROWID.

  bool operator==(const TableShape&) const = default;
};

struct KnownTables {
  std::map<std::string, TableShape> tables;  // By the name, in capitals.
  std::set<std::string> indexes;             // Texts of CREATE INDEX, as JoinedTokens gives them.
};

// A name without its quotes, in capitals.
std::string PlainName(const std::string& token);

// Tokens with single spaces.
std::string JoinedTokens(const std::vector<SqlToken>& tokens);

// `tokens`: of a CREATE TABLE with its name at `name`. Empty parts where it is made otherwise (AS
// SELECT).
TableShape ShapeOf(const std::vector<SqlToken>& tokens, size_t name);

// Of schema.sql. Made once.
const KnownTables& TodaysTables();

// As version 1 was, migrated to `version`; takes some milliseconds.
KnownTables MigratedTables(int version);

}  // namespace oomdb::schema

#endif  // OOMDB_SCHEMA_KNOWN_TABLES_H_
