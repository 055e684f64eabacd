// Regular expressions of this room, in RE2: linear in the text, whatever stands in it.
#ifndef OOMDB_INGEST_LOG_PATTERNS_H_
#define OOMDB_INGEST_LOG_PATTERNS_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}

namespace oomdb::ingest {

// A compiled pattern, in which {H} stands for a group that matches a size (`41.74G`, `0B`,
// `123 bytes`, `9.53GiB`) and {U} for one that must have a unit. Bytes are bytes: a log may be in
// any encoding. Safe to use from several threads at once.
class Pattern {
 public:
  explicit Pattern(std::string_view text);
  ~Pattern();
  Pattern(Pattern&&) noexcept;

  // Where it first matches in `text`: the text of each group, from 1 on (empty: not taken part).
  // The vector keeps its room between calls. False, and `groups` is as it was, without a match.
  bool Find(std::string_view text, std::vector<std::string_view>* groups) const;
  // The same from the start of `text` only.
  bool Starts(std::string_view text, std::vector<std::string_view>* groups) const;
  // The bytes that match at the start; 0 when it does not match there.
  size_t StartsWith(std::string_view text) const;
  bool Matches(std::string_view text) const;
  // Where the first match begins; npos without one.
  size_t Position(std::string_view text) const;

 private:
  std::unique_ptr<re2::RE2> expression_;
};

// A pattern that matches where any of `literals` stands, for scanning much text fast.
std::string AnyOf(std::span<const std::string_view> literals);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_LOG_PATTERNS_H_
