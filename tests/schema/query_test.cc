// The program's own queries: rows read by the names of their columns.
#include "schema/query.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "queries/catalogue.h"

namespace oomdb::schema {
namespace {

class ReadViewTest : public testing::Test {
 protected:
  Database database_ = Database::Throwaway(queries::Catalogue::Get().views());
};

TEST_F(ReadViewTest, ReadsCellsByTheNamesOfTheirColumns) {
  const std::vector<Record> settings =
      ReadView(database_, "settings", {{"name", std::string("growth_min_bytes")}});
  ASSERT_EQ(settings.size(), 1U);
  const Record& setting = settings[0];
  EXPECT_EQ(setting.Text("name"), "growth_min_bytes");
  EXPECT_GT(setting.Integer("setting"), 0);
  EXPECT_EQ(setting.MaybeInteger("setting"), setting.Integer("setting"));
  EXPECT_FALSE(setting.IsNull("meaning"));
}

TEST_F(ReadViewTest, AWrongNameOrTypeIsAMistakeOfTheProgram) {
  const std::vector<Record> settings = ReadView(database_, "settings", {}, "name");
  ASSERT_GT(settings.size(), 1U);
  EXPECT_LT(settings[0].Text("name"), settings[1].Text("name"));
  EXPECT_THROW(settings[0].Text("no_such_column"), std::logic_error);
  EXPECT_THROW(settings[0].Integer("name"), std::logic_error);
  EXPECT_THROW(settings[0].Flag("name"), std::logic_error);
}

TEST_F(ReadViewTest, NullIsAskedForAndReadAsNothing) {
  Query(database_,
        "INSERT INTO captures (path, content_hash, bytes, kind, status, ingested_unix_ns, "
        "ingester_version) VALUES ('a', 'h', 0, 'hlo', 'complete', 0, '')");
  const std::vector<Record> captures = ReadView(database_, "captures", {{"run", Value()}});
  ASSERT_EQ(captures.size(), 1U);
  EXPECT_TRUE(captures[0].IsNull("run"));
  EXPECT_EQ(captures[0].Text("run"), "");
  EXPECT_EQ(captures[0].Integer("duration_ns"), 0);
  EXPECT_EQ(captures[0].MaybeInteger("duration_ns"), std::nullopt);
}

TEST_F(ReadViewTest, TakesAConditionOfItsOwn) {
  const auto named = [&](const char* condition, const Parameters& parameters) {
    return ReadViewWhere(database_, "settings", condition, parameters, "name DESC");
  };
  const std::vector<Record> two =
      named("name = :a OR name = :b",
            {{"a", std::string("growth_min_bytes")}, {"b", std::string("wait_min_ns")}});
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[0].Text("name"), "wait_min_ns");
}

}  // namespace
}  // namespace oomdb::schema
