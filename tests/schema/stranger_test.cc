// A database file from a stranger: nothing in it runs, nothing beside it is changed, and no number
// in it makes a view fail.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "queries/catalogue.h"
#include "queries/materialize.h"
#include "schema/bounded_sums.h"
#include "schema/merge.h"
#include "schema/migrations.h"
#include "schema/number_limits.h"
#include "schema/query.h"
#include "tests/schema/sample_facts.h"

namespace oomdb::schema {
namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

std::span<const ViewDefinition> Views() { return queries::Catalogue::Get().views(); }

SQLite::Database Raw(const std::string& path) {
  return SQLite::Database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
}

std::string Bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

class StrangerTest : public testing::Test {
 protected:
  void Make() {
    fs::remove(path_);
    Database database = Database::OpenForIngest(path_, Views());
    WriteSample(database, "a");
  }

  // Changes the text of a table or an index as sqlite3 lets one do.
  void Rewrite(const std::string& name, const std::string& from, const std::string& to) {
    SQLite::Database raw = Raw(path_);
    raw.exec("PRAGMA writable_schema = ON");
    SQLite::Statement update(
        raw, "UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE name = ? AND sql LIKE ?");
    update.bind(1, from);
    update.bind(2, to);
    update.bind(3, name);
    update.bind(4, "%" + from + "%");
    ASSERT_EQ(update.exec(), 1) << name << ": no " << from;
    raw.exec("PRAGMA writable_schema = RESET");
  }

  // The message of the refusal for reading; writing must be refused with the same. "": neither is.
  std::string Refusal() {
    std::string refusals[2];
    for (const bool writes : {false, true}) {
      try {
        writes ? Database::OpenForIngest(path_, Views()) : Database::OpenReadOnly(path_, Views());
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::kForeignFile) << error.what();
        refusals[writes] = error.what();
      }
    }
    EXPECT_EQ(refusals[0], refusals[1]);
    return refusals[0];
  }

  TestFolder folder_;
  const std::string path_ = folder_.File("oom.db");
};

TEST_F(StrangerTest, ATableThatIsNotOursIsRefusedWithWhatDiffers) {
  const struct {
    const char* name;
    const char* from;
    const char* to;
    const char* what;
  } kCases[] = {
      {"captures", "path TEXT NOT NULL,",
       "path TEXT NOT NULL CHECK (hex(zeroblob(900000000)) > ''),",
       "its table captures has PATH TEXT NOT NULL CHECK ( HEX ("},
      {"captures", "UNIQUE (content_hash, run)",
       "UNIQUE (content_hash, run), CHECK (length(path) > 0)",
       "its table captures has CHECK ( LENGTH ( PATH ) > 0 )"},
      {"captures", "path TEXT NOT NULL,", "path TEXT NOT NULL DEFAULT (randomblob(9)),",
       "its table captures has PATH TEXT NOT NULL DEFAULT"},
      {"captures", "path TEXT NOT NULL,", "path TEXT NOT NULL COLLATE NOCASE,",
       "its table captures has PATH TEXT NOT NULL COLLATE"},
      {"stored_plans", ") STRICT", ")", "its table stored_plans is not STRICT"},
      {"stored_plans", "replica_count INTEGER,", "",
       "its table stored_plans lacks the column replica_count"},
      {"captures_by_run", "(run, host)", "(run, host) WHERE run > ''",
       "its index captures_by_run on captures computes"},
      {"captures_by_run", "(run, host)", "(run, host || run)",
       "its index captures_by_run on captures computes"},
      {"captures_by_run", "(run, host)", "(CASE WHEN run THEN host END)",
       "its index captures_by_run on captures computes"},
  };
  for (const auto& c : kCases) {
    Make();
    Rewrite(c.name, c.from, c.to);
    EXPECT_THAT(Refusal(), HasSubstr(c.what)) << c.to;
  }
}

TEST_F(StrangerTest, AMissingTableIsNamed) {
  Make();
  Raw(path_).exec("DROP TABLE stored_gap_calls");
  EXPECT_THAT(Refusal(), HasSubstr("its table stored_gap_calls is missing"));
}

TEST_F(StrangerTest, WhatPeopleAddStays) {
  Make();
  Raw(path_).exec(
      "CREATE TABLE notes (text TEXT CHECK (length(text) < 9)); CREATE INDEX short ON notes "
      "(lower(text)); CREATE INDEX mine ON captures (path COLLATE NOCASE DESC, bytes); "
      "ALTER "
      "TABLE captures ADD COLUMN remark TEXT; ANALYZE");
  EXPECT_EQ(Refusal(), "");
  Database database = Database::OpenForIngest(path_, Views());
  WriteSample(database, "b");
  EXPECT_EQ(QueryInt(database, "SELECT COUNT(*) FROM captures"), 2);
}

