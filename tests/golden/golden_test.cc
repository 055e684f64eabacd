// Runs the cases in tests/golden/cases: see README.md there.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace oomdb::cli {
namespace {

namespace fs = std::filesystem;

std::string Read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream content;
  content << in.rdbuf();
  return content.str();
}

struct Outcome {
  int exit_code = -1;
  std::string out;
};

// `arguments` as a shell takes them, from the repository's root, at 100 columns without colour.
// What the program says on standard error goes to `talk`.
Outcome Oomdb(const std::string& arguments, const fs::path& talk) {
  const std::string command = "cd '" OOMDB_SOURCE_DIR
                              "' && env -u OOMDB_DB NO_COLOR=1 COLUMNS=100 '" OOMDB_PROGRAM "' " +
                              arguments + " 2>'" + talk.string() + "'";
  Outcome outcome;
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return outcome;
  char buffer[4096];
  for (size_t read; (read = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    outcome.out.append(buffer, read);
  const int status = pclose(pipe);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

std::vector<std::string> CaseNames() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(OOMDB_SOURCE_DIR "/tests/golden/cases")) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class GoldenTest : public testing::TestWithParam<std::string> {
 protected:
  GoldenTest() : folder_(fs::path(OOMDB_SOURCE_DIR "/tests/golden/cases") / GetParam()) {
    scratch_ =
        fs::temp_directory_path() / ("oomdb-golden-" + GetParam() + "-" + std::to_string(getpid()));
    fs::create_directories(scratch_);
  }
  ~GoldenTest() override { fs::remove_all(scratch_); }

  std::string Talk() { return Read(scratch_ / "talk"); }

  void Ingest() {
    std::istringstream lines(Read(folder_ / "case.txt"));
    std::string line;
    std::string last;
    int expected = 0;
    int got = 0;
    const auto check = [&] {
      if (!last.empty()) EXPECT_EQ(got, expected) << last << "\n" << Talk();
    };
    while (std::getline(lines, line)) {
      if (line.empty() || line[0] == '#') continue;
      if (line.starts_with("exit ")) {
        expected = std::stoi(line.substr(5));
        continue;
      }
      check();
      ASSERT_TRUE(line.starts_with("ingest ")) << line;
      last = line;
      expected = 0;
      got =
          Oomdb("ingest --db '" + Database() + "' " + line.substr(7), scratch_ / "talk").exit_code;
    }
    check();
  }

  std::string Database() const { return (scratch_ / "case.db").string(); }

  void Compare(const fs::path& expected, const std::string& got) {
    if (std::getenv("OOMDB_UPDATE_GOLDEN") != nullptr && Read(expected) != got) {
      std::ofstream(expected, std::ios::binary) << got;
    }
    EXPECT_EQ(got, Read(expected)) << expected;
  }

  const fs::path folder_;
  fs::path scratch_;
};

TEST_P(GoldenTest, AnswersAsExpected) {
  int questions = 0;
  if (fs::exists(folder_ / "case.txt")) Ingest();
  for (const auto& entry : fs::directory_iterator(folder_)) {
    fs::path expected = entry.path();
    if (entry.path().extension() == ".sql") {
      const Outcome outcome =
          Oomdb("query --db '" + Database() + "' --format csv - <'" + entry.path().string() + "'",
                scratch_ / "talk");
      EXPECT_EQ(outcome.exit_code, 0) << entry.path() << Talk();
      Compare(expected.replace_extension(".csv"), outcome.out);
      ++questions;
    } else if (entry.path().extension() == ".args") {
      std::string arguments = Read(entry.path());
      while (!arguments.empty() && arguments.back() == '\n') arguments.pop_back();
      const Outcome outcome = Oomdb(arguments, scratch_ / "talk");
      EXPECT_EQ(outcome.exit_code, 0) << entry.path() << Talk();
      Compare(expected.replace_extension(".txt"), outcome.out);
      ++questions;
    }
  }
  EXPECT_GT(questions, 0) << "a case that asks nothing";
}

INSTANTIATE_TEST_SUITE_P(Cases, GoldenTest, testing::ValuesIn(CaseNames()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace oomdb::cli
