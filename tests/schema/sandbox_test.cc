// What SQL from anybody may not do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "queries/catalogue.h"
#include "schema/query.h"
#include "tests/schema/sample_facts.h"

namespace oomdb::schema {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class SandboxTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TestFolder();
    Database database = Database::OpenForIngest(Path(), queries::Catalogue::Get().views());
    WriteSample(database, "a");
  }
  static void TearDownTestSuite() { delete folder_; }
  static std::string Path() { return folder_->File("oom.db"); }

  Rows Ask(const std::string& sql, const Parameters& parameters = {},
           const SandboxLimits& limits = {}) {
    Database database = Database::OpenReadOnly(Path(), queries::Catalogue::Get().views());
    Rows result;
    QueryInSandbox(database, sql, parameters, limits,
                   {[&](std::vector<std::string> columns) { result.columns = std::move(columns); },
                    [&](Row row) { result.rows.push_back(std::move(row)); }});
    return result;
  }

  // The message, with "usage: " before it when that is the exit code; "allowed" when it went
  // through.
  std::string Refusal(const std::string& sql, const Parameters& parameters = {}) {
    try {
      Ask(sql, parameters);
      return "allowed";
    } catch (const Error& error) {
      return (error.code() == ExitCode::kUsage ? "usage: " : "") + std::string(error.what());
    }
  }

  static TestFolder* folder_;
};
TestFolder* SandboxTest::folder_ = nullptr;

TEST_F(SandboxTest, AnErrorShowsItsPlace) {
  EXPECT_EQ(Refusal("SELECT nam FROM modules"),
            "usage: SQL: no such column: nam; line 1: SELECT >>>nam FROM modules");
  EXPECT_THAT(Refusal("SELECT name\nFROM modules WHER x = 1"),
              HasSubstr("line 2: FROM modules WHER >>>x = 1"));
  EXPECT_THAT(Refusal("SELECT '" + std::string(200, 'a') + "', nam, '" + std::string(200, 'b') +
                      "' FROM modules"),
              HasSubstr("aaa', >>>nam, 'bbb"));
}

TEST_F(SandboxTest, ReadsEverythingThatASelectCan) {
  const Rows rows =
      Ask("SELECT name, plan_bytes, 1.5 AS ratio, NULL AS missing, x'6869' AS blob FROM modules");
  EXPECT_THAT(rows.columns, ElementsAre("name", "plan_bytes", "ratio", "missing", "blob"));
  ASSERT_EQ(rows.rows.size(), 1u);
  EXPECT_THAT(rows.rows[0], ElementsAre(Value("jit_step"), Value(int64_t{40}), Value(1.5), Value(),
                                        Value("X'6869'")));
  EXPECT_EQ(Ask("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) "
                "SELECT i FROM n")
                .rows.size(),
            10u);
  EXPECT_EQ(Ask("-- a comment\n;; SELECT 1; -- the end\n ; ").rows.size(), 1u);
  EXPECT_EQ(Ask("SELECT j.value FROM json_each('[1,2,3]') j").rows.size(), 3u);
  EXPECT_FALSE(Ask("SELECT name FROM sqlite_master").rows.empty());
  for (const queries::CatalogueEntry& entry : queries::Catalogue::Get().entries()) {
    EXPECT_EQ(Refusal("SELECT * FROM " + entry.id), "allowed") << entry.id;
  }
}

