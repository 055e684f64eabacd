// The report in one screen: it fits, it begins with the verdict, and it is what a terminal shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "render/utf8.h"
#include "tests/cli/program.h"

namespace oomdb::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class ReportScreenTest : public ProgramTest {
 protected:
  static std::vector<std::string> LinesOf(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
  static std::string Sample(const std::string& name) {
    return std::string(OOMDB_SOURCE_DIR) + "/sample_dbs/captures/" + name;
  }
  // Incidents of many kinds: the samples, and the failures that logs tell of.
  static std::vector<std::string> Incidents() {
    std::vector<std::string> paths;
    for (const std::string folder : {"/sample_dbs/captures", "/tests/log/cases"}) {
      for (const auto& entry :
           std::filesystem::directory_iterator(std::string(OOMDB_SOURCE_DIR) + folder)) {
        if (entry.is_directory() || entry.path().extension() == ".log")
          paths.push_back(entry.path());
      }
    }
    return paths;
  }
  // What a terminal of 100 columns shows.
  Outcome OnTerminal(const std::string& arguments, const std::string& environment = "") {
    return Shell(environment + " COLUMNS=100 script -qec 'oomdb " + arguments + "' /dev/null");
  }
};

TEST_F(ReportScreenTest, EveryIncidentFits) {
  size_t count = 0;
  for (const std::string& path : Incidents()) {
    for (const auto& [width, most] : {std::pair<size_t, size_t>{100, 24}, {80, 32}}) {
      const Outcome outcome =
          Shell("COLUMNS=" + std::to_string(width) + " oomdb report --brief " + path);
      if (outcome.out.empty()) continue;  // A log without anything of memory in it.
      ++count;
      const std::vector<std::string> lines = LinesOf(outcome.out);
      EXPECT_LE(lines.size(), most) << path << "\n" << outcome.out;
      for (const std::string& line : lines) {
        EXPECT_LE(render::DisplayWidth(line), width) << path << "\n" << line;
      }
      // The verdict's words come first, in capitals.
      EXPECT_GE(lines[0].find("  "), 4u) << lines[0];
      const std::string verdict = lines[0].substr(0, lines[0].find("  "));
      EXPECT_EQ(verdict.find_first_of("abcdefghijklmnopqrstuvwxyz"), std::string::npos) << lines[0];
      EXPECT_THAT(outcome.out, HasSubstr("MORE   --all"));
    }
  }
  EXPECT_GE(count, 2 * 15u);
}

TEST_F(ReportScreenTest, ItHasThePictureThatTheCauseNeeds) {
  const std::string need = Oomdb("report --brief " + Sample("attention_oom")).out;
  EXPECT_THAT(need, HasSubstr("  needs         3.05 GiB"));
  EXPECT_THAT(need, HasSubstr("  may use       2.79 GiB   measured: pool"));
  EXPECT_THAT(need, HasSubstr("WHAT   1.12 GiB  3 × f32[12,8,1024,1024]  forward  plans.py:17"));
  EXPECT_THAT(need, HasSubstr("     1 jax.checkpoint on the block at plans.py:17 layer"));
  const std::string leak = Oomdb("report --brief " + Sample("grad_leak_oom")).out;
  EXPECT_THAT(leak, HasSubstr("─ 1.30 GiB, what may be used"));
  EXPECT_THAT(leak, HasSubstr("112 MiB → 976 MiB at the starts of the steps"));
  EXPECT_THAT(leak, HasSubstr("CALLED $<unknown> append at train.py:61 log_metrics, in 9 of 9"));
  const std::string holes = Oomdb("report --brief " + Sample("fragmented_pool")).out;
  EXPECT_THAT(holes, HasSubstr("56.0 MiB   all free blocks together"));
}

TEST_F(ReportScreenTest, ATerminalShowsItAndAnythingElseTheProof) {
  const std::string brief = Oomdb("report --brief " + Sample("attention_oom")).out;
  const std::string whole = Oomdb("report " + Sample("attention_oom")).out;
  EXPECT_THAT(whole, HasSubstr("AT THE PEAK"));
  EXPECT_THAT(brief, Not(HasSubstr("AT THE PEAK")));
  if (Shell("command -v script").exit_code != 0) GTEST_SKIP() << "no script(1)";
  EXPECT_THAT(OnTerminal("report --color never " + Sample("attention_oom")).out,
              HasSubstr("MORE   --all"));
  // The whole goes through a pager.
  const Outcome paged = OnTerminal("report --color never --all " + Sample("attention_oom"),
                                   "OOMDB_PAGER='cat > paged'");
  EXPECT_THAT(paged.out, Not(HasSubstr("AT THE PEAK")));
  EXPECT_EQ(Read("paged"), whole);
  EXPECT_THAT(OnTerminal("report --color never --no-pager --all " + Sample("attention_oom"),
                         "OOMDB_PAGER='cat > paged2'")
                  .out,
              HasSubstr("AT THE PEAK"));
  EXPECT_FALSE(Exists("paged2"));
}

TEST_F(ReportScreenTest, MistakesAreSaid) {
  EXPECT_EQ(Oomdb("report --brief --all " + Sample("cpu")).exit_code, 2);
  EXPECT_EQ(Oomdb("report --brief --format json " + Sample("cpu")).exit_code, 2);
  const Outcome bare = Oomdb("report --capacity 80 " + Sample("cpu"));
  EXPECT_EQ(bare.exit_code, 2);
  EXPECT_THAT(bare.err, HasSubstr("\"80\" could mean 80 bytes or 80 GiB"));
  EXPECT_EQ(Oomdb("report --capacity 80B " + Sample("cpu")).exit_code, 0);
  EXPECT_EQ(Oomdb("what-if --capacity 80 " + Sample("cpu")).exit_code, 2);
}

TEST_F(ReportScreenTest, TheNameOfAFileSaysItsFormat) {
  ASSERT_EQ(Oomdb("ingest --db oom.db " + Sample("fragmented_pool")).exit_code, 0);
  const std::string sql = "query --db oom.db 'SELECT kind FROM captures' -o ";
  ASSERT_EQ(Oomdb(sql + "q.csv").exit_code, 0);
  EXPECT_EQ(Read("q.csv"), "kind\noom_log\n");
  ASSERT_EQ(Oomdb(sql + "q.jsonl").exit_code, 0);
  EXPECT_EQ(Read("q.jsonl"), "{\"kind\": \"oom_log\"}\n");
  ASSERT_EQ(Oomdb(sql + "q.md").exit_code, 0);
  EXPECT_THAT(Read("q.md"), HasSubstr("| --- |"));
  ASSERT_EQ(Oomdb(sql + "t.csv --format table").exit_code, 0);
  EXPECT_THAT(Read("t.csv"), HasSubstr("───"));
  EXPECT_EQ(Oomdb(sql + "q.html").exit_code, 2);
  EXPECT_EQ(Oomdb("report oom.db -o r.csv").exit_code, 2);
  EXPECT_EQ(Oomdb("report oom.db -o r.html --json r.json").exit_code, 0);
  EXPECT_EQ(Oomdb("report oom.db --html beside.html").exit_code, 0);
  EXPECT_THAT(Oomdb("report --db oom.db " + Sample("cpu")).err,
              HasSubstr("--db oom.db is not read: captures are named"));
}

TEST_F(ReportScreenTest, ADatabaseOrAPipeIsReportedOn) {
  ASSERT_EQ(Oomdb("ingest --db oom.db " + Sample("attention_oom")).exit_code, 0);
  EXPECT_EQ(Oomdb("oom.db").out, Oomdb("report --db oom.db").out);
  EXPECT_EQ(Oomdb("what-if oom.db --donate").out, Oomdb("what-if --db oom.db --donate").out);
  EXPECT_THAT(Shell("cat " + Sample("fragmented_pool") + "/train.log | oomdb").out,
              testing::StartsWith("FRAGMENTED"));
  EXPECT_THAT(Shell("oomdb </dev/null").out, HasSubstr("Usage: oomdb"));
}

}  // namespace
}  // namespace oomdb::cli
