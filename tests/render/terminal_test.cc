#include "render/terminal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.h"

namespace oomdb::render {
namespace {

using ::testing::ElementsAre;

TEST(TerminalTest, WidthsOfCharacters) {
  EXPECT_EQ(DisplayWidth("abc"), 3u);
  EXPECT_EQ(DisplayWidth("µ – …"), 5u);
  EXPECT_EQ(DisplayWidth("漢字"), 4u);
  EXPECT_EQ(DisplayWidth("e\u0301"), 1u);
  EXPECT_EQ(DisplayWidth("🚀"), 2u);
  EXPECT_EQ(DisplayWidth("█▏─"), 3u);
  EXPECT_EQ(DisplayWidth("\xff\xc3"), 2u);
}

TEST(TerminalTest, CapturesCannotDriveTheTerminal) {
  EXPECT_EQ(Sanitize("a\x1b[2Jb\n\t\r"), "a\\x1b[2Jb\\n\\t\\r");
  EXPECT_EQ(Sanitize(std::string("\0\x7f", 2)), "\\x00\\x7f");
  EXPECT_EQ(Sanitize("\u009b31m"), "\\x9b31m");  // C1: a control sequence of one character.
  EXPECT_EQ(Sanitize("\u202egnp.exe"), "\\u202egnp.exe");
  EXPECT_EQ(Sanitize("\xff\xed\xa0\x80ok"), "\uFFFD\uFFFD\uFFFD\uFFFDok");
  EXPECT_EQ(Sanitize("\xc0\xaf"), "\uFFFD\uFFFD");  // Overlong.
  EXPECT_EQ(Sanitize("漢 é 🚀"), "漢 é 🚀");
}

TEST(TerminalTest, TruncationKeepsToTheWidth) {
  EXPECT_EQ(Truncate("abcdef", 6), "abcdef");
  EXPECT_EQ(Truncate("abcdef", 4), "abc…");
  EXPECT_EQ(Truncate("漢字漢字", 4), "漢…");  // No half characters.
  EXPECT_EQ(Truncate("abc", 0), "");
}

TEST(TerminalTest, PaddingCountsColumns) {
  EXPECT_EQ(PadRight("漢", 4), "漢  ");
  EXPECT_EQ(PadLeft("µ", 3), "  µ");
  EXPECT_EQ(PadLeft("long", 2), "long");
}

TEST(TerminalTest, WrapsAtSpaces) {
  EXPECT_THAT(Wrap("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(Wrap("abcdefgh ij", 4), ElementsAre("abcd", "efgh", "ij"));
  EXPECT_THAT(Wrap("a abcdefgh", 4), ElementsAre("a", "abcd", "efgh"));
  EXPECT_THAT(Wrap("漢字漢字", 4), ElementsAre("漢字", "漢字"));
  EXPECT_THAT(Wrap("  a  b ", 10), ElementsAre("a b"));
  EXPECT_THAT(Wrap("", 10), ElementsAre(""));
}

TEST(TerminalTest, BarsAreDrawnInEighths) {
  EXPECT_EQ(Bar(1, 1, 4), "████");
  EXPECT_EQ(Bar(5, 16, 4), "█▎");
  EXPECT_EQ(Bar(1, 1000000, 4), "▏");
  EXPECT_EQ(Bar(0, 1, 4), "");
  EXPECT_EQ(Bar(7, 1, 4), "████");
  EXPECT_EQ(Bar(1, 0, 4), "");
}

class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    const char* before = std::getenv(name);
    had_ = before != nullptr;
    if (had_) before_ = before;
    value != nullptr ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  ~Environment() { had_ ? ::setenv(name_, before_.c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  bool had_;
  std::string before_;
};

TEST(TerminalTest, WidthComesFromColumns) {
  {
    const Environment columns("COLUMNS", "123");
    EXPECT_EQ(DescribeTerminal(1, ColorMode::kAuto).width, 123u);
  }
  const Environment columns("COLUMNS", "7");
  EXPECT_EQ(DescribeTerminal(1, ColorMode::kAuto).width, 40u);
}

TEST(TerminalTest, AlwaysIsAlwaysAndNeverIsNever) {
  const Environment no_color("NO_COLOR", "1");
  const Environment term("TERM", "dumb");
  EXPECT_TRUE(DescribeTerminal(1, ColorMode::kAlways).color);
  EXPECT_FALSE(DescribeTerminal(1, ColorMode::kAuto).color);
  EXPECT_FALSE(DescribeTerminal(1, ColorMode::kNever).color);
  EXPECT_THROW(ParseColorMode("sometimes"), Error);
  EXPECT_EQ(Paint(Style::kRed, "x", false), "x");
  EXPECT_EQ(Paint(Style::kRed, "x", true), "\x1b[31mx\x1b[0m");
}

}  // namespace
}  // namespace oomdb::render
