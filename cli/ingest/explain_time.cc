#include "cli/ingest/explain_time.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <vector>

namespace oomdb::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, ingest::kPhases> kNames = {"read", "parse", "replay", "write",
                                                             "other"};

// The bytes that were read; what can't be read is nothing.
uint64_t ReadBare(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    uint64_t bytes = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(path, ignored)) {
      if (entry.is_regular_file(ignored)) bytes += ReadBare(entry.path());
    }
    return bytes;
  }
  std::vector<char> buffer(size_t{1} << 18);
  std::ifstream file;
  file.rdbuf()->pubsetbuf(nullptr, 0);  // Else the bytes are copied once more.
  file.open(path, std::ios::binary);
  uint64_t bytes = 0;
  do {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    bytes += static_cast<uint64_t>(file.gcount());
  } while (file);
  return bytes;
}

}  // namespace

std::string ExplainTime(ingest::PhaseTimes& times, const std::vector<std::string>& paths) {
  const std::array<double, ingest::kPhases> seconds = times.Seconds();
  const double all = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  std::string text = fmt::format("{:<8}{:>10}{:>9}\n", "time", "wall s", "share");
  for (size_t i = 0; i < ingest::kPhases; ++i) {
    text += fmt::format("{:<8}{:>10.4f}{:>7.1f} %\n", kNames[i], seconds[i],
                        all > 0 ? 100 * seconds[i] / all : 0.0);
    // Rows come in the order of their indexes: measured, that is faster than to make these
    // afterwards.
    if (static_cast<ingest::Phase>(i) == ingest::Phase::kWrite) {
      text += fmt::format("{:<8}{:>10}\n", "index", "in write");
    }
  }
  text += fmt::format("{:<8}{:>10.4f}{:>7.1f} %\n", "all", all, 100.0);
  const auto start = std::chrono::steady_clock::now();
  uint64_t bytes = 0;
  for (const std::string& path : paths) bytes += ReadBare(path);
  const double bare =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (bytes == 0) return text + "there are no files to compare that with\n";
  return text + fmt::format(
                    "reading the {} bytes of its files and doing nothing else takes {:.4f} s; the "
                    "ingest took {:.1f} times as long\n",
                    bytes, bare, bare > 0 ? all / bare : 0.0);
}

}  // namespace oomdb::cli
