// Lines -> events: which form a line has, which report it belongs to, which failure it repeats.
#ifndef OOMDB_INGEST_LOG_LOG_PARSER_H_
#define OOMDB_INGEST_LOG_LOG_PARSER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ingest/log/block.h"
#include "ingest/log/event_groups.h"
#include "ingest/log/oom_event.h"
#include "ingest/log/patterns.h"

namespace oomdb {

// Matches every line that can tell of a failure or begin a report, and hardly any other.
const Pattern& Prefilter();

class LogParser {
 public:
  // Lines without meaning after which a report is taken to be over, and after which there is
  // nothing to expect.
  static constexpr int64_t kQuietLines = 40;

  // The lines in their order; some may be left out (between reports).
  void Take(int64_t number, std::string_view line);
  // False when nothing read lately lets expect that the next lines mean something.
  bool expects_more() const { return quiet_lines_ < kQuietLines; }
  // True when a failure, or advice on one, was read; statistics are none.
  bool found_failure() const { return found_failure_; }

  // After the last line: all events.
  std::vector<OomEvent> Finish();
  // Events beyond what is kept.
  int64_t left_out() const { return groups_.left_out(); }
  // Lines that tell of exhausted memory in a form that is not known, and the first of them.
  int64_t unknown_lines() const { return unknown_lines_; }
  int64_t first_unknown_line() const { return first_unknown_line_; }
  // Sizes whose unit may mean powers of ten.
  int64_t ambiguous_units() const { return ambiguous_units_; }

 private:
  void TakePart(int64_t number, std::string_view line);
  void TakeFailure(int64_t number, std::string_view line, OomEvent&& event);
  bool OpenBlock(int64_t number, std::string_view line);
  void CloseBlock();
  // The failure that a line near it may add to; null: none.
  OomEvent* FailureNear(int64_t number, int64_t lines);
  void TakeCode(int64_t number, std::string_view line);
  // A code without a form that is known after it is a failure all the same.
  void FileCode();

  EventGroups groups_;
  std::unique_ptr<Block> block_;
  const BlockKind* block_kind_ = nullptr;
  int64_t block_first_ = 0;
  int64_t block_last_ = 0;
  std::string block_message_;
  std::optional<size_t> block_failure_;  // That was told of before the report.

  std::optional<size_t> failure_;  // The last one told of.
  int64_t failure_line_ = 0;
  std::string code_;  // Of a line that names only it: the next one says what failed.
  int64_t code_line_ = 0;
  std::string code_message_;

  // Lines that were read before and what they are: most repeats are letter for letter.
  std::unordered_map<std::string, size_t> known_lines_;
  int64_t quiet_lines_ = kQuietLines;
  bool found_failure_ = false;
  int64_t unknown_lines_ = 0;
  int64_t first_unknown_line_ = 0;
  int64_t ambiguous_units_ = 0;
};

}  // namespace oomdb

#endif  // OOMDB_INGEST_LOG_LOG_PARSER_H_
