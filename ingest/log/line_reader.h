// The lines of a text, or only those near something of interest, in bounded memory.
#ifndef OOMDB_INGEST_LOG_LINE_READER_H_
#define OOMDB_INGEST_LOG_LINE_READER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/log/patterns.h"
#include "ingest/source/source.h"

namespace oomdb::ingest {

class LineReader {
 public:
  // A line that is longer comes in pieces of one number, from near a match on, as does one that a
  // progress bar rewrites with \r. A traceback's op names reach a few KiB.
  static constexpr size_t kMaxLineBytes = size_t{64} << 10;

  // `window`: bytes read at once; at least twice kMaxLineBytes. `source` must outlive this.
  explicit LineReader(const Source& source, size_t window = size_t{1} << 20);

  struct Line {
    int64_t number = 0;     // From 1.
    std::string_view text;  // Without its end (\n or \r\n); valid until the next call.
  };

  // The next line. False at the end.
  bool Next(Line* line);

  // Passes over lines up to the next one in which `pattern` matches; Next gives it then. Much
  // faster than line by line. False, with all lines passed over, when there is none.
  bool SkipTo(const Pattern& pattern);

  // Lines passed so far; at the end, all there are.
  int64_t lines() const { return lines_; }

 private:
  bool Refill();  // False when the source is at its end: nothing was added.
  // Passes over `bytes` that end with a line's end, or with the source's.
  void PassLines(size_t bytes);
  void PassTo(size_t start);    // Passes over what is before it, which may be a part of a line.
  void PassNear(size_t match);  // Passes over what is far before it in its line.
  std::string_view Buffered() const { return {buffer_.data() + begin_, end_ - begin_}; }

  const Source& source_;
  std::vector<char> buffer_;
  size_t begin_ = 0;  // Of the next line in buffer_.
  size_t end_ = 0;
  uint64_t position_ = 0;  // In the source, of what is read next.
  int64_t lines_ = 0;
  std::string long_line_;
};

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_LOG_LINE_READER_H_
