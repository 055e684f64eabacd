#include "ingest/source/spool.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.h"

namespace oomdb::ingest {

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = other.Release();
  }
  return *this;
}

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) ::close(fd_);
}

int FileDescriptor::Release() { return std::exchange(fd_, -1); }

Spool::Spool() {
  const char* tmpdir = std::getenv("TMPDIR");
  folder_ = tmpdir != nullptr && *tmpdir != '\0' ? tmpdir : "/tmp";
#ifdef O_TMPFILE
  file_ = FileDescriptor(::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
#endif
  if (file_.get() < 0) {  // Not every file system has O_TMPFILE.
    std::string name = folder_ + "/oomdb-XXXXXX";
    file_ = FileDescriptor(::mkostemp(name.data(), O_CLOEXEC));
    if (file_.get() >= 0) ::unlink(name.c_str());
  }
  if (file_.get() < 0) {
    throw Error(folder_ + ": no temporary file can be made here (" + std::strerror(errno) +
                "); set TMPDIR to a folder that can be written");
  }
}

void Spool::Append(std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      throw Error(folder_ + ": writing a temporary file failed (" + std::strerror(errno) +
                  "); set TMPDIR to a folder with more room");
    }
    size_ += static_cast<uint64_t>(written);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

}  // namespace oomdb::ingest
