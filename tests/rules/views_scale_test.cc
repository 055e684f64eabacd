// What a view costs must grow with the captures, not with their square: a nested loop that compares
// each row with each shows in the steps of SQLite's machine, whatever the clock says.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "queries/catalogue.h"
#include "tests/rules/rule_database.h"
#include "tests/support/gpu_story.h"

namespace oomdb::queries {
namespace {

constexpr int kFew = 8, kMany = 32;
// Sorting is a little more than linear; the square would be sixteen times as much.
constexpr int64_t kMostTimes = 6;
// Captures beside captures, a few steps each, are cheap; their rows are what must not meet.
constexpr int64_t kAlways = 8000;

// A step that keeps its outputs until one finds no room, beside arrays of others.
std::string Capture(int number) {
  HloBuilder hlo("jit_step");
  hlo.Partitions(2);
  hlo.DonatedParameter(Value(8_MiB).Replicated()).Parameter(Value(2_MiB).Sharded({2}));
  hlo.Output(Value(4_MiB).Op("jit(step)/transpose(jvp())/mul")).Temp(4_MiB);
  GpuStory story;
  story.Pool(0, 64_MiB + number * 256, {.in_use_before = 10_MiB}).Module(hlo, 1);
  for (int i = 0; i < 12; ++i) story.Step("jit_step");
  story.FailStep("jit_step");
  return story.Bytes();
}

int64_t StepsOf(schema::Database& database, const std::string& view) {
  sqlite3_stmt* statement = nullptr;
  const std::string sql = "SELECT * FROM " + view;
  EXPECT_EQ(
      sqlite3_prepare_v2(database.connection().getHandle(), sql.c_str(), -1, &statement, nullptr),
      SQLITE_OK)
      << view;
  while (sqlite3_step(statement) == SQLITE_ROW) {
  }
  const int64_t steps = sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 0);
  sqlite3_finalize(statement);
  return steps;
}

TEST(ViewsScaleTest, WithTheCapturesAndNotWithTheirSquare) {
  RuleDatabase few, many;
  for (int i = 0; i < kMany; ++i) {
    const std::string bytes = Capture(i);
    const std::string run = "run" + std::to_string(i);
    if (i < kFew) few.Ingest(bytes, run);
    many.Ingest(bytes, run);
  }
  ASSERT_EQ(many.Integer("SELECT COUNT(*) FROM grows_per_execution WHERE severity = 'error'"),
            kMany);
  ASSERT_GT(many.Integer("SELECT COUNT(*) FROM failed_live_groups"), kMany);
  for (const CatalogueEntry& entry : Catalogue::Get().entries()) {
    // Every run beside every other: the square is what it answers.
    if (entry.id == "run_comparison" || entry.id == "failure_comparison") continue;
    const int64_t base = StepsOf(few.database(), entry.id);
    EXPECT_LE(StepsOf(many.database(), entry.id), kMostTimes * base + kAlways) << entry.id;
  }
}

// A pair of runs is compared without the pairs of all the others.
TEST(ViewsScaleTest, APairOfRunsWithoutTheOthers) {
  RuleDatabase few, many;
  for (int i = 0; i < kMany; ++i) {
    const std::string bytes = Capture(i);
    const std::string run = "run" + std::to_string(i);
    if (i < kFew) few.Ingest(bytes, run);
    many.Ingest(bytes, run);
  }
  const std::string pair = "run_comparison WHERE base_run = 'run1' AND new_run = 'run2'";
  ASSERT_GT(many.Integer("SELECT COUNT(*) FROM " + pair), 0);
  EXPECT_LE(StepsOf(many.database(), pair), kMostTimes * StepsOf(few.database(), pair));
}

// Failures in error logs are paired for the two runs that are asked for alone.
TEST(ViewsScaleTest, APairOfFailuresWithoutTheOthers) {
  const auto ingest = [](RuleDatabase& database, int run) {
    std::string text =
        "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space "
        "hbm. Used 21.00G of 15.75G hbm. Exceeded hbm capacity by 5.25G.\n\n  Largest program "
        "allocations in hbm:\n\n";
    for (int i = 1; i <= 20; ++i) {
      const std::string number = std::to_string(i);
      text += "  " + number + ". Size: 1.00G\n     Operator: op_name=\"jit(f)/op" + number +
              "\" source_file=\"/app/err.py\" source_line=" + number + "\n     Shape: f32[" +
              std::to_string(run + 1) +
              ",4096]{1,0}\n     Unpadded size: 1.00G\n     XLA label: fusion." + number +
              " = fusion(p)\n     Allocation type: HLO temp\n     ==========================\n\n";
    }
    database.IngestText(text, "run" + std::to_string(run));
  };
  RuleDatabase few, many;
  for (int i = 0; i < kMany; ++i) {
    if (i < kFew) ingest(few, i);
    ingest(many, i);
  }
  const std::string pair = "failure_comparison WHERE base_run = 'run1' AND new_run = 'run2'";
  ASSERT_EQ(many.Integer("SELECT COUNT(*) FROM " + pair + " AND kind = 'buffer'"), 20);
  EXPECT_LE(StepsOf(many.database(), pair), kMostTimes * StepsOf(few.database(), pair));
}

// The executions of one capture: growth costs as many steps as there are, not their square.
TEST(ViewsScaleTest, GrowthWithTheExecutions) {
  const auto steps = [](int executions) {
    HloBuilder hlo("jit_step");
    hlo.Output(Value(1_MiB));
    GpuStory story;
    story.Pool(0, 4096_MiB, {.in_use_before = 10_MiB}).Module(hlo, 1);
    for (int i = 0; i < executions; ++i) story.Step("jit_step");
    RuleDatabase database;
    database.Ingest(story.Bytes(), "run");
    EXPECT_EQ(database.Integer("SELECT survivor_bytes FROM growth"), (executions - 1) * 1_MiB);
    return StepsOf(database.database(), "growing_modules");
  };
  EXPECT_LE(steps(256), kMostTimes * steps(64));
}

}  // namespace
}  // namespace oomdb::queries
