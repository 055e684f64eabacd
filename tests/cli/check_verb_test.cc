// oomdb check: exit codes, what is said where, and the JUnit file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace oomdb::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CheckVerbTest : public ProgramTest {};

TEST_F(CheckVerbTest, PassesAndFails) {
  const Outcome good = Oomdb("check --budget 1TiB logs");
  EXPECT_EQ(good.exit_code, 0) << good.err;
  EXPECT_EQ(good.out, "ok: 1 check passed\n");
  const Outcome bad = Oomdb("check --budget 1MiB --fail-on error logs");
  EXPECT_EQ(bad.exit_code, 3);
  EXPECT_THAT(bad.out, AllOf(HasSubstr("failed: budget: "), HasSubstr("(read); the budget is 1.00"),
                             HasSubstr("failed: fail-on: error step_does_not_fit")));
  EXPECT_EQ(bad.err, "");
}

TEST_F(CheckVerbTest, ADatabaseAndABaseline) {
  ASSERT_EQ(Oomdb("ingest --db oom.db logs --run base").exit_code, 0);
  ASSERT_EQ(Shell("cp -r logs more; printf '\\230\\006\\001' >> more/plugins/profile/run1/"
                  "host.xplane.pb; oomdb ingest --db oom.db more --run new")
                .exit_code,
            0);
  const Outcome same = Oomdb("check --db oom.db --baseline base --max-regression 0%");
  EXPECT_EQ(same.exit_code, 0) << same.out << same.err;
  EXPECT_EQ(same.out, "ok: 1 check passed\n");
  EXPECT_EQ(Oomdb("check --db oom.db --baseline bse --max-regression 0%").exit_code, 1);
  EXPECT_EQ(Oomdb("check --db oom.db --run base --budget 1MiB").exit_code, 3);
}

TEST_F(CheckVerbTest, UsageMistakesNameTheOptions) {
  const Outcome none = Oomdb("check logs");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, AllOf(HasSubstr("--budget"), HasSubstr("--max-growth"),
                              HasSubstr("--max-regression"), HasSubstr("--fail-on")));
  EXPECT_EQ(Oomdb("check --budget 1GiB").exit_code, 2);
  EXPECT_EQ(Oomdb("check --budget lots logs").exit_code, 2);
  EXPECT_EQ(Oomdb("check --fail-on info logs").exit_code, 2);
  EXPECT_EQ(Oomdb("check --baseline base logs").exit_code, 2);
  EXPECT_EQ(Oomdb("check --budget 1GiB --max-regression 2% logs").exit_code, 2);
  EXPECT_EQ(Oomdb("check --baseline r --run r --max-regression 2% logs").exit_code, 2);
  EXPECT_EQ(Oomdb("check --baseline r --max-regression much logs").exit_code, 2);
  EXPECT_EQ(Oomdb("check --budget 1GiB missing.xplane.pb").exit_code, 1);
}

TEST_F(CheckVerbTest, WhatCantBeCheckedIsNoPass) {
  const Outcome outcome = Oomdb("check --max-growth 1MiB logs");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("--max-growth can't be checked"));
}

TEST_F(CheckVerbTest, JUnitIsWrittenAndNotOverwritten) {
  EXPECT_EQ(Oomdb("check --budget 1MiB logs --junit out.xml").exit_code, 3);
  EXPECT_THAT(Read("out.xml"),
              AllOf(HasSubstr("<testsuite name=\"oomdb check\" tests=\"1\" failures=\"1\""),
                    HasSubstr("<failure type=\"budget\""), HasSubstr("</testsuites>")));
  EXPECT_EQ(Oomdb("check --budget 1TiB logs --junit out.xml").exit_code, 1);
  EXPECT_EQ(Oomdb("check --budget 1TiB logs --junit out.xml -f").exit_code, 0);
  EXPECT_THAT(Read("out.xml"), Not(HasSubstr("<failure")));
  EXPECT_THAT(Oomdb("check --budget 1TiB logs --junit -").out, HasSubstr("<?xml"));
}

}  // namespace
}  // namespace oomdb::cli
