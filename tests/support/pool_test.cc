#include "tests/support/pool.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace oomdb {
namespace {

TEST(PoolTest, RoundsUpToChunksAndCountsWhatIsInUse) {
  Pool pool(4096, 10240);
  ASSERT_EQ(pool.Allocate(1), 4096);
  ASSERT_EQ(pool.Allocate(257), 4096 + 256);
  EXPECT_EQ(pool.in_use_bytes(), 256 + 512);
  EXPECT_EQ(pool.available_bytes(), 10240 - 768);
}

TEST(PoolTest, JoinsNeighboursOnFree) {
  Pool pool(0, 1024);
  const int64_t a = *pool.Allocate(256);
  const int64_t b = *pool.Allocate(256);
  const int64_t c = *pool.Allocate(256);
  pool.Free(a);
  EXPECT_EQ(pool.largest_free_bytes(), 256);
  EXPECT_DOUBLE_EQ(pool.fragmentation(), 0.5);
  EXPECT_EQ(pool.Allocate(512), std::nullopt);  // Free enough in all, but not in one piece.
  pool.Free(b);
  EXPECT_EQ(pool.largest_free_bytes(), 512);
  pool.Free(c);
  EXPECT_EQ(pool.largest_free_bytes(), 1024);
  EXPECT_EQ(pool.peak_bytes(), 768);
  EXPECT_THROW(pool.Free(c), std::logic_error);
}

TEST(PoolTest, TakesTheSmallestHoleThatIsLargeEnough) {
  Pool pool(0, 4096);
  const int64_t large = *pool.Allocate(1024);
  pool.Allocate(256);
  const int64_t small = *pool.Allocate(512);
  pool.Allocate(256);
  pool.Free(large);
  pool.Free(small);
  EXPECT_EQ(pool.Allocate(512), small);
}

}  // namespace
}  // namespace oomdb
