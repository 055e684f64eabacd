#include <xxhash.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/error.h"
#include "ingest/base/phases.h"
#include "ingest/source/source.h"

namespace oomdb::ingest {

std::string ContentHash(const Source& source) {
  const InPhase reading(Phase::kRead);
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                              XXH3_freeState);
  if (state == nullptr) throw Error(source.path() + ": not enough memory to hash it");
  XXH3_128bits_reset(state.get());
  const uint64_t size = source.size();
  std::vector<char> buffer(std::min<uint64_t>(size, uint64_t{1} << 20));
  for (uint64_t position = 0; position < size;) {
    const std::span<char> part =
        std::span(buffer).first(std::min<uint64_t>(buffer.size(), size - position));
    source.ReadAt(position, part);
    XXH3_128bits_update(state.get(), part.data(), part.size());
    position += part.size();
  }
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state.get()));
  std::string hex;
  for (const unsigned char byte : canonical.digest) {
    constexpr char kDigits[] = "0123456789abcdef";
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

}  // namespace oomdb::ingest
