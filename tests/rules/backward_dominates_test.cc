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

TEST(BackwardDominatesTest, IsNamedAlone) {
  RuleDatabase database = FailedStep({.forward = 50_MiB, .backward = 200_MiB, .workspace = 10_MiB});
  const std::vector<Finding> found = database.Findings("backward_dominates");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].bytes, 200_MiB);
  EXPECT_THAT(database.Findings("forward_dominates"), IsEmpty());
  EXPECT_THAT(database.Remedies(found[0]), Contains(Field(&Remedy::fix, HasSubstr("FSDP"))));
}

TEST(BackwardDominatesTest, QuietWhereForwardLeads) {
  RuleDatabase database = FailedStep({.forward = 200_MiB, .backward = 50_MiB, .workspace = 10_MiB});
  EXPECT_THAT(database.Findings("backward_dominates"), IsEmpty());
}

}  // namespace
}  // namespace oomdb::queries
