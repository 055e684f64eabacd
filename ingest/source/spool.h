// An unlinked temporary file that grows by appending: where decompressed and piped content goes.
#ifndef OOMDB_INGEST_SOURCE_SPOOL_H_
#define OOMDB_INGEST_SOURCE_SPOOL_H_

#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace oomdb::ingest {

// An open file descriptor, closed with the object.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.Release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor();

  int get() const { return fd_; }
  int Release();

 private:
  int fd_;
};

class Spool {
 public:
  // Creates the file in $TMPDIR, else /tmp. It has no name, so a crash leaves nothing behind.
  Spool();

  // Throws Error when the disk is full.
  void Append(std::span<const char> bytes);
  uint64_t size() const { return size_; }
  FileDescriptor TakeFile() { return std::move(file_); }

 private:
  std::string folder_;
  FileDescriptor file_;
  uint64_t size_ = 0;
};

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_SOURCE_SPOOL_H_
