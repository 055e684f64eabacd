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
  hlo.Parameter(128_MiB).Output(16_MiB);
  hlo.Temp(256_MiB);
  return hlo;
}

TEST(OtherArraysTakeRoomTest, ADataSetOnTheDeviceIsNamed) {
  GpuStory story;
  story.Pool(0, 512_MiB, {.in_use_before = 128_MiB}).Module(Step(), 7);
  story.Transfer(0, 200_MiB, "f32[51200,1024]");
  story.FailStep("jit_step");
  RuleDatabase database;
  database.Ingest(story.Bytes());
  const std::vector<Finding> found = database.Findings("other_arrays_take_room");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "error");
  EXPECT_EQ(found[0].bytes, 200_MiB);
  EXPECT_THAT(found[0].detail, HasSubstr("BufferFromHostBuffer(f32[51200,1024])"));
  const std::vector<Item> items = database.Items(found[0]);
  ASSERT_THAT(items, SizeIs(1));  // The step's own parameters are not others.
  EXPECT_EQ(items[0].bytes, 200_MiB);
  const std::vector<Remedy> remedies = database.Remedies(found[0]);
  ASSERT_FALSE(remedies.empty());
  EXPECT_THAT(remedies[0].fix, HasSubstr("on the host"));
  EXPECT_EQ(remedies[0].fits, 1);
  EXPECT_THAT(database.Findings("step_does_not_fit"), IsEmpty());
}

TEST(OtherArraysTakeRoomTest, ParametersMadeInTheCaptureAreNotOthers) {
  GpuStory story;
  story.Pool(0, 512_MiB).Module(Step(), 7);
  story.Transfer(0, 128_MiB, "f32[33554432]");  // The parameter.
  story.Transfer(0, 200_MiB, "f32[51200,1024]");
  story.FailStep("jit_step");
  RuleDatabase database;
  database.Ingest(story.Bytes());
  const std::vector<Finding> found = database.Findings("other_arrays_take_room");
  ASSERT_THAT(found, SizeIs(1));
  const std::vector<Item> items = database.Items(found[0]);
  ASSERT_THAT(items, SizeIs(1));
  EXPECT_THAT(items[0].label, HasSubstr("f32[51200,1024]"));
}

TEST(OtherArraysTakeRoomTest, WhatWasThereBeforeIsSaidToBe) {
  GpuStory story;
  story.Pool(0, 512_MiB, {.in_use_before = 328_MiB}).Module(Step(), 7);
  story.FailStep("jit_step");
  RuleDatabase database;
  database.Ingest(story.Bytes());
  const std::vector<Finding> found = database.Findings("other_arrays_take_room");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].bytes, 200_MiB);
  EXPECT_THAT(found[0].detail, HasSubstr("allocated before the capture began"));
  EXPECT_THAT(database.Remedies(found[0])[0].fix, HasSubstr("start the profile"));
}

TEST(OtherArraysTakeRoomTest, QuietWhenTheStepAloneIsTooLarge) {
  GpuStory story;
  story.Pool(0, 384_MiB, {.in_use_before = 228_MiB}).Module(Step(), 7);
  story.FailStep("jit_step");
  RuleDatabase database;
  database.Ingest(story.Bytes());
  EXPECT_THAT(database.Findings("other_arrays_take_room"), IsEmpty());
  EXPECT_THAT(database.Findings("step_does_not_fit"), SizeIs(1));
}

TEST(OtherArraysTakeRoomTest, QuietWhenNothingFailed) {
  GpuStory story;
  story.Pool(0, 1_GiB, {.in_use_before = 128_MiB}).Module(Step(), 7);
  story.Transfer(0, 200_MiB, "f32[51200,1024]");
  story.Step("jit_step", {.free_outputs = true});
  RuleDatabase database;
  database.Ingest(story.Bytes());
  EXPECT_THAT(database.Findings("other_arrays_take_room"), IsEmpty());
}

TEST(OtherArraysTakeRoomTest, QuietWhenGrowthExplainsIt) {
  GpuStory story;
  story.Pool(0, 512_MiB, {.in_use_before = 128_MiB}).Module(Step(), 7);
  for (int i = 0; i < 8; ++i) story.Step("jit_step");
  story.FailStep("jit_step");
  RuleDatabase database;
  database.Ingest(story.Bytes());
  EXPECT_THAT(database.Findings("grows_per_execution"), SizeIs(1));
  EXPECT_THAT(database.Findings("other_arrays_take_room"), IsEmpty());
}

TEST(OtherArraysTakeRoomTest, FiresBesideGrowthThatDoesNotExplainIt) {
  // An evaluation fails for the data set: it would not have fitted before the growth either.
  HloBuilder eval("jit_eval");
  eval.Parameter(128_MiB);
  eval.Temp(300_MiB);
  HloBuilder small("jit_step");
  small.Parameter(128_MiB).Output(1_MiB);
  GpuStory story;
  story.Pool(0, 512_MiB, {.in_use_before = 128_MiB}).Module(small, 7).Module(eval, 8);
  story.Transfer(0, 200_MiB, "f32[51200,1024]");
  for (int i = 0; i < 6; ++i) story.Step("jit_step");
  story.FailStep("jit_eval");
  RuleDatabase database;
  database.Ingest(story.Bytes());
  const std::vector<Finding> growth = database.Findings("grows_per_execution");
  ASSERT_THAT(growth, SizeIs(1));
  EXPECT_EQ(growth[0].severity, "warning");
  EXPECT_THAT(database.Findings("other_arrays_take_room"), SizeIs(1));
}

}  // namespace
}  // namespace oomdb::queries
