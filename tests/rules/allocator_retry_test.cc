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
  hlo.Parameter(128_MiB).Output(96_MiB);
  hlo.Temp(350_MiB);
  return hlo;
}

class FailedStepTest : public testing::TestWithParam<bool> {};

TEST_P(FailedStepTest, NamesTheRequestThatFailed) {
  const HloBuilder hlo = Step();
  GpuStory story;
  story.Pool(0, 512_MiB, {.in_use_before = 128_MiB}).Module(hlo, 7);
  story.FailStep("jit_step", {.retry_event = GetParam()});
  RuleDatabase database;
  database.Ingest(story.Bytes());
  const std::vector<Finding> found = database.Findings("allocator_retry");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "error");
  EXPECT_EQ(found[0].evidence, GetParam() ? "measured" : "inferred");
  EXPECT_EQ(found[0].bytes, hlo.temp_bytes());
  EXPECT_THAT(found[0].detail, HasSubstr("failed before launch"));
  EXPECT_THAT(found[0].detail, HasSubstr("It asked for the temp allocation"));
  EXPECT_THAT(database.Items(found[0]), SizeIs(1));
}

INSTANTIATE_TEST_SUITE_P(RecordedOrSilent, FailedStepTest, testing::Bool());

TEST(AllocatorRetryTest, TheRequestIsTheFirstThatNoFreeBlockHolds) {
  // Outputs of 64 MiB are got until the pool is full: the third fails, not the temps.
  HloBuilder hlo("jit_step");
  hlo.Parameter(128_MiB).Output(64_MiB).Output(64_MiB).Output(64_MiB);
  hlo.Temp(8_MiB);
  GpuStory story;
  story.Pool(0, 300_MiB, {.in_use_before = 128_MiB}).Module(hlo, 7);
  story.FailStep("jit_step");
  RuleDatabase database;
  database.Ingest(story.Bytes());
  const std::vector<Finding> found = database.Findings("allocator_retry");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].bytes, 64_MiB);
  EXPECT_THAT(found[0].detail, HasSubstr("It asked for the output allocation"));
}

TEST(AllocatorRetryTest, AWaitThatWentWellIsAWarningFromOneSecondOn) {
  GpuStory story;
  story.Pool(0, 1_GiB, {.in_use_before = 128_MiB}).Module(Step(), 7);
  story.Step("jit_step", {.free_outputs = true, .wait_ns = 3_s});
  RuleDatabase database;
  database.Ingest(story.Bytes());
  const std::vector<Finding> found = database.Findings("allocator_retry");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "warning");
  EXPECT_EQ(found[0].bytes, std::nullopt);
  EXPECT_THAT(found[0].title, HasSubstr("3000000000 ns"));
}

TEST(AllocatorRetryTest, AShortWaitIsInfo) {
  GpuStory story;
  story.Pool(0, 1_GiB, {.in_use_before = 128_MiB}).Module(Step(), 7);
  story.Step("jit_step", {.free_outputs = true, .wait_ns = 20_ms});
  RuleDatabase database;
  database.Ingest(story.Bytes());
  const std::vector<Finding> found = database.Findings("allocator_retry");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "info");
}

TEST(AllocatorRetryTest, ASilentStretchThatWentWellIsNoWait) {
  // It may have been anything: loading, tuning.
  GpuStory story;
  story.Pool(0, 1_GiB, {.in_use_before = 128_MiB}).Module(Step(), 7);
  story.Step("jit_step", {.free_outputs = true, .wait_ns = 3_s, .retry_event = false});
  RuleDatabase database;
  database.Ingest(story.Bytes());
  EXPECT_THAT(database.Findings("allocator_retry"), IsEmpty());
}

TEST(AllocatorRetryTest, QuietWithoutWaits) {
  GpuStory story;
  story.Pool(0, 1_GiB, {.in_use_before = 128_MiB}).Module(Step(), 7);
  story.Step("jit_step", {.free_outputs = true});
  RuleDatabase database;
  database.Ingest(story.Bytes());
  EXPECT_THAT(database.Findings("allocator_retry"), IsEmpty());
}

}  // namespace
}  // namespace oomdb::queries
