// What strangers give: SQL without end, files without end, names that want to be links.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace oomdb::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class StrangersSqlTest : public ProgramTest {
 protected:
  StrangersSqlTest() { EXPECT_EQ(Oomdb("ingest --db oom.db logs").exit_code, 0); }
  Outcome Query(const std::string& sql, const std::string& options) {
    Write("query.sql", sql);
    // What doesn't end by itself must not keep the tests.
    return Shell("timeout -s KILL 60 oomdb query --db oom.db --format csv " + options +
                 " - < query.sql");
  }
};

// Each doubles the one before: preparing it is a step of minutes and of gigabytes.
std::string Doubling(int times) {
  std::string sql = "WITH a0 AS (SELECT 1 x)";
  for (int i = 1; i <= times; ++i) {
    const std::string before = "SELECT x FROM a" + std::to_string(i - 1);
    sql += ", a" + std::to_string(i) + " AS (" + before + " UNION ALL " + before + ")";
  }
  return sql + " SELECT count(*) FROM a" + std::to_string(times);
}

TEST_F(StrangersSqlTest, TheDeadlineHoldsWithinOneStepOfSqlite) {
  for (const std::string& sql :
       {std::string("SELECT instr(hex(zeroblob(1000000)), hex(zeroblob(500000)) || '1')"),
        std::string("SELECT length(printf('%.*c', 2000000000, 'x'))"), Doubling(21)}) {
    const Outcome outcome = Query(sql, "--timeout 0.2 --memory 8GiB");
    EXPECT_EQ(outcome.exit_code, 1) << sql;
    EXPECT_EQ(outcome.out, "") << sql;
  }
  EXPECT_THAT(
      Query("SELECT instr(hex(zeroblob(1000000)), hex(zeroblob(500000)) || '1')", "--timeout 0.2")
          .err,
      HasSubstr("the query took longer than 0.2 s and was stopped"));
}

TEST_F(StrangersSqlTest, WhatIsStoppedLeavesNoFile) {
  const Outcome outcome =
      Query("SELECT instr(hex(zeroblob(1000000)), hex(zeroblob(500000)) || '1')",
            "--timeout 0.2 -o out.csv");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(Shell("ls").out.find("out.csv"), std::string::npos);
}

TEST_F(StrangersSqlTest, ACtrlCEndsOneStepOfSqlite) {
  const Outcome outcome = Shell(
      "timeout -s INT 0.3 oomdb query --db oom.db \"SELECT instr(hex(zeroblob(1000000)), "
      "hex(zeroblob(500000)) || '1')\"; echo $?");
  EXPECT_THAT(outcome.err, HasSubstr("oomdb: interrupted"));
}

TEST_F(StrangersSqlTest, MemoryIsCapped) {
  std::string columns = "a";
  for (int i = 0; i < 100; ++i) columns += ",a";
  const std::string sql = "SELECT " + columns + " FROM (SELECT hex(zeroblob(30000000)) a)";
  const Outcome outcome = Query(sql, "--memory 256MiB");
#if !defined(__SANITIZE_ADDRESS__)
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("more than 256 MiB of memory"), HasSubstr("--memory")));
#endif
  EXPECT_EQ(Query("SELECT 1", "--memory 1KiB").exit_code, 2);
}

TEST_F(StrangersSqlTest, RowsAreCapped) {
  const std::string three = "SELECT 1 AS a UNION ALL SELECT 2 UNION ALL SELECT 3";
  EXPECT_EQ(Query(three, "--rows 3").out, "a\n1\n2\n3\n");
  const Outcome outcome = Query(three, "--rows 2");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("more than 2 rows"), HasSubstr("--rows")));
}

TEST_F(StrangersSqlTest, FunctionsAreThoseOfAList) {
  for (const char* sql : {"SELECT sqlite_compileoption_get(1)", "SELECT load_extension('x')",
                          "SELECT sqlite_source_id()", "SELECT changes()"}) {
    const Outcome outcome = Query(sql, "");
    EXPECT_EQ(outcome.exit_code, 2) << sql;
    EXPECT_THAT(outcome.err, HasSubstr("is not allowed here")) << sql;
  }
  EXPECT_EQ(Query("SELECT upper(json_extract('{\"a\": \"b\"}', '$.a')) AS x, sum(1), date(0)", "")
                .exit_code,
            0);
}

TEST_F(StrangersSqlTest, ReadingAFileHasADeadline) {
  const Outcome wrong = Shell("OOMDB_TIMEOUT=soon oomdb list captures --db oom.db");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("OOMDB_TIMEOUT=soon"));
  EXPECT_EQ(Shell("OOMDB_TIMEOUT=100 oomdb report --db oom.db").exit_code,
            Oomdb("report --db oom.db").exit_code);
}

TEST_F(StrangersSqlTest, LinksAndImagesStayText) {
  const Outcome outcome = Oomdb(
      "query --db oom.db --format markdown \"SELECT '![i](http://evil/x.png) <b> www.evil "
      "[a]: http://evil \\\\[x]' AS a\"");
  EXPECT_THAT(outcome.out,
              HasSubstr("!\\[i\\](http&#58;//evil/x.png) &lt;b> ww&#119;.evil \\[a\\]: "
                        "http&#58;//evil"));
}

// What went wrong inside of a file is said with its name.
TEST_F(StrangersSqlTest, ErrorsNameTheFile) {
  Shell("head -c 60000 oom.db > cut.db");
  for (const char* verb : {"query --db cut.db 'SELECT * FROM findings'", "report --db cut.db",
                           "list modules --db cut.db"}) {
    const Outcome outcome = Oomdb(verb);
    EXPECT_EQ(outcome.exit_code, 1) << verb;
    EXPECT_THAT(outcome.err, HasSubstr("cut.db: ")) << verb;
  }
}

class StrangersFileTest : public ProgramTest {};

TEST_F(StrangersFileTest, ADeviceWithoutEndIsRefused) {
  for (const char* arguments : {"report /dev/zero", "report - < /dev/zero"}) {
    const Outcome outcome = Shell(std::string("timeout -s KILL 60 oomdb ") + arguments);
    EXPECT_EQ(outcome.exit_code, 1) << arguments;
    EXPECT_THAT(outcome.err, HasSubstr("a device, which gives bytes without end"));
  }
  EXPECT_THAT(Oomdb("report - < /dev/null").err, Not(HasSubstr("without end")));
}

TEST_F(StrangersFileTest, AReportOfOursIsOverwrittenAndALogIsNot) {
  const std::string report = std::string("report ") + kCapture;
  EXPECT_NE(Oomdb(report + " -o r.txt").exit_code, 2);
  const std::string before = Read("r.txt");
  const Outcome again = Oomdb(report + " -f -o r.txt");
  EXPECT_NE(again.exit_code, 2) << again.err;
  EXPECT_EQ(Read("r.txt"), before);
  EXPECT_EQ(Oomdb(report + " -o r.txt").exit_code, 1);  // Without -f.
  for (const std::string content :
       {std::string("step 1\nRESOURCE_EXHAUSTED: Out of memory\n"), "log of a run\n" + before}) {
    Write("train.txt", content);
    const Outcome log = Oomdb(report + " -f -o train.txt");
    EXPECT_EQ(log.exit_code, 2);
    EXPECT_THAT(log.err, HasSubstr("this is a capture"));
    EXPECT_EQ(Read("train.txt"), content);
  }
  // Nor an input, whatever is in it.
  EXPECT_EQ(Oomdb("report r.txt -f -o r.txt").exit_code, 2);
}

}  // namespace
}  // namespace oomdb::cli
