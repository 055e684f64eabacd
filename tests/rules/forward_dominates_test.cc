#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/rules/failed_step.h"
#include "tests/rules/rule_database.h"
#include "tests/support/gpu_story.h"

namespace oomdb::queries {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(ForwardDominatesTest, IsNamedAlone) {
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

TEST(ForwardDominatesTest, QuietWhenTheRoleIsASmallPartOfThePlan) {
  // 20 MiB of forward in a plan of 320 MiB of parameters.
  HloBuilder hlo("jit_train_step");
  hlo.Parameter(300_MiB);
  hlo.Temp(Value(20_MiB).Op("jit(f)/jvp()/dot_general"));
  RuleDatabase database({{"capacity_bytes", 256_MiB}});
  database.IngestPlan(hlo.Bytes());
  EXPECT_THAT(database.Findings("step_does_not_fit"), SizeIs(1));
  EXPECT_THAT(database.Findings("forward_dominates"), IsEmpty());
}

TEST(ForwardDominatesTest, TheShareIsASetting) {
  HloBuilder hlo("jit_train_step");
  hlo.Parameter(300_MiB);
  hlo.Temp(Value(20_MiB).Op("jit(f)/jvp()/dot_general"));
  RuleDatabase database({{"capacity_bytes", 256_MiB}, {"role_min_percent", 5}});
  database.IngestPlan(hlo.Bytes());
  EXPECT_THAT(database.Findings("forward_dominates"), SizeIs(1));
}

TEST(ForwardDominatesTest, QuietWhenTheStepFits) {
  HloBuilder hlo("jit_train_step");
  hlo.Parameter(64_MiB);
  hlo.Temp(Value(100_MiB).Op("jit(f)/jvp()/dot_general"));
  RuleDatabase database({{"capacity_bytes", 256_MiB}});
  database.IngestPlan(hlo.Bytes());
  EXPECT_THAT(database.Summary(), IsEmpty());
}

TEST(ForwardDominatesTest, MicroBatchesAreAsManyAsMakeItFit) {
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
}  // namespace oomdb::queries
