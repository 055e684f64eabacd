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

// What is placed already, found by time. Time is cut into slots: an item is listed in every slot
// that it touches, so that a short one is compared with its contemporaries only.
class Placed {
 public:
  explicit Placed(std::span<const PackItem> items) {
    first_ = std::numeric_limits<int64_t>::max();
    int64_t last = std::numeric_limits<int64_t>::min();
    for (const PackItem& item : items) {
      for (const HeapInterval& at : item.intervals) {
        first_ = std::min(first_, at.begin);
        last = std::max(last, at.end);
      }
    }
    if (last < first_) first_ = last = 0;
    slot_length_ = (last - first_) / kSlots + 1;
    touching_.resize(kSlots);
    starting_.resize(kSlots);
  }

  void Add(const HeapInterval& when, int64_t offset, int64_t end) {
    const Chunk chunk{when.begin, when.end, offset, end};
    const size_t from = SlotOf(when.begin);
    const size_t to = SlotOf(when.end);
    starting_[from].push_back(chunk);
    for (size_t s = from; s <= to; ++s) touching_[s].push_back(chunk);
  }

  // Appends (offset, end) of all that overlaps `when`.
  void Collect(const HeapInterval& when, std::vector<std::pair<int64_t, int64_t>>* into) const {
    const size_t from = SlotOf(when.begin);
    const size_t to = SlotOf(when.end);
    auto take = [&](const std::vector<Chunk>& chunks) {
      for (const Chunk& c : chunks) {
        if (c.begin <= when.end && c.stop >= when.begin) into->emplace_back(c.offset, c.end);
      }
    };
    take(touching_[from]);
    for (size_t s = from + 1; s <= to; ++s) take(starting_[s]);
  }

 private:
  static constexpr int64_t kSlots = 256;
  struct Chunk {
    int64_t begin, stop;  // In time.
    int64_t offset, end;  // In the heap.
  };

  size_t SlotOf(int64_t moment) const { return (moment - first_) / slot_length_; }

  int64_t first_ = 0;
  int64_t slot_length_ = 1;
  std::vector<std::vector<Chunk>> touching_;
  std::vector<std::vector<Chunk>> starting_;
};

// The start of the smallest gap of `bytes` or more between `taken`; the lowest of several.
int64_t SmallestGap(std::vector<std::pair<int64_t, int64_t>>& taken, int64_t bytes) {
  std::sort(taken.begin(), taken.end());
  int64_t top = 0;
  int64_t best = -1;
  int64_t best_length = std::numeric_limits<int64_t>::max();
  for (const auto& [offset, end] : taken) {
    const int64_t gap = offset - top;
    if (gap >= bytes && gap < best_length) {
      best = top;
      best_length = gap;
    }
    top = std::max(top, end);
  }
  return best < 0 ? top : best;
}

int64_t PackInOrder(std::span<const PackItem> items, std::span<const int32_t> order,
                    std::span<const int64_t> bytes) {
  Placed placed(items);
  std::vector<std::pair<int64_t, int64_t>> taken;
  int64_t heap = 0;
  for (int32_t i : order) {
    taken.clear();
    for (const HeapInterval& at : items[i].intervals) placed.Collect(at, &taken);
    const int64_t offset = SmallestGap(taken, bytes[i]);
    for (const HeapInterval& at : items[i].intervals) placed.Add(at, offset, offset + bytes[i]);
    heap = std::max(heap, offset + bytes[i]);
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
  const int64_t largest_first = PackInOrder(items, order, bytes);
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return std::tuple(-length[a], -bytes[a], a) < std::tuple(-length[b], -bytes[b], b);
  });
  return std::min(largest_first, PackInOrder(items, order, bytes));
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
