#include "ingest/log/wrapping.h"

#include <array>
#include <utility>

#include "ingest/log/patterns.h"

namespace oomdb::ingest {
namespace {

// One thing that stands before a message. Tried again and again: they nest.
const Pattern& Prefix() {
  static const Pattern prefix(
      "(?:"
      // 2025-05-18 21:59:55.086788: and 2024-05-18T21:59:55Z, alone or before what follows
      R"([0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9:]{8}(?:[.,][0-9]+)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?[:,]?\s+)"
      R"(|\[[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][^\]\s]*\]\s*)"
      // E1214 19:57:44.464390   17928 file.cc:3084], also with the epoch for the time
      R"(|[IWEF][0-9]{4} [0-9:.]+\s+-?[0-9]+ [^\]\s]+:-?[0-9]+\] ?)"
      // W external/xla/file.cc:310], E    1578 path:76]
      R"(|[IWEF]\s+(?:[0-9]+ )?[^\]\s]+:[0-9]+\] ?)"
      // file.cc:3084]
      R"(|[\w./-]+\.(?:cc|cpp|h|py|rs):[0-9]+\] ?)"
      // (EngineCore pid=106339), (pid=7, ip=10.0.0.1), after the number of the line or not
      R"(|[0-9]{0,7}\s*\((?:[^()]|\([^()]*\))*\bpid=[^()]*\):? ?)"
      // ERROR 06-03 07:41:11 [core.py:1184]
      R"(|(?:ERROR|WARNING|INFO|DEBUG|CRITICAL|FATAL) [0-9]{2}-[0-9]{2} [0-9:]{8} \[[^\]]*\] ?)"
      R"(|\[?(?:ERROR|WARNING|WARN|INFO|DEBUG|CRITICAL|FATAL)\]?(?::| -|\s)\s*)"
      // mpirun, torchrun, srun, docker compose, containerd
      R"(|\[[0-9]+,[0-9]+\]<std(?:err|out)>: ?)"
      R"(|\[(?:rank)?[0-9]+\]:? )"
      R"(|[\w.-]{1,64}\s+\| )"
      R"(|std(?:err|out) [FP] )"
      // journald, the kernel
      R"(|[A-Z][a-z]{2} [ 0-9][0-9] [0-9:]{8} \S+ [^\s:\[]+(?:\[[0-9]+\])?: )"
      R"(|\[ *[0-9]+\.[0-9]+\] )"
      // Quoting, columns of line numbers, the boxes of Julia's logger
      R"(|> ?)"
      R"(|[0-9]{1,7}(?:\s{2,}|\t|:\s+|\s*\|\s))"
      "|\xE2\x94[\x80-\xBF]\\s*"
      R"re(|\{"(?:log|message|msg|text)": ?")re"
      ")");
  return prefix;
}

// Colour codes of a terminal at `at`: their bytes, else 0. ESC may be lost, or printed as ^[.
size_t ColourCode(std::string_view text, size_t at) {
  size_t i = at;
  if (text[i] == '\x1b') {
    ++i;
  } else if (text.substr(i).starts_with("^[[")) {
    i += 2;
  }
  const bool escaped = i > at;
  if (i >= text.size() || text[i] != '[') return escaped && text[at] == '\x1b' ? 1 : 0;
  size_t digits = 0;
  for (++i; i < text.size() && ((text[i] >= '0' && text[i] <= '9') || text[i] == ';'); ++i)
    ++digits;
  if (i >= text.size()) return 0;
  const char final = text[i];
  // Without ESC, only what can be nothing else: [36m, [0m.
  if (!escaped && (final != 'm' || digits == 0)) return 0;
  if (escaped && (final < '@' || final > '~')) return 0;
  return i + 1 - at;
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kEntities = {{
    {"&gt;", ">"},
    {"&lt;", "<"},
    {"&quot;", "\""},
    {"&#34;", "\""},
    {"&#39;", "'"},
    {"&#x27;", "'"},
    {"&nbsp;", " "},
    {"&amp;", "&"},
}};

// In one pass: what stands in a line, without colours, entities, bold type and control characters.
std::string PlainText(std::string_view line) {
  std::string plain;
  plain.reserve(line.size());
  for (size_t i = 0; i < line.size();) {
    const char c = line[i];
    if (c == '\x1b' || c == '[' || c == '^') {
      if (const size_t code = ColourCode(line, i); code > 0) {
        i += code;
        continue;
      }
      if (c == '\x1b') {
        ++i;
        continue;
      }
    } else if (c == '&') {
      bool found = false;
      for (const auto& [entity, character] : kEntities) {
        if (!line.substr(i).starts_with(entity)) continue;
        plain += character;
        i += entity.size();
        found = true;
        break;
      }
      if (found) continue;
    } else if (c == '*' && i + 1 < line.size() && line[i + 1] == '*') {
      i += 2;
      continue;
    } else if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == '\x7f') {
      ++i;  // NULs and other junk.
      continue;
    }
    plain += c;
    ++i;
  }
  return plain;
}

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string Unwrap(std::string_view line, std::string* process) {
  // Of a prefix, what names a rank, a container or a worker.
  static const Pattern name(
      R"(\[((?:rank)?[0-9]+(?:,[0-9]+)?)\]|([A-Za-z][\w.-]*)\s+\| |[0-9]*\s*(\(.*\bpid=.*\)))"
      R"(|([0-9]{1,5}): )");
  std::vector<std::string_view> names;
  const std::string plain = PlainText(line);
  std::string_view rest = Trim(plain);
  constexpr int kMaxNesting = 12;
  for (int i = 0; i < kMaxNesting && !rest.empty(); ++i) {
    const size_t prefix = Prefix().StartsWith(rest);
    if (prefix == 0) break;
    if (process != nullptr && name.Starts(rest.substr(0, prefix), &names)) {
      if (!names.back().empty()) *process += '#';
      for (size_t j = 1; j < names.size(); ++j) *process += names[j];
    }
    rest = Trim(rest.substr(prefix));
  }
  while (rest.starts_with('`')) rest.remove_prefix(1);
  while (rest.ends_with('`')) rest.remove_suffix(1);
  return std::string(Trim(rest));
}

std::string_view LastRewrite(std::string_view line, const Pattern& counts) {
  while (line.ends_with('\r')) line.remove_suffix(1);
  std::string_view last;
  for (std::string_view rest = line; !rest.empty();) {
    const size_t before = rest.rfind('\r');
    const size_t start = before == std::string_view::npos ? 0 : before + 1;
    const std::string_view text = rest.substr(start);
    if (counts.Matches(text)) return text;
    if (last.empty()) last = text;
    rest.remove_suffix(rest.size() - (start == 0 ? 0 : before));
  }
  return last;
}

std::vector<std::string_view> SplitJoined(std::string_view line) {
  // What begins a line of a report, where it stands within one.
  static const Pattern start(
      R"(\\n|Total \w+ usage >=|Output size (?:[0-9]|unknown)|Program \w+ requirement [0-9])"
      R"(|Largest program allocations in|BufferAssignment (?:OOM|stats)|Peak buffers:)"
      R"(|\b(?:reserved|program|arguments|HLO temp)\s+(?:[0-9]|unknown size)|[0-9]+\. Size: [0-9])"
      R"(|Operator: |Shape: |Unpadded size: |Extra memory due|XLA [Ll]abel: |Allocation type: )");
  // An op name may hold a \\n of its own: that alone is not a sign of joined lines.
  static const Pattern joined(
      R"(.(?:Total \w+ usage >=|Output size (?:[0-9]|unknown)|Program \w+ requirement [0-9])"
      R"(|Largest program allocations in|BufferAssignment (?:OOM|stats)|Peak buffers:))");
  if (!joined.Matches(line)) return {line};
  std::vector<std::string_view> lines;
  while (!line.empty()) {
    while (line.starts_with("\\n") || line.starts_with("\\t")) line.remove_prefix(2);
    if (line.empty()) break;
    // From the second byte on: what begins this line does not end it.
    const size_t next = start.Position(line.substr(1));
    const size_t length = next == std::string_view::npos ? line.size() : next + 1;
    const std::string_view part = Trim(line.substr(0, length));
    if (!part.empty()) lines.push_back(part);
    line.remove_prefix(length);
  }
  return lines;
}

std::string_view WithoutException(std::string_view message) {
  static const Pattern exception(
      R"(Exception in device=\w+:[0-9]+: |\([0-9]+\) |)"
      R"((?:[\w.]*(?:Error|Exception|StackTrace)|Bad StatusOr access|Original error|ERROR):\s*)");
  for (int i = 0; i < 8; ++i) {
    const size_t bytes = exception.StartsWith(message);
    if (bytes == 0) break;
    message.remove_prefix(bytes);
  }
  return message;
}

std::string UnescapeQuotes(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == '"') continue;
    plain += text[i];
  }
  return plain;
}

}  // namespace oomdb::ingest
