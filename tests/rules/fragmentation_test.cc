#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/rules/rule_database.h"
#include "tests/support/gpu_story.h"

namespace oomdb::queries {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

HloBuilder Step() {
  HloBuilder hlo("jit_step");
  hlo.Parameter(64_MiB).Output(1_MiB);
  hlo.Temp(200_MiB);
  return hlo;
}

TEST(FragmentationTest, EnoughIsFreeButNotInOnePiece) {
  const HloBuilder hlo = Step();
  GpuStory story;
  story.Pool(0, 512_MiB, {.in_use_before = 64_MiB}).Module(hlo, 7);
  std::vector<Handle> large;
  for (int i = 0; i < 4; ++i) {
    large.push_back(story.Transfer(0, 100_MiB, "f32[26214400]"));
    story.Transfer(0, 1_MiB, "f32[262144]");
  }
  story.Free(large);
  story.FailStep("jit_step");
  RuleDatabase database;
  database.Ingest(story.Bytes());
  const std::vector<Finding> found = database.Findings("fragmentation");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "error");
  EXPECT_EQ(found[0].bytes, hlo.temp_bytes());
  EXPECT_THAT(found[0].detail, HasSubstr("BufferFromHostBuffer(f32[262144])"));
  const std::vector<Item> items = database.Items(found[0]);
  ASSERT_GE(items.size(), 2u);
  EXPECT_EQ(items[0].kind, "free");
  EXPECT_GT(*items[0].bytes, 400_MiB);
  EXPECT_LT(*items[1].bytes, 200_MiB);  // The largest block.
  EXPECT_THAT(database.Findings("other_arrays_take_room"), IsEmpty());
  EXPECT_THAT(database.Findings("step_does_not_fit"), IsEmpty());
}

TEST(FragmentationTest, QuietWhenTooLittleIsFree) {
  GpuStory story;
  story.Pool(0, 256_MiB, {.in_use_before = 64_MiB}).Module(Step(), 7);
  story.FailStep("jit_step");
  RuleDatabase database;
  database.Ingest(story.Bytes());
  EXPECT_THAT(database.Findings("fragmentation"), IsEmpty());
}

TEST(FragmentationTest, AnAllocatorsDumpIsEnough) {
  RuleDatabase database;
  database.IngestPlan(Step().Bytes());
  database.Execute(
      "INSERT INTO oom_events (oom_event_id, capture_id, line, kind, fatal, memory_space, "
      "allocator,"
      " requested_bytes, free_bytes, largest_free_bytes) VALUES"
      " (1, 1, 3, 'bfc_request_failed', 1, 'gpu', 'GPU_0_bfc', 100, 500, 60)");
  const std::vector<Finding> found = database.Findings("fragmentation");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].evidence, "read");
  EXPECT_EQ(found[0].bytes, 100);
  database.Execute("UPDATE oom_events SET free_bytes = 90");  // Plainly too little.
  EXPECT_THAT(database.Findings("fragmentation"), IsEmpty());
  database.Execute("UPDATE oom_events SET free_bytes = 500, memory_space = 'vmem'");
  EXPECT_THAT(database.Findings("fragmentation"), IsEmpty());
}

}  // namespace
}  // namespace oomdb::queries
