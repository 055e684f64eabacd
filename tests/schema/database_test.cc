#include "schema/database.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "queries/catalogue.h"
#include "schema/migrations.h"
#include "schema/query.h"
#include "tests/schema/sample_facts.h"

namespace oomdb::schema {
namespace {

namespace fs = std::filesystem;

using testing::AllOf;
using testing::HasSubstr;

std::span<const ViewDefinition> Views() { return queries::Catalogue::Get().views(); }

// The error that `call` throws; fails when it throws none.
template <typename Call>
Error ErrorOf(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return Error("none");
}

SQLite::Database Raw(const std::string& path) {
  return SQLite::Database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
}

class DatabaseTest : public testing::Test {
 protected:
  // A database with one capture.
  void MakeDatabase() {
    Database database = Database::OpenForIngest(path_, Views());
    WriteSample(database, "a");
  }
  TestFolder folder_;
  const std::string path_ = folder_.File("oom.db");
};

TEST_F(DatabaseTest, AFolderWithoutRoomForItsJournalIsRefused) {
  if (::geteuid() == 0) GTEST_SKIP() << "root writes everywhere";
  MakeDatabase();
  fs::permissions(fs::path(path_).parent_path(), fs::perms::owner_read | fs::perms::owner_exec);
  const Error error = ErrorOf([&] { Database::OpenForIngest(path_, Views()); });
  EXPECT_THAT(error.what(), AllOf(HasSubstr("oom.db: can't be written"), HasSubstr("journal")));
  EXPECT_NO_THROW(Database::OpenReadOnly(path_, Views()));
  fs::permissions(fs::path(path_).parent_path(), fs::perms::owner_all);
}

TEST_F(DatabaseTest, MarksItsFiles) {
  MakeDatabase();
  SQLite::Database raw = Raw(path_);
  EXPECT_EQ(raw.execAndGet("PRAGMA application_id").getInt(), kApplicationId);
  EXPECT_EQ(raw.execAndGet("PRAGMA user_version").getInt(), SchemaVersion());
  EXPECT_STREQ(raw.execAndGet("PRAGMA journal_mode").getText(), "delete");
  // Stored views work in any client.
  EXPECT_EQ(raw.execAndGet("SELECT COUNT(*) FROM modules").getInt(), 1);
  EXPECT_NO_THROW(raw.exec("SELECT * FROM findings"));
}

TEST_F(DatabaseTest, RefusesWhatIsNotOurs) {
  std::ofstream(path_) << "<html>not a database, and longer than a header would be, since SQLite "
                          "takes an empty file</html>";
  for (const bool writing : {true, false}) {
    const Error error = ErrorOf([&] {
      writing ? Database::OpenForIngest(path_, Views()) : Database::OpenReadOnly(path_, Views());
    });
    EXPECT_EQ(error.code(), ExitCode::kForeignFile);
    EXPECT_THAT(error.what(), HasSubstr("not a database"));
  }
  const std::string other = folder_.File("other.db");
  Raw(other).exec("CREATE TABLE precious (a)");
  const Error error = ErrorOf([&] { Database::OpenForIngest(other, Views()); });
  EXPECT_EQ(error.code(), ExitCode::kForeignFile);
  EXPECT_THAT(error.what(), HasSubstr("another program"));
  EXPECT_EQ(Raw(other).execAndGet("SELECT COUNT(*) FROM sqlite_master").getInt(), 1);
}

// What somebody else put into a file of ours never runs: it is refused, for reading and writing.
TEST_F(DatabaseTest, RefusesWhatRunsByItself) {
  const struct {
    const char* sql;
    const char* what;
  } kCases[] = {
      {"CREATE TRIGGER tr AFTER INSERT ON captures BEGIN DELETE FROM captures; END",
       "it has a trigger, tr"},
      {"DROP TABLE settings; CREATE VIEW settings AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL "
       "SELECT x + 1 FROM c) SELECT x AS name, x AS setting, x AS meaning FROM c",
       "its table settings is a view"},
      {"ALTER TABLE captures ADD COLUMN more TEXT AS (hex(zeroblob(1000000000)))",
       "its table captures has MORE TEXT AS ("},
  };
  for (const auto& c : kCases) {
    fs::remove(path_);
    MakeDatabase();
    Raw(path_).exec(c.sql);
    for (const bool writes : {false, true}) {
      const Error error = ErrorOf([&] {
        writes ? Database::OpenForIngest(path_, Views()) : Database::OpenReadOnly(path_, Views());
      });
      EXPECT_EQ(error.code(), ExitCode::kForeignFile) << c.sql;
      EXPECT_THAT(error.what(), HasSubstr(c.what));
    }
  }
}

// A user's own tables, views and indexes are no harm.
TEST_F(DatabaseTest, WhatPeopleAddStays) {
  MakeDatabase();
  Raw(path_).exec(
      "CREATE TABLE notes (text TEXT); CREATE VIEW mine AS SELECT name FROM modules; CREATE INDEX "
      "more ON stored_modules (name); ANALYZE");
  EXPECT_NO_THROW(Database::OpenReadOnly(path_, Views()));
  EXPECT_NO_THROW(Database::OpenForIngest(path_, Views()));
  EXPECT_EQ(Raw(path_).execAndGet("SELECT COUNT(*) FROM mine").getInt(), 1);
}

// A journal that names a super-journal has SQLite delete the file of that name.
TEST_F(DatabaseTest, AJournalThatNamesAnotherFileIsRefused) {
  MakeDatabase();
  const std::string victim = folder_.File("victim");
  std::ofstream(victim) << "precious";
  const std::string magic("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
  const auto number = [](uint32_t n) {
    return std::string{static_cast<char>(n >> 24), static_cast<char>(n >> 16),
                       static_cast<char>(n >> 8), static_cast<char>(n)};
  };
  uint32_t checksum = 0;
  for (const char byte : victim) checksum += static_cast<uint8_t>(byte);
  // One page in it, so that it is hot; then the page of the lock, the name, its length and sum.
  std::string page(4096, '\0');
  std::string header = magic + number(1) + number(7) + number(1) + number(512) + number(4096);
  header.resize(512);
  std::ofstream(path_ + "-journal", std::ios::binary)
      << header << number(1) << page << number(7) << number(0x40000000 / 4096 + 1) << victim
      << number(static_cast<uint32_t>(victim.size())) << number(checksum) << magic;
  for (const bool writes : {false, true}) {
    const Error error = ErrorOf([&] {
      writes ? Database::OpenForIngest(path_, Views()) : Database::OpenReadOnly(path_, Views());
    });
    EXPECT_EQ(error.code(), ExitCode::kForeignFile);
    EXPECT_THAT(error.what(), HasSubstr("oom.db-journal names another file"));
  }
  EXPECT_TRUE(fs::exists(victim));
  EXPECT_TRUE(fs::exists(path_ + "-journal"));
}

TEST_F(DatabaseTest, RefusesANewerFileNamingBothVersions) {
  MakeDatabase();
  Raw(path_).exec("PRAGMA user_version = 900");
  for (const bool writing : {true, false}) {
    const Error error = ErrorOf([&] {
      writing ? Database::OpenForIngest(path_, Views()) : Database::OpenReadOnly(path_, Views());
    });
    EXPECT_EQ(error.code(), ExitCode::kForeignFile);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("version 900"),
                                    HasSubstr("knows " + std::to_string(SchemaVersion()))));
  }
}

TEST_F(DatabaseTest, MissingFilesAndFolders) {
  EXPECT_THAT(ErrorOf([&] { Database::OpenReadOnly(path_, Views()); }).what(),
              HasSubstr("no such database"));
  EXPECT_THAT(ErrorOf([&] { Database::OpenForIngest(path_, Views(), true); }).what(),
              HasSubstr("no such database"));
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_THAT(ErrorOf([&] { Database::OpenForIngest(folder_.File(""), Views()); }).what(),
              HasSubstr("folder"));
  EXPECT_THAT(
      ErrorOf([&] { Database::OpenForIngest(folder_.File("no/such/oom.db"), Views()); }).what(),
      HasSubstr("can't be opened"));
}

TEST_F(DatabaseTest, StoredViewsAreRenewedWhenTheirTextChanged) {
  MakeDatabase();
  Raw(path_).exec(
      "DROP VIEW modules; CREATE VIEW modules AS SELECT 'stale' AS name; CREATE VIEW mine AS "
      "SELECT 1 AS a");
  const int before = Raw(path_).execAndGet("PRAGMA schema_version").getInt();
  Database::OpenForIngest(path_, Views());
  EXPECT_EQ(std::string(Raw(path_).execAndGet("SELECT name FROM modules").getText()), "jit_step");
  EXPECT_EQ(Raw(path_).execAndGet("SELECT a FROM mine").getInt(), 1);  // The user's own stays.
  // Nothing is rewritten when nothing changed.
  const int renewed = Raw(path_).execAndGet("PRAGMA schema_version").getInt();
  EXPECT_GT(renewed, before);
  Database::OpenForIngest(path_, Views());
  // A temporary table for the settings doesn't count: it is not in the file.
  EXPECT_EQ(Raw(path_).execAndGet("PRAGMA schema_version").getInt(), renewed);
}

TEST_F(DatabaseTest, ReadingUsesOurViewsWhateverTheFileSays) {
  MakeDatabase();
  Raw(path_).exec(
      "DROP VIEW modules; CREATE VIEW modules AS SELECT 'a lie' AS name, 1 AS module_id");
  Database database = Database::OpenReadOnly(path_, Views());
  EXPECT_EQ(QueryText(database, "SELECT name FROM modules"), "jit_step");
  EXPECT_THROW(database.connection().exec("DELETE FROM main.captures"), SQLite::Exception);
}

TEST_F(DatabaseTest, SettingsHoldForOneCall) {
  MakeDatabase();
  Raw(path_).exec("UPDATE settings SET setting = 4242 WHERE name = 'growth_min_bytes'");
  const std::string ask = "SELECT setting FROM settings WHERE name = 'growth_min_bytes'";
  // Seen through a view, as the rules see them.
  const std::vector<ViewDefinition> views = {{"seen", ask}};
  {
    Database database = Database::OpenReadOnly(path_, views, {{"growth_min_bytes", 7}});
    EXPECT_EQ(QueryInt(database, "SELECT setting FROM seen"), 7);
  }
  {
    Database database = Database::OpenReadOnly(path_, views);
    EXPECT_EQ(QueryInt(database, "SELECT setting FROM seen"), 4242);
  }
  Database::OpenForIngest(path_, Views());  // Seeds the missing ones only.
  EXPECT_EQ(Raw(path_).execAndGet(ask).getInt(), 4242);
  EXPECT_EQ(ErrorOf([&] {
              Database::OpenReadOnly(path_, views, {{"no_such", 1}});
            }).code(),
            ExitCode::kUsage);
  Database throwaway = Database::Throwaway(views, {{"growth_min_bytes", 8}});
  EXPECT_EQ(QueryInt(throwaway, "SELECT setting FROM seen"), 8);
}

TEST_F(DatabaseTest, LazyViewsAreMadeWhenMentioned) {
  const std::vector<ViewDefinition> views = {{"one", "SELECT 1 AS number"},
                                             {"two", "SELECT 2 * number AS number FROM one"},
                                             {"other", "SELECT 3 AS number"}};
  Database database = Database::ThrowawayWithLazyViews(views, {{"growth_min_bytes", 8}});
  const auto made = [&] {
    std::string names;
    for (const Row& row : Query(database,
                                "SELECT name FROM sqlite_master WHERE type = 'view' "
                                "ORDER BY name")
                              .rows)
      names += std::get<std::string>(row[0]) + " ";
    return names;
  };
  EXPECT_EQ(made(), "");
  EXPECT_EQ(std::get<int64_t>(Query(database, "SELECT number FROM two").rows[0][0]), 2);
  EXPECT_EQ(made(), "one two ");
  database.ForgetView("other");
  EXPECT_ANY_THROW(Query(database, "SELECT number FROM other"));
  EXPECT_EQ(QueryInt(database, "SELECT setting FROM settings WHERE name = 'growth_min_bytes'"), 8);
}

TEST_F(DatabaseTest, SettingsThatAFileLacksAreThere) {
  MakeDatabase();
  Raw(path_).exec("DELETE FROM settings");
  Database database = Database::OpenReadOnly(path_, Views());
  Database defaults = Database::Throwaway(Views());
  EXPECT_EQ(QueryInt(database, "SELECT COUNT(*) FROM settings"),
            QueryInt(defaults, "SELECT COUNT(*) FROM settings"));
}

TEST_F(DatabaseTest, OnlyNetworkFileSystemsAreRefused) {
  EXPECT_EQ(NetworkFileSystemName(0x6969), "NFS");
  EXPECT_EQ(NetworkFileSystemName(0xff534d42), "SMB");
  EXPECT_EQ(NetworkFileSystemName(0xffffffffff534d42),
            "SMB");  // Where f_type is a negative number.
  EXPECT_EQ(NetworkFileSystemName(0xfe534d42), "SMB");
  EXPECT_EQ(NetworkFileSystemName(0x517b), "SMB");
  EXPECT_EQ(NetworkFileSystemName(0x0bd00bd0), "Lustre");
  for (const uint64_t local :
       {0xef53, 0x794c7630, 0x01021994, 0x01021997, 0x65735546, 0x58465342}) {
    EXPECT_EQ(NetworkFileSystemName(local), "")
        << std::hex << local;  // ext4, overlay, tmpfs, 9p, fuse, xfs
  }
}

}  // namespace
}  // namespace oomdb::schema
