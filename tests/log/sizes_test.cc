#include "ingest/log/sizes.h"

#include <gtest/gtest.h>

namespace oomdb::ingest {
namespace {

int64_t BytesOf(std::string_view text) {
  const std::optional<Size> size = ParseSize(text);
  EXPECT_TRUE(size.has_value()) << text;
  return size.value_or(Size{-7, 0}).bytes;
}

TEST(SizesTest, AllUnitsAreBinary) {
  EXPECT_EQ(BytesOf("0B"), 0);
  EXPECT_EQ(BytesOf("64.0K"), 65536);
  EXPECT_EQ(BytesOf("528.00M"), 553648128);
  EXPECT_EQ(BytesOf("1004.50MiB"), 1053294592);
  EXPECT_EQ(BytesOf("31.246 GiB"), 33550137033);
  EXPECT_EQ(BytesOf("2.00T"), int64_t{2} << 40);
  EXPECT_EQ(BytesOf("64 GB"), int64_t{64} << 30);
  EXPECT_EQ(BytesOf("8kB"), 8192);
  EXPECT_EQ(BytesOf("123 bytes"), 123);
  EXPECT_EQ(BytesOf("165425291480B"), 165425291480);
  EXPECT_EQ(BytesOf("134217728"), 134217728);
  EXPECT_EQ(BytesOf("0x1000000"), 16777216);
}

TEST(SizesTest, ExabytesFitAndMoreIsUnknown) {
  EXPECT_EQ(BytesOf("3.47E"), 4000637620985759232);
  EXPECT_FALSE(ParseSize("8.00E"));
  EXPECT_FALSE(ParseSize("127.99EiB"));
  EXPECT_FALSE(ParseSize("18446744073709551615"));
  EXPECT_FALSE(ParseSize("0xffffffffffffffff"));
}

TEST(SizesTest, MinusOneIsUnknownAndOtherNegativesAreFigures) {
  EXPECT_FALSE(ParseSize("-1"));
  EXPECT_FALSE(ParseSize("-1.0B"));
  EXPECT_EQ(BytesOf("-27506732520"), -27506732520);
  EXPECT_EQ(BytesOf("-25.00GiB"), -(int64_t{25} << 30));
}

TEST(SizesTest, WhatIsNoSize) {
  for (const char* text : {"", "-", "G", "1.5X", "1,5G", "1.5GiBs", "unknown size", "1.", "1 2"})
    EXPECT_FALSE(ParseSize(text)) << text;
}

TEST(SizesTest, TheSlackIsHalfOfTheLastDigit) {
  EXPECT_EQ(ParseSize("5 bytes")->slack, 0);
  EXPECT_EQ(ParseSize("15.48G")->slack, 5368710);  // 0.005 GiB, and one for rounding.
  EXPECT_EQ(ParseSize("1.7K")->slack, 52);
}

TEST(SizesTest, GbMayMeanAPowerOfTen) {
  EXPECT_TRUE(IsAmbiguousUnit("4.4GB"));
  EXPECT_FALSE(IsAmbiguousUnit("4.4GiB"));
  EXPECT_FALSE(IsAmbiguousUnit("4.4G"));
  EXPECT_FALSE(IsAmbiguousUnit("4B"));
}

}  // namespace
}  // namespace oomdb::ingest
