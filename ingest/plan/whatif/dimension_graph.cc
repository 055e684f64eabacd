#include "ingest/plan/whatif/dimension_graph.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

namespace oomdb::ingest {
namespace {

// A shape's elements in linear order are counted by digits: `extent` values of `dimension`, each
// `within` elements of it apart and `stride` elements of the array.
struct Digit {
  int32_t dimension;
  int64_t within;
  int64_t extent;
  int64_t stride;
};

constexpr int64_t kMaxElements = int64_t{1} << 48;

// From the digit that varies fastest on. Physical: in the layout, in which a first tile of k
// dimensions makes k digits within the tile and k over the tiles. Empty: too large to count.
std::vector<Digit> DigitsOf(const proto::ShapeProto& shape, bool physical) {
  std::vector<Digit> digits;
  const int rank = shape.dimensions_size();
  if (!physical) {
    for (int d = rank - 1; d >= 0; --d) digits.push_back({d, 1, shape.dimensions(d), 0});
  } else {
    const std::vector<int32_t> order = MinorToMajor(shape);
    int k = 0;
    if (shape.layout().tiles_size() > 0) {
      const auto& tile = shape.layout().tiles(0).dimensions();
      k = tile.size();
      bool usable = k <= rank;
      for (int64_t t : tile) usable = usable && t >= 1 && t < kMaxElements;
      if (!usable) k = 0;
      for (int j = 0; j < k; ++j) digits.push_back({order[j], 1, tile[k - 1 - j], 0});
      for (int j = 0; j < k; ++j) {
        const int64_t t = tile[k - 1 - j];
        const int64_t extent = shape.dimensions(order[j]);
        digits.push_back({order[j], t, extent / t + (extent % t > 0 ? 1 : 0), 0});
      }
    }
    for (int j = k; j < rank; ++j) digits.push_back({order[j], 1, shape.dimensions(order[j]), 0});
  }
  int64_t stride = 1;
  for (Digit& digit : digits) {
    digit.stride = stride;
    if (digit.extent < 1 || digit.extent > kMaxElements || stride > kMaxElements / digit.extent) {
      return {};
    }
    stride *= digit.extent;
  }
  return digits;
}

// A factor of a dimension, found again on the other side of a linear link. False: it has no place
// of its own there.
bool Follow(std::span<const Digit> from, int32_t dimension, const Factor& factor,
            const proto::ShapeProto& to_shape, std::span<const Digit> to, int32_t* to_dimension,
            Factor* to_factor) {
  // The largest part of it that lies in one digit.
  int64_t start = -1;
  int64_t extent = 0;
  for (const Digit& digit : from) {
    if (digit.dimension != dimension) continue;
    const int64_t low = std::max(factor.inner, digit.within);
    const int64_t high = std::min(factor.inner * factor.extent, digit.within * digit.extent);
    if (high <= low || low % digit.within != 0 || high / low <= extent) continue;
    start = digit.stride * (low / digit.within);
    extent = high / low;
  }
  if (start < 0) return false;
  for (const Digit& digit : to) {
    const int64_t end = digit.stride * digit.extent;
    if (digit.extent <= 1 || start < digit.stride || start >= end) continue;
    if (start % digit.stride != 0 || end % start != 0) return false;
    const int64_t inner = digit.within * (start / digit.stride);
    if (inner >= to_shape.dimensions(digit.dimension)) return false;
    *to_dimension = digit.dimension;
    *to_factor = {inner, std::min(extent, end / start)};
    return true;
  }
  return true;  // A factor of one: nothing to place.
}

// However much of a factor was seen, it is one: ranges that overlap are merged, those that touch as
// long as they are no larger than the symbol.
void MergeFactors(int64_t whole, std::vector<Factor>* factors) {
  if (factors->size() < 2) return;
  std::sort(factors->begin(), factors->end());
  std::vector<Factor> merged = {factors->front()};
  for (size_t i = 1; i < factors->size(); ++i) {
    Factor& last = merged.back();
    const Factor& next = (*factors)[i];
    const int64_t end = last.inner * last.extent;
    const int64_t joined = std::max(end, next.inner * next.extent) / last.inner;
    if (next.inner < end || (next.inner == end && joined <= whole)) {
      last.extent = std::min(joined, std::max(whole, last.extent));
    } else {
      merged.push_back(next);
    }
  }
  *factors = std::move(merged);
}

}  // namespace

// ---- Symbol

std::span<const Factor> Symbol::FactorsOf(LeafId n, int32_t dimension) const {
  if (graph_ == nullptr) return {};
  const auto found = classes_.find(graph_->ClassOf(n, dimension));
  return found == classes_.end() ? std::span<const Factor>() : std::span(found->second);
}

int Symbol::DimensionsIn(LeafId n) const {
  if (graph_ == nullptr || n == IdIndex::kNone) return 0;
  int count = 0;
  for (int d = 0; d < graph_->program().leaf(n).rank(); ++d) count += IsInDimension(n, d);
  return count;
}

int Symbol::FactorCount(LeafId n) const {
  if (graph_ == nullptr || n == IdIndex::kNone) return 0;
  int count = 0;
  for (int d = 0; d < graph_->program().leaf(n).rank(); ++d) {
    count += static_cast<int>(FactorsOf(n, d).size());
  }
  return count;
}

std::vector<int64_t> Symbol::Scaled(LeafId n, double ratio) const {
  const proto::ShapeProto& shape = *graph_->program().leaf(n).shape;
  std::vector<int64_t> dimensions(shape.dimensions().begin(), shape.dimensions().end());
  for (size_t d = 0; d < dimensions.size(); ++d) {
    for (size_t k = 0; k < FactorsOf(n, static_cast<int32_t>(d)).size(); ++k) {
      // A ratio such as 1/3 of 12 must give 4, not 5.
      const double scaled = static_cast<double>(dimensions[d]) * ratio;
      dimensions[d] = static_cast<int64_t>(
          std::clamp(std::ceil(scaled - 1e-6), 1.0, static_cast<double>(kMaxElements)));
    }
  }
  return dimensions;
}

// ---- DimensionGraph

DimensionGraph::DimensionGraph(const Program& program) : program_(program) {
  class_of_.resize(program.dimension_count());
  std::iota(class_of_.begin(), class_of_.end(), 0);
  free_.resize(program.dimension_count());
  LinkDimensions(program, this);
  Seal();
}

int32_t DimensionGraph::Find(int32_t dimension) {
  int32_t root = dimension;
  while (class_of_[root] != root) root = class_of_[root];
  while (class_of_[dimension] != root) dimension = std::exchange(class_of_[dimension], root);
  return root;
}

void DimensionGraph::Equal(LeafId a, int64_t da, LeafId b, int64_t db) {
  if (a == IdIndex::kNone || b == IdIndex::kNone) return;
  const Leaf& la = program_.leaf(a);
  const Leaf& lb = program_.leaf(b);
  if (da < 0 || db < 0 || da >= la.rank() || db >= lb.rank()) return;
  if (la.extent(static_cast<int>(da)) != lb.extent(static_cast<int>(db))) return;
  const int32_t i = la.first_dimension + static_cast<int32_t>(da);
  const int32_t j = lb.first_dimension + static_cast<int32_t>(db);
  if (free_[i] || free_[j]) {
    if (free_[i]) followers_.push_back({i, j});
    if (free_[j]) followers_.push_back({j, i});
    return;
  }
  const int32_t x = Find(i);
  const int32_t y = Find(j);
  if (x != y) class_of_[std::max(x, y)] = std::min(x, y);
}

void DimensionGraph::AllEqual(LeafId a, LeafId b) {
  if (a == IdIndex::kNone || b == IdIndex::kNone) return;
  const int rank = program_.leaf(a).rank();
  if (rank != program_.leaf(b).rank()) return;
  for (int d = 0; d < rank; ++d) Equal(a, d, b, d);
}

void DimensionGraph::AllEqual(LeafRange a, LeafRange b) {
  for (int32_t k = 0; k < std::min(a.count, b.count); ++k) AllEqual(a.first + k, b.first + k);
}

void DimensionGraph::Seal() {
  std::vector<int32_t> dense(class_of_.size(), -1);
  std::vector<int32_t> sealed(class_of_.size());
  for (size_t d = 0; d < class_of_.size(); ++d) {
    int32_t& number = dense[Find(static_cast<int32_t>(d))];
    if (number < 0) number = class_count_++;
    sealed[d] = number;
  }
  class_of_ = std::move(sealed);
  leaves_of_class_.assign(class_count_, 0);
  for (int32_t c : class_of_) ++leaves_of_class_[c];
  class_is_free_.assign(class_count_, false);
  for (size_t d = 0; d < class_of_.size(); ++d) {
    if (free_[d]) class_is_free_[class_of_[d]] = true;
  }
  for (const Follower& follower : followers_) {
    followers_of_class_[class_of_[follower.user]].push_back(class_of_[follower.dimension]);
  }

  struct Entry {
    int32_t of_class;
    LinearEnd end;
  };
  std::vector<Entry> entries;
  for (size_t k = 0; k < linear_.size(); ++k) {
    for (bool from_b : {false, true}) {
      const LeafId n = from_b ? linear_[k].b : linear_[k].a;
      for (int32_t d = 0; d < program_.leaf(n).rank(); ++d) {
        if (program_.leaf(n).extent(d) < 2) continue;
        entries.push_back({ClassOf(n, d), {static_cast<int32_t>(k), from_b, d}});
      }
    }
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.of_class < b.of_class; });
  first_end_.assign(class_count_ + 1, 0);
  ends_.reserve(entries.size());
  for (const Entry& entry : entries) {
    ++first_end_[entry.of_class + 1];
    ends_.push_back(entry.end);
  }
  for (int32_t c = 0; c < class_count_; ++c) first_end_[c + 1] += first_end_[c];
}

