// Every rule has a test file of its own, a case where it fires and one where it is quiet.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "queries/catalogue.h"
#include "tests/rules/rule_database.h"

namespace oomdb::queries {
namespace {

// Looks at what the other tests asked for, when all of them have run.
class RuleCoverage : public testing::Environment {
 public:
  void TearDown() override {
    const testing::UnitTest& unit_test = *testing::UnitTest::GetInstance();
    if (unit_test.test_to_run_count() != unit_test.total_test_count()) return;
    const AskedRules& asked = AskedRules::OfThisProcess();
    for (const CatalogueEntry* rule : Catalogue::Get().Rules()) {
      EXPECT_EQ(asked.fired.count(rule->id), 1U) << rule->id << " fires in no test";
      EXPECT_EQ(asked.quiet.count(rule->id), 1U) << rule->id << " is quiet in no test";
    }
  }
};

const testing::Environment* const kCoverage =
    testing::AddGlobalTestEnvironment(new RuleCoverage);  // NOLINT: gtest deletes it.

TEST(RuleCoverageTest, EveryRuleHasATestFile) {
  ASSERT_NE(kCoverage, nullptr);
  const std::filesystem::path room = std::filesystem::path(OOMDB_SOURCE_DIR) / "tests" / "rules";
  for (const CatalogueEntry* rule : Catalogue::Get().Rules()) {
    EXPECT_TRUE(std::filesystem::exists(room / (rule->id + "_test.cc"))) << rule->id;
  }
}

TEST(RuleCoverageTest, RecordsWhatIsAsked) {
  RuleDatabase database;
  database.Findings("no_such_rule");
  EXPECT_EQ(AskedRules::OfThisProcess().quiet.count("no_such_rule"), 1U);
  EXPECT_EQ(AskedRules::OfThisProcess().fired.count("no_such_rule"), 0U);
}

}  // namespace
}  // namespace oomdb::queries
