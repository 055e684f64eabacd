#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/rules/error_logs.h"
#include "tests/rules/rule_database.h"
#include "tests/support/gpu_story.h"

namespace oomdb::queries {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kBelowNothing =
    "Can't reduce memory use below -12.00GiB (-12884901888 bytes) by rematerialization; only "
    "reduced to 20.00GiB (21474836480 bytes), down from 20.00GiB (21474836480 bytes) originally\n";

TEST(ArgumentsAboveBudgetTest, ALimitBelowNothing) {
  RuleDatabase database;
  database.IngestText(kBelowNothing);
  EXPECT_THAT(database.Summary(), ElementsAre("arguments_above_budget warning"));
  const Finding finding = Only(database, "arguments_above_budget");
  EXPECT_THAT(finding.title, HasSubstr("12884901888 bytes"));
  EXPECT_THAT(finding.detail, HasSubstr("21474836480 bytes"));
  EXPECT_THAT(database.Remedies(finding), Not(IsEmpty()));
}

TEST(ArgumentsAboveBudgetTest, ArgumentsAboveTheBaseLimit) {
  RuleDatabase database;
  database.IngestText(
      "The byte size of input/output arguments (3000) exceeds the base limit (1000). This "
      "indicates "
      "an error in the calculation!\n");
  EXPECT_THAT(Only(database, "arguments_above_budget").title, HasSubstr("2000 bytes"));
}

TEST(ArgumentsAboveBudgetTest, QuietWhereTempsAreWhatIsLarge) {
  RuleDatabase database;
  database.IngestText(
      "Can't reduce memory use below 12.00GiB (12884901888 bytes) by rematerialization; only "
      "reduced to 20.00GiB (21474836480 bytes), down from 20.00GiB (21474836480 bytes) "
      "originally\n");
  EXPECT_THAT(database.Findings("arguments_above_budget"), IsEmpty());
}

TEST(ArgumentsAboveBudgetTest, QuietBesideTheFailure) {
  RuleDatabase database;
  database.IngestText(kBelowNothing + Request(18_GiB));
  EXPECT_THAT(database.Findings("arguments_above_budget"), IsEmpty());
}

}  // namespace
}  // namespace oomdb::queries
