#include "cli/ingest/tee.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <span>

#include "base/error.h"

namespace oomdb::cli {

ingest::ByteObserver PassThrough(const std::vector<std::string>& paths) {
  if (std::find(paths.begin(), paths.end(), "-") == paths.end()) {
    throw Error("--tee passes standard input through; give - as the PATH", ExitCode::kUsage);
  }
  return [closed = std::make_shared<bool>(false)](std::span<const char> bytes) {
    while (!bytes.empty() && !*closed) {
      const ssize_t written = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
      if (written >= 0) {
        bytes = bytes.subspan(static_cast<size_t>(written));
      } else if (errno != EINTR) {
        *closed = true;
      }
    }
  };
}

}  // namespace oomdb::cli
