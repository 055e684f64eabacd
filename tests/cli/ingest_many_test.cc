// Many captures at once: manifests, reading ahead, what is said at the end; and merging.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/ingest/progress.h"
#include "cli/self_test_capture.h"
#include "tests/cli/program.h"

namespace oomdb::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class IngestManyTest : public ProgramTest {
 protected:
  // Of one content each: an unknown field (number 99, a varint) at the end, which readers skip.
  void WriteCaptures(const std::string& folder, int first, int count) {
    const std::string capture = SelfTestCapture();
    for (int i = first; i < first + count; ++i) {
      const std::string tail = {'\x98', '\x06', static_cast<char>(0x80 | (i & 0x7f)),
                                static_cast<char>(i >> 7)};
      Write(folder + "/" + std::to_string(1000 + i) + ".xplane.pb", capture + tail);
    }
  }

  // All that a database holds, but for the time of the ingest.
  std::string Dump(const std::string& database) {
    std::string all;
    for (const char* table : {"strings", "captures", "run_labels", "ingest_issues", "devices",
                              "stored_plans", "stored_modules", "allocators", "stored_executions",
                              "stored_allocations", "stored_host_events", "stored_buffers"}) {
      std::string columns = "*";
      if (std::string(table) == "captures") columns = "capture_id, path, run, host, content_hash";
      const Outcome outcome = Oomdb("query --db " + database + " --format csv \"SELECT " + columns +
                                    " FROM " + table + " ORDER BY 1, 2\"");
      EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
      all += outcome.out;
    }
    return all;
  }
};

// What was said to be stored is stored, and all else is said not to be.
TEST_F(IngestManyTest, WithoutRoomOnDiskEveryCaptureIsAccountedFor) {
  constexpr int kCaptures = 200;
  WriteCaptures("many", 0, kCaptures);
  ASSERT_EQ(Oomdb("ingest --db oom.db many/1000.xplane.pb").exit_code, 0);
  // No file may outgrow 600 KiB; to write beyond is an error, not a signal.
  const Outcome outcome =
      Shell("trap '' XFSZ; ulimit -f 600; oomdb ingest --db oom.db many 2> talk");
  EXPECT_TRUE(outcome.exit_code == 4 || outcome.exit_code == 1) << outcome.exit_code;
  const auto lines = [&](const std::string& pattern) {
    return std::stoi(Shell("grep -c '" + pattern + "' talk").out);
  };
  const int stored = lines("^many/.*xplane.pb: xplane ");
  const int there = lines("^many/.*already there");
  const int rejected = lines("^rejected: many/.*be stored");
  EXPECT_GT(rejected, 0);
  EXPECT_EQ(stored + there + rejected, kCaptures);
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM captures"), std::to_string(stored + 1));
  // With room the same command goes on.
  EXPECT_EQ(Oomdb("ingest --db oom.db many").exit_code, 0);
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM captures"), std::to_string(kCaptures));
}

// What a pipe gives takes as long as the other end wants: what came before is stored by then, and
// nobody waits for the database.
TEST_F(IngestManyTest, APipeKeepsNothingWaiting) {
  WriteCaptures("many", 0, 2);
  const Outcome outcome = Shell(
      "mkfifo train.log; (tries=0; while [ $tries -lt 30 ]; do tries=$((tries + 1)); "
      "oomdb query --db oom.db --format csv 'SELECT COUNT(*) FROM captures' > count "
      "2> err; [ \"$(tail -n 1 count)\" = 1 ] && break; sleep 0.1; done; "
      "timeout -s KILL 10 oomdb ingest --db oom.db many/1001.xplane.pb 2> err; "
      "echo $tries > tries; echo a log) > train.log & "
      "oomdb ingest --db oom.db many/1000.xplane.pb train.log; wait");
  EXPECT_THAT(outcome.err, HasSubstr("2 stored"));
  EXPECT_LT(std::stoi(Read("tries")), 30);
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM captures"), "3");
}

TEST_F(IngestManyTest, TheManifestNamesRunsHostsAndLabels) {
  WriteCaptures("runs/many", 0, 3);
  WriteCaptures("runs/one", 3, 1);
  Write("runs/runs.csv",
        "path,run,host,batch,\"note, long\"\n"
        "one/1003.xplane.pb,r1,h1,8,\"said \"\"so\"\"\"\n"
        "many,r2,,16,\n"
        "missing.xplane.pb,r3,,32,\n");
  const Outcome outcome = Oomdb("ingest --db oom.db --manifest runs/runs.csv --label seed=1");
  EXPECT_EQ(outcome.exit_code, 4);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("rejected: runs/runs.csv line 4: runs/missing.xplane.pb"),
                    HasSubstr("4 stored, 1 rejected")));
  EXPECT_EQ(Ask("SELECT run, COUNT(*) FROM captures GROUP BY run ORDER BY run"), "r1,1\nr2,3");
  EXPECT_EQ(Ask("SELECT host FROM captures WHERE run = 'r1'"), "h1");
  EXPECT_EQ(Ask("SELECT run, name, label FROM run_labels WHERE name <> 'note, long' ORDER BY 1, 2"),
            "r1,batch,8\nr1,seed,1\nr2,batch,16\nr2,seed,1");
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM run_labels WHERE name = 'note, long' AND label = 'said "
                "' || char(34) || 'so' || char(34)"),
            "1");
  // Named again: what the manifest says now holds.
  Write("runs/runs.csv", "path,run,host,batch\none/1003.xplane.pb,r9,h9,64\n");
  EXPECT_EQ(Oomdb("ingest --db oom.db --manifest runs/runs.csv").exit_code, 0);
  EXPECT_EQ(Ask("SELECT run, host FROM captures WHERE run NOT IN ('r2')"), "r9,h9");
  EXPECT_EQ(Ask("SELECT label FROM run_labels WHERE run = 'r9'"), "64");
}

