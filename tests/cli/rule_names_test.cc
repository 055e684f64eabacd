// No verb knows a rule by name: what the report does with a rule stands in the rule's file, so that
// a new rule needs no change in cli/.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "queries/catalogue.h"

namespace oomdb::cli {
namespace {

using testing::ElementsAre;

bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The rules that a line's string literals name. An id of one word is English too: it is not looked
// for.
std::vector<std::string> RulesNamedIn(const std::string& line) {
  std::vector<std::string> found;
  for (const queries::CatalogueEntry* rule : queries::Catalogue::Get().Rules()) {
    const std::string& id = rule->id;
    if (id.find('_') == std::string::npos) continue;
    bool in_literal = false;
    for (size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '\\') {
        ++i;
      } else if (line[i] == '"') {
        in_literal = !in_literal;
      } else if (!in_literal && line.compare(i, 2, "//") == 0) {
        break;
      } else if (in_literal && line.compare(i, id.size(), id) == 0 && !IsWord(line[i - 1]) &&
                 !IsWord(line[i + id.size()])) {
        found.push_back(id);
      }
    }
  }
  return found;
}

TEST(RuleNamesTest, NoStringOfAVerbNamesARule) {
  size_t files = 0;
  const std::filesystem::path room = std::filesystem::path(OOMDB_SOURCE_DIR) / "cli";
  for (const auto& file : std::filesystem::recursive_directory_iterator(room)) {
    if (file.path().extension() != ".cc" && file.path().extension() != ".h") continue;
    ++files;
    std::ifstream stream(file.path());
    int number = 0;
    for (std::string line; std::getline(stream, line);) {
      ++number;
      EXPECT_THAT(RulesNamedIn(line), ElementsAre()) << file.path().filename() << ":" << number;
    }
  }
  EXPECT_GT(files, 50u);
}

TEST(RuleNamesTest, FindsWhatItIsThereFor) {
  EXPECT_THAT(RulesNamedIn(R"(  if (f.rule == "no_donation") {)"), ElementsAre("no_donation"));
  EXPECT_THAT(RulesNamedIn(R"(  "SELECT \"a\" FROM host_skew WHERE")"), ElementsAre("host_skew"));
  EXPECT_THAT(RulesNamedIn(R"(  Call("x", no_donation);  // "no_donation")"), ElementsAre());
  EXPECT_THAT(RulesNamedIn(R"(  "step_does_not_fit_items")"), ElementsAre());
}

}  // namespace
}  // namespace oomdb::cli
