// heap_timeline and live_at_start: the record as people ask for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/rules/rule_database.h"
#include "tests/support/gpu_story.h"

namespace oomdb::queries {
namespace {

GpuStory ThreeSteps() {
  HloBuilder hlo("jit_step");
  hlo.Parameter(128_MiB).Output(96_MiB);
  hlo.Temp(100_MiB);
  GpuStory story;
  story.Pool(0, 4_GiB, {.in_use_before = 128_MiB}).Module(hlo, 7);
  story.Transfer(0, 1_MiB, "f32[262144]");
  for (int i = 0; i < 3; ++i) story.Step("jit_step");
  return story;
}

TEST(HeapTimelineTest, StartsBeforeTheCaptureAndEndsAtTheLastTotal) {
  GpuStory story = ThreeSteps();
  RuleDatabase database;
  database.Ingest(story.Bytes());
  EXPECT_EQ(database.Integer("SELECT in_use_bytes FROM heap_timeline WHERE time_ns IS NULL"),
            128_MiB);
  EXPECT_EQ(
      database.Integer("SELECT in_use_bytes FROM heap_timeline ORDER BY time_ns DESC LIMIT 1"),
      story.pool(0).in_use_bytes());
  EXPECT_EQ(database.Integer("SELECT MAX(in_use_bytes) FROM heap_timeline"),
            story.pool(0).peak_bytes());
}

TEST(LiveAtStartTest, SumsToWhatWasInUse) {
  RuleDatabase database;
  database.Ingest(ThreeSteps().Bytes());
  EXPECT_EQ(database.Integer("SELECT COUNT(*) FROM executions"), 3);
  EXPECT_EQ(database.Integer("SELECT COUNT(*) FROM executions e WHERE in_use_at_start_bytes <> "
                             "(SELECT SUM(l.bytes) FROM live_at_start l WHERE l.execution_id = "
                             "e.execution_id)"),
            0);
  EXPECT_EQ(
      database.Integer("SELECT bytes FROM live_at_start l JOIN executions e USING (execution_id) "
                       "WHERE e.sequence = 3 AND l.origin = 'outputs of jit_step execution 2'"),
      96_MiB);
}

}  // namespace
}  // namespace oomdb::queries
