#include "ingest/log/patterns.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "base/ascii.h"

namespace oomdb::ingest {
namespace {

using re2::StringPiece;

// What stands for {N}, {U} and {H} in a pattern.
struct NumberPatterns {
  // As programs and people write them: 55834574848, 55,834,574,848, 55_834_574_848, and with full
  // stops, where two of them leave no doubt.
  std::string number =
      R"((?:[0-9]{1,3}(?:(?:,[0-9]{3})+|(?:_[0-9]{3})+|(?:'[0-9]{3})+|(?:\.[0-9]{3}){2,})|[0-9]+))";
  // Blanks between the thousands: only with a unit behind, or two numbers would be one.
  std::string spaced =
      R"([0-9]{1,3}(?:(?: [0-9]{3})+|(?:\xC2\xA0[0-9]{3})+|(?:\xE2\x80\xAF[0-9]{3})+))"
      R"( ?(?:B|[Bb]ytes)\b)";
  std::string unit = R"( ?(?:[KMGTPE]i?B|[KMGTPE]|B|[Bb]ytes)\b)";
  std::string decimals = R"((?:\.[0-9]+)?)";

  std::string whole = "(-?" + number + ")";
  std::string with_unit = "(-?(?:" + spaced + "|" + number + decimals + unit + "))";
  std::string size = "(-?(?:" + spaced + "|" + number + decimals + "(?:" + unit + ")?))";
};

std::string_view View(const StringPiece& piece) { return {piece.data(), piece.size()}; }

bool IsNumberPart(char c) { return (c >= '0' && c <= '9') || c == ',' || c == '.' || c == '_'; }

// True when `group`, a number within `text`, is a part of a longer one: 55 of 55.83.448, 9 of 9,5.
// `last`: the pattern says nothing of what follows.
bool IsCut(std::string_view text, std::string_view group, bool last) {
  const size_t begin = static_cast<size_t>(group.data() - text.data());
  const size_t end = begin + group.size();
  const auto digit = [&](size_t at) { return at < text.size() && IsDigit(text[at]); };
  // 60 of 60Gi, 9 of 95.
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (digit(end - 1) && (digit(end) || (last && end < text.size() && letter(text[end]))))
    return true;
  if (end < text.size() && IsNumberPart(text[end]) && digit(end + 1) && digit(end - 1)) return true;
  if (begin == 0) return false;
  return IsDigit(text[begin - 1]) ||
         (begin > 1 && IsNumberPart(text[begin - 1]) && IsDigit(text[begin - 2]));
}

}  // namespace

Pattern::Pattern(std::string_view text) {
  static const auto* const numbers = new NumberPatterns();
  const std::array<std::pair<std::string_view, std::string_view>, 3> placeholders = {
      {{"{H}", numbers->size}, {"{U}", numbers->with_unit}, {"{N}", numbers->whole}}};
  std::string full;
  size_t groups = 0;
  while (!text.empty()) {
    bool number = false;
    for (const auto& [name, pattern] : placeholders) {
      if (!text.starts_with(name)) continue;
      full += pattern;
      numbers_ |= uint32_t{1} << ++groups;
      text.remove_prefix(name.size());
      number = true;
      break;
    }
    if (number) continue;
    if (text.starts_with('(') && !text.starts_with("(?")) ++groups;
    // What is escaped or stands in brackets is no group.
    size_t bytes = 1;
    if (text.starts_with('\\')) bytes = 2;
    if (text.starts_with('[')) {
      for (bytes = text.starts_with("[^") ? 3 : 2; bytes < text.size() && text[bytes] != ']';)
        bytes += text[bytes] == '\\' ? 2 : 1;
      ++bytes;
    }
    full += text.substr(0, bytes);
    text.remove_prefix(std::min(bytes, text.size()));
  }
  RE2::Options options(RE2::Latin1);
  options.set_log_errors(false);
  expression_ = std::make_unique<re2::RE2>(full, options);
  if (!expression_->ok()) throw std::logic_error(full + ": " + expression_->error());
}

Pattern::~Pattern() = default;
Pattern::Pattern(Pattern&&) noexcept = default;

bool Pattern::Match(std::string_view text, bool from_start,
                    std::vector<std::string_view>* groups) const {
  constexpr size_t kMaxGroups = 24;
  StringPiece pieces[kMaxGroups];
  const size_t count =
      std::min(static_cast<size_t>(expression_->NumberOfCapturingGroups()) + 1, kMaxGroups);
  if (!expression_->Match(StringPiece(text.data(), text.size()), 0, text.size(),
                          from_start ? RE2::ANCHOR_START : RE2::UNANCHORED, pieces,
                          static_cast<int>(count))) {
    return false;
  }
  groups->assign(count, {});
  for (size_t i = 0; i < count; ++i) {
    const std::string_view group = View(pieces[i]);
    const bool number = (numbers_ >> i & 1) != 0;
    const bool last = group.data() + group.size() == (*groups)[0].data() + (*groups)[0].size();
    if (number && !group.empty() && IsCut(text, group, last)) continue;
    (*groups)[i] = group;
  }
  return true;
}

bool Pattern::Find(std::string_view text, std::vector<std::string_view>* groups) const {
  return Match(text, /*from_start=*/false, groups);
}

bool Pattern::Starts(std::string_view text, std::vector<std::string_view>* groups) const {
  return Match(text, /*from_start=*/true, groups);
}

size_t Pattern::StartsWith(std::string_view text) const {
  StringPiece whole;
  if (!expression_->Match(StringPiece(text.data(), text.size()), 0, text.size(), RE2::ANCHOR_START,
                          &whole, 1)) {
    return 0;
  }
  return whole.size();
}

bool Pattern::Matches(std::string_view text) const {
  return expression_->Match(StringPiece(text.data(), text.size()), 0, text.size(), RE2::UNANCHORED,
                            nullptr, 0);
}

size_t Pattern::Position(std::string_view text) const {
  StringPiece whole;
  if (!expression_->Match(StringPiece(text.data(), text.size()), 0, text.size(), RE2::UNANCHORED,
                          &whole, 1)) {
    return std::string_view::npos;
  }
  return static_cast<size_t>(whole.data() - text.data());
}

std::string AnyOf(std::span<const std::string_view> literals) {
  std::string any;
  for (std::string_view literal : literals) {
    if (!any.empty()) any += '|';
    any += RE2::QuoteMeta(StringPiece(literal.data(), literal.size()));
  }
  return any;
}

}  // namespace oomdb::ingest
