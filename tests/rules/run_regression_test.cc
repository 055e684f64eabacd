// run_regression: a run beside the one that its label `baseline` names. What makes the difference
// is for `oomdb compare`, and so are its tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/rules/rule_database.h"
#include "tests/support/gpu_story.h"

namespace oomdb::queries {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// A run whose plan takes `temp_bytes` beside 64 MiB of parameters.
void StoreRun(RuleDatabase& database, const std::string& run, int64_t temp_bytes,
              const std::string& baseline = "", const std::string& module = "jit_step") {
  HloBuilder step(module);
  step.Parameter(64_MiB);
  step.Temp(temp_bytes);
  database.IngestPlan(step.Bytes(), run);
  if (baseline.empty()) return;
  database.Execute("INSERT INTO run_labels VALUES ('" + run + "', 'baseline', '" + baseline + "')");
}

TEST(RunRegressionTest, TheRunThatNeedsMoreIsNamed) {
  RuleDatabase database;
  StoreRun(database, "main", 100_MiB);
  StoreRun(database, "change", 300_MiB, "main");
  const std::vector<Finding> found = database.Findings("run_regression");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "warning");
  EXPECT_EQ(found[0].evidence, "read");
  EXPECT_EQ(found[0].module_name, "jit_step");
  EXPECT_EQ(found[0].bytes, 200_MiB);
  EXPECT_EQ(found[0].title, "jit_step of change peaks 209715200 bytes higher than in main");
  EXPECT_THAT(found[0].detail, HasSubstr("temps 104857600 bytes, now 314572800 bytes"));
}

TEST(RunRegressionTest, ThresholdsAreSettings) {
  RuleDatabase database({{"regression_min_bytes", 300_MiB}});
  StoreRun(database, "main", 100_MiB);
  StoreRun(database, "change", 300_MiB, "main");
  EXPECT_THAT(database.Findings("run_regression"), IsEmpty());
}

TEST(RunRegressionTest, QuietWithoutALabelForLessAndForOtherModules) {
  RuleDatabase unlabelled;
  StoreRun(unlabelled, "main", 100_MiB);
  StoreRun(unlabelled, "change", 300_MiB);
  EXPECT_THAT(unlabelled.Findings("run_regression"), IsEmpty());
  RuleDatabase less;
  StoreRun(less, "main", 300_MiB);
  StoreRun(less, "change", 100_MiB, "main");
  EXPECT_THAT(less.Findings("run_regression"), IsEmpty());
  RuleDatabase other;
  StoreRun(other, "main", 100_MiB);
  StoreRun(other, "change", 300_MiB, "main", "jit_eval");
  EXPECT_THAT(other.Findings("run_regression"), IsEmpty());
}

}  // namespace
}  // namespace oomdb::queries
