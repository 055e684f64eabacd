#include "cli/watchdog.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <string_view>
#include <thread>

#include "base/ascii.h"
#include "base/error.h"
#include "cli/interrupt.h"
#include "cli/unfinished.h"
#include "render/terminal.h"

namespace oomdb::cli {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kGrace(60);      // Of CPU time.
constexpr milliseconds kLooksIdle(20);  // Between two looks: for a stop request, and near the end.
constexpr milliseconds kLooksLate(5);
constexpr double kMostSeconds = 86400;
constexpr double kReadingSeconds = 600;

milliseconds CpuTime() {
  timespec time = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return milliseconds(int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1000000);
}

[[noreturn]] void End(std::string_view line, ExitCode code) {
  RemoveUnfinished();
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
  ::_exit(static_cast<int>(code));
}

}  // namespace

struct Watchdog::State {
  milliseconds limit;
  std::string line;  // Made before memory is short.
  std::mutex mutex;
  std::condition_variable done_changed;
  bool done = false;
  Clock::time_point end;
  std::thread thread;

  // With the mutex held but while it waits.
  void Watch() {
    std::unique_lock lock(mutex);
    bool late = false;
    milliseconds cpu_when_late(0);
    while (!done) {
      const bool stopped = StopRequested();
      if (stopped || Clock::now() >= end) {
        if (!late) cpu_when_late = CpuTime();
        late = true;
        if (CpuTime() - cpu_when_late >= kGrace) {
          End(stopped ? "oomdb: interrupted\n" : std::string_view(line),
              stopped ? ExitCode::kInterrupted : ExitCode::kFailed);
        }
      } else {
        late = false;
      }
      done_changed.wait_for(lock, late ? kLooksLate : kLooksIdle);
    }
  }
};

Watchdog::Watchdog(milliseconds limit, std::string message) : state_(std::make_unique<State>()) {
  state_->limit = limit;
  state_->line = "oomdb: " + render::Sanitize(message) + "\n";
  state_->end = Clock::now() + limit;
  state_->thread = std::thread([state = state_.get()] { state->Watch(); });
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->done = true;
  }
  state_->done_changed.notify_one();
  state_->thread.join();
}

void Watchdog::Restart() {
  const std::lock_guard lock(state_->mutex);
  state_->end = Clock::now() + state_->limit;
}

void WatchReading(const std::string& path) {
  double seconds = kReadingSeconds;
  if (const char* const text = std::getenv("OOMDB_TIMEOUT"); text != nullptr && *text != '\0') {
    seconds = WholeNumber<double>(text).value_or(0);
    if (!(seconds > 0 && seconds <= kMostSeconds)) {
      throw Error(fmt::format("OOMDB_TIMEOUT={}: seconds above 0, at most {}, expected", text,
                              kMostSeconds),
                  ExitCode::kUsage);
    }
  }
  // Until the program ends, which a static one sees: a test may open several.
  static std::unique_ptr<Watchdog> watchdog;
  watchdog = std::make_unique<Watchdog>(
      milliseconds(std::llround(seconds * 1000)),
      fmt::format("{}: reading it took longer than {} s and was stopped; OOMDB_TIMEOUT=SECONDS in "
                  "the environment gives it more time",
                  path, seconds));
}

void LimitMemory([[maybe_unused]] int64_t bytes) {
#if !defined(__SANITIZE_ADDRESS__)
  rlimit limit = {};
  if (getrlimit(RLIMIT_DATA, &limit) != 0) return;
  const auto wanted = static_cast<rlim_t>(bytes);
  if (limit.rlim_max != RLIM_INFINITY && wanted > limit.rlim_max) return;
  limit.rlim_cur = wanted;
  setrlimit(RLIMIT_DATA, &limit);
#endif
}

void LiftMemoryLimit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_DATA, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_DATA, &limit);
}

}  // namespace oomdb::cli
