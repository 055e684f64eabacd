#include "tests/support/pool.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace oomdb {

Pool::Pool(int64_t base, int64_t limit_bytes) : limit_bytes_(limit_bytes) {
  free_[base] = limit_bytes;
}

std::optional<int64_t> Pool::Allocate(int64_t requested_bytes) {
  const int64_t bytes = std::max<int64_t>((requested_bytes + 255) / 256 * 256, 256);
  auto best = free_.end();  // The smallest that is large enough, the lowest address of equals.
  for (auto chunk = free_.begin(); chunk != free_.end(); ++chunk) {
    if (chunk->second < bytes) continue;
    if (best == free_.end() || chunk->second < best->second) best = chunk;
  }
  if (best == free_.end()) return std::nullopt;
  const auto [address, free_bytes] = *best;
  free_.erase(best);
  if (free_bytes > bytes) free_[address + bytes] = free_bytes - bytes;
  used_[address] = {requested_bytes, bytes};
  in_use_bytes_ += bytes;
  peak_bytes_ = std::max(peak_bytes_, in_use_bytes_);
  return address;
}

Pool::Chunk Pool::Free(int64_t address) {
  const auto found = used_.find(address);
  if (found == used_.end()) throw std::logic_error("a free of an address that is not in use");
  const Chunk chunk = found->second;
  used_.erase(found);
  in_use_bytes_ -= chunk.bytes;
  auto here = free_.emplace(address, chunk.bytes).first;
  const auto next = std::next(here);
  if (next != free_.end() && here->first + here->second == next->first) {
    here->second += next->second;
    free_.erase(next);
  }
  if (here != free_.begin()) {
    const auto before = std::prev(here);
    if (before->first + before->second == here->first) {
      before->second += here->second;
      free_.erase(here);
    }
  }
  return chunk;
}

int64_t Pool::largest_free_bytes() const {
  int64_t largest = 0;
  for (const auto& [address, bytes] : free_) largest = std::max(largest, bytes);
  return largest;
}

double Pool::fragmentation() const {
  const int64_t free_bytes = available_bytes();
  if (free_bytes == 0) return 0;
  return static_cast<double>(free_bytes - largest_free_bytes()) / static_cast<double>(free_bytes);
}

void Pool::RaisePeak(int64_t bytes) { peak_bytes_ = std::max(peak_bytes_, bytes); }

}  // namespace oomdb
