#include "render/scale.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace oomdb::render {
namespace {

using testing::ElementsAre;
using testing::Le;
using testing::SizeIs;

TEST(ScaleTest, PlacesAreShort) {
  EXPECT_EQ(Percent(0.5), "50%");
  EXPECT_EQ(Percent(1.0 / 3), "33.333%");
  EXPECT_EQ(Percent(0), "0%");
  EXPECT_EQ(Coordinate(-0.001), "0");
  EXPECT_EQ(Coordinate(12.345), "12.35");
}

TEST(ScaleTest, TicksAreRoundAndFew) {
  EXPECT_THAT(ByteTicks(int64_t{3} << 30, 4),
              ElementsAre(0, int64_t{1} << 30, int64_t{2} << 30, int64_t{3} << 30));
  EXPECT_THAT(ByteTicks(0, 4), ElementsAre(0));
  EXPECT_THAT(ByteTicks(5, 4), ElementsAre(0, 2, 4));
  for (const int64_t highest : {int64_t{1}, int64_t{1000}, INT64_MAX / 4})
    EXPECT_THAT(ByteTicks(highest, 5), SizeIs(Le(6))) << highest;
}

// A spike of one point among a million is drawn, exact.
TEST(ScaleTest, LowestAndHighestOfEveryStretchAreDrawn) {
  std::vector<double> places;
  std::vector<int64_t> values(1'000'000, 5);
  for (size_t i = 0; i < values.size(); ++i) places.push_back(static_cast<double>(i));
  values[123'457] = 900;
  values[777'777] = -3;
  const std::vector<size_t> points = PointsToDraw(places, values, 100, {42});
  EXPECT_THAT(points, SizeIs(Le(401)));
  EXPECT_TRUE(std::is_sorted(points.begin(), points.end()));
  for (const size_t wanted : {0, 42, 123'457, 777'777, 999'999})
    EXPECT_TRUE(std::binary_search(points.begin(), points.end(), wanted)) << wanted;
}

TEST(ScaleTest, OfFewPointsAllAreDrawn) {
  EXPECT_THAT(PointsToDraw({0, 1, 2}, {7, 8, 7}, 100, {}), ElementsAre(0, 1, 2));
  EXPECT_THAT(PointsToDraw({3}, {7}, 100, {}), ElementsAre(0));
  EXPECT_THAT(PointsToDraw({}, {}, 100, {}), ElementsAre());
}

}  // namespace
}  // namespace oomdb::render
