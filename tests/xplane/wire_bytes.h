// Protobuf wire bytes by hand, right and wrong ones.
#ifndef OOMDB_TESTS_XPLANE_WIRE_BYTES_H_
#define OOMDB_TESTS_XPLANE_WIRE_BYTES_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace oomdb::ingest {

inline std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
inline std::string Tag(uint64_t field, int wire_type) {
  return Varint(field << 3 | static_cast<uint64_t>(wire_type));
}
inline std::string NumberField(uint64_t field, uint64_t value) {
  return Tag(field, 0) + Varint(value);
}
inline std::string BytesField(uint64_t field, std::string_view content) {
  return Tag(field, 2) + Varint(content.size()) + std::string(content);
}
// A field that claims more bytes than follow.
inline std::string CutField(uint64_t field, uint64_t claimed_bytes, std::string_view content) {
  return Tag(field, 2) + Varint(claimed_bytes) + std::string(content);
}

}  // namespace oomdb::ingest

#endif  // OOMDB_TESTS_XPLANE_WIRE_BYTES_H_
