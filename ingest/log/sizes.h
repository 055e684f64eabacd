// Sizes as error texts print them.
//
// All units are binary, whatever they are called: libtpu's `41.74G`, XLA's `9.53GiB`, the CUDA
// driver's `528.00M`, JAX's `64 GB` of pinned host memory.
#ifndef OOMDB_INGEST_LOG_SIZES_H_
#define OOMDB_INGEST_LOG_SIZES_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace oomdb::ingest {

struct Size {
  int64_t bytes = 0;
  int64_t slack = 0;  // The true figure is at most this far away: half of the last digit printed.
};

// A number with an optional sign, decimals and unit (`0B`, `64.0K`, `1004.50MiB`, `31.246 GiB`,
// `123 bytes`), or hexadecimal with 0x. std::nullopt when it is none of these, and for what stands
// for "unknown" or "none": -1, -1.0B, 2^64 - 1 in either base, and all that passes 63 bits.
std::optional<Size> ParseSize(std::string_view text);

// True for units that some programs mean as powers of ten (`4.4GB`, `170 MB`).
bool IsAmbiguousUnit(std::string_view text);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_LOG_SIZES_H_
