#include "schema/migrations.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <charconv>
#include <string>

#include "base/error.h"

namespace oomdb::schema {

// Generated: schema.sql, first_schema.sql and settings.sql.
std::span<const EmbeddedFile> EmbeddedSchema();
std::span<const EmbeddedFile> EmbeddedMigrations();

namespace {

std::string_view SchemaFile(std::string_view name) {
  for (const EmbeddedFile& file : EmbeddedSchema()) {
    if (file.path == name) return file.content;
  }
  return {};
}

}  // namespace

std::string_view SchemaSql() { return SchemaFile("schema.sql"); }

std::string_view FirstSchemaSql() { return SchemaFile("first_schema.sql"); }

std::string_view SettingsSql() { return SchemaFile("settings.sql"); }

std::span<const EmbeddedFile> Migrations() { return EmbeddedMigrations(); }

int MigrationNumber(std::string_view path) {
  const size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  int number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end == name.data() + name.size() || *end != '_' || number < 2) {
    throw Error(fmt::format("migration {}: the name must be NNNN_what.sql, from 0002 on", path));
  }
  return number;
}

int SchemaVersion() {
  const std::span<const EmbeddedFile> migrations = Migrations();
  return migrations.empty() ? 1 : MigrationNumber(migrations.back().path);
}

void Migrate(SQLite::Database& connection, int version, std::span<const EmbeddedFile> migrations) {
  for (const EmbeddedFile& migration : migrations) {
    const int number = MigrationNumber(migration.path);
    if (number <= version) continue;
    if (number != version + 1) {
      throw Error(fmt::format("migration {}: the one to version {} is missing", migration.path,
                              version + 1));
    }
    connection.exec(std::string(migration.content));
    connection.exec(fmt::format("PRAGMA user_version = {}", number));
    version = number;
  }
}

}  // namespace oomdb::schema