Symbol DimensionGraph::Spread(std::span<const Seed> seeds) const {
  // A factor is split where an array is; real programs split a symbol into a handful of parts.
  constexpr size_t kMaxFactors = 16;
  Symbol symbol;
  symbol.graph_ = this;
  std::vector<std::pair<int32_t, Factor>> todo;
  int64_t whole = 1;
  auto add = [&](int32_t c, const Factor& factor) {
    std::vector<Factor>& known = symbol.classes_[c];
    if (known.size() >= kMaxFactors) return;
    if (std::find(known.begin(), known.end(), factor) != known.end()) return;
    if (known.empty()) symbol.reach_ += leaves_of_class_[c];
    known.push_back(factor);
    todo.emplace_back(c, factor);
  };
  for (const Seed& seed : seeds) {
    const int64_t extent = program_.leaf(seed.leaf).extent(seed.dimension);
    if (extent < 1 || extent > kMaxElements) continue;
    whole = std::max(whole, extent);
    add(ClassOf(seed.leaf, seed.dimension), {1, extent});
  }
  while (!todo.empty()) {
    const auto [c, factor] = todo.back();
    todo.pop_back();
    if (const auto followers = followers_of_class_.find(c);
        followers != followers_of_class_.end()) {
      for (int32_t follower : followers->second) add(follower, factor);
    }
    if (class_is_free_[c]) continue;
    for (int32_t k = first_end_[c]; k < first_end_[c + 1]; ++k) {
      const LinearEnd& end = ends_[k];
      const LinearLink& link = linear_[end.link];
      const LeafId from = end.from_b ? link.b : link.a;
      const LeafId to = end.from_b ? link.a : link.b;
      const proto::ShapeProto& to_shape = *program_.leaf(to).shape;
      if (to_shape.dimensions_size() == 0) continue;
      int32_t dimension = -1;
      Factor arrived;
      if (!Follow(DigitsOf(*program_.leaf(from).shape, link.physical), end.dimension, factor,
                  to_shape, DigitsOf(to_shape, link.physical), &dimension, &arrived)) {
        symbol.lost_.push_back(to);
      } else if (dimension >= 0) {
        add(ClassOf(to, dimension), arrived);
      }
    }
  }
  for (auto& [c, factors] : symbol.classes_) MergeFactors(whole, &factors);
  return symbol;
}

}  // namespace oomdb::ingest
