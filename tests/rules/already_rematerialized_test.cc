#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/rules/rule_database.h"
#include "tests/support/hlo_builder.h"
#include "tests/support/sizes.h"

namespace oomdb::queries {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(AlreadyRematerializedTest, CountsWhatIsComputedAgain) {
  HloBuilder hlo("jit_step");
  hlo.Parameter(1_MiB);
  hlo.Temp(Value(1_MiB).Name("fusion.3.remat"));
  hlo.Temp(Value(1_MiB).Name("fusion.3.remat2.1"));
  hlo.Temp(Value(1_MiB).Name("bitcast.9.remat").Opcode("bitcast"));
  RuleDatabase database;
  database.IngestPlan(hlo.Bytes());
  const std::vector<Finding> found = database.Findings("already_rematerialized");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "info");
  EXPECT_EQ(found[0].bytes, std::nullopt);
  EXPECT_THAT(found[0].title, HasSubstr("rematerialized 2 instructions"));
}

TEST(AlreadyRematerializedTest, QuietWithoutAny) {
  HloBuilder hlo("jit_step");
  hlo.Parameter(1_MiB);
  hlo.Temp(Value(1_MiB).Name("rematch.3"));
  RuleDatabase database;
  database.IngestPlan(hlo.Bytes());
  EXPECT_THAT(database.Findings("already_rematerialized"), IsEmpty());
}

}  // namespace
}  // namespace oomdb::queries
