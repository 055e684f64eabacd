#include "ingest/log/json_line.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "base/ascii.h"

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

// Reads the array of bytes at (*rest)[0], as journald writes what is no plain text, and moves behind
// it.
std::string ReadBytes(std::string_view* rest) {
  std::string text;
  size_t i = 1;
  for (; i < rest->size() && (*rest)[i] != ']'; ++i) {
    unsigned int byte = 0;
    const auto [stop, error] = std::from_chars(rest->data() + i, rest->data() + rest->size(), byte);
    if (error != std::errc()) continue;
    text += static_cast<char>(byte);
    i = static_cast<size_t>(stop - rest->data()) - 1;
  }
  rest->remove_prefix(std::min(i, rest->size()));
  return text;
}

// What names the writer of a line: pods before ranks before hosts.
constexpr std::array<std::string_view, 18> kNameKeys = {
    "pod_name",  "podName",       "pod",      "rank",      "RANK",          "process_index",
    "replica",   "replica_index", "hostname", "host",      "_HOSTNAME",     "nodeName",
    "node_name", "node",          "instance", "logStream", "logStreamName", "log_stream"};

}  // namespace

std::vector<std::string> JsonMessages(std::string_view line, Origin* origin) {
  std::vector<std::string> lines;
  const size_t open = line.find_first_not_of(" \t");
  if (open == std::string_view::npos || (line[open] != '{' && line[open] != '"')) return lines;
  std::string_view rest = line.substr(open + (line[open] == '{' ? 1 : 0));
  const size_t first = rest.find_first_not_of(" \t");
  if (first == std::string_view::npos || rest[first] != '"') return lines;
  size_t best_name = kNameKeys.size();
  std::string process;
  std::string name;
  while (true) {
    const size_t quote = rest.find('"');
    if (quote == std::string_view::npos) break;
    rest.remove_prefix(quote);
    const std::string key = ReadString(&rest);
    const size_t colon = rest.find_first_not_of(" \t");
    if (colon == std::string_view::npos || rest[colon] != ':') continue;
    const size_t value = rest.find_first_not_of(" \t", colon + 1);
    if (value == std::string_view::npos) break;
    rest.remove_prefix(value);
    std::string text;
    if (rest.front() == '"') {
      text = ReadString(&rest);
    } else if (rest.front() == '[' && key == "MESSAGE") {
      text = ReadBytes(&rest);
    } else if (IsDigit(rest.front())) {
      text = rest.substr(0, rest.find_first_not_of("0123456789"));
    } else {
      continue;
    }
    const size_t named =
        static_cast<size_t>(std::find(kNameKeys.begin(), kNameKeys.end(), key) - kNameKeys.begin());
    if (named < kNameKeys.size()) {
      process += text + '|';
      if (named < best_name) {
        best_name = named;
        name = text;
      }
      continue;
    }
    if (std::find(kMessageKeys.begin(), kMessageKeys.end(), key) == kMessageKeys.end()) continue;
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      lines.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  }
  if (origin != nullptr && !lines.empty()) origin->Add(process, name);
  return lines;
}

}  // namespace oomdb::ingest
