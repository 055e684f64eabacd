#include "tests/cli/program.h"

#include <stdlib.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "cli/self_test_capture.h"

namespace oomdb::cli {
namespace {

namespace fs = std::filesystem;

}  // namespace

ProgramTest::ProgramTest() {
  std::string name = (fs::temp_directory_path() / "oomdb-cli-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  folder_ = name;
  fs::create_directories(File("bin"));
  fs::create_symlink(OOMDB_PROGRAM, File("bin/oomdb"));
  Write(kCapture, SelfTestCapture());
}

ProgramTest::~ProgramTest() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

Outcome ProgramTest::Shell(const std::string& command) {
  Write("bin/command.sh", command);
  const std::string line =
      "cd '" + folder_ +
      "' && unset OOMDB_DB COLUMNS NO_COLOR && PATH=\"$PWD/bin:$PATH\" sh bin/command.sh " +
      "> bin/out 2> bin/err < /dev/null";
  const int status = std::system(line.c_str());
  Outcome outcome;
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.out = Read("bin/out");
  outcome.err = Read("bin/err");
  return outcome;
}

void ProgramTest::Write(const std::string& name, const std::string& content) {
  fs::create_directories(fs::path(File(name)).parent_path());
  std::ofstream(File(name), std::ios::binary | std::ios::trunc) << content;
}

std::string ProgramTest::Read(const std::string& name) {
  std::ifstream file(File(name), std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

bool ProgramTest::Exists(const std::string& name) { return fs::exists(File(name)); }

std::string ProgramTest::Ask(const std::string& sql) {
  const Outcome outcome = Oomdb("query --db oom.db --format csv \"" + sql + "\"");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const size_t newline = outcome.out.find('\n');
  std::string rest = newline == std::string::npos ? "" : outcome.out.substr(newline + 1);
  while (!rest.empty() && rest.back() == '\n') rest.pop_back();
  return rest;
}

}  // namespace oomdb::cli
