// What is one failure, and what are two.
#include <gtest/gtest.h>

#include "tests/log/read_log.h"

namespace oomdb::ingest {
namespace {

const char* const kRequest =
    "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 50677266816 bytes.\n";

TEST(GroupingTest, ADriverThatBacksOffIsOneAdvice) {
  std::string text;
  double bytes = 1e9;
  for (int i = 0; i < 8; ++i, bytes *= 0.9) {
    const std::string size = std::to_string(static_cast<int64_t>(bytes));
    text += "failed to allocate 900.00M (" + size +
            " bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory\n";
  }
  const OomEventFact oom = ReadLog(text).only();
  EXPECT_EQ(oom.form, "D1");
  EXPECT_EQ(oom.fatal, false);
  EXPECT_EQ(oom.requested_bytes, 1000000000);
  EXPECT_EQ(oom.repeat_count, 8);
}

TEST(GroupingTest, AnOomIsFoundWhereverItStands) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "step " + std::to_string(i) + " loss 0.1\n";
  const OomEventFact oom = ReadLog(text + kRequest + text + kRequest + text).only();
  EXPECT_EQ(oom.line, 5001);
  EXPECT_EQ(oom.repeat_count, 2);
}

TEST(GroupingTest, TooManyAreCounted) {
  std::string text;
  for (int i = 0; i < 10010; ++i) {
    text += "Out of memory while trying to allocate " + std::to_string(1000000 + i * 1000) +
            " bytes.\n";
  }
  const ReadLog log(text);
  EXPECT_EQ(log.events.size(), 10000u);
  EXPECT_TRUE(log.has_issue("events_left_out"));
}

}  // namespace
}  // namespace oomdb::ingest
