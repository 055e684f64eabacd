#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/rules/failed_step.h"
#include "tests/rules/rule_database.h"
#include "tests/support/gpu_story.h"

namespace oomdb::queries {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

TEST(WorkspaceDominatesTest, IsNamedAlone) {
  RuleDatabase database = FailedStep({.forward = 0, .backward = 10_MiB, .workspace = 240_MiB});
  const std::vector<Finding> found = database.Findings("workspace_dominates");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].bytes, 240_MiB);
  EXPECT_THAT(database.Findings("backward_dominates"), IsEmpty());
}

TEST(WorkspaceDominatesTest, QuietWhereForwardLeads) {
  RuleDatabase database = FailedStep({.forward = 200_MiB, .backward = 50_MiB, .workspace = 10_MiB});
  EXPECT_THAT(database.Findings("workspace_dominates"), IsEmpty());
}

}  // namespace
}  // namespace oomdb::queries
