#include "ingest/xplane/allocator_series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/sizes.h"

namespace oomdb::ingest {
namespace {

using testing::ElementsAre;

// Tells the events of one pool; capacity 1 GiB.
class PoolTape {
 public:
  PoolTape() { timeline_.allocator_names.push_back({"GPU_0_bfc", {"gpu", 0}}); }

  PoolTape& Alloc(int64_t time_ps, int64_t address, int64_t bytes, int64_t in_use_after) {
    return Add(time_ps, address, bytes, in_use_after, true);
  }
  PoolTape& Free(int64_t time_ps, int64_t address, int64_t bytes, int64_t in_use_after) {
    return Add(time_ps, address, bytes, in_use_after, false);
  }
  const HostTimeline& timeline() const { return timeline_; }
  AllocatorEvent& last() { return timeline_.allocator_events.back(); }

  AllocatorSeries Series() const { return BuildSeries(timeline_).at(0); }

 private:
  PoolTape& Add(int64_t time_ps, int64_t address, int64_t bytes, int64_t in_use_after,
                bool is_allocation) {
    AllocatorEvent event;
    event.is_allocation = is_allocation;
    event.time_ps = time_ps;
    event.address = address;
    event.bytes = bytes;
    event.requested_bytes = bytes - 1;
    event.in_use_bytes = in_use_after;
    event.available_bytes = 1_GiB - in_use_after;
    event.peak_bytes = in_use_after;
    timeline_.allocator_events.push_back(event);
    return *this;
  }

  HostTimeline timeline_;
};

TEST(AllocatorSeriesTest, TotalsOfAQuietPool) {
  PoolTape pool;
  pool.Alloc(10, 0xa, 256, 1256).Alloc(20, 0xb, 512, 1768).Free(30, 0xa, 256, 1512);
  pool.last().peak_bytes = 5000;  // From before the capture.
  const AllocatorSeries series = pool.Series();
  EXPECT_THAT(series.order, ElementsAre(0, 1, 2));
  EXPECT_EQ(series.capacity_bytes, 1_GiB);
  EXPECT_EQ(series.before_capture_bytes, 1000);
  EXPECT_EQ(series.capture_peak_bytes, 1768);
  EXPECT_EQ(series.peak_bytes, 5000);
  EXPECT_EQ(series.allocation_count, 2);
  EXPECT_EQ(series.deallocation_count, 1);
  EXPECT_EQ(series.reconciliation_breaks, 0);
}

TEST(AllocatorSeriesTest, EventsOfSeveralThreadsStandByTime) {
  PoolTape pool;
  pool.Alloc(30, 0xc, 100, 300).Alloc(10, 0xa, 100, 100).Alloc(20, 0xb, 100, 200);
  const AllocatorSeries series = pool.Series();
  EXPECT_THAT(series.order, ElementsAre(1, 2, 0));
  EXPECT_EQ(series.reconciliation_breaks, 0);
  EXPECT_EQ(series.before_capture_bytes, 0);
}

TEST(AllocatorSeriesTest, EventsOfOneMomentStandAsTheirTotalsFit) {
  PoolTape pool;
  pool.Alloc(5, 0x1, 50, 50);
  pool.Alloc(10, 0xc, 100, 350).Alloc(10, 0xa, 100, 150).Alloc(10, 0xb, 100, 250);
  EXPECT_THAT(pool.Series().order, ElementsAre(0, 2, 3, 1));
  EXPECT_EQ(pool.Series().reconciliation_breaks, 0);
}

TEST(AllocatorSeriesTest, SoDoThoseOfTheFirstMoment) {
  PoolTape pool;
  pool.Alloc(10, 0xc, 100, 1300).Alloc(10, 0xa, 100, 1100).Alloc(10, 0xb, 100, 1200);
  EXPECT_THAT(pool.Series().order, ElementsAre(1, 2, 0));
  EXPECT_EQ(pool.Series().before_capture_bytes, 1000);
}

TEST(AllocatorSeriesTest, LostEventsAreBreaks) {
  PoolTape pool;
  pool.Alloc(10, 0xa, 100, 100)
      .Alloc(20, 0xb, 100, 300)
      .Alloc(30, 0xc, 100, 400)
      .Free(40, 0xc, 100, 200);
  EXPECT_EQ(pool.Series().reconciliation_breaks, 2);
}

TEST(AllocatorSeriesTest, ReservedBytesAreCapacity) {
  PoolTape pool;
  pool.Alloc(10, 0xa, 100, 100);
  pool.last().reserved_bytes = 64;
  EXPECT_EQ(pool.Series().capacity_bytes, 1_GiB + 64);
}

TEST(AllocatorSeriesTest, NoLimitIsNoCapacity) {
  PoolTape pool;
  pool.Alloc(10, 0xa, 100, 100);
  pool.last().available_bytes = INT64_MAX - 100;
  EXPECT_EQ(pool.Series().capacity_bytes, 0);
}

std::vector<PairedAllocation> Pair(const PoolTape& pool, int64_t* breaks = nullptr) {
  std::vector<AllocatorSeries> series = BuildSeries(pool.timeline());
  std::vector<PairedAllocation> pairs = PairAllocations(pool.timeline(), &series);
  if (breaks != nullptr) *breaks = series[0].reconciliation_breaks;
  return pairs;
}

TEST(PairAllocationsTest, AReusedAddressIsTwoAllocations) {
  PoolTape pool;
  pool.Alloc(1, 0xa, 100, 100).Free(2, 0xa, 100, 0).Alloc(3, 0xa, 200, 200);
  const auto pairs = Pair(pool);
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].alloc_event, 0);
  EXPECT_EQ(pairs[0].free_event, 1);
  EXPECT_EQ(pairs[1].alloc_event, 2);
  EXPECT_EQ(pairs[1].free_event, -1);
  EXPECT_EQ(pairs[1].bytes, 200);
  EXPECT_EQ(pairs[1].requested_bytes, 199);
}

