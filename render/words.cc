#include "render/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "render/terminal.h"
#include "render/units.h"

namespace oomdb::render {
namespace {

std::string FileName(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

}  // namespace

std::string BytesOrDash(std::optional<int64_t> bytes) { return bytes ? HumanBytes(*bytes) : "–"; }

std::string Safe(std::string_view text) { return Sanitize(text); }

std::string Place(const std::string& file, std::optional<int64_t> line,
                  const std::string& function) {
  if (file.empty()) return "";
  std::string place = FileName(file);
  if (line) place += fmt::format(":{}", *line);
  if (!function.empty()) place += " " + function;
  return place;
}

std::string ShortOp(const std::string& op_name) {
  if (!op_name.starts_with("jit(")) return op_name;
  const size_t end = op_name.find(")/");
  return end == std::string::npos ? op_name : op_name.substr(end + 2);
}

std::string TruncateFront(const std::string& text, size_t width) {
  if (DisplayWidth(text) <= width) return text;
  size_t begin = 0;
  while (begin < text.size() && DisplayWidth(text.substr(begin)) + 1 > width) {
    ++begin;
    while (begin < text.size() && (static_cast<unsigned char>(text[begin]) & 0xc0) == 0x80) ++begin;
  }
  return "…" + text.substr(begin);
}

std::string_view HeightBar(int64_t value, int64_t highest, bool always) {
  static constexpr std::string_view kBars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr int64_t kTop = 8;
  const int64_t least = always ? 1 : 0;
  if (highest <= 0) return kBars[least];
  const double share = static_cast<double>(value) / static_cast<double>(highest);
  const auto steps = static_cast<int64_t>(static_cast<double>(kTop - least) * share + 0.5);
  return kBars[std::clamp(least + steps, least, kTop)];
}

std::string SignedBytes(int64_t bytes) {
  return bytes > 0 ? "+" + HumanBytes(bytes) : HumanBytes(bytes);
}

std::string CountOf(int64_t count, const std::string& what) {
  if (count == 0) return "–";
  return what.empty() ? std::to_string(count) : fmt::format("{} × {}", count, Safe(what));
}

std::string ShortPaths(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t end = std::min(text.find(' ', i), text.size());
    std::string word = text.substr(i, end - i);
    const size_t py = word.find(".py:");
    const size_t slash = py == std::string::npos ? std::string::npos : word.rfind('/', py);
    if (slash != std::string::npos) word.erase(0, slash + 1);
    out += ShortOp(word);
    if (end < text.size()) out += ' ';
    i = end + 1;
  }
  return out;
}

std::string Plural(int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string Upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

}  // namespace oomdb::render
