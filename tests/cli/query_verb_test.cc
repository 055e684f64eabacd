#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace oomdb::cli {
namespace {

using testing::HasSubstr;

class QueryVerbTest : public ProgramTest {
 protected:
  QueryVerbTest() { EXPECT_EQ(Oomdb("ingest --db oom.db logs").exit_code, 0); }
  Outcome Query(const std::string& arguments) { return Oomdb("query --db oom.db " + arguments); }
};

TEST_F(QueryVerbTest, FormatsGiveExactIntegers) {
  const std::string sql = "\"SELECT name, plan_bytes, NULL AS missing FROM modules\"";
  EXPECT_EQ(Query(sql + " --format csv").out, "name,plan_bytes,missing\njit_step,113246208,\n");
  EXPECT_EQ(Query(sql + " --format jsonl").out,
            "{\"name\": \"jit_step\", \"plan_bytes\": 113246208, \"missing\": null}\n");
  EXPECT_THAT(Query(sql + " --format json").out, HasSubstr("\"plan_bytes\": 113246208"));
  EXPECT_THAT(Query(sql + " --format markdown").out, HasSubstr("| jit_step"));
  EXPECT_THAT(Query(sql).out, HasSubstr("jit_step"));
  EXPECT_EQ(Query(sql + " --format xml").exit_code, 2);
}

TEST_F(QueryVerbTest, ParametersAndStandardInput) {
  EXPECT_EQ(Query("\"SELECT :n + 1 AS a, :t AS b\" -p n=41 -p t=x=y --format csv").out,
            "a,b\n42,x=y\n");
  EXPECT_EQ(Shell("echo 'SELECT 1 AS a' | oomdb query --db oom.db - --format csv").out, "a\n1\n");
  EXPECT_EQ(Query("\"SELECT :n\"").exit_code, 2);
}

TEST_F(QueryVerbTest, WritesAFileButNeverOverOne) {
  EXPECT_EQ(Query("\"SELECT 1 AS a\" --format csv -o out.csv").exit_code, 0);
  EXPECT_EQ(Read("out.csv"), "a\n1\n");
  const Outcome refused = Query("\"SELECT 2 AS a\" --format csv -o out.csv");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("-f overwrites"));
  EXPECT_EQ(Read("out.csv"), "a\n1\n");
  EXPECT_EQ(Query("\"SELECT 2 AS a\" --format csv -f -o out.csv").exit_code, 0);
  EXPECT_EQ(Read("out.csv"), "a\n2\n");
  // A query that fails leaves the old one.
  EXPECT_EQ(Query("\"SELECT nothing\" --format csv -f -o out.csv").exit_code, 2);
  EXPECT_EQ(Read("out.csv"), "a\n2\n");
}

TEST_F(QueryVerbTest, RefusesAnythingButReading) {
  for (const char* sql : {"DELETE FROM captures", "ATTACH 'x.db' AS x", "PRAGMA user_version = 3",
                          "SELECT 1; SELECT 2"}) {
    const Outcome outcome = Query("\"" + std::string(sql) + "\"");
    EXPECT_EQ(outcome.exit_code, 2) << sql;
    EXPECT_EQ(outcome.out, "") << sql;
  }
  EXPECT_FALSE(Exists("x.db"));
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM captures"), "1");
}

TEST_F(QueryVerbTest, TheDeadlineHolds) {
  const std::string endless =
      "\"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n\"";
  const Outcome outcome = Query(endless + " --timeout 0.2");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("longer than 0.2 s"));
  EXPECT_THAT(outcome.err, HasSubstr("--timeout"));
  EXPECT_EQ(Query("\"SELECT 1\" --timeout -1").exit_code, 2);
}

// They are computed in another way than the views that they are made of.
TEST_F(QueryVerbTest, FindingsAreThoseOfTheRules) {
  ASSERT_EQ(Oomdb("ingest --db oom.db " OOMDB_SOURCE_DIR "/sample_dbs/captures").exit_code, 0);
  const auto csv = [&](const std::string& sql) {
    return Query("\"" + sql + "\" --format csv --set growth_min_bytes=1").out;
  };
  const std::string columns = "capture_id, device_id, module_id, severity, title, detail, bytes";
  for (const std::string rule : {"grows_per_execution", "step_does_not_fit", "allocator_retry"}) {
    const std::string order = " ORDER BY capture_id, device_id, module_id";
    const std::string expected = csv("SELECT " + columns + " FROM " + rule + order);
    EXPECT_THAT(expected, HasSubstr(" bytes"));
    EXPECT_EQ(csv("SELECT " + columns + " FROM Findings WHERE rule = '" + rule + "'" + order),
              expected);
  }
  EXPECT_EQ(csv("SELECT COUNT(*) AS n FROM grows_per_execution_items"),
            csv("SELECT COUNT(*) AS n FROM finding_items WHERE finding_id LIKE "
                "'grows_per_execution:%'"));
  const Outcome late = Query("\"SELECT * FROM findings\" --timeout 0.000001");
  EXPECT_EQ(late.exit_code, 1);
  EXPECT_THAT(late.err, HasSubstr("--timeout"));
}

TEST_F(QueryVerbTest, SettingsHoldForThisCall) {
  const std::string ask =
      "\"SELECT setting FROM settings WHERE name = 'capacity_bytes'\" --format csv";
  EXPECT_EQ(Query(ask + " --capacity 2KiB").out, "setting\n2048\n");
  EXPECT_EQ(Query(ask + " --set capacity_bytes=3G").out, "setting\n3221225472\n");
  EXPECT_EQ(Query(ask).out, "setting\n\n");
  const Outcome wrong = Query(ask + " --set capacity_byte=3G");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("did you mean capacity_bytes?"));
  EXPECT_EQ(Query(ask + " --set growth_min_executions=many").exit_code, 2);
}

TEST_F(QueryVerbTest, ABrokenPipeIsQuiet) {
  const Outcome outcome = Shell(
      "oomdb query --db oom.db --format csv 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i "
      "+ 1 FROM n LIMIT 1000000) SELECT i FROM n' | head -2");
  EXPECT_EQ(outcome.out, "i\n1\n");
  EXPECT_EQ(outcome.err, "");
}

TEST_F(QueryVerbTest, MissingAndForeignDatabases) {
  const Outcome missing = Oomdb("query --db no.db 'SELECT 1'");
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("oomdb ingest --db no.db"));
  EXPECT_FALSE(Exists("no.db"));
  EXPECT_EQ(Oomdb("query --db logs/plugins/profile/run1/host.xplane.pb 'SELECT 1'").exit_code, 5);
}

TEST_F(QueryVerbTest, OutputIsTheSameEveryTime) {
  Oomdb("ingest --db again.db logs");
  const std::string tables = "'SELECT * FROM allocations' --format csv";
  EXPECT_EQ(Query(tables).out, Oomdb("query --db again.db " + tables).out);
}

}  // namespace
}  // namespace oomdb::cli
