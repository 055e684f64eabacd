#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/rules/rule_database.h"
#include "tests/support/gpu_story.h"

namespace oomdb {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

struct Sizes {
  int64_t forward;
  int64_t backward;
  int64_t workspace;
};

// A step of 64 MiB of parameters and these temps, which a pool of 256 MiB can't hold.
RuleDatabase FailedStep(const Sizes& sizes) {
  HloBuilder hlo("jit_train_step");
  hlo.Parameter(64_MiB);
  if (sizes.forward > 0) hlo.Temp(Value(sizes.forward).Op("jit(f)/jvp()/dot_general"));
  if (sizes.backward > 0) hlo.Temp(Value(sizes.backward).Op("jit(f)/transpose(jvp())/mul"));
  if (sizes.workspace > 0) {
    hlo.Temp(Value(sizes.workspace).Shape(6, {sizes.workspace}).CustomCall("__cublas$gemm"));
  }
  GpuStory story;
  story.Pool(0, 256_MiB, {.in_use_before = 64_MiB}).Module(hlo, 1);
  story.FailStep("jit_train_step");
  RuleDatabase database;
  database.Ingest(story.Bytes());
  return database;
}

TEST(RoleDominatesTest, ForwardIsNamedAlone) {
  RuleDatabase database = FailedStep({.forward = 200_MiB, .backward = 50_MiB, .workspace = 10_MiB});
  const std::vector<Finding> found = database.Findings("forward_dominates");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].bytes, 200_MiB);
  EXPECT_EQ(found[0].severity, "error");
  EXPECT_EQ(found[0].evidence, "inferred");
  EXPECT_THAT(database.Findings("backward_dominates"), IsEmpty());
  EXPECT_THAT(database.Findings("workspace_dominates"), IsEmpty());
  EXPECT_THAT(database.Items(found[0]), SizeIs(1));
}

TEST(RoleDominatesTest, BackwardIsNamedAlone) {
  RuleDatabase database = FailedStep({.forward = 50_MiB, .backward = 200_MiB, .workspace = 10_MiB});
  const std::vector<Finding> found = database.Findings("backward_dominates");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].bytes, 200_MiB);
  EXPECT_THAT(database.Findings("forward_dominates"), IsEmpty());
  EXPECT_THAT(database.Remedies(found[0]), Contains(Field(&Remedy::fix, HasSubstr("FSDP"))));
}

TEST(RoleDominatesTest, WorkspaceIsNamedAlone) {
  RuleDatabase database = FailedStep({.forward = 0, .backward = 10_MiB, .workspace = 240_MiB});
  const std::vector<Finding> found = database.Findings("workspace_dominates");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].bytes, 240_MiB);
  EXPECT_THAT(database.Findings("backward_dominates"), IsEmpty());
}

TEST(RoleDominatesTest, QuietWhenTheRoleIsASmallPartOfThePlan) {
  // 20 MiB of forward in a plan of 320 MiB of parameters.
  HloBuilder hlo("jit_train_step");
  hlo.Parameter(300_MiB);
  hlo.Temp(Value(20_MiB).Op("jit(f)/jvp()/dot_general"));
  RuleDatabase database({{"capacity_bytes", 256_MiB}});
  database.IngestPlan(hlo.Bytes());
  EXPECT_THAT(database.Findings("step_does_not_fit"), SizeIs(1));
  EXPECT_THAT(database.Findings("forward_dominates"), IsEmpty());
}

TEST(RoleDominatesTest, TheShareIsASetting) {
  HloBuilder hlo("jit_train_step");
  hlo.Parameter(300_MiB);
  hlo.Temp(Value(20_MiB).Op("jit(f)/jvp()/dot_general"));
  RuleDatabase database({{"capacity_bytes", 256_MiB}, {"role_min_percent", 5}});
  database.IngestPlan(hlo.Bytes());
  EXPECT_THAT(database.Findings("forward_dominates"), SizeIs(1));
}

TEST(RoleDominatesTest, QuietWhenTheStepFits) {
  HloBuilder hlo("jit_train_step");
  hlo.Parameter(64_MiB);
  hlo.Temp(Value(100_MiB).Op("jit(f)/jvp()/dot_general"));
  RuleDatabase database({{"capacity_bytes", 256_MiB}});
  database.IngestPlan(hlo.Bytes());
  EXPECT_THAT(database.Summary(), IsEmpty());
}

TEST(RoleDominatesTest, MicroBatchesAreAsManyAsMakeItFit) {
  // 64 MiB of parameters and 1000 MiB of activations in 256 MiB: 1/4 is too much, 1/8 is not.
  HloBuilder hlo("jit_train_step");
  hlo.Parameter(64_MiB);
  hlo.Temp(Value(1000_MiB).Op("jit(f)/jvp()/dot_general"));
  RuleDatabase database({{"capacity_bytes", 256_MiB}});
  database.IngestPlan(hlo.Bytes());
  const std::vector<Finding> found = database.Findings("forward_dominates");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(
      database.Remedies(found[0]),
      Contains(testing::AllOf(Field(&Remedy::fix, HasSubstr("into 8 micro-batches")),
                              Field(&Remedy::saving_bytes, 875_MiB), Field(&Remedy::fits, 1))));
}

}  // namespace
}  // namespace oomdb