// However its columns stand: a file of the first version, and the same once it is migrated.
TEST_F(StrangerTest, EveryVersionOfOursIsKnown) {
  {
    SQLite::Database raw = Raw(path_);
    raw.exec(std::string(FirstSchemaSql()));
    raw.exec("PRAGMA application_id = " + std::to_string(kApplicationId));
    raw.exec("PRAGMA user_version = 1");
  }
  EXPECT_EQ(Refusal(), "");  // Opened for writing, it is migrated.
  EXPECT_EQ(Raw(path_).execAndGet("PRAGMA user_version").getInt(), SchemaVersion());
  EXPECT_EQ(Refusal(), "");
  Rewrite("oom_events", "rank_name TEXT", "rank_name TEXT CHECK (length(hex(rank_name)) > 1)");
  EXPECT_THAT(Refusal(), HasSubstr("its table oom_events has RANK_NAME TEXT CHECK"));
}

TEST_F(StrangerTest, AnOldFileIsLookedAtBeforeItIsMigrated) {
  {
    SQLite::Database raw = Raw(path_);
    raw.exec(std::string(FirstSchemaSql()));
    raw.exec("PRAGMA application_id = " + std::to_string(kApplicationId));
    raw.exec("PRAGMA user_version = 1");
  }
  Rewrite("captures", "host TEXT,", "host TEXT CHECK (length(hex(host)) > 1),");
  EXPECT_THAT(Refusal(), HasSubstr("its table captures has HOST TEXT CHECK"));
}

// What a writer leaves when it is killed: `statement` is half done, the files are as they are then.
void LeaveUnfinished(const std::string& from, const std::string& to, const std::string& beside,
                     const std::string& statement) {
  SQLite::Database raw = Raw(from);
  raw.exec(statement);
  fs::copy_file(from, to);
  fs::copy_file(from + beside, to + beside);
}

TEST_F(StrangerTest, ReadingRollsBackInACopy) {
  Make();
  const std::string killed = folder_.File("killed.db");
  LeaveUnfinished(path_, killed, "-journal",
                  "PRAGMA cache_size = 1; BEGIN; UPDATE captures SET path = 'half'; CREATE TABLE "
                  "filling AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE "
                  "i < 300) SELECT i, zeroblob(4000) FROM n");
  const std::string before = Bytes(killed);
  const std::string journal = Bytes(killed + "-journal");
  ASSERT_FALSE(journal.empty());
  {
    Database database = Database::OpenReadOnly(killed, Views());
    EXPECT_THAT(database.notice(), HasSubstr("killed.db-journal"));
    EXPECT_EQ(QueryInt(database, "SELECT COUNT(*) FROM captures WHERE path = 'half'"), 0);
    EXPECT_EQ(QueryInt(database, "SELECT COUNT(*) FROM captures"), 1);
  }
  EXPECT_EQ(Bytes(killed), before);
  EXPECT_EQ(Bytes(killed + "-journal"), journal);
  // Whose file it is to write does it in place.
  Database::OpenForIngest(killed, Views());
  EXPECT_NE(Bytes(killed), before);
  EXPECT_EQ(Database::OpenReadOnly(killed, Views()).notice(), "");
}

TEST_F(StrangerTest, ReadingTakesAWriteAheadLogInInACopy) {
  Make();
  const std::string killed = folder_.File("killed.db");
  LeaveUnfinished(path_, killed, "-wal",
                  "PRAGMA journal_mode = WAL; UPDATE captures SET path = 'newest'");
  const std::string before = Bytes(killed);
  const std::string wal = Bytes(killed + "-wal");
  ASSERT_FALSE(wal.empty());
  {
    Database database = Database::OpenReadOnly(killed, Views());
    EXPECT_EQ(QueryText(database, "SELECT path FROM captures"), "newest");
  }
  EXPECT_EQ(Bytes(killed), before);
  EXPECT_EQ(Bytes(killed + "-wal"), wal);
  EXPECT_FALSE(fs::exists(killed + "-shm"));
  // Closed by its writer: nothing is beside it, and nothing comes.
  Database database = Database::OpenReadOnly(path_, Views());
  EXPECT_EQ(database.notice(), "");
  EXPECT_EQ(QueryText(database, "SELECT path FROM captures"), "newest");
  EXPECT_FALSE(fs::exists(path_ + "-wal"));
  EXPECT_FALSE(fs::exists(path_ + "-shm"));
}

// Every number of every table, as far as it goes.
void MakeExtreme(const std::string& path, int64_t number) {
  SQLite::Database raw = Raw(path);
  SQLite::Statement columns(
      raw,
      "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = "
      "'table' AND m.name <> 'settings' AND c.type = 'INTEGER' AND c.pk = 0 AND c.name NOT LIKE "
      "'%!_id' ESCAPE '!'");
  while (columns.executeStep()) {
    const std::string column = columns.getColumn(1).getString();
    const std::string sql =
        "UPDATE " + columns.getColumn(0).getString() + " SET " + column + " = " +
        (number == kLeast ? "-9223372036854775807 - 1" : std::to_string(number));
    // Columns that hold a flag, too: nothing checks them.
    raw.exec(sql + " WHERE " + column + " IS NOT NULL");
  }
}

class ExtremeNumbersTest : public StrangerTest, public testing::WithParamInterface<int64_t> {};