TEST_F(SandboxTest, RefusesEverythingElse) {
  const std::string other = folder_->File("stolen.db");
  const std::string out = folder_->File("out.txt");
  EXPECT_THAT(Refusal("ATTACH '" + other + "' AS x"), HasSubstr("usage: ATTACH is not allowed"));
  EXPECT_THAT(Refusal("DETACH main"), HasSubstr("DETACH is not allowed"));
  EXPECT_THAT(Refusal("PRAGMA writable_schema = ON"),
              HasSubstr("PRAGMA writable_schema is not allowed"));
  EXPECT_THAT(Refusal("PRAGMA journal_mode = WAL"),
              HasSubstr("PRAGMA journal_mode is not allowed"));
  EXPECT_THAT(Refusal("INSERT INTO captures (path) VALUES ('x')"),
              HasSubstr("writing to captures is not allowed"));
  EXPECT_THAT(Refusal("UPDATE captures SET run = 'x'"),
              HasSubstr("UPDATE of captures is not allowed"));
  EXPECT_THAT(Refusal("UPDATE settings SET setting = 1"),
              HasSubstr("UPDATE of settings is not allowed"));
  EXPECT_THAT(Refusal("DELETE FROM captures"), HasSubstr("DELETE from captures is not allowed"));
  EXPECT_THAT(Refusal("DROP TABLE captures"), HasSubstr("not allowed"));
  EXPECT_THAT(Refusal("CREATE TEMP TABLE t (a)"), HasSubstr("not allowed"));
  EXPECT_THAT(Refusal("CREATE TEMP VIEW v AS SELECT 1"), HasSubstr("not allowed"));
  EXPECT_THAT(Refusal("ALTER TABLE captures ADD COLUMN x"), HasSubstr("not allowed"));
  EXPECT_THAT(Refusal("BEGIN"), HasSubstr("a transaction is not allowed"));
  EXPECT_THAT(Refusal("SAVEPOINT s"), HasSubstr("a transaction is not allowed"));
  EXPECT_THAT(Refusal("VACUUM INTO '" + other + "'"), HasSubstr("usage: "));
  EXPECT_THAT(Refusal("REINDEX"), HasSubstr("not allowed"));
  EXPECT_THAT(Refusal("ANALYZE"), HasSubstr("not allowed"));
  EXPECT_THAT(Refusal("SELECT load_extension('/lib/x.so')"),
              HasSubstr("load_extension is not allowed"));
  EXPECT_THAT(Refusal("SELECT fts3_tokenizer('simple')"),
              HasSubstr("fts3_tokenizer is not allowed"));
  EXPECT_THAT(Refusal("SELECT writefile('" + out + "', 'x')"),
              HasSubstr("no such function: writefile"));
  EXPECT_THAT(Refusal("SELECT readfile('/etc/passwd')"), HasSubstr("no such function: readfile"));
  EXPECT_THAT(Refusal("SELECT * FROM pragma_table_info('captures')"), HasSubstr("usage: "));
  EXPECT_THAT(Refusal("SELECT 1; SELECT 2"), HasSubstr("more than one statement"));
  EXPECT_THAT(Refusal("SELECT 1; DROP TABLE captures"), HasSubstr("not allowed"));
  EXPECT_FALSE(std::filesystem::exists(other));
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST_F(SandboxTest, SaysWhatIsWrongWithTheSql) {
  EXPECT_THAT(Refusal("SELEC 1"), HasSubstr("usage: SQL: near \"SELEC\": syntax error"));
  EXPECT_THAT(Refusal("SELECT nam FROM modules"), HasSubstr("no such column: nam"));
  EXPECT_THAT(Refusal("  -- nothing\n"), HasSubstr("no statement"));
  EXPECT_THAT(Refusal(std::string("SELECT 1\0; DROP TABLE captures", 30)), HasSubstr("NUL"));
}

TEST_F(SandboxTest, EndlessQueriesHitTheDeadline) {
  const auto begin = std::chrono::steady_clock::now();
  SandboxLimits limits;
  limits.timeout = std::chrono::milliseconds(200);
  try {
    Ask("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n",
        {}, limits);
    FAIL() << "ended";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kFailed);
    EXPECT_THAT(error.what(), HasSubstr("--timeout"));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST_F(SandboxTest, StopsOnRequest) {
  const std::atomic<bool> stop = true;
  SandboxLimits limits;
  limits.stop = &stop;
  try {
    Ask("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n",
        {}, limits);
    FAIL() << "ended";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kInterrupted);
  }
}

TEST_F(SandboxTest, LengthsAreBounded) {
  EXPECT_THAT(Refusal("SELECT length(zeroblob(900000000))"), HasSubstr("too long"));
  EXPECT_THAT(Refusal("SELECT length(replace(hex(zeroblob(1000000)), '0', printf('%1000d', 1)))"),
              HasSubstr("too long"));
  EXPECT_THAT(Refusal("SELECT '" + std::string(2 << 20, 'x') + "'"), HasSubstr("at most"));
  EXPECT_THAT(Refusal("SELECT 'a' LIKE '" + std::string(2000, '%') + "'"), HasSubstr("LIKE"));
}

TEST_F(SandboxTest, ParametersAreBoundByName) {
  const Rows rows =
      Ask("SELECT :a, @b, $c, :a", {{"a", int64_t{1}}, {"b", std::string("x")}, {"c", 2.5}});
  EXPECT_THAT(rows.rows.at(0),
              ElementsAre(Value(int64_t{1}), Value("x"), Value(2.5), Value(int64_t{1})));
  EXPECT_THAT(Refusal("SELECT :missing"), HasSubstr("-p missing=value"));
  EXPECT_THAT(Refusal("SELECT 1", {{"extra", int64_t{1}}}), HasSubstr("no parameter :extra"));
  EXPECT_THAT(Refusal("SELECT ?"), HasSubstr("must have a name"));
}

}  // namespace
}  // namespace oomdb::schema
