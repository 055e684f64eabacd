#include "ingest/log/json_line.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

namespace oomdb::ingest {
namespace {

constexpr std::array<std::string_view, 15> kMessageKeys = {
    "log",      "message", "msg",        "text",      "textPayload", "error", "err",    "exception",
    "exc_info", "stack",   "stacktrace", "traceback", "body",        "event", "MESSAGE"};

void AppendUtf8(uint32_t code, std::string* text) {
  if (code < 0x80) {
    *text += static_cast<char>(code);
  } else if (code < 0x800) {
    *text += static_cast<char>(0xC0 | (code >> 6));
    *text += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    *text += static_cast<char>(0xE0 | (code >> 12));
    *text += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    *text += static_cast<char>(0x80 | (code & 0x3F));
  }
}

// Reads the string that begins at (*rest)[0], a quote, and moves behind it; to the end where it is
// cut.
std::string ReadString(std::string_view* rest) {
  std::string text;
  size_t i = 1;
  for (; i < rest->size() && (*rest)[i] != '"'; ++i) {
    if ((*rest)[i] != '\\' || i + 1 == rest->size()) {
      text += (*rest)[i];
      continue;
    }
    const char escaped = (*rest)[++i];
    constexpr std::string_view kFrom = "nrtbf";
    constexpr std::string_view kTo = "\n\r\t\b\f";
    if (const size_t at = kFrom.find(escaped); at != std::string_view::npos) {
      text += kTo[at];
    } else if (escaped == 'u') {
      const std::string_view hex = rest->substr(i + 1, 4);
      uint32_t code = 0;
      std::from_chars(hex.data(), hex.data() + hex.size(), code, 16);
      AppendUtf8(code, &text);
      i += hex.size();
    } else {
      text += escaped;
    }
  }
  rest->remove_prefix(std::min(i + 1, rest->size()));
  return text;
}

}  // namespace

std::vector<std::string> JsonMessages(std::string_view line) {
  std::vector<std::string> lines;
  const size_t open = line.find_first_not_of(" \t");
  if (open == std::string_view::npos || line[open] != '{') return lines;
  std::string_view rest = line.substr(open + 1);
  const size_t first = rest.find_first_not_of(" \t");
  if (first == std::string_view::npos || rest[first] != '"') return lines;
  while (true) {
    const size_t quote = rest.find('"');
    if (quote == std::string_view::npos) return lines;
    rest.remove_prefix(quote);
    const std::string key = ReadString(&rest);
    const size_t colon = rest.find_first_not_of(" \t");
    if (colon == std::string_view::npos || rest[colon] != ':') continue;
    const size_t value = rest.find_first_not_of(" \t", colon + 1);
    if (value == std::string_view::npos || rest[value] != '"') continue;
    rest.remove_prefix(value);
    const std::string text = ReadString(&rest);
    if (std::find(kMessageKeys.begin(), kMessageKeys.end(), key) == kMessageKeys.end()) continue;
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      lines.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  }
}

}  // namespace oomdb::ingest
