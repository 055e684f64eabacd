#include "schema/describe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schema/migrations.h"
#include "tests/schema/sample_facts.h"

namespace oomdb::schema {
namespace {

TEST(DescribeTest, ReadsTheFormOfTheSchema) {
  const std::vector<TableDescription> tables = DescribeTables(
      "-- The file.\n\n-- First line,\n-- second line.\nCREATE TABLE t (\n"
      "  a INTEGER PRIMARY KEY, -- the id\n"
      "  b INTEGER, c INTEGER,  -- two at once\n"
      "  kind TEXT CHECK (kind IN ('x', 'y')),\n"
      "    -- which one\n"
      "  d TEXT,\n"
      "  PRIMARY KEY (a, b)\n"
      ") STRICT;\nCREATE INDEX i ON t (a);\nCREATE TABLE u (\n  e TEXT -- text\n);\n");
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_EQ(tables[0].name, "t");
  EXPECT_EQ(tables[0].meaning, "First line, second line.");
  std::vector<std::string> columns;
  for (const ColumnDescription& column : tables[0].columns)
    columns.push_back(column.name + "=" + column.meaning);
  EXPECT_THAT(columns, testing::ElementsAre("a=the id", "b=two at once", "c=two at once",
                                            "kind=which one", "d="));
  EXPECT_EQ(tables[1].meaning, "");
}

// The reference is made of these comments: every table and column has one, and none is overlooked.
TEST(DescribeTest, EveryTableAndColumnIsExplained) {
  const std::vector<TableDescription> tables = DescribeTables(SchemaSql());
  Database database = Database::Throwaway({});
  std::vector<std::string> described;
  for (const TableDescription& table : tables) {
    described.push_back(table.name);
    EXPECT_FALSE(table.meaning.empty()) << table.name;
    std::vector<std::string> columns;
    for (const ColumnDescription& column : table.columns) {
      columns.push_back(column.name);
      EXPECT_FALSE(column.meaning.empty()) << table.name << "." << column.name;
    }
    std::vector<std::string> real;
    for (const Row& row :
         Query(database, "SELECT name FROM pragma_table_info('" + table.name + "') ORDER BY cid")
             .rows) {
      real.push_back(std::get<std::string>(row[0]));
    }
    EXPECT_EQ(columns, real) << table.name;
  }
  std::vector<std::string> real;
  for (const Row& row :
       Query(database,
             "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
           .rows) {
    real.push_back(std::get<std::string>(row[0]));
  }
  EXPECT_THAT(described, testing::UnorderedElementsAreArray(real));
}

TEST(DescribeTest, EverySettingIsExplained) {
  Database database = Database::Throwaway({});
  EXPECT_GT(QueryInt(database, "SELECT COUNT(*) FROM settings"), 0);
  EXPECT_EQ(QueryInt(database, "SELECT COUNT(*) FROM settings WHERE length(meaning) < 10"), 0);
}

}  // namespace
}  // namespace oomdb::schema
