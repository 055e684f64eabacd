// Numbered changes of the tables, and today's tables.
//
// schema.sql is what a new database gets. A file schema/migrations/NNNN_what.sql (NNNN: 0002, 0003,
// …) brings a database of version NNNN - 1 to version NNNN; the highest number is this program's
// version.
#ifndef OOMDB_SCHEMA_MIGRATIONS_H_
#define OOMDB_SCHEMA_MIGRATIONS_H_

#include <span>
#include <string_view>

#include "base/embedded.h"

namespace SQLite {
class Database;
}

namespace oomdb::schema {

// PRAGMA user_version of what this program writes: 1, or the highest migration's number.
int SchemaVersion();

std::string_view SchemaSql();       // schema/schema.sql
std::string_view FirstSchemaSql();  // schema/first_schema.sql: version 1, which never changes.
// schema/settings.sql: every setting with its default; rows that exist are kept.
std::string_view SettingsSql();
std::span<const EmbeddedFile> Migrations();  // Ascending number.

// The number at the start of a migration's file name. Throws Error when there is none.
int MigrationNumber(std::string_view path);

// Applies those of `migrations` whose number is above `version`, in order, and sets user_version
// after each. Call it within a transaction. Throws Error when a number is missing in the sequence.
void Migrate(SQLite::Database& connection, int version, std::span<const EmbeddedFile> migrations);

}  // namespace oomdb::schema

#endif  // OOMDB_SCHEMA_MIGRATIONS_H_
