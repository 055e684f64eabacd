// Runs the program as a user does.
#ifndef OOMDB_TESTS_CLI_PROGRAM_H_
#define OOMDB_TESTS_CLI_PROGRAM_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace oomdb::cli {

struct Outcome {
  int exit_code = -1;  // 128 + the signal's number when one ended it.
  std::string out;
  std::string err;
};

// In a folder of its own, with a capture at logs/plugins/profile/run1/host.xplane.pb; HOME,
// $OOMDB_DB and colours unset.
class ProgramTest : public testing::Test {
 protected:
  ProgramTest();
  ~ProgramTest() override;

  // `command` is a shell command line; the word `oomdb` in it is the program.
  Outcome Shell(const std::string& command);
  Outcome Oomdb(const std::string& arguments) { return Shell("oomdb " + arguments); }

  std::string File(const std::string& name) const { return folder_ + "/" + name; }
  void Write(const std::string& name, const std::string& content);
  std::string Read(const std::string& name);
  bool Exists(const std::string& name);
  // The number that a query of oom.db gives.
  std::string Ask(const std::string& sql);

  static constexpr char kCapture[] = "logs/plugins/profile/run1/host.xplane.pb";

 private:
  std::string folder_;
};

}  // namespace oomdb::cli

#endif  // OOMDB_TESTS_CLI_PROGRAM_H_
