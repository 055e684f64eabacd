#include "ingest/source/naming.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/source/temp_folder.h"

namespace oomdb::ingest {
namespace {

void ExpectNames(const std::string& path, const std::string& run, const std::string& host) {
  const CaptureNames names = NamesFromPath(path);
  EXPECT_EQ(names.run, run) << path;
  EXPECT_EQ(names.host, host) << path;
}

TEST(NamingTest, ProfilersLayoutNamesRunAndHost) {
  ExpectNames("/logs/plugins/profile/2025_01_02/gpu-node-0.xplane.pb", "2025_01_02", "gpu-node-0");
  ExpectNames("/plugins/profile/run1/a.b.c.xplane.pb", "run1", "a.b.c");
  ExpectNames("/x/../plugins/./profile/run1//vm.xplane.pb", "run1", "vm");
}

TEST(NamingTest, CompressedSuffixIsNoPartOfTheHost) {
  for (const char* suffix : {".gz", ".gzip", ".zst", ".zstd", ".xz", ".GZ"}) {
    ExpectNames(std::string("/plugins/profile/run1/vm.xplane.pb") + suffix, "run1", "vm");
  }
  ExpectNames("/plugins/profile/run1/vm.xplane.pb.bak", "run1", "");
}

TEST(NamingTest, OtherPlacesNameTheirFolderAndNoHost) {
  ExpectNames("/captures/today/vm.xplane.pb", "today", "");
  ExpectNames("/plugins/profile/run1/module.hlo.pb", "run1", "");
  ExpectNames("/profile/run1/vm.xplane.pb", "run1", "");
  ExpectNames("/plugins/profile/run1/deeper/vm.xplane.pb", "deeper", "");
  ExpectNames("/plugins/profile/run1/.xplane.pb", "run1", "");
  ExpectNames("/vm.xplane.pb", "/", "");
  ExpectNames("-", "stdin", "");
}

TEST(NamingTest, RelativePathsAreSeenFromTheWorkingFolder) {
  const TempFolder folder;
  folder.Write("plugins/profile/run7/vm.xplane.pb", "");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.Path("plugins/profile/run7"));
  ExpectNames("vm.xplane.pb", "run7", "vm");
  ExpectNames("./vm.xplane.pb", "run7", "vm");
  ExpectNames("../run7/vm.xplane.pb", "run7", "vm");
  ExpectNames(".", "run7", "");
  std::filesystem::current_path(before);
  ExpectNames(folder.Path("plugins/profile/run7/"), "run7", "");
}

}  // namespace
}  // namespace oomdb::ingest
