// Logs: named, in folders, from standard input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace oomdb::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const char* const kLog =
    "step 1\n"
    "Can't reduce memory use below 1.00GiB (1073741824 bytes) by rematerialization; only reduced "
    "to 2.00GiB (2147483648 bytes), down from 3.00GiB (3221225472 bytes) originally\n"
    "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 777 bytes.\n";

class IngestLogTest : public ProgramTest {};

TEST_F(IngestLogTest, ItsLineSaysWhatIsInIt) {
  Write("train.log", kLog);
  const Outcome outcome = Oomdb("ingest --db oom.db train.log");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("(1 fatal, 1 advice)"));
}

TEST_F(IngestLogTest, ATextOfAnyNameIsReadWhenItIsNamed) {
  Write("notes.md", "no failure here\nnor here\n");
  const Outcome outcome = Oomdb("ingest --db oom.db notes.md");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("no OOM found in 2 lines"));
  const Outcome report = Oomdb("report notes.md");
  EXPECT_EQ(report.exit_code, 0) << report.err;
  EXPECT_THAT(report.err, HasSubstr("no OOM found in 2 lines"));
}

TEST_F(IngestLogTest, InAFolderOnlyTextsWithAFailure) {
  Write("run/train.log", kLog);
  Write("run/stderr", kLog + std::string("other\n"));
  Write("run/notes.txt", "hello\n");
  Write("run/train.py", kLog);
  Write("run/module_0001.jit_f.after_optimizations.txt", kLog);
  for (const char* threads : {"", " -j 3"}) {
    const Outcome outcome = Oomdb("ingest -v --db oom.db run" + std::string(threads));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("run/train.log"));
    EXPECT_THAT(outcome.err, HasSubstr("run/stderr"));
    for (const char* passed : {"notes.txt", "train.py", "after_optimizations.txt"})
      EXPECT_THAT(outcome.err, HasSubstr("passed over: run/")) << passed;
  }
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM captures"), "2");
}

TEST_F(IngestLogTest, StandardInputIsReadAndPassedThrough) {
  Write("train.log", kLog);
  const Outcome quiet = Shell("oomdb ingest --db oom.db - < train.log");
  EXPECT_EQ(quiet.exit_code, 0) << quiet.err;
  EXPECT_EQ(quiet.out, "");
  const Outcome ingest = Shell("oomdb ingest --db oom2.db - --tee < train.log");
  EXPECT_EQ(ingest.exit_code, 0) << ingest.err;
  EXPECT_EQ(ingest.out, kLog);
  const Outcome report = Shell("oomdb report - --tee < train.log");
  EXPECT_EQ(report.exit_code, 0) << report.err;
  EXPECT_THAT(report.out, StartsWith(kLog));
  EXPECT_GT(report.out.size(), std::string(kLog).size());
}

TEST_F(IngestLogTest, TextIsPassedThroughAsItArrives) {
  // What was written first is there before the writer ends.
  const Outcome live = Shell(
      "mkfifo in; oomdb ingest --db oom.db - --tee < in > out 2> err & exec 3> in; "
      "echo first >&3; for i in $(seq 100); do grep -q first out && break; sleep 0.1; done; "
      "cat out; exec 3>&-; wait");
  EXPECT_EQ(live.out, "first\n");
}

TEST_F(IngestLogTest, PassingThroughNeedsSomethingToPass) {
  Write("train.log", kLog);
  EXPECT_EQ(Oomdb("ingest --db oom.db --tee train.log").exit_code, 2);
  EXPECT_EQ(Oomdb("report --tee train.log").exit_code, 2);
  EXPECT_EQ(Shell("oomdb report - --tee --json - < train.log").exit_code, 2);
  EXPECT_EQ(Shell("oomdb report - --tee --format json < train.log").exit_code, 2);
}

TEST_F(IngestLogTest, BinaryStandardInputIsRejected) {
  Write("bytes", std::string(1000, '\0'));
  const Outcome outcome = Shell("oomdb ingest --db oom.db - < bytes");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("standard input is not in a format that oomdb reads"));
}

}  // namespace
}  // namespace oomdb::cli
