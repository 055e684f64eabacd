#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/program.h"

namespace oomdb::cli {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class CompletionTest : public ProgramTest {
 protected:
  CompletionTest() {
    for (const std::string what : {"bash", "zsh", "fish", "man"}) {
      Write(what, Oomdb("completion " + what).out);
    }
    // The verbs are those that help names.
    std::istringstream help(Oomdb("--help").out);
    bool below = false;
    for (std::string line; std::getline(help, line);) {
      if (line.rfind("Subcommands", 0) == 0) {
        below = true;
      } else if (below && line.rfind("  ", 0) == 0 && line[2] != ' ') {
        verbs_.push_back(line.substr(2, line.find(' ', 2) - 2));
      }
    }
  }

  // What bash offers after these words, of which the last is being typed.
  std::vector<std::string> Offered(const std::string& words) {
    const Outcome outcome = Shell("bash -c 'source ./bash; COMP_WORDS=(" + words +
                                  "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); compopt() { :; }; "
                                  "_oomdb; printf \"%s\\n\" \"${COMPREPLY[@]}\"'");
    std::vector<std::string> offered;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) offered.push_back(line);
    return offered;
  }

  std::vector<std::string> verbs_;
};

TEST_F(CompletionTest, EveryVerbIsInEach) {
  ASSERT_GT(verbs_.size(), 10u);
  for (const std::string& verb : verbs_) {
    EXPECT_THAT(Read("bash"), HasSubstr("    " + verb + ") options=")) << verb;
    EXPECT_THAT(Read("zsh"), HasSubstr("    " + verb + ")\n      _arguments")) << verb;
    EXPECT_THAT(Read("fish"), HasSubstr("-a " + verb + " -d ")) << verb;
    const std::string in_page = verb == "self-test" ? "self\\-test"
                                : verb == "what-if" ? "what\\-if"
                                                    : verb;
    EXPECT_THAT(Read("man"), HasSubstr(".SS \"" + in_page)) << verb;
  }
}

TEST_F(CompletionTest, BashOffersVerbsOptionsWordsAndFiles) {
  EXPECT_THAT(Offered("oomdb wh"), ElementsAre("what-if"));
  EXPECT_THAT(Offered("oomdb report --col"), ElementsAre("--color"));
  EXPECT_THAT(Offered("oomdb report --color a"), ElementsAre("auto", "always"));
  EXPECT_THAT(Offered("oomdb what-if --data-p"), ElementsAre("--data-parallel"));
  Write("mine.db", "");
  EXPECT_THAT(Offered("oomdb report --db mi"), ElementsAre("mine.db"));
  EXPECT_THAT(Offered("oomdb report mi"), Contains("mine.db"));
  EXPECT_THAT(Offered("oomdb mi"), Contains("mine.db"));
}

TEST_F(CompletionTest, ShellsReadWhatIsMadeForThem) {
  EXPECT_EQ(Shell("bash -n bash").exit_code, 0);
  for (const std::string shell : {"zsh", "fish"}) {
    EXPECT_EQ(Shell("! command -v " + shell + " >/dev/null || " + shell + " -n " + shell).exit_code,
              0)
        << shell;
  }
}

TEST_F(CompletionTest, ThePageHasOptionsAndExitCodes) {
  const std::string page = Read("man");
  EXPECT_THAT(page, HasSubstr(".B \\-\\-capacity"));
  EXPECT_THAT(page, HasSubstr(".SH EXIT STATUS"));
  // No line of text is taken for a command.
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] != '.') continue;
    EXPECT_THAT(line.substr(0, 3), testing::AnyOf(".\\\"", ".TH", ".SH", ".SS", ".TP", ".PP", ".br",
                                                  ".B ", ".I ", ".IR"))
        << line;
  }
  EXPECT_EQ(Oomdb("completion tcsh").exit_code, 2);
}

}  // namespace
}  // namespace oomdb::cli
