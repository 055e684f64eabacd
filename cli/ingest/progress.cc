#include "cli/ingest/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string_view>

#include "render/terminal.h"
#include "render/units.h"

namespace oomdb::cli {
namespace {

constexpr std::chrono::milliseconds kBetween{100};

}  // namespace

std::string ProgressLine(int64_t files, int64_t all_files, int64_t bytes, int64_t all_bytes,
                         std::chrono::nanoseconds elapsed, size_t width) {
  std::string line = fmt::format("  {}/{} files  {} of {}", files, all_files,
                                 render::HumanBytes(bytes), render::HumanBytes(all_bytes));
  const double seconds = std::chrono::duration<double>(elapsed).count();
  if (seconds > 0) {
    line += fmt::format(
        "  {}/s", render::HumanBytes(static_cast<int64_t>(static_cast<double>(bytes) / seconds)));
  }
  return render::Truncate(line, width);
}

Progress::Progress() {
  const render::Terminal terminal =
      render::DescribeTerminal(STDERR_FILENO, render::ColorMode::kAuto);
  const char* const kind = std::getenv("TERM");
  active_ = terminal.interactive && kind != nullptr && std::string_view(kind) != "dumb";
  // The last column stays free: some terminals go to the next line when it is written.
  width_ = terminal.width - 1;
}

Progress::~Progress() { Clear(); }

void Progress::Show(int64_t files, int64_t all_files, int64_t bytes, int64_t all_bytes) {
  const Clock::time_point now = Clock::now();
  if (!active_ || all_files < 2 || (drawn_ && now - last_ < kBetween)) return;
  std::cerr << "\r\x1b[K" << ProgressLine(files, all_files, bytes, all_bytes, now - start_, width_)
            << std::flush;
  drawn_ = true;
  last_ = now;
}

void Progress::Clear() {
  if (!drawn_) return;
  std::cerr << "\r\x1b[K" << std::flush;
  drawn_ = false;
}

}  // namespace oomdb::cli
