#include "queries/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/schema/sample_facts.h"

namespace oomdb::schema {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> ColumnsOf(Database& database, const std::string& view) {
  std::vector<std::string> columns;
  for (const Row& row :
       Query(database, "SELECT name FROM pragma_table_info('" + view + "') ORDER BY cid").rows) {
    columns.push_back(std::get<std::string>(row[0]));
  }
  return columns;
}

// A rule with all of its header, over the columns of kRuleSelect.
std::string RuleFile(const std::string& id, const std::string& select) {
  return "-- id: " + id + R"(
-- title: It's a rule
-- rank: 7
-- asks: Is it?
-- needs: nothing
-- tags: test
-- severity: info
-- cause: one line,
--   and another
-- how to read: so
-- next: oomdb list rules
-- words how by manner:
--   fast: quickly,
--     in {bytes:bytes}
--   slow: slowly
-- says: {module_name}; it's [{how}]
-- detail: {count:n}[ and {module_id:n}]
-- columns:
--   bytes: how many (bytes)
--   manner: fast or slow
--   count: how often
CREATE VIEW )" +
         id + " AS\n" + select + ";\n";
}

constexpr char kRuleSelect[] =
    "SELECT 1 AS capture_id, 'r' AS run, 'h' AS host, 0 AS device, 5 AS device_id, NULL AS "
    "module_id, 'a; -- b' AS module_name, NULL AS execution_id, 'info' AS severity, 'read' AS "
    "evidence, 3 AS bytes, 'fast' AS manner, 2 AS count, 9 AS not_listed";

std::string ProblemOf(const EmbeddedFile& file) {
  const queries::Catalogue catalogue(std::span<const EmbeddedFile>(&file, 1));
  return catalogue.problems().empty() ? "none" : catalogue.problems()[0];
}

TEST(CatalogueTest, EveryFileIsReadAndNamesItsColumns) {
  const queries::Catalogue& catalogue = queries::Catalogue::Get();
  EXPECT_THAT(catalogue.problems(), ElementsAre());
  Database database = Database::Throwaway(catalogue.views());
  for (const queries::CatalogueEntry& entry : catalogue.entries()) {
    std::vector<std::string> columns;
    for (const queries::ColumnMeaning& column : entry.columns) columns.push_back(column.name);
    EXPECT_EQ(columns, ColumnsOf(database, entry.id)) << entry.path;
    EXPECT_NO_THROW(Query(database, "SELECT * FROM " + entry.id)) << entry.path;
  }
}

TEST(CatalogueTest, EvidenceAndRemediesBelongToRules) {
  const queries::Catalogue& catalogue = queries::Catalogue::Get();
  for (const queries::CatalogueEntry& entry : catalogue.entries()) {
    if (entry.kind != queries::ViewKind::kItems && entry.kind != queries::ViewKind::kRemedies)
      continue;
    const std::string rule = entry.id.substr(0, entry.id.rfind('_'));
    const queries::CatalogueEntry* const found = catalogue.Find(rule);
    EXPECT_TRUE(found != nullptr && found->kind == queries::ViewKind::kRule) << entry.path;
  }
}

TEST(CatalogueTest, TheContractsColumnsComeFirst) {
  Database database = Database::Throwaway(queries::Catalogue::Get().views());
  const std::vector<std::pair<const char*, std::vector<std::string>>> contract = {
      {"findings",
       {"finding_id", "capture_id", "run", "host", "device", "module_id", "module_name",
        "execution_id", "rule", "severity", "evidence", "title", "detail", "bytes"}},
      {"finding_items", {"finding_id", "position", "kind", "label", "bytes", "count"}},
      {"remedies",
       {"finding_id", "position", "fix", "saving_bytes", "needs_bytes", "fits", "cost",
        "changes_results", "evidence"}},
      {"rules", {"rule", "title", "asks", "cause", "how_to_read"}},
      {"executions",
       {"execution_id", "capture_id", "device_id", "module_id", "module_name", "sequence",
        "start_ns", "end_ns", "launched", "failed", "in_use_at_start_bytes", "peak_in_use_bytes",
        "output_bytes", "temp_bytes", "wait_ns", "wait_evidence", "retry_count"}},
      {"module_memory",
       {"module_id", "memory_space", "space_name", "parameter_bytes", "output_bytes",
        "constant_bytes", "temp_bytes", "heap_peak_bytes"}},
  };
  for (const auto& [view, wanted] : contract) {
    std::vector<std::string> columns = ColumnsOf(database, view);
    ASSERT_GE(columns.size(), wanted.size()) << view;
    columns.resize(wanted.size());
    EXPECT_EQ(columns, wanted);
  }
}

