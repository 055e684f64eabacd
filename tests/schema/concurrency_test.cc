// Several writers of one file, and writers that are killed.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "queries/catalogue.h"
#include "tests/schema/sample_facts.h"

namespace oomdb::schema {
namespace {

constexpr int64_t kAllocations = 20000;

void WriteOne(const std::string& path, const std::string& content_hash) {
  Database database = Database::OpenForIngest(path, queries::Catalogue::Get().views());
  CaptureWriter writer(database, SampleSource(content_hash));
  if (const std::optional<int64_t> known = writer.KnownCapture()) {
    writer.CommitKnown(*known, std::nullopt, std::nullopt, {});
    return;
  }
  AddSampleFacts(writer, "plan-hash", kAllocations);
  writer.Commit({});
}

// Runs `work` in a process of its own; it exits with 0 unless `work` throws.
pid_t InProcess(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child != 0) return child;
  int code = 0;
  try {
    work();
  } catch (...) {
    code = 1;
  }
  _exit(code);
}

bool Succeeded(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void ExpectWhole(const std::string& path) {
  Database database = Database::OpenReadOnly(path, queries::Catalogue::Get().views());
  EXPECT_EQ(QueryText(database, "PRAGMA integrity_check"), "ok");
  EXPECT_TRUE(Query(database, "SELECT * FROM pragma_foreign_key_check").rows.empty());
  // No capture without all of its rows, and no rows without their capture.
  EXPECT_EQ(
      QueryInt(
          database,
          "SELECT COUNT(*) FROM captures c WHERE (SELECT COUNT(*) FROM stored_allocations a WHERE "
          "a.capture_id = c.capture_id) <> " +
              std::to_string(kAllocations)),
      0);
  EXPECT_EQ(
      QueryInt(database,
               "SELECT COUNT(*) FROM stored_allocations WHERE capture_id NOT IN (SELECT capture_id "
               "FROM captures)"),
      0);
}

TEST(ConcurrencyTest, FourWritersLoseNothing) {
  const TestFolder folder;
  const std::string path = folder.File("oom.db");
  constexpr int kProcesses = 4;
  constexpr int kCapturesEach = 5;
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    children.push_back(InProcess([&, process] {
      for (int i = 0; i < kCapturesEach; ++i)
        WriteOne(path, std::to_string(process) + "-" + std::to_string(i));
    }));
  }
  for (const pid_t child : children) EXPECT_TRUE(Succeeded(child));
  ExpectWhole(path);
  Database database = Database::OpenReadOnly(path, queries::Catalogue::Get().views());
  EXPECT_EQ(QueryInt(database, "SELECT COUNT(*) FROM captures"), kProcesses * kCapturesEach);
  EXPECT_EQ(QueryInt(database, "SELECT COUNT(*) FROM stored_plans"), 1);
}

TEST(ConcurrencyTest, TheSameCaptureFromFourWritersIsOne) {
  const TestFolder folder;
  const std::string path = folder.File("oom.db");
  std::vector<pid_t> children;
  for (int process = 0; process < 4; ++process)
    children.push_back(InProcess([&] { WriteOne(path, "same"); }));
  for (const pid_t child : children) EXPECT_TRUE(Succeeded(child));
  Database database = Database::OpenReadOnly(path, queries::Catalogue::Get().views());
  EXPECT_EQ(QueryInt(database, "SELECT COUNT(*) FROM captures"), 1);
}

// At moments spread over an ingest: whatever was committed is whole, and the same ingest can be run
// again.
TEST(CrashTest, AKilledWriterCostsNothing) {
  int killed_while_writing = 0;
  for (int round = 0; round < 12; ++round) {
    const TestFolder folder;
    const std::string path = folder.File("oom.db");
    WriteOne(path, "first");
    const pid_t child = InProcess([&] {
      for (int i = 0; i < 50; ++i) WriteOne(path, std::to_string(i));
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(15 * round));
    kill(child, SIGKILL);
    killed_while_writing += !Succeeded(child);
    ExpectWhole(path);
    for (const char* hash : {"first", "0", "1", "2"}) WriteOne(path, hash);
    ExpectWhole(path);
    Database database = Database::OpenReadOnly(path, queries::Catalogue::Get().views());
    EXPECT_GE(QueryInt(database, "SELECT COUNT(*) FROM captures"), 4);
  }
  EXPECT_GT(killed_while_writing, 0);
}

}  // namespace
}  // namespace oomdb::schema
