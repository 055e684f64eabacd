#include "render/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"

namespace oomdb::render {
namespace {

using ::testing::HasSubstr;

TEST(UnitsTest, BytesHaveThreeFigures) {
  EXPECT_EQ(HumanBytes(0), "0 B");
  EXPECT_EQ(HumanBytes(588), "588 B");
  EXPECT_EQ(HumanBytes(1023), "1023 B");
  EXPECT_EQ(HumanBytes(1024), "1.00 KiB");
  EXPECT_EQ(HumanBytes(201326592), "192 MiB");
  EXPECT_EQ(HumanBytes(3075480600), "2.86 GiB");
  EXPECT_EQ(HumanBytes(2995781632), "2.79 GiB");
  EXPECT_EQ(HumanBytes(int64_t{143} << 30), "143 GiB");
  EXPECT_EQ(HumanBytes(-1536), "-1.50 KiB");
  EXPECT_EQ(HumanBytes(std::numeric_limits<int64_t>::max()), "8.00 EiB");
  EXPECT_EQ(HumanBytes(std::numeric_limits<int64_t>::min()), "-8.00 EiB");
}

TEST(UnitsTest, RoundingNeverShowsTheNextUnitsSize) {
  EXPECT_EQ(HumanBytes((1 << 20) - 1), "1.00 MiB");
  EXPECT_EQ(HumanBytes(1023 * 1024), "1023 KiB");
  EXPECT_EQ(HumanBytes(10238), "10.0 KiB");  // 9.998
  EXPECT_EQ(HumanBytes(102380), "100 KiB");  // 99.98
  EXPECT_EQ(HumanNanoseconds(999'999), "1.00 ms");
}

TEST(UnitsTest, Durations) {
  EXPECT_EQ(HumanNanoseconds(588), "588 ns");
  EXPECT_EQ(HumanNanoseconds(4000), "4.00 µs");
  EXPECT_EQ(HumanNanoseconds(68'500'000), "68.5 ms");
  EXPECT_EQ(HumanNanoseconds(10'000'000'000), "10.0 s");
  EXPECT_EQ(HumanNanoseconds(119'000'000'000), "119 s");
  EXPECT_EQ(HumanNanoseconds(125'000'000'000), "2 min 5 s");
  EXPECT_EQ(HumanNanoseconds(7'500'000'000'000), "2 h 5 min");
  EXPECT_EQ(HumanNanoseconds(-1500), "-1.50 µs");
}

TEST(UnitsTest, Percentages) {
  EXPECT_EQ(HumanPercent(72, 100), "72 %");
  EXPECT_EQ(HumanPercent(1, 250), "0.4 %");
  EXPECT_EQ(HumanPercent(0, 250), "0 %");
  EXPECT_EQ(HumanPercent(5, 4), "125 %");
  EXPECT_EQ(HumanPercent(1, 0), "–");
}

TEST(UnitsTest, SentencesGetUnits) {
  EXPECT_EQ(HumanizeSentence("needs 3277852672 bytes, holds 2995781632 bytes."),
            "needs 3.05 GiB, holds 2.79 GiB.");
  EXPECT_EQ(HumanizeSentence("waited 10000000000 ns for it"), "waited 10.0 s for it");
  EXPECT_EQ(HumanizeSentence("588 bytes"), "588 B");
  EXPECT_EQ(HumanizeSentence("grew by -2048 bytes"), "grew by -2.00 KiB");
  EXPECT_EQ(HumanizeSentence("(1024 bytes)"), "(1.00 KiB)");
}

TEST(UnitsTest, NamesInSentencesStayVerbatim) {
  for (const char* text :
       {"jit_12 bytes", "fusion.12 bytes", "f32[8,1024]", "12 bytesize", "12 nsx", "a12 ns",
        "99999999999999999999 bytes", "5 executions", "12  bytes", "", "é12 bytes"}) {
    EXPECT_EQ(HumanizeSentence(text), text);
  }
}

TEST(UnitsTest, SizesAreRead) {
  EXPECT_EQ(ParseBytes("1024", "--capacity"), 1024);
  EXPECT_EQ(ParseBytes("16GiB", "--capacity"), int64_t{16} << 30);
  EXPECT_EQ(ParseBytes("16G", "--capacity"), int64_t{16} << 30);
  EXPECT_EQ(ParseBytes("16 gib", "--capacity"), int64_t{16} << 30);
  EXPECT_EQ(ParseBytes("1.5GiB", "--capacity"), int64_t{3} << 29);
  EXPECT_EQ(ParseBytes(".5k", "--capacity"), 512);
  EXPECT_EQ(ParseBytes("100 bytes", "--capacity"), 100);
  EXPECT_EQ(ParseBytes("9223372036854775807", "--capacity"), std::numeric_limits<int64_t>::max());
}

TEST(UnitsTest, WrongSizesAreNamed) {
  for (const char* text :
       {"", "GiB", "-1", "1.2.3G", ".", "16X", "16GiBs", "1 6G", "0x10", "1e9"}) {
    try {
      ParseBytes(text, "--capacity");
      ADD_FAILURE() << text << " was read";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("--capacity: \""));
      EXPECT_EQ(error.code(), ExitCode::kUsage);
    }
  }
  for (const char* text : {"9223372036854775808", "8E", "99999999999999999999G"}) {
    EXPECT_THROW(ParseBytes(text, "x"), Error) << text;
  }
  EXPECT_THROW(ParseBytes("16GB", "x"), Error);  // 16e9 or 16 * 2^30?
  EXPECT_THROW(ParseBytes("1.5", "x"), Error);
}

}  // namespace
}  // namespace oomdb::render
