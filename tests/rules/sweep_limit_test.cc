#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/rules/rule_database.h"
#include "tests/support/gpu_story.h"

namespace oomdb::queries {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// A run whose plan takes `plan_bytes` of a pool of 1 GiB.
void Point(RuleDatabase& database, const std::string& batch, int64_t plan_bytes,
           const std::string& sequence = "") {
  const std::string run = fmt::format("b{}s{}", batch, sequence);
  HloBuilder step("jit_step");
  step.Parameter(64_MiB);
  step.Temp(plan_bytes - 64_MiB);
  GpuStory story;
  story.Pool(0, 1_GiB, {.in_use_before = 64_MiB, .memory_bytes = 1_GiB}).Module(step, 7);
  if (plan_bytes <= 1_GiB) story.Step("jit_step", {.free_outputs = true});
  database.Ingest(story.Bytes(), run);
  database.Execute(fmt::format("INSERT INTO run_labels VALUES ('{}', 'batch', '{}')", run, batch));
  if (sequence.empty()) return;
  database.Execute(
      fmt::format("INSERT INTO run_labels VALUES ('{}', 'sequence', '{}')", run, sequence));
}

TEST(SweepLimitTest, NamesTheLargestThatFitsAndTheSmallestThatDoesNot) {
  RuleDatabase database;
  Point(database, "2", 300_MiB);
  Point(database, "16", 1200_MiB);  // As text it is less than 2.
  Point(database, "8", 900_MiB);
  Point(database, "32", 2400_MiB);
  const std::vector<Finding> found = database.Findings("sweep_limit");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "info");
  EXPECT_EQ(found[0].title, "batch=8 is the largest that fits of 4 points; batch=16 does not");
  EXPECT_THAT(found[0].detail, HasSubstr("jit_step needs 943718400 bytes at batch=8 and "
                                         "1258291200 bytes at batch=16"));
  EXPECT_EQ(found[0].bytes, 1200_MiB);
}

TEST(SweepLimitTest, NoneThatFitsIsAWarning) {
  RuleDatabase database;
  for (const int batch : {2, 4, 8}) Point(database, std::to_string(batch), batch * 600_MiB);
  const std::vector<Finding> found = database.Findings("sweep_limit");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "warning");
  EXPECT_THAT(found[0].title, HasSubstr("No batch of the sweep fits: batch=2 needs"));
}

TEST(SweepLimitTest, OnlyRunsThatAgreeInTheOtherLabelsAreOneCurve) {
  RuleDatabase database;
  Point(database, "2", 300_MiB, "64");
  Point(database, "4", 600_MiB, "64");
  Point(database, "8", 1200_MiB, "64");
  Point(database, "2", 2400_MiB, "512");  // Fits nowhere, and says nothing of batch.
  const std::vector<Finding> found = database.Findings("sweep_limit");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].title, "batch=4 is the largest that fits of 3 points; batch=8 does not");
  EXPECT_THAT(found[0].detail, HasSubstr("sequence=64"));
}

TEST(SweepLimitTest, QuietForTwoPointsForOnesThatAllFitAndForWords) {
  RuleDatabase two;
  Point(two, "2", 300_MiB);
  Point(two, "8", 1200_MiB);
  EXPECT_THAT(two.Findings("sweep_limit"), IsEmpty());
  RuleDatabase fit;
  for (const int batch : {2, 4, 8}) Point(fit, std::to_string(batch), batch * 100_MiB);
  EXPECT_THAT(fit.Findings("sweep_limit"), IsEmpty());
  RuleDatabase words;
  Point(words, "small", 300_MiB);
  Point(words, "medium", 900_MiB);
  Point(words, "large", 1200_MiB);
  EXPECT_THAT(words.Findings("sweep_limit"), IsEmpty());
}

}  // namespace
}  // namespace oomdb::queries