TEST_P(ExtremeNumbersTest, NoViewFails) {
  Make();
  {
    Database database = Database::OpenForIngest(path_, Views());
    for (const char* hash : {"b", "c"}) WriteSample(database, hash, hash);
  }
  MakeExtreme(path_, GetParam());
  SQLite::Database plain(path_, SQLite::OPEN_READONLY);
  for (const ViewDefinition& view : Views()) {
    EXPECT_NO_THROW({
      SQLite::Statement query(plain, "SELECT * FROM " + view.name);
      while (query.executeStep()) {
      }
    }) << view.name;
  }
  // As a report asks: the blocks once, as tables.
  Database ours = Database::OpenReadOnly(path_, Views());
  ASSERT_NO_THROW(queries::MaterializeRules(ours, queries::Catalogue::Get()));
  for (const ViewDefinition& view : Views())
    EXPECT_NO_THROW(Query(ours, "SELECT * FROM " + view.name)) << view.name;
}

TEST_P(ExtremeNumbersTest, AMergeCapsThem) {
  Make();
  MakeExtreme(path_, GetParam());
  const std::string merged = folder_.File("merged.db");
  {
    Database out = Database::OpenForIngest(merged, Views());
    Database in = Database::OpenReadOnly(path_, {});
    MergeDatabase(out, in);
  }
  SQLite::Database raw = Raw(merged);
  const int64_t sign = GetParam() > 0 ? 1 : -1;
  EXPECT_EQ(raw.execAndGet("SELECT bytes FROM stored_plan_allocations").getInt64(),
            sign * kMostOfAnything);
  EXPECT_EQ(raw.execAndGet("SELECT ingested_unix_ns FROM captures").getInt64(), sign * kMostNs);
}

INSTANTIATE_TEST_SUITE_P(Ends, ExtremeNumbersTest, testing::Values(kLargest, kLeast));

TEST(BoundedSumsTest, OursAreExactAndEndAtTheEnds) {
  Database database = Database::Throwaway({});
  const auto one = [&](const std::string& sql) { return Query(database, sql).rows.at(0).at(0); };
  const std::string rows = " FROM (SELECT 9223372036854775807 AS x UNION ALL SELECT ";
  EXPECT_EQ(one("SELECT sum(x)" + rows + "1)"), Value(kLargest));
  EXPECT_EQ(one("SELECT sum(-x)" + rows + "9)"), Value(kLeast));
  EXPECT_EQ(one("SELECT sum(x)" + rows + "1 UNION ALL SELECT -3)"), Value(kLargest - 2));
  EXPECT_EQ(one("SELECT sum(x) FROM (SELECT 1 AS x WHERE 0)"), Value());
  EXPECT_EQ(one("SELECT sum(x) FROM (SELECT NULL AS x UNION ALL SELECT 2)"), Value(int64_t{2}));
  EXPECT_EQ(one("SELECT sum(x) FROM (SELECT 1 AS x UNION ALL SELECT 0.5)"), Value(1.5));
  EXPECT_EQ(one("SELECT sum(x) FROM (SELECT '2' AS x UNION ALL SELECT 3)"), Value(int64_t{5}));
  EXPECT_EQ(one("SELECT abs(-9223372036854775807 - 1)"), Value(kLargest));
  EXPECT_EQ(one("SELECT abs(-2.5)"), Value(2.5));
  EXPECT_EQ(one("SELECT sum(x) FILTER (WHERE x > 1) FROM (SELECT 1 AS x UNION ALL SELECT 5)"),
            Value(int64_t{5}));
  // Out of the window it goes as it came in.
  EXPECT_EQ(one("SELECT group_concat(s) FROM (SELECT sum(x) OVER (ORDER BY i ROWS 1 PRECEDING) AS "
                "s FROM (SELECT 1 AS i, 9223372036854775807 AS x UNION ALL SELECT 2, 5 UNION ALL "
                "SELECT 3, -7 UNION ALL SELECT 4, 1))"),
            Value("9223372036854775807,9223372036854775807,-2,-6"));
}

TEST(BoundedSumsTest, StoredTextsAreBounded) {
  EXPECT_EQ(WithBoundedSums("SELECT SUM(a.b) FROM a"),
            "SELECT CAST(SUM(1e0 * (a.b)) AS BIGINT) FROM a");
  EXPECT_EQ(WithBoundedSums("SELECT SUM(a) OVER w, 'SUM(x)' -- SUM(y)\nFROM a"),
            "SELECT CAST(SUM(1e0 * (a)) OVER w AS BIGINT), 'SUM(x)' -- SUM(y)\nFROM a");
  EXPECT_EQ(WithBoundedSums("SUM(SUM(a)) FILTER (WHERE b) OVER (PARTITION BY (c)) + 1"),
            "CAST(SUM(1e0 * (CAST(SUM(1e0 * (a)) AS BIGINT))) FILTER (WHERE b) OVER (PARTITION BY "
            "(c)) AS BIGINT) + 1");
  EXPECT_EQ(WithBoundedSums("ABS(a - b)"),
            "(CASE WHEN (a - b) < 0 THEN -(a - b) ELSE (a - b) END)");
}

}  // namespace
}  // namespace oomdb::schema
