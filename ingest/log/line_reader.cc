#include "ingest/log/line_reader.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace oomdb::ingest {
namespace {

// What a match may begin in is kept when a part of a line is passed over.
constexpr size_t kOverlap = size_t{4} << 10;

std::string_view WithoutReturn(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

LineReader::LineReader(const Source& source, size_t window)
    : source_(source), buffer_(std::max(window, 2 * kMaxLineBytes)) {}

bool LineReader::Refill() {
  const uint64_t left = source_.size() - position_;
  if (left == 0) return false;
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  const size_t count = static_cast<size_t>(std::min<uint64_t>(left, buffer_.size() - end_));
  source_.ReadAt(position_, std::span<char>(buffer_.data() + end_, count));
  position_ += count;
  end_ += count;
  return count > 0;
}

void LineReader::PassLines(size_t bytes) {
  const std::string_view passed = Buffered().substr(0, bytes);
  size_t at = 0;
  while (at < passed.size()) {
    const void* end = std::memchr(passed.data() + at, '\n', passed.size() - at);
    ++lines_;
    if (end == nullptr) break;
    at = static_cast<size_t>(static_cast<const char*>(end) - passed.data()) + 1;
  }
  begin_ += bytes;
}

void LineReader::PassTo(size_t start) {
  const std::string_view passed = Buffered().substr(0, start);
  lines_ += std::count(passed.begin(), passed.end(), '\n');
  begin_ += start;
}

void LineReader::PassNear(size_t match) {
  // What stands before a message in its line tells whose it is; it is at a line's start mostly.
  constexpr size_t kBefore = size_t{4} << 10;
  const std::string_view before = Buffered().substr(0, match);
  const size_t near = match > kBefore ? match - kBefore : 0;
  const size_t space = before.find(' ', near);
  PassTo(space == std::string_view::npos ? near : space + 1);
}

bool LineReader::Next(Line* line) {
  while (true) {
    const std::string_view buffered = Buffered();
    const size_t end = buffered.find('\n');
    if (end != std::string_view::npos && end <= kMaxLineBytes) {
      begin_ += end + 1;
      *line = {++lines_, WithoutReturn(buffered.substr(0, end))};
      return true;
    }
    if (buffered.size() > kMaxLineBytes) {
      // A progress bar rewrites its line: that comes in pieces.
      const size_t rewritten = buffered.substr(0, kMaxLineBytes).rfind('\r');
      if (rewritten != std::string_view::npos && rewritten > 0) {
        long_line_ = buffered.substr(0, rewritten);
        begin_ += rewritten + 1;
        *line = {lines_ + 1, long_line_};
        return true;
      }
      long_line_ = buffered.substr(0, kMaxLineBytes);
      begin_ += kMaxLineBytes;
      *line = {lines_ + 1, long_line_};
      return true;
    }
    if (Refill()) continue;
    if (buffered.empty()) return false;
    begin_ = end_;
    *line = {++lines_, WithoutReturn(buffered)};
    return true;
  }
}

bool LineReader::SkipTo(const Pattern& pattern) {
  while (true) {
    if (Buffered().size() <= kMaxLineBytes) Refill();
    std::string_view text = Buffered();
    if (text.empty()) return false;
    if (position_ < source_.size()) {  // Whole lines only.
      const size_t last = text.rfind('\n');
      if (last == std::string_view::npos) {
        if (text.size() < buffer_.size() && Refill()) continue;
        const size_t match = pattern.Position(text);
        if (match == std::string_view::npos) {
          // All but what a match may begin in.
          PassTo(text.size() - std::min(text.size(), kOverlap));
          continue;
        }
        const size_t rewritten = text.substr(0, match).rfind('\r');
        const size_t start = rewritten == std::string_view::npos ? 0 : rewritten + 1;
        PassTo(start);
        if (match - start >= kMaxLineBytes) PassNear(match - start);
        return true;
      }
      text = text.substr(0, last + 1);
    }
    const size_t match = pattern.Position(text);
    if (match == std::string_view::npos) {
      PassLines(text.size());
      continue;
    }
    const size_t before = text.substr(0, match).find_last_of("\r\n");
    const size_t start = before == std::string_view::npos ? 0 : before + 1;
    PassTo(start);
    if (match - start >= kMaxLineBytes) PassNear(match - start);
    return true;
  }
}

}  // namespace oomdb::ingest
