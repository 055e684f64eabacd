#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <sstream>
#include <string>

#include "cli/self_test_capture.h"
#include "proto/hlo.pb.h"
#include "tests/cli/program.h"

namespace oomdb::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class IngestVerbTest : public ProgramTest {};

TEST_F(IngestVerbTest, StoresAFileAFolderAndALogDirectoryAlike) {
  for (const char* path : {kCapture, "logs/plugins/profile/run1", "logs"}) {
    const Outcome outcome = Oomdb(std::string("ingest --db ") + "oom.db " + path);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err,
                AllOf(HasSubstr("run1 / host"), HasSubstr("next: oomdb query --db oom.db")));
    EXPECT_EQ(Ask("SELECT run || '/' || host FROM captures"), "run1/host");
    std::filesystem::remove(File("oom.db"));
  }
}

TEST_F(IngestVerbTest, TheNextCommandRuns) {
  const std::string err = Oomdb("ingest --db oom.db logs").err;
  const size_t at = err.find("next: ");
  ASSERT_NE(at, std::string::npos);
  const Outcome next = Shell(err.substr(at + 6));
  EXPECT_EQ(next.exit_code, 0) << next.err;
  EXPECT_THAT(next.out, HasSubstr("step_does_not_fit"));
}

// The parts add up to the whole, within what rounding to four digits hides.
TEST_F(IngestVerbTest, ExplainsItsTime) {
  const Outcome outcome = Oomdb("ingest --explain-time --db oom.db logs");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "");
  std::map<std::string, double> seconds, shares;
  std::istringstream lines(outcome.err);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, percent;
    double wall = 0, share = 0;
    if (!(words >> name >> wall >> share >> percent) || percent != "%") continue;
    seconds[name] = wall;
    shares[name] = share;
  }
  ASSERT_THAT(seconds, testing::SizeIs(6)) << outcome.err;
  double sum = 0, share = 0;
  for (const char* phase : {"read", "parse", "replay", "write", "other"}) {
    ASSERT_EQ(seconds.count(phase), 1) << phase;
    sum += seconds[phase];
    share += shares[phase];
  }
  EXPECT_NEAR(sum, seconds["all"], 0.0004);
  EXPECT_NEAR(share, 100, 0.4);
  EXPECT_GT(seconds["write"], 0);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("index     in write"), HasSubstr("times as long")));
  EXPECT_EQ(Oomdb("ingest --explain-time -j 2 --db oom.db logs").exit_code, 2);
}

TEST_F(IngestVerbTest, TheSameAgainIsNoSecondCapture) {
  Oomdb("ingest --db oom.db logs");
  const Outcome outcome = Oomdb("ingest --db oom.db logs --label batch=8 --label seq=1024");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("already there"));
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM captures"), "1");
  EXPECT_EQ(Ask("SELECT run, name, label FROM run_labels ORDER BY name"),
            "run1,batch,8\nrun1,seq,1024");
  Oomdb("ingest --db oom.db logs --run r --host h");
  EXPECT_EQ(Ask("SELECT run, host FROM captures"), "r,h");
}

TEST_F(IngestVerbTest, CompressedAndPipedCapturesAreTheSame) {
  ASSERT_EQ(Shell("gzip -c logs/plugins/profile/run1/host.xplane.pb > "
                  "logs/plugins/profile/run1/host.xplane.pb.gz")
                .exit_code,
            0);
  const Outcome outcome = Oomdb("ingest --db oom.db logs");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(Ask("SELECT COUNT(*), MIN(host) FROM captures"), "1,host");
  const Outcome piped =
      Shell("oomdb ingest --db oom.db - --run piped < logs/plugins/profile/run1/host.xplane.pb");
  EXPECT_EQ(piped.exit_code, 0) << piped.err;
  EXPECT_EQ(Ask("SELECT COUNT(*), MIN(run) FROM captures"), "1,piped");
}

TEST_F(IngestVerbTest, PassesOverWhatNobodyReads) {
  Write("logs/notes.txt", "hello");
  EXPECT_THAT(Oomdb("ingest --db oom.db logs").err, Not(HasSubstr("notes.txt")));
  EXPECT_THAT(Oomdb("ingest -v --db oom.db logs").err, HasSubstr("passed over: logs/notes.txt"));
}

