// Ctrl-C: what was stored before is kept, and the exit code says so.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>

#include "cli/self_test_capture.h"
#include "schema/database.h"
#include "schema/write_group.h"
#include "tests/cli/program.h"

namespace oomdb::cli {
namespace {

using testing::HasSubstr;

class InterruptTest : public ProgramTest {};

TEST_F(InterruptTest, IngestKeepsWholeCapturesAndGoesOnLater) {
  constexpr int kCaptures = 3000;
  const std::string capture = SelfTestCapture();
  // Distinct contents: an unknown field (number 99, a varint) at the end, which readers skip.
  for (int i = 0; i < kCaptures; ++i) {
    const std::string tail = {'\x98', '\x06', static_cast<char>(0x80 | (i & 0x7f)),
                              static_cast<char>(i >> 7)};
    Write("many/" + std::to_string(i) + ".xplane.pb", capture + tail);
  }
  // The signal comes when the first capture has been talked about.
  const Outcome outcome = Shell(
      "oomdb ingest --db oom.db many 2> talk & pid=$!\n"
      "while [ \"$(cat talk 2> /dev/null | wc -l)\" -lt 3 ]; do sleep 0.01; done\n"
      "kill -INT $pid; wait $pid");
  EXPECT_EQ(outcome.exit_code, 130);
  EXPECT_THAT(Read("talk"), HasSubstr("interrupted"));
  const int stored = std::stoi(Ask("SELECT COUNT(*) FROM captures"));
  EXPECT_GE(stored, 1);
  EXPECT_LT(stored, kCaptures);
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM captures c WHERE NOT EXISTS (SELECT 1 FROM modules m WHERE "
                "m.capture_id = c.capture_id)"),
            "0");
}

// Ctrl-C goes to both sides of a pipe: what the program said until it ended is reported.
TEST_F(InterruptTest, WhatAPipeSaidUntilItEndedIsReported) {
  const Outcome outcome = Shell(
      "mkfifo pipe\n"
      "oomdb report - --tee < pipe > report 2> talk & pid=$!\n"
      "exec 3> pipe\n"
      "echo 'RESOURCE_EXHAUSTED: Out of memory while trying to allocate 8589934592 bytes.' >&3\n"
      "until grep -q RESOURCE_EXHAUSTED report; do sleep 0.01; done\n"
      "kill -INT $pid; until grep -q 'keeps reading' talk; do sleep 0.01; done\n"
      "kill -INT $pid; kill -TERM $pid\n"
      "echo 'KeyboardInterrupt' >&3; exec 3>&-\n"
      "wait $pid");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(Read("report"), HasSubstr("8.00 GiB"));
  EXPECT_THAT(Read("report"), HasSubstr("KeyboardInterrupt"));
  EXPECT_EQ(Read("talk"),
            "oomdb: keeps reading until the program that writes ends; Ctrl-\\ ends oomdb\n");
}

// At a terminal nobody else is meant.
TEST_F(InterruptTest, ATerminalIsNotReadToItsEnd) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  const bool there = terminal >= 0 && ::grantpt(terminal) == 0 && ::unlockpt(terminal) == 0 &&
                     ::access(::ptsname(terminal), R_OK) == 0;
  if (!there) GTEST_SKIP() << "no pseudo-terminals here: a container without /dev/pts";
  const std::string typed = "a line\n";
  ASSERT_EQ(::write(terminal, typed.data(), typed.size()), static_cast<ssize_t>(typed.size()));
  const Outcome outcome = Shell("oomdb report - --tee < " + std::string(::ptsname(terminal)) +
                                " > report & pid=$!\n"
                                "until grep -q 'a line' report; do sleep 0.01; done\n"
                                "kill -INT $pid\n"
                                "(sleep 10; kill -KILL $pid) & guard=$!\n"
                                "wait $pid; code=$?; kill $guard; exit $code");
  ::close(terminal);
  EXPECT_EQ(outcome.exit_code, 130);
}

TEST_F(InterruptTest, AWaitForAnotherWriterIsSaidAndEnds) {
  ASSERT_EQ(Oomdb("ingest --db oom.db logs").exit_code, 0);
  schema::Database other = schema::Database::OpenForIngest(File("oom.db"), {});
  schema::WriteGroup held(other);
  held.Begin();
  const Outcome outcome = Shell(
      "oomdb ingest --db oom.db logs 2> talk & pid=$!\n"
      "until grep -q 'waiting for another program that uses oom.db' talk; do sleep 0.01; done\n"
      "kill -INT $pid; wait $pid");
  EXPECT_EQ(outcome.exit_code, 130);
  EXPECT_EQ(Read("talk").find("waiting"), Read("talk").rfind("waiting"));
}

TEST_F(InterruptTest, AQueryStops) {
  ASSERT_EQ(Oomdb("ingest --db oom.db logs").exit_code, 0);
  const Outcome outcome = Shell(
      "oomdb query --db oom.db 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
      "SELECT COUNT(*) FROM n' & pid=$!\n"
      // Not before the program catches SIGTERM (bit 14 of the mask): then the shell's child would
      // just die.
      "until grep -Eq 'SigCgt:.*[4-7c-f][0-9a-f]{3}$' /proc/$pid/status; do sleep 0.01; done\n"
      "kill -TERM $pid; wait $pid");
  EXPECT_EQ(outcome.exit_code, 130);
}

}  // namespace
}  // namespace oomdb::cli