TEST(CatalogueTest, ARuleIsOneFile) {
  const std::string file = RuleFile("it_leaks", kRuleSelect) + R"(
-- title: its evidence
-- words label: {name}[ of {bytes:bytes}]
CREATE VIEW it_leaks_items AS
SELECT 1 AS capture_id, 5 AS device_id, NULL AS module_id, 1 AS position, 'k' AS kind,
  'l' AS name, 2 AS bytes, 1 AS count;

-- title: its remedies
-- words fix by remedy:
--   release: free {bytes:bytes}
-- words cost by remedy:
--   release: none
CREATE VIEW it_leaks_remedies AS
SELECT 1 AS capture_id, 5 AS device_id, NULL AS module_id, 1 AS position, 'release' AS remedy,
  2 AS bytes, NULL AS saving_bytes, NULL AS needs_bytes, NULL AS fits, 0 AS changes_results,
  'inferred' AS evidence;
)";
  const EmbeddedFile files[] = {{"rules/it_leaks.sql", file}};
  const queries::Catalogue catalogue(files);
  EXPECT_THAT(catalogue.problems(), ElementsAre());
  const queries::CatalogueEntry& rule = *catalogue.Find("it_leaks");
  EXPECT_EQ(rule.rank, 7);
  EXPECT_FALSE(rule.hint);
  EXPECT_EQ(rule.columns.back().name, "count");
  Database database = Database::Throwaway(catalogue.views());
  EXPECT_THAT(ColumnsOf(database, "it_leaks"),
              ElementsAre("capture_id", "run", "host", "device", "device_id", "module_id",
                          "module_name", "execution_id", "severity", "evidence", "title", "detail",
                          "bytes", "manner", "count"));
  EXPECT_EQ(QueryText(database, "SELECT finding_id FROM findings WHERE rule = 'it_leaks'"),
            "it_leaks:1:5:-");
  EXPECT_EQ(QueryText(database, "SELECT title || '|' || detail FROM findings"),
            "a; -- b; it's quickly, in 3 bytes|2");
  EXPECT_EQ(
      QueryText(database, "SELECT i.label FROM findings f JOIN finding_items i USING (finding_id)"),
      "l of 2 bytes");
  EXPECT_EQ(QueryText(database, "SELECT remedy || fix || cost FROM remedies"),
            "releasefree 2 bytesnone");
  EXPECT_EQ(QueryText(database, "SELECT title || cause FROM rules"),
            "It's a ruleone line, and another");
}

TEST(CatalogueTest, WorksWithoutRules) {
  const queries::Catalogue catalogue((std::span<const EmbeddedFile>()));
  Database database = Database::Throwaway(catalogue.views());
  for (const char* view : {"findings", "finding_items", "remedies", "rules"}) {
    EXPECT_TRUE(Query(database, std::string("SELECT * FROM ") + view).rows.empty());
    EXPECT_GT(ColumnsOf(database, view).size(), 4u);
  }
}

TEST(CatalogueTest, SaysWhatIsWrongWithAFile) {
  const std::string good = RuleFile("r", kRuleSelect);
  EXPECT_EQ(ProblemOf({"rules/r.sql", good}), "none");
  EXPECT_THAT(ProblemOf({"rules/other.sql", good}), HasSubstr("other_items"));
  EXPECT_THAT(ProblemOf({"elsewhere/r.sql", good}), HasSubstr("not in facts/"));
  for (const std::string key : {"id", "title", "rank", "asks", "needs", "tags", "severity", "cause",
                                "how to read", "next", "says", "detail"}) {
    std::string bad = good;
    const size_t at = bad.find("-- " + key + ":");
    bad.erase(at, bad.find('\n', at) + 1 - at);
    EXPECT_THAT(ProblemOf({"rules/r.sql", bad}), HasSubstr("rules/r.sql: ")) << key;
  }
  // A change of the good file, and what is said about it.
  const std::vector<std::pair<std::pair<std::string, std::string>, std::string>> changes = {
      {{"-- rank: 7", "-- colour: red\n-- rank: 7"}, "unknown header line `colour"},
      {{"-- rank: 7", "-- rank: seven"}, "not a number"},
      {{"-- rank: 7", "-- rank: 7\n-- rank: 8"}, "`rank` stands there twice"},
      {{"-- rank: 7", "-- rank: 7\n-- hint: no"}, "`hint: no`"},
      {{"-- rank: 7", "-- rank: 7\n-- explained by: s"}, "s is not another rule"},
      {{"-- rank: 7", "-- rank: 7\n-- quiet: nothing"}, "r_quiet belong together"},
      {{"{count:n}", "{counts:n}"}, "`detail` speaks of the column counts"},
      {{"{count:n}", "{not_listed:n}"}, "does not list"},
      {{"[{how}]", "[{how}"}, "`]` is missing"},
      {{"[{how}]", "{how:kg}"}, "not a column of a template"},
      {{"--   slow: slowly", "--   fast: slowly"}, "`words how` has `fast` twice"},
      {{"-- says", "-- words how: so\n-- says"}, "`words how` stands there twice"},
      {{"--   count: how often", "--   bytes: how often"}, "column `bytes` stands there twice"},
  };
  for (const auto& [change, problem] : changes) {
    std::string bad = good;
    bad.replace(bad.find(change.first), change.first.size(), change.second);
    EXPECT_THAT(ProblemOf({"rules/r.sql", bad}), HasSubstr(problem)) << change.second;
  }
  const std::string wrong =
      "-- id: r\n-- title: t\n-- columns:\n--   a: b\nCREATE VIEW q AS SELECT 1 AS a;";
  EXPECT_THAT(ProblemOf({"facts/r.sql", wrong}), HasSubstr("CREATE VIEW r AS"));
  const std::string fact =
      "-- id: r\n-- title: t\n-- columns:\n--   a: b\nCREATE VIEW r AS SELECT 1 AS a;";
  EXPECT_EQ(ProblemOf({"facts/r.sql", fact}), "none");
  EXPECT_THAT(ProblemOf({"facts/other.sql", fact}), HasSubstr("not the file's name"));
  const std::string two = fact + "\n-- id: s\nCREATE VIEW s AS SELECT 1;";
  EXPECT_THAT(ProblemOf({"facts/r.sql", two}), HasSubstr("more than one statement"));
}

TEST(CatalogueTest, NoTwoRulesHaveOneRank) {
  const std::string first = RuleFile("r", kRuleSelect);
  const std::string second = RuleFile("s", kRuleSelect);
  const EmbeddedFile files[] = {{"rules/r.sql", first}, {"rules/s.sql", second}};
  EXPECT_THAT(queries::Catalogue(files).problems(), ElementsAre(HasSubstr("r has the rank 7 too")));
}

}  // namespace
}  // namespace oomdb::schema
