#include "cli/page/tiles.h"

#include <algorithm>
#include <numeric>

namespace oomdb::cli::page {
namespace {

// How far from a square the worst of a row is: areas that lie along a side of length `side`.
double Worst(double sum, double least, double most, double side) {
  if (sum <= 0 || least <= 0) return 1e300;
  const double thickness = sum / side;
  return std::max(most / (thickness * thickness), thickness * thickness / least);
}

}  // namespace

std::vector<Tile> TilesOf(const std::vector<int64_t>& sizes, double aspect) {
  const double whole = std::accumulate(sizes.begin(), sizes.end(), 0.0);
  std::vector<double> areas;
  for (const int64_t size : sizes) areas.push_back(static_cast<double>(size) / whole * aspect);
  std::vector<Tile> tiles(sizes.size());
  Tile room{0, 0, aspect, 1};  // What is left, in units of the height.
  for (size_t begin = 0; begin < areas.size();) {
    const double side = std::min(room.width, room.height);
    double sum = areas[begin], least = sum, most = sum;
    size_t end = begin + 1;
    for (; end < areas.size(); ++end) {
      const double less = std::min(least, areas[end]), more = std::max(most, areas[end]);
      if (Worst(sum + areas[end], less, more, side) > Worst(sum, least, most, side)) break;
      sum += areas[end];
      least = less;
      most = more;
    }
    const bool upright = room.width >= room.height;  // The row is a column at the left.
    const double thickness = side > 0 ? sum / side : 0;
    double along = 0;
    for (size_t i = begin; i < end; ++i) {
      const double length = thickness > 0 ? areas[i] / thickness : 0;
      tiles[i] = upright ? Tile{room.x, room.y + along, thickness, length}
                         : Tile{room.x + along, room.y, length, thickness};
      along += length;
    }
    (upright ? room.x : room.y) += thickness;
    double& left = upright ? room.width : room.height;
    left = std::max(0.0, left - thickness);
    begin = end;
  }
  for (Tile& tile : tiles) {
    tile.x /= aspect;
    tile.width /= aspect;
  }
  return tiles;
}

}  // namespace oomdb::cli::page
