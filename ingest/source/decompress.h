// Turning a stream of bytes, compressed or not, into plain bytes in a spool.
#ifndef OOMDB_INGEST_SOURCE_DECOMPRESS_H_
#define OOMDB_INGEST_SOURCE_DECOMPRESS_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "ingest/source/source.h"
#include "ingest/source/spool.h"

namespace oomdb::ingest {

enum class Compression { kNone, kGzip, kZstd, kXz };

std::string_view ToString(Compression compression);  // "", "gzip", "zstd", "xz"

// The bytes that SniffCompression wants to see, where there are as many.
inline constexpr size_t kSniffBytes = 6;

// By content: gzip (RFC 1952) with deflate, zstd (RFC 8878) starting with a frame or a skippable
// one, xz (https://tukaani.org/xz/xz-file-format.txt).
Compression SniffCompression(std::span<const char> first_bytes);

// Fills (part of) the span and returns how much; 0 at the end. Throws Error.
using ReadFunction = std::function<size_t(std::span<char>)>;

// Reads all of `read` into `spool`. Several gzip members, zstd frames or xz streams in a row are
// one stream; zero bytes after the last gzip member or xz stream are padding. Returns false when a
// compressed stream ended early. Throws Error, which begins with `path`, when the content is broken
// or passes a limit.
bool DecompressAll(Compression compression, const ReadFunction& read, const SourceLimits& limits,
                   const std::string& path, Spool& spool);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_SOURCE_DECOMPRESS_H_
