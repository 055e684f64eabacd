// One line on a terminal that says how far a long command is.
#ifndef OOMDB_CLI_INGEST_PROGRESS_H_
#define OOMDB_CLI_INGEST_PROGRESS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace oomdb::cli {

// "  312/1000 files  1.20 GiB of 3.40 GiB  212 MiB/s", at most `width` columns.
std::string ProgressLine(int64_t files, int64_t all_files, int64_t bytes, int64_t all_bytes,
                         std::chrono::nanoseconds elapsed, size_t width);

// Draws on standard error, when that is a terminal that can move its cursor; else does nothing.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Draws anew, but not more often than an eye follows.
  void Show(int64_t files, int64_t all_files, int64_t bytes, int64_t all_bytes);
  // Takes the line away; before anything else is written to the terminal.
  void Clear();

 private:
  using Clock = std::chrono::steady_clock;

  bool active_ = false;
  size_t width_ = 0;
  bool drawn_ = false;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point last_;
};

}  // namespace oomdb::cli

#endif  // OOMDB_CLI_INGEST_PROGRESS_H_
