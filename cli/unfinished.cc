#include "cli/unfinished.h"

#include <unistd.h>

#include <cstddef>
#include <mutex>
#include <new>
#include <set>

namespace oomdb::cli {
namespace {

struct Files {
  std::mutex mutex;
  std::set<std::string> paths;
};

// Never destroyed: a watchdog may look while the program ends. In a place of its own: memory
// may be what ran out when one looks for the first time.
Files& All() {
  alignas(Files) static std::byte place[sizeof(Files)];
  static Files& files = *new (place) Files;
  return files;
}

}  // namespace

void AddUnfinished(const std::string& path) {
  const std::lock_guard lock(All().mutex);
  All().paths.insert(path);
}

void ForgetUnfinished(const std::string& path) {
  const std::lock_guard lock(All().mutex);
  All().paths.erase(path);
}

void RemoveUnfinished() {
  const std::lock_guard lock(All().mutex);
  for (const std::string& path : All().paths) ::unlink(path.c_str());
}

}  // namespace oomdb::cli
