#include "render/scale.h"

#include <fmt/format.h>

#include <algorithm>

namespace oomdb::render {
namespace {

std::string Short(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

}  // namespace

std::string Percent(double fraction) { return Short(100 * fraction, 3) + "%"; }

std::string Coordinate(double value) { return Short(value, 2); }

std::vector<int64_t> ByteTicks(int64_t highest, size_t most) {
  std::vector<int64_t> ticks{0};
  if (highest <= 0) return ticks;
  int64_t step = 1;
  const auto least = static_cast<int64_t>(most);
  while (step < (highest + least - 1) / least) step *= 2;
  for (int64_t tick = step; tick <= highest && tick > 0; tick += step) ticks.push_back(tick);
  return ticks;
}

std::vector<size_t> PointsToDraw(const std::vector<double>& places,
                                 const std::vector<int64_t>& values, size_t buckets,
                                 const std::vector<size_t>& keep) {
  std::vector<size_t> points = keep;
  const double length = places.empty() ? 0 : places.back() - places.front();
  const auto bucket_of = [&](size_t i) {
    if (length <= 0) return size_t{0};
    const double part = (places[i] - places.front()) / length;
    return std::min(buckets - 1, static_cast<size_t>(part * static_cast<double>(buckets)));
  };
  for (size_t begin = 0; begin < values.size();) {
    const size_t bucket = bucket_of(begin);
    size_t end = begin, low = begin, high = begin;
    for (; end < values.size() && bucket_of(end) == bucket; ++end) {
      if (values[end] < values[low]) low = end;
      if (values[end] > values[high]) high = end;
    }
    for (const size_t i : {begin, low, high, end - 1}) points.push_back(i);
    begin = end;
  }
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points;
}

}  // namespace oomdb::render
