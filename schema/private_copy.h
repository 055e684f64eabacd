// Reading never changes what it reads. What a killed writer left beside a database has to be rolled
// back, or brought in, before it can be read: that happens in a private copy.
#ifndef OOMDB_SCHEMA_PRIVATE_COPY_H_
#define OOMDB_SCHEMA_PRIVATE_COPY_H_

#include <cstdint>
#include <string>

namespace oomdb::schema {

// The file is in WAL mode, as its header says: another program turned that on, oomdb never does.
bool IsInWalMode(const std::string& path);

// A file of this name has something in it.
bool HasBytes(const std::string& path);

// The name for SQLITE_OPEN_URI of a database that nobody writes to: no lock, nothing beside it.
std::string ImmutableUri(const std::string& path);

// A database and what lies beside it, in a folder of its own in $TMPDIR (else /tmp) that goes with
// this object; who has a file open in it keeps that.
class PrivateCopy {
 public:
  // `beside`: "-journal" or "-wal". Throws Error kFailed when there is no room for it, or when the
  // files go on changing while they are copied.
  PrivateCopy(const std::string& path, const std::string& beside);
  ~PrivateCopy();
  PrivateCopy(const PrivateCopy&) = delete;
  PrivateCopy& operator=(const PrivateCopy&) = delete;

  std::string path() const { return folder_ + "/copy.db"; }
  const std::string& folder() const { return folder_; }
  uint64_t bytes() const { return bytes_; }

 private:
  std::string folder_;
  uint64_t bytes_ = 0;
};

}  // namespace oomdb::schema

#endif  // OOMDB_SCHEMA_PRIVATE_COPY_H_
