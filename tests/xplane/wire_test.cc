#include "ingest/base/wire.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>

#include "tests/xplane/wire_bytes.h"

namespace oomdb::ingest {
namespace {

using std::string_literals::operator""s;

TEST(WireCursorTest, ReadsEveryWireType) {
  const double half = 0.5;
  std::string fixed64(sizeof(half), '\0');
  std::memcpy(fixed64.data(), &half, sizeof(half));
  const std::string bytes = NumberField(1, 300) + BytesField(2, "text") + Tag(3, 1) + fixed64 +
                            Tag(4, 5) + "\x01\x00\x00\x00"s +
                            NumberField(5, static_cast<uint64_t>(-7));
  WireCursor cursor(bytes);
  ASSERT_TRUE(cursor.Next());
  EXPECT_EQ(cursor.field(), 1u);
  EXPECT_EQ(cursor.varint(), 300u);
  EXPECT_TRUE(cursor.bytes().empty());
  ASSERT_TRUE(cursor.Next());
  EXPECT_EQ(cursor.bytes(), "text");
  EXPECT_EQ(cursor.varint(), 0u);
  ASSERT_TRUE(cursor.Next());
  EXPECT_EQ(cursor.fixed_double(), 0.5);
  EXPECT_EQ(cursor.int64(), 0);
  ASSERT_TRUE(cursor.Next());
  EXPECT_EQ(cursor.field(), 4u);
  EXPECT_EQ(cursor.fixed_double(), 0);
  ASSERT_TRUE(cursor.Next());
  EXPECT_EQ(cursor.int64(), -7);
  EXPECT_FALSE(cursor.Next());
  EXPECT_FALSE(cursor.malformed());
}

// Whether or not eight bytes can be loaded at once.
TEST(DecodeVarintTest, EveryLengthAtEveryDistanceFromTheEnd) {
  for (int bits = 0; bits < 64; ++bits) {
    for (const uint64_t value :
         {uint64_t{1} << bits, (uint64_t{1} << bits) - 1, 0x9e3779b97f4a7c15 >> bits}) {
      const std::string bytes = Varint(value);
      for (size_t behind = 0; behind < 10; ++behind) {
        const std::string all = bytes + std::string(behind, '\xff');
        const char* p = all.data();
        uint64_t read = 0;
        ASSERT_TRUE(DecodeVarint(&p, all.data() + all.size(), &read)) << value;
        EXPECT_EQ(read, value);
        EXPECT_EQ(p, all.data() + bytes.size()) << value;
      }
      const char* p = bytes.data();
      uint64_t read = 0;
      EXPECT_FALSE(DecodeVarint(&p, bytes.data() + bytes.size() - 1, &read)) << value;
    }
  }
}

TEST(DecodeVarintTest, LongerThanNeededAndTooLong) {
  for (const size_t length : {2u, 8u, 9u, 10u, 11u}) {
    const std::string bytes = std::string(length - 1, '\x80') + '\0' + std::string(8, 'x');
    const char* p = bytes.data();
    uint64_t read = 1;
    const bool decoded = DecodeVarint(&p, bytes.data() + bytes.size(), &read);
    EXPECT_EQ(decoded, length <= 10) << length;
    if (decoded) EXPECT_EQ(read, 0u) << length;
  }
}

TEST(WireCursorTest, AnEmptyMessageIsWhole) {
  WireCursor cursor(std::string_view{});
  EXPECT_FALSE(cursor.Next());
  EXPECT_FALSE(cursor.malformed());
}

TEST(WireCursorTest, LargestNumberAndField) {
  const std::string bytes =
      NumberField(0x1fffffff, std::numeric_limits<uint64_t>::max()) + BytesField(1, "");
  WireCursor cursor(bytes);
  ASSERT_TRUE(cursor.Next());
  EXPECT_EQ(cursor.field(), 0x1fffffffu);
  EXPECT_EQ(cursor.varint(), std::numeric_limits<uint64_t>::max());
  ASSERT_TRUE(cursor.Next());
  EXPECT_TRUE(cursor.bytes().empty());
  EXPECT_FALSE(cursor.malformed());
}

struct Malformed {
  const char* name;
  std::string bytes;
};

class MalformedWireTest : public testing::TestWithParam<Malformed> {};

TEST_P(MalformedWireTest, EndsTheMessageAndSaysSo) {
  // One good field stands before it and is read.
  const std::string bytes = NumberField(1, 1) + GetParam().bytes;
  WireCursor cursor(bytes);
  ASSERT_TRUE(cursor.Next());
  EXPECT_FALSE(cursor.Next());
  EXPECT_TRUE(cursor.malformed());
  EXPECT_FALSE(cursor.Next());  // It stays so.
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, MalformedWireTest,
    testing::Values(Malformed{"FieldZero", Tag(0, 0) + "\x01"},
                    Malformed{"FieldTooLarge", Tag(uint64_t{1} << 29, 0) + "\x01"},
                    Malformed{"GroupStart", Tag(1, 3)}, Malformed{"GroupEnd", Tag(1, 4)},
                    Malformed{"WireType6", Tag(1, 6) + "\x01"},
                    Malformed{"WireType7", Tag(1, 7) + "\x01"},
                    Malformed{"TagWithoutValue", Tag(1, 0)}, Malformed{"CutTag", "\x80"},
                    Malformed{"CutNumber", Tag(1, 0) + "\xff\xff"},
                    Malformed{"ElevenByteNumber", Tag(1, 0) + std::string(10, '\xff') + "\x01"},
                    Malformed{"LengthBeyondTheEnd", CutField(2, 5, "four")},
                    Malformed{"LengthOf64Bits",
                              CutField(2, std::numeric_limits<uint64_t>::max(), "four")},
                    Malformed{"CutLength", Tag(2, 2) + "\x80"},
                    Malformed{"CutFixed64", Tag(3, 1) + std::string(7, 'x')},
                    Malformed{"CutFixed32", Tag(3, 5) + std::string(3, 'x')}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace oomdb::ingest
