// A best-fit pool as XLA's BFC allocator behaves at this distance: 256-byte chunks that are split
// on allocation and joined with both neighbours on free. It gives the events of a story their
// numbers.
#ifndef OOMDB_TESTS_SUPPORT_POOL_H_
#define OOMDB_TESTS_SUPPORT_POOL_H_

#include <cstdint>
#include <map>
#include <optional>

namespace oomdb {

class Pool {
 public:
  struct Chunk {
    int64_t requested_bytes = 0;
    int64_t bytes = 0;  // Rounded up to 256.
  };

  // Addresses run from `base` on; the pool holds `limit_bytes`.
  Pool(int64_t base, int64_t limit_bytes);

  // The address; std::nullopt when no free chunk is large enough.
  std::optional<int64_t> Allocate(int64_t requested_bytes);
  // Returns what was there. Throws std::logic_error when nothing is.
  Chunk Free(int64_t address);

  int64_t limit_bytes() const { return limit_bytes_; }
  int64_t in_use_bytes() const { return in_use_bytes_; }
  int64_t peak_bytes() const { return peak_bytes_; }
  int64_t available_bytes() const { return limit_bytes_ - in_use_bytes_; }
  int64_t largest_free_bytes() const;
  // (free - largest free) / free; 0 for a full pool.
  double fragmentation() const;
  // The allocator's lifetime began before the capture: it has seen this much.
  void RaisePeak(int64_t bytes);

 private:
  const int64_t limit_bytes_;
  int64_t in_use_bytes_ = 0;
  int64_t peak_bytes_ = 0;
  std::map<int64_t, int64_t> free_;  // Address to bytes; no two touch.
  std::map<int64_t, Chunk> used_;
};

}  // namespace oomdb

#endif  // OOMDB_TESTS_SUPPORT_POOL_H_
