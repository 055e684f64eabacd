#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/report/text.h"
#include "render/terminal.h"
#include "tests/report/sample_report.h"

namespace oomdb::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

ReportStyle Style100() {
  ReportStyle style;
  style.next = {"oomdb show step_does_not_fit"};
  return style;
}

TEST(ReportTextTest, FirstLineSaysWhatHappened) {
  const std::vector<std::string> lines = Lines(ReportText(MisfitReport(), Style100()));
  EXPECT_THAT(lines[0],
              StartsWith("TOO LARGE  jit_step(7) does not fit: it needs 300 MiB, the pool holds "
                         "200 MiB"));
  EXPECT_THAT(lines[0], HasSubstr("short by 100 MiB"));
  EXPECT_THAT(lines[1], HasSubstr("run1 / node-0 · 1 GPU"));
  EXPECT_THAT(lines[1], HasSubstr("3 executions, 1 failed before launch"));
}

TEST(ReportTextTest, RemediesStandBesideWhatTheySaveAndWhetherThatFits) {
  const std::string text = ReportText(MisfitReport(), Style100());
  EXPECT_THAT(text, testing::ContainsRegex(
                        "▸ jax.checkpoint on the block .*≤ 100 MiB +200 MiB +yes +inferred"));
  EXPECT_THAT(text,
              testing::ContainsRegex(
                  "▸ half the sequence — changes results +≤ 50.0 MiB +250 MiB +no +inferred"));
}

TEST(ReportTextTest, FitsTheWidth) {
  Report report = MisfitReport();
  report.findings[0].detail_text = std::string(700, 'x') + " and " + std::string(300, 'y');
  report.findings[0].title_text += " " + std::string(250, 'z');
  report.plan->groups[0].shape = std::string(600, 's');
  report.plan->groups[1].op_name = "jit(step)/" + std::string(600, 'o');
  report.plan->groups[2].function_name = std::string(600, 'f');
  report.plan->name = "jit_" + std::string(600, 'n');
  report.captures[0].host = std::string(300, 'h');
  report.run->live[0].origin = std::string(600, 'l');
  for (const size_t width : {80, 100, 120}) {
    ReportStyle style = Style100();
    style.width = width;
    for (const std::string& line : Lines(ReportText(report, style)))
      EXPECT_LE(render::DisplayWidth(line), width) << line;
  }
}

