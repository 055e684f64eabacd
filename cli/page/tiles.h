// A treemap: rectangles as large as sizes, as near to squares as it goes.
#ifndef OOMDB_CLI_PAGE_TILES_H_
#define OOMDB_CLI_PAGE_TILES_H_

#include <cstdint>
#include <vector>

namespace oomdb::cli::page {

// Of a picture of width and height 1.
struct Tile {
  double x = 0, y = 0, width = 0, height = 0;
};

// One tile a size, in their order, which is best descending. Sizes are not negative; together they
// are above 0. `aspect`: the picture's width over its height. "Squarified treemaps", M. Bruls, K.
// Huizing, J. van Wijk, 2000.
std::vector<Tile> TilesOf(const std::vector<int64_t>& sizes, double aspect);

}  // namespace oomdb::cli::page

#endif  // OOMDB_CLI_PAGE_TILES_H_
