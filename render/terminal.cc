#include "render/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "base/error.h"

namespace oomdb::render {
namespace {

constexpr size_t kMinWidth = 40;
constexpr size_t kMaxWidth = 1000;
constexpr size_t kDefaultWidth = 100;

size_t Width(int fd) {
  size_t width = 0;
  if (const char* columns = std::getenv("COLUMNS"); columns != nullptr) {
    const std::string_view text = columns;
    std::from_chars(text.data(), text.data() + text.size(), width);
  }
  winsize size{};
  if (width == 0 && ::ioctl(fd, TIOCGWINSZ, &size) == 0) width = size.ws_col;
  if (width == 0) width = kDefaultWidth;
  return std::clamp(width, kMinWidth, kMaxWidth);
}

bool TurnsDirection(char32_t c) {
  return (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0x200e || c == 0x200f;
}

// Bytes of the longest beginning of `text` that takes at most `width` columns.
size_t Fitting(std::string_view text, size_t width) {
  size_t used = 0;
  for (size_t position = 0; position < text.size();) {
    const size_t start = position;
    const std::optional<char32_t> code_point = NextCodePoint(text, position);
    used += code_point ? static_cast<size_t>(CodePointWidth(*code_point)) : 1;
    if (used > width) return start;
  }
  return text.size();
}

}  // namespace

ColorMode ParseColorMode(std::string_view text) {
  if (text == "auto") return ColorMode::kAuto;
  if (text == "always") return ColorMode::kAlways;
  if (text == "never") return ColorMode::kNever;
  throw Error(fmt::format("--color {}: auto, always or never expected", text), ExitCode::kUsage);
}

Terminal DescribeTerminal(int fd, ColorMode mode) {
  Terminal terminal;
  terminal.interactive = ::isatty(fd) == 1;
  terminal.width = Width(fd);
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool wanted = terminal.interactive && (no_color == nullptr || *no_color == '\0') &&
                      term != nullptr && std::string_view(term) != "dumb";
  terminal.color = mode == ColorMode::kAlways || (mode == ColorMode::kAuto && wanted);
  return terminal;
}

std::string Paint(Style style, std::string_view text, bool color) {
  if (!color || text.empty()) return std::string(text);
  std::string_view code;
  switch (style) {
    case Style::kBold:
      code = "1";
      break;
    case Style::kDim:
      code = "2";
      break;
    case Style::kRed:
      code = "31";
      break;
    case Style::kYellow:
      code = "33";
      break;
    case Style::kGreen:
      code = "32";
      break;
    case Style::kCyan:
      code = "36";
      break;
  }
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string Sanitize(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t position = 0; position < text.size();) {
    const std::optional<char32_t> code_point = NextCodePoint(text, position);
    if (!code_point) {
      AppendUtf8(0xfffd, out);
    } else if (*code_point == '\n') {
      out += "\\n";
    } else if (*code_point == '\t') {
      out += "\\t";
    } else if (*code_point == '\r') {
      out += "\\r";
    } else if (*code_point < 0x20 || (*code_point >= 0x7f && *code_point < 0xa0)) {
      out += fmt::format("\\x{:02x}", static_cast<uint32_t>(*code_point));
    } else if (TurnsDirection(*code_point) || *code_point == 0x2028 || *code_point == 0x2029) {
      out += fmt::format("\\u{:04x}", static_cast<uint32_t>(*code_point));
    } else {
      AppendUtf8(*code_point, out);
    }
  }
  return out;
}

std::string Truncate(std::string_view text, size_t width) {
  if (DisplayWidth(text) <= width) return std::string(text);
  if (width == 0) return "";
  return std::string(text.substr(0, Fitting(text, width - 1))) + "…";
}

std::string PadRight(std::string_view text, size_t width) {
  const size_t used = DisplayWidth(text);
  return std::string(text) + std::string(width > used ? width - used : 0, ' ');
}

std::string PadLeft(std::string_view text, size_t width) {
  const size_t used = DisplayWidth(text);
  return std::string(width > used ? width - used : 0, ' ') + std::string(text);
}

std::vector<std::string> Wrap(std::string_view text, size_t width) {
  width = std::max<size_t>(width, 2);  // Room for one wide character.
  std::vector<std::string> lines;
  std::string line;
  size_t line_width = 0;
  while (!text.empty()) {
    const size_t space = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, space);
    text.remove_prefix(std::min(space + 1, text.size()));
    if (word.empty()) continue;
    size_t word_width = DisplayWidth(word);
    if (!line.empty() && line_width + 1 + word_width > width) {
      lines.push_back(std::move(line));
      line.clear();
      line_width = 0;
    }
    while (word_width > width) {  // Only ever at the start of a line.
      const size_t bytes = Fitting(word, width);
      lines.emplace_back(word.substr(0, bytes));
      word.remove_prefix(bytes);
      word_width = DisplayWidth(word);
    }
    if (word.empty()) continue;
    if (!line.empty()) {
      line += ' ';
      ++line_width;
    }
    line += word;
    line_width += word_width;
  }
  if (!line.empty() || lines.empty()) lines.push_back(std::move(line));
  return lines;
}

std::string Bar(double part, double whole, size_t width) {
  if (!(part > 0) || !(whole > 0)) return "";
  constexpr std::array<std::string_view, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double columns = std::min(part / whole, 1.0) * static_cast<double>(width);
  const size_t eighths = std::max<size_t>(static_cast<size_t>(columns * 8 + 0.5), 1);
  std::string bar;
  for (size_t i = 0; i < eighths / 8; ++i) bar += "█";
  bar += kEighths[eighths % 8];
  return bar;
}

}  // namespace oomdb::render
