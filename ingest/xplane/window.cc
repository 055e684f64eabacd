#include "ingest/xplane/window.h"

#include <algorithm>

namespace oomdb::ingest {

std::string_view Window::Peek(uint64_t position, size_t want) {
  const uint64_t size = source_.size();
  if (position >= size) return {};
  want = static_cast<size_t>(std::min<uint64_t>(want, size - position));
  const bool inside =
      position >= start_ && position - start_ <= filled_ && filled_ - (position - start_) >= want;
  if (!inside) {
    // After a large message the buffer goes back to its ordinary size.
    const size_t length =
        static_cast<size_t>(std::min<uint64_t>(std::max(want, capacity_), size - position));
    const size_t ordinary = static_cast<size_t>(std::min<uint64_t>(capacity_, size));
    if (allocated_ < length || allocated_ > 4 * std::max(length, ordinary)) {
      filled_ = 0;
      buffer_.reset();  // Before the next: never both at once.
      allocated_ = std::max(length, ordinary);
      buffer_ = std::make_unique_for_overwrite<char[]>(allocated_);
    }
    source_.ReadAt(position, std::span(buffer_.get(), length));
    start_ = position;
    filled_ = length;
  }
  return std::string_view(buffer_.get() + (position - start_), filled_ - (position - start_));
}

}  // namespace oomdb::ingest
