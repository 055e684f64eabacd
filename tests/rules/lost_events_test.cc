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
  hlo.Parameter(128_MiB).Output(1_MiB);
  hlo.Temp(64_MiB);
  return hlo;
}

TEST(LostEventsTest, AnImpossibleTotalIsALostEvent) {
  GpuStory story;
  story.Pool(0, 1_GiB, {.in_use_before = 128_MiB}).Module(Step(), 7);
  story.Transfer(0, 1_MiB, "f32[262144]");
  // 10 MiB more in use than the events before account for.
  story.Sleep(1_ms);
  story.launching_thread().Event(
      "MemoryAllocation", story.now_ns(), 0,
      {Text("allocator_name", "GPU_0_bfc"), Int("bytes_reserved", 0),
       Int("bytes_allocated", 140_MiB), Int("bytes_available", 1_GiB - 140_MiB),
       Real("fragmentation", 0), Int("peak_bytes_in_use", 140_MiB), Int("requested_bytes", 1_MiB),
       Int("allocation_bytes", 1_MiB), Int("addr", 0x7e0000000000)});
  RuleDatabase database;
  database.Ingest(story.Bytes());
  const std::vector<Finding> found = database.Findings("lost_events");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "warning");
  EXPECT_THAT(found[0].title, HasSubstr("GPU_0_bfc"));
}

TEST(LostEventsTest, QuietWhenTotalsAddUp) {
  GpuStory story;
  story.Pool(0, 1_GiB, {.in_use_before = 128_MiB}).Module(Step(), 7);
  for (int i = 0; i < 3; ++i) story.Step("jit_step", {.free_outputs = true});
  RuleDatabase database;
  database.Ingest(story.Bytes());
  EXPECT_THAT(database.Findings("lost_events"), IsEmpty());
}

}  // namespace
}  // namespace oomdb::queries
