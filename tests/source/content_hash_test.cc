#include <gtest/gtest.h>

#include <string>

#include "ingest/source/source.h"

namespace oomdb::ingest {
namespace {

// The expected values are those of `xxhsum -H2`.
TEST(ContentHashTest, IsXxh3Of128Bits) {
  EXPECT_EQ(ContentHash(*MemorySource("")), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(ContentHash(*MemorySource("oomdb\n")), "8e20610b03af8a8adcff2859d4453eb3");
}

TEST(ContentHashTest, ReadsOnPastItsBuffer) {
  const std::string long_text((3 << 20) + 7, 'x');
  EXPECT_EQ(ContentHash(*MemorySource(long_text)), "a3b90fe58793143108fdd5dc7ced7f60");
  std::string other = long_text;
  other.back() = 'y';
  EXPECT_NE(ContentHash(*MemorySource(other)), ContentHash(*MemorySource(long_text)));
}

}  // namespace
}  // namespace oomdb::ingest
