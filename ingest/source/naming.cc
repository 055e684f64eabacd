#include "ingest/source/naming.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <system_error>

namespace oomdb::ingest {
namespace {

bool EndsWithIgnoringCase(std::string_view text, std::string_view suffix) {
  if (text.size() < suffix.size()) return false;
  text.remove_prefix(text.size() - suffix.size());
  return std::equal(text.begin(), text.end(), suffix.begin(), [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  });
}

}  // namespace

std::string_view WithoutCompressedSuffix(std::string_view file_name) {
  for (std::string_view suffix : {".gz", ".gzip", ".zst", ".zstd", ".xz"}) {
    if (EndsWithIgnoringCase(file_name, suffix)) {
      return file_name.substr(0, file_name.size() - suffix.size());
    }
  }
  return file_name;
}

CaptureNames NamesFromPath(const std::string& path) {
  namespace fs = std::filesystem;
  if (path == "-") return {"stdin", ""};
  std::error_code error;
  fs::path absolute = fs::absolute(path, error);
  if (error) absolute = path;  // The working directory is gone: the path as given must do.
  absolute = absolute.lexically_normal();
  if (!absolute.has_filename()) absolute = absolute.parent_path();  // "folder/"

  if (fs::is_directory(absolute, error)) {
    const std::string name = absolute.filename().string();
    return {name.empty() ? "/" : name, ""};
  }
  const fs::path folder = absolute.parent_path();
  CaptureNames names{folder.filename().string(), ""};
  if (names.run.empty()) names.run = "/";

  constexpr std::string_view kCapture = ".xplane.pb";
  const std::string file_name = absolute.filename().string();
  const std::string_view stem = WithoutCompressedSuffix(file_name);
  const fs::path profile = folder.parent_path();
  if (stem.ends_with(kCapture) && profile.filename() == "profile" &&
      profile.parent_path().filename() == "plugins") {
    names.host = stem.substr(0, stem.size() - kCapture.size());
  }
  return names;
}

}  // namespace oomdb::ingest
