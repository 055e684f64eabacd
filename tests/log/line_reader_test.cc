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
  EXPECT_EQ(reader.lines(), static_cast<int64_t>(lines.size()));
  return lines;
}

TEST(LineReaderTest, AllEndsOfLines) {
  EXPECT_THAT(Lines(""), ElementsAre());
  EXPECT_THAT(Lines("\n"), ElementsAre(Pair(1, "")));
  EXPECT_THAT(Lines("a\r\n\nb"), ElementsAre(Pair(1, "a"), Pair(2, ""), Pair(3, "b")));
}

TEST(LineReaderTest, LongLinesAreCutAndCounted) {
  const std::string huge(5 << 20, 'x');
  const auto lines = Lines("a\n" + huge + "\nb\n" + huge);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[1].second.size(), LineReader::kMaxLineBytes);
  EXPECT_THAT(lines[2], Pair(3, "b"));
  EXPECT_EQ(lines[3].second.size(), LineReader::kMaxLineBytes);
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

TEST(LineReaderTest, WhatStandsBeyondTheCutIsNotFound) {
  const std::string far(LineReader::kMaxLineBytes + 10, 'x');
  const Pattern needle("needle");
  for (const std::string& end : {std::string("\n"), std::string(3 << 20, 'y') + "\n"}) {
    const std::string text = far + "needle" + end + "needle 2\n";
    const auto source = MemorySource(text);
    LineReader reader(*source);
    ASSERT_TRUE(reader.SkipTo(needle));
    LineReader::Line found;
    ASSERT_TRUE(reader.Next(&found));
    EXPECT_EQ(found.number, 2);
    EXPECT_FALSE(reader.SkipTo(needle));
  }
}

}  // namespace
}  // namespace oomdb::ingest
