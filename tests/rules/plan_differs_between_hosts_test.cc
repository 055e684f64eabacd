#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/rules/job_host.h"
#include "tests/rules/rule_database.h"

namespace oomdb::queries {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(PlanDiffersBetweenHostsTest, TheHostWithAnotherPlanIsNamed) {
  RuleDatabase database;
  for (int i = 0; i < 3; ++i) {
    database.Ingest(Host(i, {.temp_bytes = i == 1 ? 300_MiB : 100_MiB}), "job");
  }
  const std::vector<Finding> found = database.Findings("plan_differs_between_hosts");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "warning");
  EXPECT_THAT(found[0].title,
              HasSubstr("worker-01 compiled a different jit_step than 2 of 3 hosts"));
  EXPECT_THAT(found[0].detail, HasSubstr("temps of 314572800 bytes, elsewhere 104857600 bytes"));
  EXPECT_EQ(found[0].bytes, 128_MiB + 32_MiB + 300_MiB);
}

TEST(PlanDiffersBetweenHostsTest, OfTwoHostsTheLargerPlanIsNamed) {
  RuleDatabase database;
  database.Ingest(Host(0, {.temp_bytes = 300_MiB}), "job");
  database.Ingest(Host(1, {}), "job");
  const std::vector<Finding> found = database.Findings("plan_differs_between_hosts");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].title, HasSubstr("worker-00 compiled a different"));
}

TEST(PlanDiffersBetweenHostsTest, QuietForEqualSizesWhateverTheTextSays) {
  RuleDatabase database;
  for (int i = 0; i < 3; ++i) {
    database.Ingest(Host(i, {.operation = i == 1 ? "add" : "multiply"}), "job");
  }
  EXPECT_EQ(database.Integer("SELECT COUNT(DISTINCT fingerprint) FROM modules"), 2);
  EXPECT_THAT(database.Findings("plan_differs_between_hosts"), IsEmpty());
  RuleDatabase runs;
  runs.Ingest(Host(0, {}), "run1");
  runs.Ingest(Host(1, {.temp_bytes = 300_MiB}), "run2");
  EXPECT_THAT(runs.Findings("plan_differs_between_hosts"), IsEmpty());
}

}  // namespace
}  // namespace oomdb::queries