TEST(PairAllocationsTest, ALiveAddressTakenOverLostItsFree) {
  PoolTape pool;
  pool.Alloc(1, 0xa, 100, 100).Alloc(2, 0xa, 100, 200);
  int64_t breaks = 0;
  const auto pairs = Pair(pool, &breaks);
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].closed_by, 1);
  EXPECT_EQ(pairs[0].free_event, -1);
  EXPECT_EQ(breaks, 1);
}

TEST(PairAllocationsTest, WhatWasThereBeforeTheCapture) {
  PoolTape pool;
  pool.Free(1, 0xa, 300, 700).Alloc(2, 0xa, 100, 800);
  const auto pairs = Pair(pool);
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs[0].alloc_event, -1);
  EXPECT_EQ(pairs[0].free_event, 0);
  EXPECT_EQ(pairs[0].bytes, 300);
  EXPECT_EQ(pairs[2].address, std::nullopt);  // The rest of the 1000, never seen in an event.
  EXPECT_EQ(pairs[2].bytes, 700);
  EXPECT_EQ(pairs[2].free_event, -1);
}

TEST(PairAllocationsTest, AFreeOfALostAllocationTakesNothingFromBefore) {
  PoolTape pool;
  pool.Alloc(1, 0xa, 100, 600)
      .Free(2, 0xa, 100, 500)
      .Free(4, 0xa, 200, 500);  // An allocation was lost at 3.
  const auto pairs = Pair(pool);
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs[2].bytes, 500);
}

TEST(InUseAtTest, BeforeBetweenAndAfter) {
  PoolTape pool;
  pool.Alloc(10, 0xa, 100, 1100).Alloc(20, 0xb, 100, 1200).Free(30, 0xa, 100, 1100);
  const AllocatorSeries series = pool.Series();
  EXPECT_EQ(InUseAt(pool.timeline(), series, 5), 1000);  // The first event undone.
  EXPECT_EQ(InUseAt(pool.timeline(), series, 10), 1000);
  EXPECT_EQ(InUseAt(pool.timeline(), series, 11), 1100);
  EXPECT_EQ(InUseAt(pool.timeline(), series, 30), 1200);
  EXPECT_EQ(InUseAt(pool.timeline(), series, 99), 1100);
  EXPECT_EQ(InUseAt(pool.timeline(), AllocatorSeries(), 5), std::nullopt);
}

TEST(PeakWithinTest, EveryRangeAsCountedByHand) {
  PoolTape pool;
  const int64_t totals[] = {100, 300, 200, 700, 600, 500, 650, 100, 50, 90};
  int64_t time = 0, before = 40;
  for (const int64_t total : totals) {
    time += 10;
    if (total >= before) {
      pool.Alloc(time, time, total - before, total);
    } else {
      pool.Free(time, time, before - total, total);
    }
    before = total;
  }
  const AllocatorSeries series = pool.Series();
  ASSERT_EQ(series.reconciliation_breaks, 0);
  for (int64_t start = 0; start <= 110; start += 5) {
    for (int64_t end = start; end <= 110; end += 5) {
      int64_t expected = *InUseAt(pool.timeline(), series, start);
      for (int64_t i = 0; i < 10; ++i) {
        const int64_t at = (i + 1) * 10;
        if (at >= start && at <= end) expected = std::max(expected, totals[i]);
      }
      ASSERT_EQ(PeakWithin(pool.timeline(), series, start, end), expected) << start << " " << end;
    }
  }
}

}  // namespace
}  // namespace oomdb::ingest