TEST_F(IngestVerbTest, RejectsAndSaysWhy) {
  Write("bad.xplane.pb", "<html>sign in first</html>");
  Write("notes.bin", std::string(100, '\0') + "hello");
  Write("empty/notes.txt", "hello");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"bad.xplane.pb", "rejected: bad.xplane.pb"},
      {"notes.bin", "not in a format that oomdb reads"},
      {"missing.xplane.pb", "missing.xplane.pb"},
      {"empty", "nothing in this folder"},
  };
  for (const auto& [path, reason] : cases) {
    const Outcome outcome = Oomdb("ingest --db oom.db " + path);
    EXPECT_EQ(outcome.exit_code, 1) << path;
    EXPECT_THAT(outcome.err, HasSubstr(reason)) << path;
    EXPECT_THAT(outcome.err, Not(HasSubstr("next:")));
  }
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM captures"), "0");
  // One bad among good ones: the good ones are stored.
  EXPECT_EQ(Oomdb("ingest --db oom.db logs bad.xplane.pb").exit_code, 4);
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM captures"), "1");
}

TEST_F(IngestVerbTest, ATruncatedCaptureIsKeptAndSaysSo) {
  const std::string whole = SelfTestCapture();
  Write("cut/host.xplane.pb", whole.substr(0, whole.size() - 10));
  const Outcome outcome = Oomdb("ingest --db oom.db cut");
  EXPECT_EQ(outcome.exit_code, 4) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("truncated"));
  EXPECT_EQ(Ask("SELECT status FROM captures"), "truncated");
}

TEST_F(IngestVerbTest, SymbolicLinkLoopsEnd) {
  std::filesystem::create_directory_symlink(File("logs"), File("logs/plugins/again"));
  const Outcome outcome = Oomdb("ingest --db oom.db logs");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM captures"), "1");
}

TEST_F(IngestVerbTest, NamesInACaptureDontDriveTheTerminal) {
  Write("esc/\x1b[31mred/x.txt", "hello");
  const Outcome outcome = Oomdb("ingest -v --db oom.db esc");
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("\\x1b[31mred"), Not(HasSubstr("\x1b"))));
}

TEST_F(IngestVerbTest, UsageMistakes) {
  EXPECT_EQ(Oomdb("ingest logs").exit_code, 2);
  EXPECT_THAT(Oomdb("ingest logs").err, HasSubstr("OOMDB_DB"));
  EXPECT_EQ(Shell("OOMDB_DB=env.db oomdb ingest logs").exit_code, 0);
  EXPECT_TRUE(Exists("env.db"));
  EXPECT_EQ(Oomdb("ingest --db oom.db").exit_code, 2);
  EXPECT_EQ(Oomdb("ingest --db oom.db logs --label batch").exit_code, 2);
  EXPECT_EQ(Oomdb("ingest --db oom.db logs --events some").exit_code, 2);
  EXPECT_EQ(Oomdb("ingest --db oom.db logs --no-such-option").exit_code, 2);
  Write("foreign.db",
        "this is a text file and certainly no database of anybody, long enough for a header of "
        "SQLite");
  EXPECT_EQ(Oomdb("ingest --db foreign.db logs").exit_code, 5);
}

TEST_F(IngestVerbTest, EventsCanBeLeftOutOrAllKept) {
  EXPECT_EQ(Oomdb("ingest --db oom.db --events none logs").exit_code, 0);
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM host_events"), "0");
  std::filesystem::remove(File("oom.db"));
  EXPECT_EQ(Oomdb("ingest --db oom.db --events all logs").exit_code, 0);
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM host_events"), "6");
}

// A dump has the proto of every stage; only those with a plan become modules.
TEST_F(IngestVerbTest, EarlyStagesOfADumpArePassedOver) {
  proto::HloProto early;
  early.mutable_hlo_module()->set_name("jit_f");
  proto::HloComputationProto* const entry = early.mutable_hlo_module()->add_computations();
  entry->add_instructions()->set_opcode("parameter");
  Write("dump/module_0001.jit_f.before_optimizations.hlo.pb", early.SerializeAsString());
  const Outcome outcome = Oomdb("ingest -v --db oom.db dump");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("early stage"));
}

}  // namespace
}  // namespace oomdb::cli
