#include "schema/bulk_insert.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace oomdb::schema {
namespace {

// Around the batch's size and its multiples: none may be lost or doubled, and the order stays.
TEST(BulkInsertTest, InsertsEveryRowOnce) {
  for (const int count : {0, 1, 31, 32, 33, 64, 1000}) {
    SQLite::Database connection(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    connection.exec("CREATE TABLE t (a INTEGER, b REAL, c TEXT)");
    StatementCache statements(connection);
    BulkInsert insert(statements, "t");
    for (int64_t i = 0; i < count; ++i)
      insert.Add({{"a", i}, {"b", i * 0.5}, {"c", std::to_string(i)}});
    insert.Flush();
    insert.Flush();
    EXPECT_EQ(connection
                  .execAndGet(
                      "SELECT COUNT(*) FROM t WHERE a = rowid - 1 AND b = a * 0.5 AND c = a || ''")
                  .getInt(),
              count);
    EXPECT_EQ(connection.execAndGet("SELECT COUNT(*) FROM t").getInt(), count);
  }
}

TEST(BulkInsertTest, NullsAndOtherColumns) {
  SQLite::Database connection(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  connection.exec("CREATE TABLE t (a INTEGER, b TEXT)");
  StatementCache statements(connection);
  BulkInsert insert(statements, "t");
  insert.Add({{"a", std::optional<int64_t>()}, {"b", SqlValue()}});
  insert.Add({{"a", std::optional<int64_t>(3)}, {"b", std::string()}});
  EXPECT_THROW(insert.Add({{"a", int64_t{1}}}), std::logic_error);
  EXPECT_THROW(insert.Add({{"b", int64_t{1}}, {"a", int64_t{1}}}), std::logic_error);
  insert.Flush();
  EXPECT_EQ(connection.execAndGet("SELECT COUNT(*) FROM t WHERE a IS NULL AND b IS NULL").getInt(),
            1);
  EXPECT_EQ(connection.execAndGet("SELECT COUNT(*) FROM t WHERE a = 3 AND b = ''").getInt(), 1);
}

TEST(BulkInsertTest, ColumnsThatAreKnownAtRunTime) {
  SQLite::Database connection(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  connection.exec("CREATE TABLE t (a INTEGER, b TEXT)");
  StatementCache statements(connection);
  BulkInsert insert(statements, "t", "b, a");
  insert.Add(std::vector<SqlValue>{std::string("x"), int64_t{1}});
  EXPECT_THROW(insert.Add(std::vector<SqlValue>{int64_t{1}}), std::logic_error);
  insert.Flush();
  EXPECT_EQ(connection.execAndGet("SELECT b || a FROM t").getString(), "x1");
}

}  // namespace
}  // namespace oomdb::schema
