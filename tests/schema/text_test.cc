#include "schema/text.h"

#include <gtest/gtest.h>

#include <string>

namespace oomdb::schema {
namespace {

constexpr char kReplacement[] = "\xef\xbf\xbd";

TEST(CleanTextTest, LeavesTextAlone) {
  for (const std::string text :
       {"", "jit_step", "f32[8]{0}", "Größe", "日本", "\xf0\x9f\x98\x80", "\t\x01"}) {
    EXPECT_TRUE(IsCleanText(text)) << text;
    EXPECT_EQ(CleanText(text), text);
  }
}

TEST(CleanTextTest, ReplacesWhatIsNone) {
  const std::string r = kReplacement;
  EXPECT_EQ(CleanText("a\xff"), "a" + r);
  EXPECT_EQ(CleanText("\x80z"), r + "z");
  EXPECT_EQ(CleanText(std::string("a\0b", 3)), "a" + r + "b");
  EXPECT_EQ(CleanText("\xe2\x82"), r + r);                  // Cut short.
  EXPECT_EQ(CleanText("\xc0\xaf"), r + r);                  // Overlong.
  EXPECT_EQ(CleanText("\xed\xa0\x80"), r + r + r);          // A surrogate.
  EXPECT_EQ(CleanText("\xf4\x90\x80\x80"), r + r + r + r);  // Above U+10FFFF.
  EXPECT_FALSE(IsCleanText("a\xff"));
}

}  // namespace
}  // namespace oomdb::schema
