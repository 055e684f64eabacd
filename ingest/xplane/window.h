// A moving window over a source: contiguous bytes at any position, in bounded memory.
#ifndef OOMDB_INGEST_XPLANE_WINDOW_H_
#define OOMDB_INGEST_XPLANE_WINDOW_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "ingest/source/source.h"

namespace oomdb::ingest {

// Not thread-safe: one window per reading thread.
class Window {
 public:
  static constexpr size_t kDefaultBytes = size_t{1} << 20;

  explicit Window(const Source& source, size_t bytes = kDefaultBytes)
      : source_(source), capacity_(bytes) {}

  uint64_t source_size() const { return source_.size(); }

  // The bytes from `position` on: at least `want` of them, or all up to the end of the source when
  // there are fewer. Valid until the next call. The window grows to `want` where it must: the
  // caller bounds it.
  std::string_view Peek(uint64_t position, size_t want);

 private:
  const Source& source_;
  size_t capacity_;
  std::unique_ptr<char[]> buffer_;
  size_t allocated_ = 0;  // Bytes of buffer_.
  uint64_t start_ = 0;    // Position of buffer_[0].
  size_t filled_ = 0;     // Valid bytes in buffer_.
};

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_XPLANE_WINDOW_H_
