#include "ingest/plan/pack/pack.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace oomdb::ingest {
namespace {

int64_t AlignUp(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// What is placed already, from the bottom of the heap up. A heap has thousands of items: to look at
// all that lie there, in this order, is quicker than to find those of one time and sort them.
class Placed {
 public:
  // The start of the smallest gap of `bytes` or more between those that overlap any of `when` in
  // time; the lowest of several; else above them.
  int64_t SmallestGap(std::span<const HeapInterval> when, int64_t bytes) const {
    int64_t top = 0;
    int64_t best = -1;
    int64_t best_length = std::numeric_limits<int64_t>::max();
    // Which chunks overlap is as good as random: without branches on it this takes half the time.
    auto pass = [&](const Chunk& chunk, bool overlaps) {
      const int64_t gap = chunk.offset - top;
      if (overlaps & (gap >= bytes) & (gap < best_length)) {
        best = top;
        best_length = gap;
      }
      const int64_t end = overlaps ? chunk.end : 0;
      top = end > top ? end : top;
    };
    if (when.size() == 1) {
      const HeapInterval at = when.front();
      for (const Chunk& chunk : chunks_) {
        pass(chunk, (chunk.begin <= at.end) & (chunk.stop >= at.begin));
      }
    } else {
      for (const Chunk& chunk : chunks_) {
        pass(chunk, std::any_of(when.begin(), when.end(), [&](const HeapInterval& at) {
               return chunk.begin <= at.end && chunk.stop >= at.begin;
             }));
      }
    }
    return best < 0 ? top : best;
  }

  void Add(std::span<const HeapInterval> when, int64_t offset, int64_t end) {
    const auto at =
        std::upper_bound(chunks_.begin(), chunks_.end(), offset,
                         [](int64_t o, const Chunk& chunk) { return o < chunk.offset; });
    const auto first = chunks_.insert(at, when.size(), Chunk{});
    std::transform(when.begin(), when.end(), first, [&](const HeapInterval& interval) {
      return Chunk{interval.begin, interval.end, offset, end};
    });
  }

 private:
  struct Chunk {
    int64_t begin, stop;  // In time.
    int64_t offset, end;  // In the heap.
  };
  std::vector<Chunk> chunks_;  // By offset.
};

// Stops, with a heap that is no smaller, as soon as it reaches `limit`.
int64_t PackInOrder(std::span<const PackItem> items, std::span<const int32_t> order,
                    std::span<const int64_t> bytes, int64_t limit) {
  Placed placed;
  int64_t heap = 0;
  for (int32_t i : order) {
    const int64_t offset = placed.SmallestGap(items[i].intervals, bytes[i]);
    placed.Add(items[i].intervals, offset, offset + bytes[i]);
    heap = std::max(heap, offset + bytes[i]);
    if (heap >= limit) break;
  }
  return heap;
}

// The free chunks of a heap that grows.
class FreeChunks {
 public:
  int64_t heap() const { return end_; }

  int64_t Take(int64_t bytes) {
    for (auto it = by_size_.lower_bound({bytes, 0}); it != by_size_.end(); ++it) {
      const auto [size, offset] = *it;
      if (offset + size == end_) continue;
      Cut(offset, size, bytes);
      return offset;
    }
    if (!by_offset_.empty()) {
      const auto [offset, size] = *by_offset_.rbegin();
      if (offset + size == end_) {
        Cut(offset, size, bytes);
        end_ = std::max(end_, offset + bytes);
        return offset;
      }
    }
    const int64_t offset = end_;
    end_ += bytes;
    return offset;
  }

  void Give(int64_t offset, int64_t bytes) {
    auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.end() && next->first == offset + bytes) {
      bytes += next->second;
      next = Erase(next);
    }
    if (next != by_offset_.begin()) {
      auto before = std::prev(next);
      if (before->first + before->second == offset) {
        offset = before->first;
        bytes += before->second;
        Erase(before);
      }
    }
    Add(offset, bytes);
  }

 private:
  using ByOffset = std::map<int64_t, int64_t>;

  void Add(int64_t offset, int64_t bytes) {
    by_offset_[offset] = bytes;
    by_size_.insert({bytes, offset});
  }
  ByOffset::iterator Erase(ByOffset::iterator it) {
    by_size_.erase({it->second, it->first});
    return by_offset_.erase(it);
  }
  void Cut(int64_t offset, int64_t size, int64_t bytes) {
    Erase(by_offset_.find(offset));
    if (size > bytes) Add(offset + bytes, size - bytes);
  }

  ByOffset by_offset_;
  std::set<std::pair<int64_t, int64_t>> by_size_;  // (bytes, offset)
  int64_t end_ = 0;
};

}  // namespace

int64_t PackGlobally(std::span<const PackItem> items, int64_t alignment) {
  std::vector<int64_t> bytes(items.size());
  std::vector<int64_t> length(items.size());
  std::vector<int32_t> order;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].bytes <= 0 || items[i].intervals.empty()) continue;
    bytes[i] = AlignUp(items[i].bytes, alignment);
    int64_t end = items[i].intervals.front().end;
    for (const HeapInterval& at : items[i].intervals) end = std::max(end, at.end);
    length[i] = end - items[i].intervals.front().begin;
    order.push_back(static_cast<int32_t>(i));
  }
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return std::tuple(-bytes[a], -length[a], a) < std::tuple(-bytes[b], -length[b], b);
  });
  const int64_t largest_first =
      PackInOrder(items, order, bytes, std::numeric_limits<int64_t>::max());
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return std::tuple(-length[a], -bytes[a], a) < std::tuple(-length[b], -bytes[b], b);
  });
  return std::min(largest_first, PackInOrder(items, order, bytes, largest_first));
}

int64_t PackInTime(std::span<const PackItem> items, int64_t alignment) {
  struct Event {
    int64_t moment;
    bool takes;  // At one moment memory is given back first.
    int32_t item;
  };
  std::vector<Event> events;
  std::vector<int64_t> bytes(items.size());
  std::vector<int64_t> offsets(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].bytes <= 0 || items[i].intervals.empty()) continue;
    bytes[i] = AlignUp(items[i].bytes, alignment);
    events.push_back({items[i].intervals.front().begin, true, static_cast<int32_t>(i)});
    events.push_back({items[i].intervals.back().end, false, static_cast<int32_t>(i)});
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return std::tuple(a.moment, a.takes, a.item) < std::tuple(b.moment, b.takes, b.item);
  });
  FreeChunks chunks;
  for (const Event& event : events) {
    if (event.takes) {
      offsets[event.item] = chunks.Take(bytes[event.item]);
    } else {
      chunks.Give(offsets[event.item], bytes[event.item]);
    }
  }
  return chunks.heap();
}

int64_t Pack(HeapOrder order, std::span<const PackItem> items, int64_t alignment) {
  return order == HeapOrder::kTime ? PackInTime(items, alignment) : PackGlobally(items, alignment);
}

LivePeak PeakOf(std::span<const PackItem> items) {
  std::vector<std::pair<int64_t, int64_t>> changes;
  for (const PackItem& item : items) {
    for (const HeapInterval& at : item.intervals) {
      changes.emplace_back(at.begin, item.bytes);
      changes.emplace_back(at.end, -item.bytes);
    }
  }
  std::sort(changes.begin(), changes.end());
  LivePeak peak;
  int64_t live = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    live += changes[i].second;
    const bool moment_ends = i + 1 == changes.size() || changes[i + 1].first != changes[i].first;
    if (moment_ends && live > peak.bytes) peak = {live, changes[i].first};
  }
  return peak;
}

}  // namespace oomdb::ingest
