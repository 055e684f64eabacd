#include "ingest/log/engine_memory.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "ingest/log/oom_event.h"
#include "ingest/log/patterns.h"

namespace oomdb::ingest {
namespace {

MaybeInt GiB(std::string_view number) { return Bytes(std::string(number) + "GiB"); }

// Of one chip, as TPU runtimes of all generations tell it. A sum over chips is none of these.
bool IsOfOneChip(std::string_view gib) {
  double value = 0;
  if (std::from_chars(gib.data(), gib.data() + gib.size(), value).ec != std::errc()) return false;
  constexpr std::array kChips = {7.48, 15.48, 15.75, 30.75, 31.25, 94.75, 95.74};
  return std::any_of(kChips.begin(), kChips.end(),
                     [&](double chip) { return std::abs(value - chip) < 0.02; });
}

// vLLM on TPUs: hbm=[(14.95, 15.75), (14.95, 15.75)]GiB, a pair a chip.
std::optional<EngineMemory> ReadPairs(std::string_view line) {
  static const Pattern pairs(R"(\bhbm=\[([^\]]*)\] ?(?:Gb|GB|GiB)\b)");
  static const Pattern pair(R"(\(([0-9.]+), ([0-9.]+)\))");
  std::vector<std::string_view> groups;
  if (!pairs.Find(line, &groups)) return std::nullopt;
  EngineMemory memory;
  memory.form = "K8";
  std::string_view rest = groups[1];
  while (pair.Find(rest, &groups)) {
    const MaybeInt used = GiB(groups[1]);
    if (!memory.used.has_value() || used > memory.used) {
      memory.used = used;
      memory.capacity = GiB(groups[2]);
    }
    const char* const end = groups[0].data() + groups[0].size();
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
  }
  return memory.used.has_value() ? std::optional(std::move(memory)) : std::nullopt;
}

// vLLM on TPUs, of all chips together.
std::optional<EngineMemory> ReadTotals(std::string_view line) {
  static const Pattern limit(R"(total_hbm_limit_gb=([0-9.]+)GiB)");
  static const Pattern used(R"(total_hbm_used_gb=([0-9.]+)GiB)");
  std::vector<std::string_view> groups;
  if (!limit.Find(line, &groups) || !IsOfOneChip(groups[1])) return std::nullopt;
  EngineMemory memory;
  memory.form = "K8";
  memory.capacity = GiB(groups[1]);
  if (used.Find(line, &groups)) memory.used = GiB(groups[1]);
  return memory;
}

// MaxText and JetStream, a line a device; and the host's, which ends differently.
std::optional<EngineMemory> ReadUsing(std::string_view line) {
  static const Pattern pattern(
      R"(Using \(GB\) ([0-9.]+) / ([0-9.]+) \([0-9.]+%\)(?:.* on ([A-Za-z]+)[_:]([0-9]+))?)");
  std::vector<std::string_view> groups;
  if (!pattern.Find(line, &groups)) return std::nullopt;
  EngineMemory memory;
  memory.form = "K9";
  memory.used = GiB(groups[1]);
  memory.capacity = GiB(groups[2]);
  memory.host = groups[3].empty();
  int64_t device = 0;
  if (!groups[4].empty() &&
      std::from_chars(groups[4].data(), groups[4].data() + groups[4].size(), device).ec ==
          std::errc()) {
    memory.device = device;
  }
  return memory;
}

}  // namespace

void EngineMemory::Take(EngineMemory&& other) {
  const bool next_device = other.device.has_value() && device.has_value() &&
                           other.line == line + 1 && other.device != device;
  if (next_device && other.used.value_or(0) <= used.value_or(0)) {
    line = other.line;
    return;
  }
  *this = std::move(other);
}

std::optional<EngineMemory> ReadEngineMemory(std::string_view line) {
  std::optional<EngineMemory> memory = ReadPairs(line);
  if (!memory.has_value()) memory = ReadTotals(line);
  if (!memory.has_value()) memory = ReadUsing(line);
  return memory;
}

}  // namespace oomdb::ingest
