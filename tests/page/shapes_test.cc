// The shapes of pictures: tiles, and time with its cuts.
#include <gtest/gtest.h>

#include "cli/page/heap.h"
#include "cli/page/tiles.h"

namespace oomdb::cli::page {
namespace {

TEST(TilesTest, AreasAreSizesAndNothingOverlaps) {
  const std::vector<int64_t> sizes = {600, 600, 400, 300, 200, 200, 100, 0};
  const std::vector<Tile> tiles = TilesOf(sizes, 3);
  double covered = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Tile& t = tiles[i];
    EXPECT_NEAR(t.width * t.height, static_cast<double>(sizes[i]) / 2400, 1e-9) << i;
    EXPECT_GE(t.x, -1e-9);
    EXPECT_LE(t.x + t.width, 1 + 1e-9);
    EXPECT_LE(t.y + t.height, 1 + 1e-9);
    covered += t.width * t.height;
    for (size_t j = 0; j < i; ++j) {
      const Tile& o = tiles[j];
      const double wide = std::min(t.x + t.width, o.x + o.width) - std::max(t.x, o.x);
      const double high = std::min(t.y + t.height, o.y + o.height) - std::max(t.y, o.y);
      EXPECT_TRUE(wide <= 1e-9 || high <= 1e-9) << i << " lies on " << j;
    }
  }
  EXPECT_NEAR(covered, 1, 1e-9);
}

TEST(TimeAxisTest, WithoutAWaitTimeIsEven) {
  const TimeAxis axis({100, 200, 300, 400});
  EXPECT_TRUE(axis.cuts().empty());
  EXPECT_NEAR(axis.Place(300) - axis.Place(200), axis.Place(200) - axis.Place(100), 1e-9);
  EXPECT_NEAR(axis.Place(400), 1, 1e-9);
  EXPECT_EQ(axis.Place(99), 0);
}

// Ten seconds of waiting among microseconds would leave nothing to see.
TEST(TimeAxisTest, AWaitIsCutShortAndSaid) {
  std::vector<int64_t> moments;
  for (int64_t i = 0; i < 20; ++i) moments.push_back(i * 1000);
  moments.push_back(19'000 + 10'000'000'000);
  const TimeAxis axis(moments);
  ASSERT_EQ(axis.cuts().size(), 1U);
  EXPECT_EQ(axis.cuts()[0].long_ns, 10'000'000'000);
  EXPECT_GT(axis.Place(19'000), 0.7);
  EXPECT_NEAR(axis.Place(moments.back()), 1, 1e-9);
  double before = -1;
  for (const int64_t moment : moments) {
    EXPECT_GT(axis.Place(moment), before);
    before = axis.Place(moment);
  }
}

TEST(TimeAxisTest, OneMoment) {
  const TimeAxis axis({7});
  EXPECT_GE(axis.Place(7), 0);
  EXPECT_LE(axis.Place(8), 1);
}

}  // namespace
}  // namespace oomdb::cli::page
