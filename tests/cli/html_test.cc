// --html of report and compare: what is written where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace oomdb::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class HtmlTest : public ProgramTest {};

TEST_F(HtmlTest, APageIsWrittenBesideTheReport) {
  const Outcome outcome = Oomdb("report logs --html page.html");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(Not(HasSubstr("<html")), HasSubstr("next  oomdb")));
  EXPECT_THAT(Read("page.html"), StartsWith("<!doctype html>"));
  // The text report is in it, too.
  EXPECT_THAT(Read("page.html"), HasSubstr("next  oomdb"));
}

TEST_F(HtmlTest, TheNameOfTheOutputSaysItsFormat) {
  EXPECT_EQ(Oomdb("report logs -o page.html").exit_code, 0);
  EXPECT_THAT(Read("page.html"), StartsWith("<!doctype html>"));
  EXPECT_EQ(Oomdb("report logs -o report.json").exit_code, 0);
  EXPECT_THAT(Read("report.json"), StartsWith("{"));
  EXPECT_EQ(Oomdb("report logs -o report.md").exit_code, 0);
  EXPECT_THAT(Read("report.md"), StartsWith("# "));
  // What is asked for by name comes first.
  EXPECT_EQ(Oomdb("report logs --format text -o other.html").exit_code, 0);
  EXPECT_THAT(Read("other.html"), Not(HasSubstr("<html")));
}

TEST_F(HtmlTest, ToStandardOutputItIsAlone) {
  const Outcome outcome = Oomdb("report logs --html -");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("<!doctype html>"));
  EXPECT_EQ(Oomdb("report logs --format html").out, outcome.out);
}

TEST_F(HtmlTest, NothingIsOverwrittenUnasked) {
  Write("page.html", "mine");
  EXPECT_NE(Oomdb("report logs --html page.html").exit_code, 0);
  EXPECT_EQ(Read("page.html"), "mine");
  EXPECT_EQ(Oomdb("report logs --html page.html -f").exit_code, 0);
  EXPECT_THAT(Read("page.html"), StartsWith("<!doctype html>"));
}

TEST_F(HtmlTest, TwoOutputsAreTwoFiles) {
  for (const char* arguments :
       {"report logs --html x.html -o x.html", "report logs --html x --json x",
        "report logs --html - -o x.txt", "report - --tee --html -"}) {
    const Outcome outcome = Shell(std::string("oomdb ") + arguments + " </dev/null");
    EXPECT_EQ(outcome.exit_code, 2) << arguments << "\n" << outcome.err;
  }
}

TEST_F(HtmlTest, ComparedRunsHaveAPage) {
  const Outcome outcome = Shell(
      "cp -r logs other && printf '\\230\\006\\001' >>other/plugins/profile/run1/host.xplane.pb && "
      "oomdb compare logs other --html page.html");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(Read("page.html"), AllOf(StartsWith("<!doctype html>"), HasSubstr("COMPARED")));
}

}  // namespace
}  // namespace oomdb::cli
