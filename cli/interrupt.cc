#include "cli/interrupt.h"

#include <csignal>

namespace oomdb {
namespace {

std::atomic<bool> stop_requested = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch such");

void RequestStop(int) { stop_requested.store(true, std::memory_order_relaxed); }

}  // namespace

void InstallSignalHandlers() {
  struct sigaction action = {};
  action.sa_handler = RequestStop;
  sigemptyset(&action.sa_mask);
  // Back to the default after the first.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // A parent may have ignored it for us; then `| head` would go on for ever.
  std::signal(SIGPIPE, SIG_DFL);
}

void IgnoreBrokenPipes() { std::signal(SIGPIPE, SIG_IGN); }

const std::atomic<bool>& StopRequested() { return stop_requested; }

}  // namespace oomdb
