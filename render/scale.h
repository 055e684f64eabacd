// Axes of pictures: from a number to a place, round ticks, and long series in few points.
#ifndef OOMDB_RENDER_SCALE_H_
#define OOMDB_RENDER_SCALE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace oomdb::render {

// 0.5 -> "50%": SVG that is as wide as its window needs places in per cent. Three decimals at most.
std::string Percent(double fraction);
// A coordinate: two decimals at most.
std::string Coordinate(double value);

// Round sizes in bytes from 0 up to `highest`, at most `most` + 1 of them: multiples of a power of
// two, so that their labels are short. Requires most > 0.
std::vector<int64_t> ByteTicks(int64_t highest, size_t most);

// Which points of a series of values at ascending places to draw, where it has more than a picture
// has pixels: the first, the last, and of each of `buckets` stretches of equal length between
// places.front() and places.back() the first, the last, the lowest and the highest; those of `keep`
// always. Ascending. The highest and lowest value of the series are among them, exact.
std::vector<size_t> PointsToDraw(const std::vector<double>& places,
                                 const std::vector<int64_t>& values, size_t buckets,
                                 const std::vector<size_t>& keep);

}  // namespace oomdb::render

#endif  // OOMDB_RENDER_SCALE_H_
