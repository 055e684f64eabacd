#include "schema/text.h"

#include <cstdint>

namespace oomdb::schema {
namespace {

// The length of the valid UTF-8 sequence at the start of `text`, 0 when there is none (RFC 3629: no
// overlong forms, no surrogates, nothing above U+10FFFF).
size_t SequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const auto continues = [&](size_t i) { return i < text.size() && (byte(i) & 0xc0) == 0x80; };
  const uint8_t first = byte(0);
  if (first == 0) return 0;
  if (first < 0x80) return 1;
  if (first < 0xc2) return 0;
  if (first < 0xe0) return continues(1) ? 2 : 0;
  if (first < 0xf0) {
    if (!continues(1) || !continues(2)) return 0;
    if (first == 0xe0 && byte(1) < 0xa0) return 0;
    if (first == 0xed && byte(1) > 0x9f) return 0;
    return 3;
  }
  if (first > 0xf4 || !continues(1) || !continues(2) || !continues(3)) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) > 0x8f) return 0;
  return 4;
}

}  // namespace

bool IsCleanText(std::string_view text) {
  while (!text.empty()) {
    const size_t length = SequenceLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string CleanText(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const size_t length = SequenceLength(text);
    if (length == 0) {
      clean += "\xef\xbf\xbd";
      text.remove_prefix(1);
    } else {
      clean += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return clean;
}

}  // namespace oomdb::schema
