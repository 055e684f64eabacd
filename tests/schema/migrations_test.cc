#include "schema/migrations.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/error.h"
#include "schema/database.h"

namespace oomdb {
namespace {

// Tables, columns and indexes, whatever the spacing and the comments.
std::vector<std::string> Structure(SQLite::Database& connection) {
  std::vector<std::string> structure;
  SQLite::Statement query(
      connection,
      "SELECT m.name || '.' || c.name || ' ' || c.type || ' ' || c.\"notnull\" || ' ' || c.pk "
      "FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' UNION ALL SELECT "
      "'index ' || name FROM sqlite_master WHERE type = 'index' ORDER BY 1");
  while (query.executeStep()) structure.push_back(query.getColumn(0).getString());
  return structure;
}

TEST(MigrationsTest, AppliesInOrderWhatIsMissing) {
  const EmbeddedFile migrations[] = {
      {"migrations/0002_colour.sql", "ALTER TABLE t ADD COLUMN colour TEXT;"},
      {"migrations/0003_grey.sql",
       "UPDATE t SET colour = 'grey'; CREATE INDEX by_colour ON t (colour);"},
  };
  for (const int version : {1, 2, 3}) {
    SQLite::Database connection(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    connection.exec("CREATE TABLE t (a INTEGER)");
    if (version >= 2) connection.exec("ALTER TABLE t ADD COLUMN colour TEXT");
    connection.exec("INSERT INTO t (a) VALUES (1)");
    Migrate(connection, version, migrations);
    if (version == 3) {
      EXPECT_TRUE(connection.execAndGet("SELECT colour FROM t").isNull());  // Not applied again.
    } else {
      EXPECT_EQ(connection.execAndGet("SELECT colour FROM t").getString(), "grey");
      EXPECT_EQ(connection.execAndGet("PRAGMA user_version").getInt(), 3);
    }
  }
}

TEST(MigrationsTest, RefusesGapsAndBadNames) {
  SQLite::Database connection(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  const EmbeddedFile gap[] = {{"migrations/0003_grey.sql", "SELECT 1;"}};
  EXPECT_THROW(Migrate(connection, 1, gap), Error);
  EXPECT_EQ(MigrationNumber("migrations/0012_x.sql"), 12);
  for (const char* name :
       {"migrations/x.sql", "migrations/0001_x.sql", "migrations/0002.sql", "0002"}) {
    EXPECT_THROW(MigrationNumber(name), Error) << name;
  }
}

// schema.sql is today's truth, first_schema.sql the first version's: the migrations must lead from
// one to the other.
TEST(MigrationsTest, OldestVersionBecomesToday) {
  std::ifstream file(OOMDB_SOURCE_DIR "/tests/schema/first_schema.sql");
  std::stringstream oldest;
  oldest << file.rdbuf();
  ASSERT_FALSE(oldest.str().empty());
  SQLite::Database migrated(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  migrated.exec(oldest.str());
  Migrate(migrated, 1, Migrations());
  SQLite::Database today(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  today.exec(std::string(SchemaSql()));
  EXPECT_EQ(Structure(migrated), Structure(today));
}

}  // namespace
}  // namespace oomdb
