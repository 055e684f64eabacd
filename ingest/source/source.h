// Bytes to read from: a file, a compressed file, or standard input, always seekable.
//
// Plain, gzip, zstd and xz content is recognised by its first bytes, not by its name. Compressed
// content and standard input are decompressed once into an unlinked temporary file ($TMPDIR, else
// /tmp), never beside the capture.
#ifndef OOMDB_INGEST_SOURCE_SOURCE_H_
#define OOMDB_INGEST_SOURCE_SOURCE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace oomdb::ingest {

class Source {
 public:
  virtual ~Source() = default;
  virtual uint64_t size() const = 0;  // Uncompressed, bytes.
  // Fills all of `out` from `position` on, or throws Error (the file shrank, an I/O error).
  // Requires position + out.size() <= size(). Safe to call from several threads at once.
  virtual void ReadAt(uint64_t position, std::span<char> out) const = 0;
  virtual const std::string& path() const = 0;         // As named by the user; "-": standard input.
  virtual const std::string& compression() const = 0;  // "", "gzip", "zstd", "xz".
  // True when the compressed stream ended before its own end: what there is of it was kept, and the
  // capture is truncated even where the bytes kept happen to end between two messages.
  virtual bool ended_early() const { return false; }
};

struct SourceLimits {
  // A decompressed size above this is refused: a small file must not fill the disk.
  uint64_t max_uncompressed_bytes = uint64_t{64} << 30;
  // ... and so is a ratio above this, once past 64 MiB (xplane captures reach about 20).
  uint64_t max_ratio = 1000;
  // What comes uncompressed through a pipe may have no end.
  uint64_t max_piped_bytes = uint64_t{8} << 30;
};

// Sees bytes as they arrive, before anything is decompressed.
using ByteObserver = std::function<void(std::span<const char>)>;

// Throws Error with a clear line: missing, a directory, unreadable, a broken compressed stream, too
// large. A compressed stream that ends early is read up to there (see ended_early).
// `standard_input`: sees what "-" reads.
std::unique_ptr<Source> OpenSource(const std::string& path, const SourceLimits& limits = {},
                                   const ByteObserver& standard_input = {});

// A source over bytes in memory (tests, fuzzers, the built-in capture of self-test). Copies
// nothing: `bytes` must live on.
std::unique_ptr<Source> MemorySource(std::string_view bytes, std::string path = "(memory)");

// XXH3-128 of all (uncompressed) bytes of `source`: 32 hex digits, as `xxhsum -H2` prints them.
std::string ContentHash(const Source& source);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_SOURCE_SOURCE_H_
