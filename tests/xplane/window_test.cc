#include "ingest/xplane/window.h"

#include <gtest/gtest.h>

namespace oomdb::ingest {
namespace {

std::string Letters(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += static_cast<char>('a' + i % 26);
  return text;
}

TEST(WindowTest, PeeksWhatIsThereAtEveryPosition) {
  const std::string text = Letters(100);
  const auto source = MemorySource(text);
  for (const size_t window_bytes : {1, 3, 16, 200}) {
    Window window(*source, window_bytes);
    for (size_t position = 0; position < text.size(); ++position) {
      for (const size_t want : {1, 5, 40}) {
        const std::string_view got = window.Peek(position, want);
        const size_t least = std::min(want, text.size() - position);
        ASSERT_GE(got.size(), least);
        ASSERT_EQ(got, text.substr(position, got.size()));
      }
    }
  }
}

TEST(WindowTest, GoesBackAndForth) {
  const std::string text = Letters(100);
  const auto source = MemorySource(text);
  Window window(*source, 10);
  EXPECT_EQ(window.Peek(90, 10), text.substr(90));
  EXPECT_EQ(window.Peek(0, 4).substr(0, 4), "abcd");
  EXPECT_EQ(window.Peek(26, 1).substr(0, 1), "a");
  EXPECT_EQ(window.Peek(5, 95), text.substr(5));  // Larger than the window: it grows.
  EXPECT_EQ(window.Peek(99, 50), text.substr(99));
}

TEST(WindowTest, NothingAtOrBehindTheEnd) {
  const auto source = MemorySource("abc");
  Window window(*source, 2);
  EXPECT_TRUE(window.Peek(3, 1).empty());
  EXPECT_TRUE(window.Peek(uint64_t{1} << 62, 1).empty());
  EXPECT_EQ(window.Peek(2, size_t{1} << 40), "c");
}

}  // namespace
}  // namespace oomdb::ingest
