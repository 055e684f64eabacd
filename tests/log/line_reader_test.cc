#include "ingest/log/line_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oomdb::ingest {
namespace {

using testing::ElementsAre;
using testing::Pair;

std::vector<std::pair<int64_t, std::string>> Lines(const std::string& text) {
  const auto source = MemorySource(text);
  LineReader reader(*source);
  std::vector<std::pair<int64_t, std::string>> lines;
  LineReader::Line line;
  while (reader.Next(&line)) lines.emplace_back(line.number, line.text);
  EXPECT_EQ(reader.lines(), lines.empty() ? 0 : lines.back().first);
  return lines;
}

TEST(LineReaderTest, AllEndsOfLines) {
  EXPECT_THAT(Lines(""), ElementsAre());
  EXPECT_THAT(Lines("\n"), ElementsAre(Pair(1, "")));
  EXPECT_THAT(Lines("a\r\n\nb"), ElementsAre(Pair(1, "a"), Pair(2, ""), Pair(3, "b")));
}

TEST(LineReaderTest, LongLinesComeInPiecesOfOneNumber) {
  const std::string huge((5 << 20) + 7, 'x');
  std::string whole;
  for (const auto& [number, text] : Lines("a\n" + huge + "\nb\n" + huge)) {
    EXPECT_LE(text.size(), LineReader::kMaxLineBytes);
    if (number == 2) whole += text;
    if (number == 3) {
      EXPECT_EQ(text, "b");
    }
    EXPECT_LE(number, 4);
  }
  EXPECT_EQ(whole, huge);
}

TEST(LineReaderTest, SkipsToWhatMatches) {
  // Windows end anywhere: in a line, before it, within what is looked for.
  for (size_t before = 0; before < 40; ++before) {
    const std::string line(LineReader::kMaxLineBytes / 16 - 1, '.');
    std::string text;
    for (int i = 0; i < 31; ++i) text += line + "\n";
    text += std::string(LineReader::kMaxLineBytes / 16 - before, '.') + "\n";
    text += "..needle..\nlast";
    const auto source = MemorySource(text);
    LineReader reader(*source, 2 * LineReader::kMaxLineBytes);
    const Pattern needle("needle");
    ASSERT_TRUE(reader.SkipTo(needle)) << before;
    LineReader::Line found;
    ASSERT_TRUE(reader.Next(&found));
    EXPECT_EQ(found.number, 33);
    EXPECT_EQ(found.text, "..needle..");
    EXPECT_FALSE(reader.SkipTo(needle));
    EXPECT_EQ(reader.lines(), 34);
  }
}

// However far behind the start of its line, and of a window.
TEST(LineReaderTest, WhatStandsFarBehindIsFound) {
  const Pattern needle("needle [0-9]");
  for (const size_t before : {size_t{10}, LineReader::kMaxLineBytes + 10, size_t{1} << 20,
                              (size_t{1} << 20) + 3, size_t{5} << 20}) {
    for (const std::string& end : {std::string("\n"), std::string(3 << 20, 'y') + "\n"}) {
      const std::string text =
          "first\n" + std::string(before, 'x') + " needle 1" + end + "needle 2\n";
      const auto source = MemorySource(text);
      LineReader reader(*source);
      LineReader::Line found;
      ASSERT_TRUE(reader.SkipTo(needle)) << before;
      ASSERT_TRUE(reader.Next(&found));
      EXPECT_EQ(found.number, 2) << before;
      EXPECT_NE(found.text.find("needle 1"), std::string_view::npos) << before;
      ASSERT_TRUE(reader.SkipTo(needle)) << before;
      ASSERT_TRUE(reader.Next(&found));
      EXPECT_EQ(found.number, 3) << before;
      EXPECT_EQ(found.text, "needle 2") << before;
      EXPECT_FALSE(reader.SkipTo(needle));
      EXPECT_EQ(reader.lines(), 3);
    }
  }
}

}  // namespace
}  // namespace oomdb::ingest
