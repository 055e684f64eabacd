// Help, versions, and what is said about mistakes in the first word.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "schema/migrations.h"
#include "tests/cli/program.h"

namespace oomdb::cli {
namespace {

using testing::HasSubstr;

class HelpTest : public ProgramTest {
 protected:
  // The words at the start of the lines under "Subcommands:".
  std::vector<std::string> Verbs() {
    std::istringstream help(Oomdb("--help").out);
    std::vector<std::string> verbs;
    bool inside = false;
    for (std::string line; std::getline(help, line);) {
      if (line == "Subcommands:") {
        inside = true;
      } else if (inside && line.rfind("  ", 0) == 0 && line[2] != ' ') {
        verbs.push_back(line.substr(2, line.find(' ', 2) - 2));
      } else if (inside && line.rfind("  ", 0) != 0) {
        inside = false;
      }
    }
    return verbs;
  }
};

TEST_F(HelpTest, EveryVerbHasAnExampleThatRuns) {
  const std::vector<std::string> verbs = Verbs();
  EXPECT_GE(verbs.size(), 6u);
  std::filesystem::create_directory_symlink(OOMDB_SOURCE_DIR "/sample_dbs", File("sample_dbs"));
  int examples = 0;
  for (const std::string& verb : verbs) {
    const Outcome help = Oomdb(verb + " --help");
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_EQ(help.err, "");
    const size_t at = help.out.find("Example: ");
    ASSERT_NE(at, std::string::npos) << verb;
    const std::string example = help.out.substr(at + 9, help.out.find('\n', at) - at - 9);
    EXPECT_THAT(example, HasSubstr("oomdb")) << verb;
    // What the examples ask for; that of forget has just taken it away.
    ASSERT_EQ(Oomdb("ingest --db oom.db logs --label batch=8").exit_code, 0);
    const Outcome outcome = Shell(example);
    // A report of the example's capture may have findings; that is no failure of the example.
    EXPECT_TRUE(outcome.exit_code == 0 || outcome.exit_code == 3) << example << "\n" << outcome.err;
    ++examples;
  }
  EXPECT_EQ(examples, static_cast<int>(verbs.size()));
}

TEST_F(HelpTest, TheVersionNamesToolAndSchema) {
  const Outcome outcome = Oomdb("--version");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("schema " + std::to_string(schema::SchemaVersion())));
}

TEST_F(HelpTest, NothingAtAllIsHelp) {
  const Outcome outcome = Oomdb("");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("ingest"));
}

TEST_F(HelpTest, NearestVerbsAreOffered) {
  const Outcome outcome = Oomdb("ingets --db oom.db logs");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("did you mean ingest?"));
  EXPECT_THAT(Oomdb("no/such.xplane.pb").err, HasSubstr("no such file"));
  EXPECT_EQ(Oomdb("no/such.xplane.pb").exit_code, 2);
}

TEST_F(HelpTest, SelfTestPasses) {
  const Outcome outcome = Oomdb("self-test");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("all is well"));
  EXPECT_THAT(outcome.out, HasSubstr("ok      the cause is found"));
}

}  // namespace
}  // namespace oomdb::cli
