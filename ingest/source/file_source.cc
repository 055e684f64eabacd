#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "ingest/base/phases.h"
#include "ingest/source/decompress.h"
#include "ingest/source/source.h"
#include "ingest/source/spool.h"

namespace oomdb::ingest {
namespace {

class FileSource : public Source {
 public:
  FileSource(FileDescriptor file, uint64_t size, std::string path, std::string compression,
             bool ended_early)
      : file_(std::move(file)),
        size_(size),
        path_(std::move(path)),
        compression_(std::move(compression)),
        ended_early_(ended_early) {}

  uint64_t size() const override { return size_; }
  const std::string& path() const override { return path_; }
  const std::string& compression() const override { return compression_; }
  bool ended_early() const override { return ended_early_; }

  void ReadAt(uint64_t position, std::span<char> out) const override {
    const InPhase reading(Phase::kRead);
    while (!out.empty()) {
      const ssize_t got =
          ::pread(file_.get(), out.data(), out.size(), static_cast<off_t>(position));
      if (got < 0) {
        if (errno == EINTR) continue;
        throw Error(path_ + ": reading failed (" + std::strerror(errno) + ")");
      }
      if (got == 0) {
        throw Error(path_ + ": the file shrank while it was read; wait until it is written");
      }
      position += static_cast<uint64_t>(got);
      out = out.subspan(static_cast<size_t>(got));
    }
  }

 private:
  const FileDescriptor file_;
  const uint64_t size_;
  const std::string path_;
  const std::string compression_;
  const bool ended_early_;
};

// Reads on from the descriptor's own position. 0 at the end.
size_t ReadSome(int fd, std::span<char> out, const std::string& path) {
  while (true) {
    const ssize_t got = ::read(fd, out.data(), out.size());
    if (got >= 0) return static_cast<size_t>(got);
    if (errno != EINTR) throw Error(path + ": reading failed (" + std::strerror(errno) + ")");
  }
}

FileDescriptor Open(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() >= 0) return file;
  const int error = errno;
  if (error == ENOENT) {
    throw Error(path + ": no such file; check the path (a capture is an .xplane.pb file)");
  }
  if (error == EACCES) throw Error(path + ": not readable for this user; check its permissions");
  throw Error(path + ": " + std::strerror(error));
}

}  // namespace

std::unique_ptr<Source> OpenSource(const std::string& path, const SourceLimits& limits,
                                   const ByteObserver& observer) {
  const InPhase reading(Phase::kRead);
  const bool standard_input = path == "-";
  const auto read_some = [&](int fd, std::span<char> out) {
    const size_t got = ReadSome(fd, out, path);
    if (standard_input && observer && got > 0) observer(out.first(got));
    return got;
  };
  FileDescriptor file =
      standard_input ? FileDescriptor(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)) : Open(path);
  struct stat status;
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) {
    throw Error(path + ": " + std::strerror(errno));
  }
  if (S_ISDIR(status.st_mode)) {
    throw Error(path + ": is a folder, not a file; name a file in it");
  }

  char head[kSniffBytes];
  size_t head_bytes = 0;
  while (head_bytes < sizeof head) {
    const size_t got = read_some(file.get(), std::span(head).subspan(head_bytes));
    if (got == 0) break;
    head_bytes += got;
  }
  // /dev/null has an end, and a person at a terminal.
  if (S_ISCHR(status.st_mode) && head_bytes == sizeof head && ::isatty(file.get()) == 0) {
    throw Error((standard_input ? std::string("standard input") : path) +
                ": a device, which gives bytes without end; name a file");
  }
  const Compression compression = SniffCompression(std::span(head).first(head_bytes));

  // A regular file that is named can be read in place. Standard input can't, even when it is a
  // file: it may have been read from already.
  if (compression == Compression::kNone && S_ISREG(status.st_mode) && !standard_input) {
    return std::make_unique<FileSource>(std::move(file), static_cast<uint64_t>(status.st_size),
                                        path, "", /*ended_early=*/false);
  }

  size_t head_read = 0;
  const ReadFunction read = [&](std::span<char> out) -> size_t {
    if (head_read < head_bytes) {  // What was looked at above comes first.
      const size_t count = std::min(out.size(), head_bytes - head_read);
      std::copy_n(head + head_read, count, out.data());
      head_read += count;
      return count;
    }
    return read_some(file.get(), out);
  };
  Spool spool;
  const bool whole = DecompressAll(compression, read, limits, path, spool);
  const uint64_t size = spool.size();
  return std::make_unique<FileSource>(spool.TakeFile(), size, path,
                                      std::string(ToString(compression)), !whole);
}

}  // namespace oomdb::ingest
