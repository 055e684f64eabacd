#include "schema/statement_cache.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include "schema/database.h"

namespace oomdb::schema {
namespace {

TEST(StatementCacheTest, ATextIsPreparedOnce) {
  SQLite::Database connection(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  StatementCache statements(connection);
  SQLite::Statement& first = statements.Get("SELECT ?");
  EXPECT_EQ(&statements.Get("SELECT ?"), &first);
  EXPECT_NE(&statements.Get("SELECT ? + 1"), &first);
  EXPECT_EQ(statements.Number("SELECT 7"), 7);
  EXPECT_EQ(statements.Number("SELECT 7"), 7);
}

TEST(StatementCacheTest, WhatIsGotIsFreshAgain) {
  SQLite::Database connection(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  StatementCache statements(connection);
  SQLite::Statement& asked = statements.Get("SELECT ? UNION ALL SELECT 2");
  asked.bind(1, 5);
  ASSERT_TRUE(asked.executeStep());
  EXPECT_EQ(asked.getColumn(0).getInt(), 5);
  // Left in the middle of its rows, with something bound.
  SQLite::Statement& again = statements.Get("SELECT ? UNION ALL SELECT 2");
  ASSERT_TRUE(again.executeStep());
  EXPECT_TRUE(again.getColumn(0).isNull());
}

TEST(StatementCacheTest, OneThatFailedWorksAgain) {
  SQLite::Database connection(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  connection.exec("CREATE TABLE t (a INTEGER UNIQUE)");
  StatementCache statements(connection);
  const auto insert = [&](int a) {
    SQLite::Statement& statement = statements.Get("INSERT INTO t VALUES (?)");
    statement.bind(1, a);
    statement.exec();
  };
  insert(1);
  EXPECT_THROW(insert(1), SQLite::Exception);
  insert(2);
  EXPECT_EQ(statements.Number("SELECT COUNT(*) FROM t"), 2);
}

// They go before the connection that they were made on, else it can't be closed.
TEST(StatementCacheTest, ADatabaseThatIsReplacedLetsGoOfItsStatements) {
  Database database = Database::Throwaway({});
  EXPECT_EQ(database.statements().Number("SELECT COUNT(*) FROM captures"), 0);
  database = Database::Throwaway({});
  EXPECT_EQ(database.statements().Number("SELECT COUNT(*) FROM captures"), 0);
}

}  // namespace
}  // namespace oomdb::schema
