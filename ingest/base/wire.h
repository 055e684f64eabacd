// A bounded cursor over protobuf wire format in memory: no allocation, no recursion, no reads
// outside the span it was given. The format: https://protobuf.dev/programming-guides/encoding/
#ifndef OOMDB_INGEST_BASE_WIRE_H_
#define OOMDB_INGEST_BASE_WIRE_H_

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace oomdb::ingest {

enum class WireType : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// Decodes a varint at `*p`, advancing it. False, with `*p` unspecified, when it runs over `end` or
// is longer than ten bytes.
inline bool DecodeVarint(const char** p, const char* end, uint64_t* value);

// The general case: byte by byte.
inline bool DecodeVarintSlowly(const char** p, const char* end, uint64_t* value) {
  uint64_t result = 0;
  const char* q = *p;
  for (int shift = 0; shift < 70; shift += 7) {
    if (q == end) return false;
    const auto byte = static_cast<unsigned char>(*q++);
    result |= static_cast<uint64_t>(byte & 0x7f) << (shift & 63);
    if (byte < 0x80) {
      *p = q;
      *value = result;
      return true;
    }
  }
  return false;
}

// Most numbers are one byte long; the others, times above all, are joined from eight bytes at once.
inline bool DecodeVarint(const char** p, const char* end, uint64_t* value) {
  const char* const q = *p;
  if (q != end && static_cast<unsigned char>(*q) < 0x80) {
    *value = static_cast<unsigned char>(*q);
    *p = q + 1;
    return true;
  }
  if (end - q < 8) return DecodeVarintSlowly(p, end, value);
  uint64_t word;
  std::memcpy(&word, q, sizeof word);  // Little-endian hosts only, like the format.
  const uint64_t last_bytes = ~word & 0x8080808080808080;  // Those whose high bit says so.
  if (last_bytes == 0) return DecodeVarintSlowly(p, end, value);
  const int bits = std::countr_zero(last_bytes) + 1;
  word &= ~uint64_t{0} >> (64 - bits);
  word = (word & 0x007f007f007f007f) | (word & 0x7f007f007f007f00) >> 1;
  word = (word & 0x00003fff00003fff) | (word & 0x3fff00003fff0000) >> 2;
  *value = (word & 0x000000000fffffff) | (word & 0x0fffffff00000000) >> 4;
  *p = q + bits / 8;
  return true;
}

// Walks the fields of one message:
//   WireCursor cursor(bytes);
//   while (cursor.Next()) switch (cursor.field()) { case 1: id = cursor.varint(); ... }
//   if (cursor.malformed()) ...
// The accessors are meaningful for the field's own wire type; for another type they return 0 or
// nothing, so a reader needs no check of its own.
class WireCursor {
 public:
  explicit WireCursor(std::string_view bytes)
      : position_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  // Advances to the next field. False at the end of the message, or where it is malformed.
  bool Next() {
    if (position_ == end_) return false;
    uint64_t tag;
    if (!DecodeVarint(&position_, end_, &tag) || (tag >> 3) == 0 || (tag >> 3) > 0x1fffffff) {
      return Fail();
    }
    field_ = static_cast<uint32_t>(tag >> 3);
    type_ = static_cast<WireType>(tag & 7);
    number_ = 0;
    bytes_ = {};
    switch (type_) {
      case WireType::kVarint:
        return DecodeVarint(&position_, end_, &number_) || Fail();
      case WireType::kFixed64:
        return TakeFixed(8);
      case WireType::kFixed32:
        return TakeFixed(4);
      case WireType::kBytes: {
        uint64_t length;
        if (!DecodeVarint(&position_, end_, &length) ||
            length > static_cast<uint64_t>(end_ - position_)) {
          return Fail();
        }
        bytes_ = std::string_view(position_, length);
        position_ += length;
        return true;
      }
    }
    return Fail();  // Groups were never used by these formats.
  }

  uint32_t field() const { return field_; }
  WireType type() const { return type_; }
  uint64_t varint() const { return type_ == WireType::kVarint ? number_ : 0; }
  int64_t int64() const { return static_cast<int64_t>(varint()); }
  double fixed_double() const {
    return type_ == WireType::kFixed64 ? std::bit_cast<double>(number_) : 0;
  }
  std::string_view bytes() const { return bytes_; }
  bool malformed() const { return malformed_; }

 private:
  bool TakeFixed(size_t size) {
    if (static_cast<size_t>(end_ - position_) < size) return Fail();
    std::memcpy(&number_, position_, size);  // Little-endian hosts only, like the format.
    position_ += size;
    return true;
  }
  bool Fail() {
    malformed_ = true;
    position_ = end_;
    return false;
  }

  const char* position_;
  const char* end_;
  uint32_t field_ = 0;
  WireType type_ = WireType::kVarint;
  uint64_t number_ = 0;
  std::string_view bytes_;
  bool malformed_ = false;
};

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_BASE_WIRE_H_
