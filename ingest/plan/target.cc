#include "ingest/plan/target.h"

#include <algorithm>
#include <cctype>

#include "base/ascii.h"

namespace oomdb::ingest {
namespace {

// What begins at the last `prefix` and goes on as long as `goes_on`; empty where nothing follows.
template <typename GoesOn>
std::string WordAt(std::string_view text, std::string_view prefix, const GoesOn& goes_on) {
  const size_t at = text.rfind(prefix);
  if (at == std::string_view::npos) return {};
  size_t end = at + prefix.size();
  while (end < text.size() && goes_on(text[end])) ++end;
  return end == at + prefix.size() ? std::string() : std::string(text.substr(at, end - at));
}

}  // namespace

std::string TargetOfFile(std::string_view file_name, std::string_view module_name) {
  std::string_view rest = file_name.substr(file_name.rfind('/') + 1);
  if (const size_t name = rest.find(module_name);
      !module_name.empty() && name != std::string_view::npos) {
    rest.remove_prefix(name + module_name.size());
  }
  const std::string lower = Lower(rest);
  const std::string nvidia = WordAt(lower, ".sm_", [](char c) { return IsDigit(c) || c == '.'; });
  if (!nvidia.empty()) return nvidia.substr(1);
  const std::string amd = WordAt(
      lower, ".gfx", [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; });
  return amd.empty() ? amd : amd.substr(1);
}

std::string TargetOfDevice(std::string_view device_name) {
  std::string name = Lower(device_name);
  name.erase(std::remove(name.begin(), name.end(), ' '), name.end());
  if (!name.starts_with("tpu")) return {};
  std::string_view version = std::string_view(name).substr(3);
  if (version.starts_with('v')) version.remove_prefix(1);
  if (version.empty() || !IsDigit(version.front())) return {};
  const char generation = version.front();
  version.remove_prefix(1);
  // "v5 lite" is v5e, and "v5" alone v5p; later generations of one kind keep the number.
  if (version == "lite") version = "e";
  if (generation == '5' && version.empty()) version = "p";
  return std::string("tpu_v") + generation + std::string(version);
}

}  // namespace oomdb::ingest
