#include "ingest/source/discover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "tests/source/temp_folder.h"

namespace oomdb::ingest {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(DiscoverTest, FindsFilesBelowSorted) {
  const TempFolder folder;
  folder.Write("b/2.pb", "");
  folder.Write("b/a/1.pb", "");
  folder.Write("a.txt", "");
  fs::create_directories(folder.Path("empty/emptier"));
  EXPECT_THAT(DiscoverFiles(folder.Path("")).files,
              ElementsAre(folder.Path("a.txt"), folder.Path("b/2.pb"), folder.Path("b/a/1.pb")));
}

TEST(DiscoverTest, FileIsItself) {
  const TempFolder folder;
  const std::string file = folder.Write("x.pb", "");
  EXPECT_THAT(DiscoverFiles(file).files, ElementsAre(file));
  EXPECT_THAT(DiscoverFiles("-").files, ElementsAre("-"));
}

TEST(DiscoverTest, LoopsOfLinksEnd) {
  const TempFolder folder;
  folder.Write("a/x.pb", "");
  fs::create_directory_symlink(folder.Path(""), folder.Path("a/up"));
  fs::create_directory_symlink(".", folder.Path("a/self"));
  fs::create_symlink("nowhere", folder.Path("a/dangling"));
  fs::create_symlink("circle", folder.Path("a/circle"));
  EXPECT_THAT(DiscoverFiles(folder.Path("")).files, ElementsAre(folder.Path("a/x.pb")));
}

TEST(DiscoverTest, RealNameWinsOverLinks) {
  const TempFolder folder;
  folder.Write("z/real.pb", "");
  fs::create_directory_symlink("z", folder.Path("a"));
  fs::create_symlink("z/real.pb", folder.Path("b.pb"));
  EXPECT_THAT(DiscoverFiles(folder.Path("")).files, ElementsAre(folder.Path("z/real.pb")));
}

TEST(DiscoverTest, LinksOutOfTheFolderAreFollowed) {
  const TempFolder folder;
  folder.Write("outside/x.pb", "");
  folder.Write("outside/y/z.pb", "");
  fs::create_directory(folder.Path("in"));
  fs::create_symlink("../outside/x.pb", folder.Path("in/file"));
  fs::create_directory_symlink("../outside/y", folder.Path("in/folder"));
  EXPECT_THAT(DiscoverFiles(folder.Path("in")).files,
              ElementsAre(folder.Path("in/file"), folder.Path("in/folder/z.pb")));
}

TEST(DiscoverTest, PipesArePassedOver) {
  const TempFolder folder;
  folder.Write("x.pb", "");
  ASSERT_EQ(::mkfifo(folder.Path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(DiscoverFiles(folder.Path("")).files, ElementsAre(folder.Path("x.pb")));
}

TEST(DiscoverTest, MissingPathIsAnError) {
  const TempFolder folder;
  try {
    DiscoverFiles(folder.Path("nothing"));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("nothing: no such file or folder"));
  }
}

TEST(DiscoverTest, LimitsHold) {
  const TempFolder folder;
  folder.Write("a/b/c/x.pb", "");
  folder.Write("y.pb", "");
  EXPECT_THROW(DiscoverFiles(folder.Path(""), {.max_files = 1}), Error);
  EXPECT_THROW(DiscoverFiles(folder.Path(""), {.max_depth = 2}), Error);
  EXPECT_EQ(DiscoverFiles(folder.Path(""), {.max_files = 2, .max_depth = 3}).files.size(), 2u);
}

TEST(DiscoverTest, UnreadableFoldersAreNamed) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads everything";
  const TempFolder folder;
  folder.Write("closed/x.pb", "");
  folder.Write("y.pb", "");
  fs::permissions(folder.Path("closed"), fs::perms::none);
  const Discovery found = DiscoverFiles(folder.Path(""));
  fs::permissions(folder.Path("closed"), fs::perms::owner_all);
  EXPECT_THAT(found.files, ElementsAre(folder.Path("y.pb")));
  EXPECT_THAT(found.unreadable, ElementsAre(HasSubstr("closed: ")));
}

}  // namespace
}  // namespace oomdb::ingest
