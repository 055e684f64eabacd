#include "cli/pager.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace oomdb::cli {

bool ShowInPager(const std::string& text) {
  const char* pager = std::getenv("OOMDB_PAGER");
  if (pager == nullptr) pager = std::getenv("PAGER");
  if (pager == nullptr) {
    if (std::system("command -v less >/dev/null 2>&1") != 0) return false;
    pager = "less -FRX";
  }
  if (*pager == '\0') return false;
  std::fflush(stdout);
  // Who leaves the pager before the end has seen enough.
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  bool shown = false;
  if (std::FILE* const to = ::popen(pager, "w"); to != nullptr) {
    std::fwrite(text.data(), 1, text.size(), to);
    ::pclose(to);
    shown = true;
  }
  std::signal(SIGPIPE, before);
  return shown;
}

}  // namespace oomdb::cli
