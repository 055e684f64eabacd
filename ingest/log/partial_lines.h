// Lines that a container runtime cut. containerd and CRI-O write `TIME stderr P text` for a part of
// a line, of 16 KiB mostly, and `TIME stderr F text` for its end: a number may stand in both.
#ifndef OOMDB_INGEST_LOG_PARTIAL_LINES_H_
#define OOMDB_INGEST_LOG_PARTIAL_LINES_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace oomdb::ingest {

// What stands in a line that is cut: a regular expression.
inline constexpr std::string_view kCutLine = R"( std(?:err|out) P )";

class PartialLines {
 public:
  // False: the line goes on, and comes with its end. True: `line` is whole, with all its parts
  // (valid until the next call), and `number` that of the first one.
  bool Take(int64_t* number, std::string_view* line);

  // At the end of the log: what was begun and never ended, without the number it may have been cut
  // in; each with the number of its first line.
  std::vector<std::pair<int64_t, std::string>> TakeRest();

  // A line was begun whose end is to come, and not too long ago.
  bool waits(int64_t number) const;

 private:
  struct Begun {
    std::string text;
    int64_t first = 0;
    int64_t last = 0;
  };
  std::array<Begun, 2> begun_;  // Of stdout and stderr, whose lines alternate.
  std::string whole_;
};

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_LOG_PARTIAL_LINES_H_
