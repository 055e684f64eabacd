#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace oomdb::cli {
namespace {

using testing::HasSubstr;

class ForgetVerbTest : public ProgramTest {
 protected:
  ForgetVerbTest() { EXPECT_EQ(Oomdb("ingest --db oom.db logs").exit_code, 0); }
};

TEST_F(ForgetVerbTest, ByRunByIdAndByPath) {
  for (const std::string which :
       {"--run run1", "--capture 1", "--capture logs/plugins/profile/run1/host.xplane.pb"}) {
    Oomdb("ingest --db oom.db logs");
    const Outcome outcome = Oomdb("forget --db oom.db " + which);
    EXPECT_EQ(outcome.exit_code, 0) << which << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("forgotten: "));
    EXPECT_EQ(Ask("SELECT (SELECT COUNT(*) FROM captures) + (SELECT COUNT(*) FROM modules)"), "0")
        << which;
  }
  EXPECT_TRUE(Exists(kCapture));
}

TEST_F(ForgetVerbTest, AMisspeltNameIsNoSuccess) {
  const Outcome outcome = Oomdb("forget --db oom.db --run run2");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("did you mean run1?"));
  EXPECT_EQ(Oomdb("forget --db oom.db --capture 7").exit_code, 1);
  EXPECT_EQ(Oomdb("forget --db oom.db").exit_code, 2);
  EXPECT_EQ(Oomdb("forget --db oom.db --run run1 --capture 1").exit_code, 2);
  EXPECT_EQ(Oomdb("forget --db none.db --run run1").exit_code, 1);
  EXPECT_FALSE(Exists("none.db"));
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM captures"), "1");
}

}  // namespace
}  // namespace oomdb::cli
