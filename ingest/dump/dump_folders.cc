#include "ingest/dump/dump_folders.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "ingest/source/naming.h"

namespace oomdb::ingest {
namespace {

std::pair<std::string, std::string_view> SplitPath(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {".", path};
  return {std::string(path.substr(0, std::max<size_t>(slash, 1))), path.substr(slash + 1)};
}

// Of one module and kind the newest comes first: with time stamps, a second compilation's files
// stand beside the first's, where without them it would have replaced them. Then the plainest name,
// and what needs no decompressing.
bool ComesBefore(const DumpFile& a, const DumpFile& b) {
  const auto key = [](const DumpFile& file) {
    return std::make_tuple(std::string_view(file.name.module), file.name.kind, ~file.name.time,
                           file.file_name.size(), std::string_view(file.file_name));
  };
  return key(a) < key(b);
}

}  // namespace

std::vector<DumpFolder> TakeDumpFolders(std::vector<std::string>& files) {
  struct Found {
    DumpFolder dump;
    std::vector<size_t> members;  // In `files`.
  };
  std::map<std::string, Found> found;
  for (size_t i = 0; i < files.size(); ++i) {
    auto [folder, file_name] = SplitPath(files[i]);
    std::optional<DumpFileName> name = ParseDumpFileName(file_name);
    if (!name.has_value()) continue;
    Found& in = found[folder];
    in.members.push_back(i);
    if (name->kind == DumpFileKind::kOther) {
      ++in.dump.other_files;
    } else {
      in.dump.files.push_back({std::string(file_name), *std::move(name)});
    }
  }
  std::vector<DumpFolder> dumps;
  std::vector<bool> taken(files.size(), false);
  for (auto& [folder, in] : found) {
    if (in.dump.files.empty()) continue;
    for (const size_t member : in.members) taken[member] = true;
    in.dump.path = folder;
    std::sort(in.dump.files.begin(), in.dump.files.end(), ComesBefore);
    dumps.push_back(std::move(in.dump));
  }
  size_t kept = 0;
  for (size_t i = 0; i < files.size(); ++i) {
    if (!taken[i] && kept++ != i) files[kept - 1] = std::move(files[i]);
  }
  files.resize(kept);
  return dumps;
}

}  // namespace oomdb::ingest
