// Look-up of the ids of an untrusted proto: a sorted array, so that no choice of ids is slow (a
// hash table can be made to collide). Of equal ids the first one added wins.
#ifndef OOMDB_INGEST_PLAN_ID_INDEX_H_
#define OOMDB_INGEST_PLAN_ID_INDEX_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace oomdb::ingest {

// Maps an int64 id to a dense index. Add everything, then Seal(), then look up.
class IdIndex {
 public:
  static constexpr int32_t kNone = -1;

  void Reserve(size_t count) { entries_.reserve(count); }
  void Add(int64_t id, int32_t index) { entries_.emplace_back(id, index); }
  void Seal() { std::sort(entries_.begin(), entries_.end()); }

  // The lowest index with this id, or kNone.
  int32_t Find(int64_t id) const { return FindFrom(id, 0); }
  // The lowest index >= `first` with this id, or kNone.
  int32_t FindFrom(int64_t id, int32_t first) const {
    auto it = std::lower_bound(entries_.begin(), entries_.end(), std::make_pair(id, first));
    return it != entries_.end() && it->first == id ? it->second : kNone;
  }

 private:
  std::vector<std::pair<int64_t, int32_t>> entries_;
};

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_ID_INDEX_H_
