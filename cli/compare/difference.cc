#include "cli/compare/difference.h"

#include <filesystem>

#include "render/words.h"

namespace oomdb::cli {

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
      return {render::Safe(end_of(a, parts)), render::Safe(end_of(b, parts))};
    }
  }
  return {render::Safe(base), render::Safe(changed)};
}

Difference ReadDifference(const schema::Record& row) {
  Difference d;
  d.kind = row.Text("kind");
  d.change = row.Text("change");
  d.base_bytes = row.MaybeInteger("base_bytes");
  d.new_bytes = row.MaybeInteger("new_bytes");
  d.delta_bytes = row.MaybeInteger("delta_bytes");
  d.base_count = row.MaybeInteger("base_count");
  d.new_count = row.MaybeInteger("new_count");
  d.base_shape = row.Text("base_shape");
  d.new_shape = row.Text("new_shape");
  d.op_name = row.Text("op_name");
  d.place = render::Place(row.Text("source_file"), row.MaybeInteger("source_line"), "");
  return d;
}

}  // namespace oomdb::cli
