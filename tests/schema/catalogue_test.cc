#include "queries/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/schema/sample_facts.h"

namespace oomdb {
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

// A rule with all of its header; `select` must give the columns of a rule.
std::string RuleFile(const std::string& id, const std::string& select) {
  return "-- id: " + id +
         "\n-- title: It's a rule\n-- asks: Is it?\n-- needs: nothing\n-- tags: test\n-- severity: "
         "info\n"
         "-- cause: one line,\n--   and another\n-- columns:\n--   capture_id: the capture\n--   "
         "bytes: how many (bytes)\n"
         "-- how to read: so\n-- next: oomdb list rules\nCREATE VIEW " +
         id + " AS\n" + select + ";\n";
}

constexpr char kRuleSelect[] =
    "SELECT 1 AS capture_id, 'r' AS run, 'h' AS host, 0 AS device, 5 AS device_id, NULL AS "
    "module_id, NULL AS module_name, NULL AS execution_id, 'info' AS severity, 'read' AS "
    "evidence, 'title; with a semicolon' AS title, 'detail' AS detail, 3 AS bytes";

std::string ProblemOf(const EmbeddedFile& file) {
  const Catalogue catalogue(std::span<const EmbeddedFile>(&file, 1));
  return catalogue.problems().empty() ? "none" : catalogue.problems()[0];
}

TEST(CatalogueTest, EveryFileIsReadAndNamesItsColumns) {
  const Catalogue& catalogue = Catalogue::Get();
  EXPECT_THAT(catalogue.problems(), ElementsAre());
  Database database = Database::Throwaway(catalogue.views());
  for (const CatalogueEntry& entry : catalogue.entries()) {
    std::vector<std::string> columns;
    for (const ColumnMeaning& column : entry.columns) columns.push_back(column.name);
    EXPECT_EQ(columns, ColumnsOf(database, entry.id)) << entry.path;
    EXPECT_NO_THROW(Query(database, "SELECT * FROM " + entry.id)) << entry.path;
  }
}

TEST(CatalogueTest, EvidenceAndRemediesBelongToRules) {
  const Catalogue& catalogue = Catalogue::Get();
  for (const CatalogueEntry& entry : catalogue.entries()) {
    if (entry.kind != ViewKind::kItems && entry.kind != ViewKind::kRemedies) continue;
    const std::string rule = entry.id.substr(0, entry.id.rfind('_'));
    const CatalogueEntry* const found = catalogue.Find(rule);
    EXPECT_TRUE(found != nullptr && found->kind == ViewKind::kRule) << entry.path;
  }
}

TEST(CatalogueTest, TheContractsColumnsComeFirst) {
  Database database = Database::Throwaway(Catalogue::Get().views());
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

TEST(CatalogueTest, GeneratesTheUnions) {
  const std::string rule = RuleFile("it_leaks", kRuleSelect);
  const std::string items =
      "-- id: it_leaks_items\n-- title: t\n-- columns:\n--   capture_id: c\nCREATE VIEW "
      "it_leaks_items AS\nSELECT 1 AS capture_id, 5 AS device_id, NULL AS module_id, 1 AS "
      "position, 'k' AS kind, 'l' AS label, 2 AS bytes, 1 AS count;";
  const EmbeddedFile files[] = {{"diagnoses/it_leaks.sql", rule},
                                {"diagnoses/items/it_leaks_items.sql", items}};
  const Catalogue catalogue(files);
  EXPECT_THAT(catalogue.problems(), ElementsAre());
  Database database = Database::Throwaway(catalogue.views());
  EXPECT_EQ(QueryText(database, "SELECT finding_id FROM findings WHERE rule = 'it_leaks'"),
            "it_leaks:1:5:-");
  EXPECT_EQ(
      QueryText(database, "SELECT i.label FROM findings f JOIN finding_items i USING (finding_id)"),
      "l");
  EXPECT_EQ(QueryText(database, "SELECT title || cause FROM rules"),
            "It's a ruleone line, and another");
  EXPECT_TRUE(Query(database, "SELECT * FROM remedies").rows.empty());
}

TEST(CatalogueTest, WorksWithoutRules) {
  const Catalogue catalogue((std::span<const EmbeddedFile>()));
  Database database = Database::Throwaway(catalogue.views());
  for (const char* view : {"findings", "finding_items", "remedies", "rules"}) {
    EXPECT_TRUE(Query(database, std::string("SELECT * FROM ") + view).rows.empty());
    EXPECT_GT(ColumnsOf(database, view).size(), 4u);
  }
}

TEST(CatalogueTest, SaysWhatIsWrongWithAFile) {
  const std::string good = RuleFile("r", kRuleSelect);
  EXPECT_EQ(ProblemOf({"diagnoses/r.sql", good}), "none");
  EXPECT_THAT(ProblemOf({"diagnoses/other.sql", good}), HasSubstr("not the file's name"));
  EXPECT_THAT(ProblemOf({"elsewhere/r.sql", good}), HasSubstr("not in facts/"));
  const std::string two = good + "CREATE VIEW s AS SELECT 1;";
  EXPECT_THAT(ProblemOf({"diagnoses/r.sql", two}), HasSubstr("more than one statement"));
  for (const std::string key :
       {"id", "title", "asks", "needs", "tags", "severity", "cause", "how to read", "next"}) {
    std::string bad = good;
    const size_t at = bad.find("-- " + key + ":");
    bad.erase(at, bad.find('\n', at) + 1 - at);
    EXPECT_NE(ProblemOf({"diagnoses/r.sql", bad}), "none") << key;
  }
  const std::string unknown = "-- colour: red\n" + good;
  EXPECT_THAT(ProblemOf({"diagnoses/r.sql", unknown}), HasSubstr("unknown header line"));
  const std::string wrong =
      "-- id: r\n-- title: t\n-- columns:\n--   a: b\nCREATE VIEW q AS SELECT 1 AS a;";
  EXPECT_THAT(ProblemOf({"facts/r.sql", wrong}), HasSubstr("CREATE VIEW r AS"));
}

}  // namespace
}  // namespace oomdb