TEST_F(IngestManyTest, AManifestAndPathsGoTogetherAndOneIsNeeded) {
  WriteCaptures("runs", 0, 1);
  Write("runs.csv", "path,run\nruns/1000.xplane.pb,own\n");
  EXPECT_EQ(Oomdb("ingest --db oom.db logs --manifest runs.csv --run given").exit_code, 0);
  EXPECT_EQ(Ask("SELECT run FROM captures ORDER BY run"), "given\nown");
  const Outcome neither = Oomdb("ingest --db oom.db");
  EXPECT_EQ(neither.exit_code, 2);
  EXPECT_THAT(neither.err, HasSubstr("--manifest"));
  const Outcome missing = Oomdb("ingest --db new.db --manifest no.csv");
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_FALSE(Exists("new.db"));
}

TEST_F(IngestManyTest, WhatIsStoredDoesntDependOnTheThreads) {
  WriteCaptures("many", 0, 40);
  Write("many/1005.broken.xplane.pb", "<html>");
  Write("many/1006.note.txt", "passed over");
  const Outcome one = Oomdb("ingest --db one.db many logs no-such-path");
  const Outcome four = Oomdb("ingest --db four.db -j 4 many logs no-such-path");
  EXPECT_EQ(one.exit_code, 4);
  EXPECT_EQ(four.exit_code, 4);
  EXPECT_THAT(one.err, HasSubstr("41 stored, 2 rejected"));
  EXPECT_EQ(four.err.substr(0, four.err.find("next:")), one.err.substr(0, one.err.find("next:")));
  EXPECT_EQ(Dump("four.db"), Dump("one.db"));
  EXPECT_EQ(Oomdb("ingest --db one.db -j 0 many").exit_code, 2);
}

TEST_F(IngestManyTest, KnownCapturesAreCountedNotListed) {
  WriteCaptures("many", 0, 3);
  ASSERT_EQ(Oomdb("ingest --db oom.db many").exit_code, 0);
  WriteCaptures("many", 3, 2);
  for (const char* threads : {"1", "3"}) {
    const Outcome outcome = Oomdb(std::string("ingest --db oom.db many -j ") + threads);
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_THAT(outcome.err, Not(HasSubstr("1000.xplane.pb")));
    EXPECT_THAT(outcome.err, HasSubstr(threads[0] == '1' ? "2 stored, 3 already there"
                                                         : "0 stored, 5 already there"));
    // Not a terminal: no line that is drawn anew.
    EXPECT_THAT(outcome.err, Not(HasSubstr("\r")));
  }
  EXPECT_THAT(Oomdb("ingest --db oom.db -v many").err, HasSubstr("1000.xplane.pb"));
}

TEST_F(IngestManyTest, ProgressFitsItsLine) {
  using std::chrono::seconds;
  EXPECT_EQ(ProgressLine(312, 1000, int64_t{1} << 30, int64_t{4} << 30, seconds(8), 100),
            "  312/1000 files  1.00 GiB of 4.00 GiB  128 MiB/s");
  EXPECT_EQ(ProgressLine(0, 2, 0, 0, seconds(0), 100), "  0/2 files  0 B of 0 B");
  EXPECT_LE(ProgressLine(312, 1000, 1, 2, seconds(8), 20).size(), 22u);
}

TEST_F(IngestManyTest, MergedDatabasesHoldAllOfIt) {
  WriteCaptures("a", 0, 2);
  WriteCaptures("b", 2, 1);
  Write("b/again.xplane.pb", Read("a/1001.xplane.pb"));
  ASSERT_EQ(Oomdb("ingest --db a.db a --label batch=8").exit_code, 0);
  ASSERT_EQ(Oomdb("ingest --db b.db b").exit_code, 0);
  const Outcome outcome = Oomdb("merge oom.db a.db b.db a.db");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("a.db: 2 captures added, 0 already there"),
                                 HasSubstr("b.db: 1 capture added, 1 already there"),
                                 HasSubstr("a.db: 0 captures added, 2 already there")));
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM captures"), "3");
  EXPECT_EQ(Ask("SELECT label FROM run_labels"), "8");
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM findings WHERE rule = 'step_does_not_fit'"), "3");
}

TEST_F(IngestManyTest, WhatCantBeMergedLeavesNothingBehind) {
  ASSERT_EQ(Oomdb("ingest --db a.db logs").exit_code, 0);
  Write("foreign.db", std::string(2000, 'x'));
  EXPECT_EQ(Oomdb("merge out.db a.db foreign.db").exit_code, 5);
  EXPECT_EQ(Oomdb("merge out.db a.db missing.db").exit_code, 1);
  EXPECT_FALSE(Exists("out.db"));
  EXPECT_EQ(Oomdb("merge foreign.db a.db").exit_code, 5);
  EXPECT_EQ(Read("foreign.db"), std::string(2000, 'x'));
  const Outcome itself = Oomdb("merge a.db ./a.db");
  EXPECT_EQ(itself.exit_code, 2);
  EXPECT_THAT(itself.err, HasSubstr("merged into itself"));
  EXPECT_EQ(Oomdb("merge out.db").exit_code, 2);
}

}  // namespace
}  // namespace oomdb::cli
