// Every remedy that a rule offers is in the list of them, by its key.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>

#include "queries/catalogue.h"
#include "schema/query.h"

namespace oomdb::queries {
namespace {

// As the headers of the SQL files name them: the keys of `words fix by remedy`.
std::set<std::string> OfferedRemedies() {
  static const std::regex key(R"(--   (\w+): .*)");
  std::set<std::string> remedies;
  const std::filesystem::path room = std::filesystem::path(OOMDB_SOURCE_DIR) / "queries";
  for (const auto& file : std::filesystem::recursive_directory_iterator(room)) {
    if (file.path().extension() != ".sql") continue;
    std::ifstream stream(file.path());
    bool within = false;
    for (std::string line; std::getline(stream, line);) {
      std::smatch match;
      if (!line.starts_with("--   ")) {
        within = line == "-- words fix by remedy:";
      } else if (within && std::regex_match(line, match, key)) {
        remedies.insert(match[1]);
      }
    }
  }
  return remedies;
}

TEST(RemedyKindsTest, EveryRemedyIsListed) {
  schema::Database database =
      schema::Database::ThrowawayWithLazyViews(Catalogue::Get().views(), {});
  std::set<std::string> listed;
  for (const schema::Record& kind : schema::ReadView(database, "remedy_kinds")) {
    EXPECT_TRUE(listed.insert(kind.Text("remedy")).second) << kind.Text("remedy") << " twice";
    EXPECT_NE(kind.Text("what"), "");
    EXPECT_NE(kind.Text("assumes"), "");
    EXPECT_FALSE(kind.IsNull("changes_results"));
  }
  const std::set<std::string> offered = OfferedRemedies();
  EXPECT_GT(offered.size(), 20u);
  for (const std::string& remedy : offered) EXPECT_EQ(listed.count(remedy), 1u) << remedy;
}

}  // namespace
}  // namespace oomdb::queries
