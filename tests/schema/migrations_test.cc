#include "schema/migrations.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/error.h"
#include "schema/database.h"

namespace oomdb::schema {
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

std::string FirstSchema() {
  std::ifstream file(OOMDB_SOURCE_DIR "/schema/first_schema.sql");
  std::stringstream content;
  content << file.rdbuf();
  EXPECT_FALSE(content.str().empty());
  return content.str();
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
  SQLite::Database migrated(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  migrated.exec(FirstSchema());
  Migrate(migrated, 1, Migrations());
  SQLite::Database today(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  today.exec(std::string(SchemaSql()));
  EXPECT_EQ(Structure(migrated), Structure(today));
}

TEST(MigrationsTest, CodesOfMessagesBecomeKinds) {
  SQLite::Database database(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  database.exec(FirstSchema());
  database.exec(
      "INSERT INTO captures (capture_id, path, content_hash, bytes, kind, status, "
      "ingested_unix_ns, ingester_version) VALUES (1, 'a.log', 'a', 9, 'oom_log', 'complete', 0, "
      "'0.1'); INSERT INTO oom_events (oom_event_id, capture_id, kind) VALUES (1, 1, 'T1'), (2, 1, "
      "'A2'), (3, 1, 'D4x'), (4, 1, 'of a later program'), (5, 1, NULL)");
  Migrate(database, 1, Migrations());
  std::vector<std::string> rows;
  SQLite::Statement query(database,
                          "SELECT COALESCE(kind, 'NULL') || ' ' || COALESCE(form, 'NULL') FROM "
                          "oom_events ORDER BY oom_event_id");
  while (query.executeStep()) rows.push_back(query.getColumn(0).getString());
  EXPECT_THAT(rows, testing::ElementsAre("tpu_memory_exceeded T1", "bfc_request_failed A2",
                                         "gpu_driver_out_of_memory D4x",
                                         "of a later program of a later program", "NULL NULL"));
}

TEST(MigrationsTest, AContentMayBeOfSeveralRuns) {
  SQLite::Database database(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  database.exec(FirstSchema());
  const char* const insert =
      "INSERT INTO captures (path, run, host, content_hash, bytes, kind, status, jax_version, "
      "ingested_unix_ns, ingester_version) VALUES ('a.log', ?, 'h', 'same', 9, 'oom_log', "
      "'complete', '0.7', 5, '0.1')";
  const auto add = [&](const std::string& run) {
    SQLite::Statement statement(database, insert);
    statement.bind(1, run);
    statement.exec();
  };
  add("main");
  // As stored by a program of that version.
  database.exec(
      "CREATE VIEW capture_paths AS SELECT c.path FROM captures c;"
      "CREATE VIEW started AS SELECT s.capture_id FROM stored_module_starts s JOIN "
      "stored_start_steps t ON t.module_id = s.module_id");
  EXPECT_ANY_THROW(add("pr"));
  Migrate(database, 1, Migrations());
  add("pr");
  EXPECT_ANY_THROW(add("pr"));
  EXPECT_EQ(database
                .execAndGet("SELECT capture_id || run || host || content_hash || bytes || kind || "
                            "jax_version || ingested_unix_ns || ingester_version FROM captures "
                            "ORDER BY capture_id")
                .getString(),
            "1mainhsame9oom_log0.750.1");
  EXPECT_EQ(database.execAndGet("SELECT COUNT(*) FROM capture_paths").getInt(), 2);
}

// Four starts at 100, 300, 200 and 500: the floor is 100, 200, 200, 500.
TEST(MigrationsTest, StepsOfStartsBecomeRisesOfTheFloor) {
  SQLite::Database database(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  database.exec(FirstSchema());
  database.exec(
      "PRAGMA foreign_keys = OFF; INSERT INTO stored_executions (execution_id, capture_id, "
      "device_id, module_id, sequence, start_ns, end_ns, failed, in_use_at_start_bytes) VALUES (1, "
      "1, 1, 1, 1, 10, 11, 0, 100), (2, 1, 1, 1, 2, 20, 21, 0, 300), (3, 1, 1, 1, 3, 30, 31, 0, "
      "200), (4, 1, 1, 1, 4, 40, 41, 0, 500); INSERT INTO stored_module_starts (capture_id, "
      "device_id, module_id, executions, first_start_ns, last_start_ns, first_in_use_bytes, "
      "last_in_use_bytes, survivor_bytes) VALUES (1, 1, 1, 4, 10, 40, 100, 500, 400); INSERT INTO "
      "stored_start_steps (capture_id, device_id, module_id, place, step_bytes, kept_bytes) VALUES "
      "(1, 1, 1, 1, 200, 70), (1, 1, 1, 2, -100, 0), (1, 1, 1, 3, 300, 290)");
  Migrate(database, 1, Migrations());
  std::vector<std::string> rows;
  SQLite::Statement query(database,
                          "SELECT place || ': ' || rise_bytes || ', ' || kept_bytes FROM "
                          "stored_start_rises UNION ALL SELECT floor_rise_bytes || ' fell ' || "
                          "fell_before FROM stored_module_starts ORDER BY 1");
  while (query.executeStep()) rows.push_back(query.getColumn(0).getString());
  EXPECT_THAT(rows, testing::ElementsAre("1: 100, 70", "3: 300, 290", "400 fell 0"));
}

}  // namespace
}  // namespace oomdb::schema
