#include "ingest/log/kinds.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "ingest/log/forms.h"
#include "queries/catalogue.h"
#include "schema/database.h"
#include "schema/migrations.h"
#include "schema/query.h"

namespace oomdb::ingest {
namespace {

namespace fs = std::filesystem;

// form and kind, a line each.
std::set<std::string> Lines(const schema::Rows& rows) {
  std::set<std::string> lines;
  for (const schema::Row& row : rows.rows)
    lines.insert(std::get<std::string>(row[0]) + ' ' + std::get<std::string>(row[1]));
  return lines;
}

std::set<std::string> OwnLines() {
  std::set<std::string> lines;
  for (const KindOfForm& one : KindsOfForms())
    lines.insert(std::string(one.form) + ' ' + std::string(one.kind));
  return lines;
}

TEST(KindsTest, EveryFormHasOne) {
  for (const Form& form : Forms()) EXPECT_NE(KindOf(form.id), "") << form.id;
  EXPECT_EQ(KindOf("T0"), "");
  EXPECT_EQ(OwnLines().size(), KindsOfForms().size());
}

TEST(KindsTest, TheViewListsTheSame) {
  schema::Database database = schema::Database::Throwaway(queries::Catalogue::Get().views());
  const schema::Rows rows = schema::Query(database, "SELECT form, kind FROM oom_kinds");
  EXPECT_EQ(Lines(rows), OwnLines());
  EXPECT_EQ(rows.rows.size(), KindsOfForms().size());
}

TEST(KindsTest, OldDatabasesGetTheSame) {
  SQLite::Database old(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  std::ifstream first(OOMDB_SOURCE_DIR "/schema/first_schema.sql");
  std::ostringstream schema;
  schema << first.rdbuf();
  old.exec(schema.str());
  for (const KindOfForm& one : KindsOfForms()) {
    old.exec("INSERT INTO oom_events (capture_id, kind) VALUES (1, '" + std::string(one.form) +
             "')");
  }
  schema::Migrate(old, 1, schema::Migrations().first(1));
  std::set<std::string> lines;
  SQLite::Statement query(old, "SELECT form || ' ' || kind FROM oom_events");
  while (query.executeStep()) lines.insert(query.getColumn(0).getString());
  EXPECT_EQ(lines, OwnLines());
}

TEST(KindsTest, EveryFormHasACase) {
  std::set<std::string> seen;
  for (const auto& entry : fs::directory_iterator(OOMDB_SOURCE_DIR "/tests/log/cases")) {
    if (entry.path().extension() != ".rows") continue;
    std::ifstream rows(entry.path());
    for (std::string line; std::getline(rows, line);) {
      if (line.starts_with("  form: ")) seen.insert(line.substr(8));
    }
  }
  for (const KindOfForm& one : KindsOfForms())
    EXPECT_TRUE(seen.contains(std::string(one.form))) << one.form << ": no tests/log/cases/*.rows";
}

}  // namespace
}  // namespace oomdb::ingest
