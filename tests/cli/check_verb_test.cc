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

TEST_F(CheckVerbTest, AnUnchangedProgramPasses) {
  Write("run.log", "step 0\nstep 1\n");
  for (const char* run : {"main", "pr"}) {
    for (const char* what : {"run.log", "logs"}) {
      ASSERT_EQ(Shell(std::string("oomdb ingest --db ") + what + ".db --run " + run + " " + what)
                    .exit_code,
                0);
    }
  }
  // A log in which nothing failed has no number, but is the same.
  for (const char* what : {"run.log", "logs"}) {
    const Outcome outcome = Oomdb(std::string("check --db ") + what +
                                  ".db --baseline main --run pr --max-regression 0%");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "ok: 1 check passed\n");
  }
  // Two folders, of one content.
  ASSERT_EQ(Shell("mkdir a b; cp run.log a; cp run.log b").exit_code, 0);
  EXPECT_EQ(Oomdb("check a/run.log b/run.log --baseline a --run b --max-regression 0%").exit_code,
            0);
  // What is not the same, and has no number, is no pass.
  Write("b/run.log", "step 0\nstep 7\n");
  EXPECT_EQ(Oomdb("check a/run.log b/run.log --baseline a --run b --max-regression 0%").exit_code,
            1);
}

TEST_F(CheckVerbTest, ErrorLogsRegress) {
  const auto log = [](const std::string& used, const std::string& exceeded) {
    return "XlaRuntimeError: RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used " +
           used + "G of 15.48G hbm. Exceeded hbm capacity by " + exceeded + "G.\n";
  };
  Write("main/run.log", log("20.00", "4.52"));
  Write("same/run.log", "another time\n" + log("20.00", "4.52"));
  Write("more/run.log", log("22.00", "6.52"));
  Write("fine/run.log", "step 0\n");
  const auto check = [this](const std::string& baseline, const std::string& run) {
    return Oomdb("check " + baseline + "/run.log " + run + "/run.log --baseline " + baseline +
                 " --max-regression 5%");
  };
  EXPECT_EQ(check("main", "same").exit_code, 0);
  EXPECT_EQ(check("more", "main").exit_code, 0);
  EXPECT_EQ(check("main", "fine").exit_code, 0);
  const Outcome more = check("main", "more");
  EXPECT_EQ(more.exit_code, 3) << more.err;
  EXPECT_EQ(more.out,
            "failed: max-regression: more (stage compile) needs 22.0 GiB (read), 10 % above the "
            "20.0 GiB of main; the limit is 5 %\n");
  const Outcome fails = check("fine", "main");
  EXPECT_EQ(fails.exit_code, 3) << fails.err;
  EXPECT_EQ(fails.out, "failed: max-regression: main fails (stage compile, read), fine did not\n");
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
