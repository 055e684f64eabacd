// Lines -> events: which form a line has, which report it belongs to, which failure it repeats.
#ifndef OOMDB_INGEST_LOG_LOG_PARSER_H_
#define OOMDB_INGEST_LOG_LOG_PARSER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ingest/log/block.h"
#include "ingest/log/engine_memory.h"
#include "ingest/log/event_groups.h"
#include "ingest/log/oom_event.h"
#include "ingest/log/origin.h"
#include "ingest/log/partial_lines.h"
#include "ingest/log/patterns.h"

namespace oomdb::ingest {

// Matches every line that can tell of a failure or begin a report, and hardly any other.
const Pattern& Prefilter();

class LogParser {
 public:
  LogParser() = default;
  LogParser(const LogParser&) = delete;
  LogParser& operator=(const LogParser&) = delete;

  // Lines without meaning after which a report is taken to be over, and after which there is
  // nothing to expect.
  static constexpr int64_t kQuietLines = 40;

  // What names the writers of this log.
  void set_labels(LineLabels labels) { labels_ = labels; }
  // The lines in their order; some may be left out (between reports).
  void Take(int64_t number, std::string_view line);
  // False when nothing read lately lets expect that the next lines mean something.
  bool expects_more() const {
    return quiet_lines_ < kQuietLines || partial_lines_.waits(last_taken_);
  }
  // True when a failure, or advice on one, was read; statistics are none.
  bool found_failure() const { return found_failure_; }

  // After the last line: all events.
  std::vector<OomEvent> Finish();
  // Events beyond what is kept.
  int64_t left_out() const { return groups_.left_out(); }
  // Lines that report exhausted memory in an unknown form, and the first of them.
  int64_t unknown_lines() const { return unknown_lines_; }
  int64_t first_unknown_line() const { return first_unknown_line_; }
  // Sizes whose unit may mean powers of ten.
  int64_t ambiguous_units() const { return ambiguous_units_; }

 private:
  // `origin`: of what the line stood in.
  void TakeText(int64_t number, std::string_view line, const Origin& origin);
  void TakePart(int64_t number, std::string_view line);
  void TakeFailure(int64_t number, std::string_view line, OomEvent&& event);
  bool OpenBlock(int64_t number, std::string_view line);
  void CloseBlock();
  // The failure that a line near it may add to; null: none.
  OomEvent* FailureNear(int64_t number, int64_t lines);
  // Memory that a program logs on its way; false: the line says nothing of the kind.
  bool TakeMemory(int64_t number, std::string_view line);
  // What this process last said of the memory that `event` ran out of.
  void AddMemory(OomEvent* event) const;
  void FileMemory();
  void TakeCode(int64_t number, std::string_view line);
  // A code without a form that is known after it is a failure all the same.
  void FileCode();

  // Takes `line` as what was broken off from the one before it. False: it is not.
  bool TakeBroken(int64_t number, std::string_view line);
  // Remembers a line whose message may go on in the next one; `failure`: its event.
  void MayGoOn(int64_t number, std::string_view line, std::optional<size_t> failure);

  // The last event of a process. Ranks and workers write into one log, line by line.
  struct Stream {
    std::string name;   // The pod, host or rank.
    int64_t times = 1;  // How often it said the line that is read.
    std::unique_ptr<Block> block;
    const BlockKind* block_kind = nullptr;
    int64_t block_first = 0;
    int64_t block_last = 0;
    std::string block_message;
    std::optional<size_t> block_failure;  // The one that stood before the report.

    std::optional<size_t> failure;  // The last one.
    int64_t failure_line = 0;
    std::string code;  // Of a line that names only it: the next one says what failed.
    int64_t code_line = 0;
    std::string code_message;

    EngineMemory device;  // What it last said of its memory.
    EngineMemory host;

    // A message that a terminal or a mail broke, as far as it was read.
    std::string broken;
    int64_t broken_first = 0;
    int64_t broken_last = 0;
    std::optional<size_t> broken_failure;
  };
  void Switch(const Origin& origin);

  EventGroups groups_;
  PartialLines partial_lines_;
  int64_t last_taken_ = 0;                 // The number of the line before, whole or not.
  std::map<std::string, Stream> streams_;  // By process; "": of a log of one.
  Stream* now_ = &streams_[""];
  LineLabels labels_ = LineLabels::kNone;
  int64_t last_number_ = 0;  // Of the line before.

  // Lines that were read before and what they are: most repeats are letter for letter.
  std::unordered_map<std::string, size_t> known_lines_;
  int64_t quiet_lines_ = kQuietLines;
  bool found_failure_ = false;
  int64_t unknown_lines_ = 0;
  int64_t first_unknown_line_ = 0;
  int64_t ambiguous_units_ = 0;
};

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_LOG_LOG_PARSER_H_
