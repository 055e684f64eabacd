#include "cli/interrupt.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string_view>

namespace oomdb::cli {
namespace {

constexpr std::string_view kReadsOn =
    "oomdb: keeps reading until the program that writes ends; Ctrl-\\ ends oomdb\n";

std::atomic<bool> stop_requested = false;
std::atomic<bool> reads_on_said = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch such");

void RequestStop(int) { stop_requested.store(true, std::memory_order_relaxed); }

void ReadOn(int) {
  if (reads_on_said.exchange(true)) return;
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kReadsOn.data(), kReadsOn.size());
  errno = error;
}

void Catch(int signal, void (*handler)(int), int flags) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = flags;
  sigaction(signal, &action, nullptr);
}

bool StandardInputIsPipe() {
  struct stat status = {};
  return ::fstat(STDIN_FILENO, &status) == 0 &&
         (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

void CatchStopRequests() {
  // Back to the default after the first.
  Catch(SIGINT, RequestStop, static_cast<int>(SA_RESETHAND));
  Catch(SIGTERM, RequestStop, static_cast<int>(SA_RESETHAND));
}

}  // namespace

void InstallSignalHandlers() {
  CatchStopRequests();
  // A parent may have ignored it for us; then `| head` would go on for ever.
  std::signal(SIGPIPE, SIG_DFL);
}

void IgnoreBrokenPipes() { std::signal(SIGPIPE, SIG_IGN); }

const std::atomic<bool>& StopRequested() { return stop_requested; }

ReadsStandardInput::ReadsStandardInput() : pipe_(StandardInputIsPipe()) {
  if (pipe_) {
    Catch(SIGINT, ReadOn, 0);
  } else {
    Catch(SIGINT, SIG_DFL, 0);
    Catch(SIGTERM, SIG_DFL, 0);
  }
}

ReadsStandardInput::~ReadsStandardInput() {
  if (pipe_) stop_requested.store(false, std::memory_order_relaxed);
  CatchStopRequests();
}

}  // namespace oomdb::cli
