#include "cli/compare/words.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/report/page.h"
#include "render/units.h"

namespace oomdb {

std::pair<std::string, std::string> ShortNames(const std::string& base,
                                               const std::string& changed) {
  const auto end_of = [](const std::filesystem::path& path, size_t parts) {
    std::filesystem::path end;
    std::filesystem::path rest = path;
    for (; parts > 0 && rest.has_filename(); --parts, rest = rest.parent_path())
      end = end.empty() ? rest.filename() : rest.filename() / end;
    return end.string();
  };
  // a/1/ is a/1.
  const auto clean = [](const std::string& name) {
    const auto path = std::filesystem::path(name).lexically_normal();
    return path.has_filename() ? path : path.parent_path();
  };
  const auto a = clean(base);
  const auto b = clean(changed);
  constexpr size_t kMostParts = 3;
  for (size_t parts = 1; parts <= kMostParts; ++parts) {
    if (end_of(a, parts) != end_of(b, parts) && !end_of(a, parts).empty() &&
        !end_of(b, parts).empty()) {
      return {Safe(end_of(a, parts)), Safe(end_of(b, parts))};
    }
  }
  return {Safe(base), Safe(changed)};
}

std::string Signed(int64_t bytes) {
  return bytes > 0 ? "+" + HumanBytes(bytes) : HumanBytes(bytes);
}

std::string Buffers(int64_t count, const std::string& shape) {
  if (count == 0) return "–";
  return shape.empty() ? std::to_string(count) : fmt::format("{} × {}", count, Safe(shape));
}

}  // namespace oomdb