// Steps that only together are enough stand in their order, with what is still missing.
TEST(ReportTextTest, AdviceOfSeveralSteps) {
  constexpr int64_t kMiB = int64_t{1} << 20;
  Report report = MisfitReport();
  report.plan->advice = {{"donate", "donate the state", 250 * kMiB, -50 * kMiB, false, false}};
  EXPECT_THAT(ReportText(report, Style100()), Not(HasSubstr("in this order")));
  report.plan->advice.push_back({"donate+checkpoint",
                                 "jax.checkpoint on the \x1b[2J block",
                                 150 * kMiB,
                                 50 * kMiB,
                                 {},
                                 true});
  const std::string text = ReportText(report, Style100());
  EXPECT_THAT(text, HasSubstr("to make it fit, in this order"));
  EXPECT_THAT(text, testing::ContainsRegex("1 donate the state +250 MiB +-50.0 MiB +no"));
  EXPECT_THAT(text, testing::ContainsRegex("2 jax.checkpoint on the .*150 MiB +50.0 MiB +likely"));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(ReportTextTest, StacksOnRequest) {
  Report report = MisfitReport();
  report.plan->groups[0].stack = {"model.py:17 layer", "lib\x1b[2J.py:3 wrap", "train.py:31 step"};
  ReportStyle style = Style100();
  EXPECT_THAT(ReportText(report, style), Not(HasSubstr("train.py:31 step")));
  style.stack = true;
  const std::string text = ReportText(report, style);
  EXPECT_THAT(text, HasSubstr("\n           model.py:17 layer ← lib"));
  EXPECT_THAT(text, HasSubstr("← train.py:31 step\n"));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(ReportTextTest, HealthyCaptureTakesHalfTheLines) {
  const std::string healthy = ReportText(HealthyReport(), Style100());
  EXPECT_THAT(Lines(healthy)[0], StartsWith("WELL  jit_step(7) needs 300 MiB of 1000 MiB"));
  EXPECT_THAT(healthy,
              HasSubstr("quiet    the plan fits the capacity · no growth over 3 executions"));
  EXPECT_THAT(healthy, HasSubstr("6 buffers more in 3 groups (--top 8)"));
  ReportStyle style = Style100();
  style.top = 8;
  EXPECT_THAT(ReportText(HealthyReport(), style), Not(HasSubstr("more in")));
  style.top = 7;
  EXPECT_THAT(ReportText(HealthyReport(), style), HasSubstr("in 1 group (--top 8)"));
}

TEST(ReportTextTest, ACaptureCannotDriveTheTerminal) {
  Report report = MisfitReport();
  report.findings[0].title_text = "evil \x1b[2J title";
  report.findings[0].remedies[0].fix = "evil \x1b]0;x\a fix";
  report.plan->name = "jit_\x1b[31m";
  report.plan->groups[0].op_name = "a\nb";
  report.run->live[0].origin = "\rgone";
  report.run->between[0].event =
      "\x9b"
      "1A";
  report.run->between[0].caller = "\x1b[2J";
  report.captures[0].issues = {"warning: \x1b[5m"};
  const std::string text = ReportText(report, Style100());
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_EQ(text.find('\a'), std::string::npos);
  const std::string markdown = ReportMarkdown(report, Style100());
  EXPECT_EQ(markdown.find('\x1b'), std::string::npos);
}

TEST(ReportTextTest, AnEarlyLeakIsNotAllWell) {
  Report report = HealthyReport();
  ReportFinding finding = MisfitReport().findings[0];
  finding.rule = "grows_per_execution";
  finding.severity = "info";
  finding.title_text = "Every execution of jit_step leaves 1.00 MiB behind";
  finding.verdict = "leak";
  report.findings = {finding};
  report.open = {{.capture_id = 1, .title = "whether this is a leak", .tell = "a longer capture"}};
  const std::vector<std::string> lines = Lines(ReportText(report, Style100()));
  EXPECT_EQ(lines[0], "CAN'T TELL  whether this is a leak");
  EXPECT_EQ(lines[1], "       ask  a longer capture");
  EXPECT_THAT(ReportText(report, Style100()),
              HasSubstr("Every execution of jit_step leaves 1.00 MiB behind"));
  report.open.clear();
  EXPECT_THAT(Lines(ReportText(report, Style100()))[0], StartsWith("WELL"));
}

TEST(ReportTextTest, WhatIsOpenOfOthersIsNotAskedHere) {
  Report report = HealthyReport();
  report.open = {{.capture_id = 2, .title = "another capture", .tell = ""},
                 {.capture_id = 1, .module_id = 9, .title = "another module", .tell = ""},
                 {.capture_id = 1, .device_id = 9, .title = "another device", .tell = ""}};
  EXPECT_THAT(Lines(ReportText(report, Style100()))[0], StartsWith("WELL"));
}

TEST(ReportTextTest, WhatIsWrongWithoutAVerdictStandsBesideIt) {
  Report report = HealthyReport();
  ReportFinding finding = MisfitReport().findings[0];
  finding.severity = "warning";
  finding.title_text = "jit_step holds 90 MiB of padding";
  finding.verdict.clear();
  report.findings = {finding};
  const std::vector<std::string> lines = Lines(ReportText(report, Style100()));
  EXPECT_THAT(lines[0], StartsWith("WELL  "));
  EXPECT_EQ(lines[1], " but  jit_step holds 90 MiB of padding");
}

TEST(ReportTextTest, ADamagedCaptureIsNotAllWell) {
  Report report = HealthyReport();
  report.captures[0].damaged = true;
  EXPECT_THAT(Lines(ReportText(report, Style100()))[0], HasSubstr("incomplete"));
}

TEST(ReportTextTest, UnknownCapacityIsSaidNotGuessed) {
  Report report = HealthyReport();
  report.plan->capacity_bytes.reset();
  report.quiet.clear();
  const std::string text = ReportText(report, Style100());
  EXPECT_THAT(Lines(text)[0], HasSubstr("capacity unknown: set it with --capacity"));
  EXPECT_THAT(text, StartsWith("CAN'T TELL  whether jit_step(7) fits"));
}

TEST(ReportTextTest, FailureWithoutAFindingIsNotAllWell) {
  Report report = HealthyReport();
  report.captures[0].failed_count = 1;
  EXPECT_THAT(Lines(ReportText(report, Style100()))[0],
              HasSubstr("1 execution failed before launch"));
}

TEST(ReportTextTest, LikeFindingsOfSeveralDevicesAreToldOnce) {
  Report report = MisfitReport();
  for (const int64_t device : {1, 2}) {
    ReportFinding finding = report.findings[0];
    finding.device = device;
    report.findings.push_back(finding);
  }
  const std::string text = ReportText(report, Style100());
  EXPECT_THAT(text, HasSubstr("the same on device 1, device 2"));
  EXPECT_THAT(text, Not(HasSubstr("2 error")));
}

TEST(ReportTextTest, SeveralCapturesStartWithATable) {
  Report report = MisfitReport();
  ReportCapture other = report.captures[0];
  other.capture_id = 2;
  other.host = "node-1";
  other.failed_count = other.error_count = 0;
  report.captures.push_back(other);
  report.captures[0].worst_title = report.findings[0].title_text;
  report.findings[0].capture_id = report.captures[0].capture_id;
  NameReportCaptures(&report.captures);
  const std::string text = ReportText(report, Style100());
  EXPECT_THAT(text, HasSubstr("CAPTURES  2"));
  EXPECT_THAT(text, testing::ContainsRegex("▸ run1 / node-0 .*1 failed .*does not fit"));
  EXPECT_THAT(text, testing::ContainsRegex("run1 / node-1 .*well"));
  EXPECT_THAT(text, HasSubstr("\nbelow: run1 / node-0 (--capture chooses another)\n"));
  // Whose finding it is; one capture alone needs no name.
  EXPECT_THAT(text, HasSubstr("\n           in run1 / node-0\n"));
  EXPECT_THAT(ReportText(MisfitReport(), Style100()), Not(HasSubstr("in run1 / node-0")));
}

TEST(ReportTextTest, CapturesOfOneNameAreToldApartByTheirPaths) {
  std::vector<ReportCapture> captures;
  for (const char* path : {"/x/a/profile/h.pb", "/x/b/profile/h.pb", "/x/c", "/x/c/error.txt",
                           "/y/same.log", "/y/same.log"}) {
    ReportCapture& c = captures.emplace_back();
    c.capture_id = std::ssize(captures);
    c.path = path;
    c.run = captures.size() > 4 ? "log" : captures.size() > 2 ? "c" : "run1";
    c.host = captures.size() > 2 ? "" : "h";
  }
  captures.emplace_back().run = "alone";
  NameReportCaptures(&captures);
  std::vector<std::string> names;
  for (const ReportCapture& c : captures) names.push_back(c.name);
  EXPECT_THAT(names, testing::ElementsAre("a/…", "b/…", "c", "c/error.txt", "log (capture 5)",
                                          "log (capture 6)", "alone"));
}

TEST(ReportMarkdownTest, NamesAreNoMarkup) {
  Report report = MisfitReport();
  report.findings[0].title_text = "<script>alert(1)</script> | `x` [y](z)";
  const std::string markdown = ReportMarkdown(report, Style100());
  const std::string head = markdown.substr(0, markdown.find("```"));
  EXPECT_THAT(head, Not(HasSubstr("<script>")));
  EXPECT_THAT(head, HasSubstr("\\|"));
  EXPECT_THAT(head, HasSubstr("\\`x\\`"));
  EXPECT_THAT(head, HasSubstr("| jax.checkpoint on the block | ≤ 100 MiB | 200 MiB | yes |"));
}

TEST(ReportMarkdownTest, TheFenceIsLongerThanAnyInTheText) {
  Report report = MisfitReport();
  report.run->live[0].origin = "````";
  EXPECT_THAT(ReportMarkdown(report, Style100()), HasSubstr("\n`````text\n"));
}

}  // namespace
}  // namespace oomdb::cli
