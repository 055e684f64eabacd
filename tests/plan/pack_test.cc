// The packers on heaps small enough to lay out by hand.
#include "ingest/plan/pack/pack.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "ingest/plan/pack/heap_groups.h"
#include "tests/plan/text_proto.h"

namespace oomdb::ingest {
namespace {

struct Item {
  int64_t bytes;
  std::vector<HeapInterval> intervals;
};

std::vector<PackItem> Items(const std::vector<Item>& items) {
  std::vector<PackItem> packed;
  for (const Item& item : items) packed.push_back({item.bytes, item.intervals});
  return packed;
}

TEST(PackTest, NothingTakesNoRoom) {
  EXPECT_EQ(PackGlobally({}, 64), 0);
  EXPECT_EQ(PackInTime({}, 64), 0);
  const std::vector<Item> items = {{0, {{0, 5}}}, {100, {}}};
  EXPECT_EQ(PackGlobally(Items(items), 64), 0);
  EXPECT_EQ(PackInTime(Items(items), 64), 0);
}

TEST(PackTest, WhatDoesNotMeetShares) {
  const std::vector<Item> apart = {{100, {{0, 4}}}, {100, {{5, 9}}}};
  EXPECT_EQ(PackGlobally(Items(apart), 1), 100);
  EXPECT_EQ(PackInTime(Items(apart), 1), 100);
  const std::vector<Item> together = {{100, {{0, 6}}}, {100, {{5, 9}}}};
  EXPECT_EQ(PackGlobally(Items(together), 1), 200);
  EXPECT_EQ(PackInTime(Items(together), 1), 200);
}

TEST(PackTest, SizesAreRoundedUp) {
  const std::vector<Item> items = {{1, {{0, 6}}}, {65, {{5, 9}}}};
  EXPECT_EQ(PackGlobally(Items(items), 64), 64 + 128);
  EXPECT_EQ(PackInTime(Items(items), 64), 64 + 128);
}

TEST(PackTest, AHoleBetweenTwoLivesIsUsed) {
  // The first is away from 4 to 6: the second fits there globally; in the order of time the first
  // keeps its place.
  const std::vector<Item> items = {{100, {{0, 3}, {7, 9}}}, {100, {{4, 6}}}};
  EXPECT_EQ(PackGlobally(Items(items), 1), 100);
  EXPECT_EQ(PackInTime(Items(items), 1), 200);
}

TEST(PackTest, InTimeTheEndOfTheHeapIsTakenLast) {
  // 30 of 50 go back at the start, 40 at the end. What needs 20 takes the start, though the end
  // would fit; what needs 60 then grows from the end's start.
  const std::vector<Item> items = {
      {30, {{0, 3}}}, {20, {{1, 9}}}, {40, {{2, 4}}}, {20, {{5, 9}}}, {60, {{6, 9}}}};
  EXPECT_EQ(PackInTime(Items(items), 1), 50 + 60);
}

TEST(PackTest, TheBetterOfTwoOrdersCounts) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Item> items;
    for (int i = 0; i < 40; ++i) {
      const int64_t begin = random() % 60;
      items.push_back({static_cast<int64_t>(random() % 500 + 1),
                       {{begin, begin + static_cast<int64_t>(random() % 25) + 1}}});
    }
    const std::vector<PackItem> packed = Items(items);
    const int64_t live = PeakOf(packed).bytes;
    for (int64_t heap : {PackGlobally(packed, 1), PackInTime(packed, 1)}) {
      EXPECT_GE(heap, live);
      EXPECT_LE(heap, 3 * live);
    }
  }
}

TEST(PackTest, PeakIsTheMostLiveAtOnceAndItsFirstMoment) {
  const std::vector<Item> items = {{10, {{0, 5}}}, {20, {{3, 6}}}, {30, {{5, 7}}}};
  const LivePeak peak = PeakOf(Items(items));
  EXPECT_EQ(peak.bytes, 50);
  EXPECT_EQ(peak.moment, 5);
}

TEST(HeapGroupsTest, SharersAreOneGroupWithSeveralLives) {
  const auto hlo = FromText<proto::HloProto>(R"(
    hlo_module {
      name: "m"
      computations { id: 1 root_id: 1 instructions { name: "a" opcode: "add" id: 1
                     shape { element_type: 11 } } }
      entry_computation_id: 1
    }
    buffer_assignment {
      logical_buffers { id: 1 size: 100 defined_at { instruction_id: 1 } }
      logical_buffers { id: 2 size: 80 defined_at { instruction_id: 1 } }
      logical_buffers { id: 3 size: 60 defined_at { instruction_id: 1 } }
      buffer_allocations { index: 0 size: 128
        assigned { logical_buffer_id: 1 size: 100 } assigned { logical_buffer_id: 2 size: 80 }
        assigned { logical_buffer_id: 3 size: 60 } }
      heap_simulator_traces {
        events { buffer_id: 1 }
        events { kind: FREE buffer_id: 1 }
        events { buffer_id: 3 }
        events { kind: FREE buffer_id: 3 }
        events { kind: SHARE_WITH buffer_id: 2 share_with_canonical_id: 1 }
        events { kind: FREE buffer_id: 2 }
        events { kind: FREE buffer_id: 2 }
        events { kind: FREE buffer_id: 77 }
      }
    })");
  const Instructions instructions(hlo.hlo_module());
  IssueLog log;
  const BufferAssignment assignment(hlo.buffer_assignment(), instructions, log);
  const HeapGroups heap = ReadHeapGroups(hlo.buffer_assignment(), assignment);
  ASSERT_EQ(heap.groups.size(), 2u);
  EXPECT_EQ(heap.groups[0].bytes, 100);
  EXPECT_EQ(heap.groups[0].intervals, (std::vector<HeapInterval>{{0, 1}, {4, 5}}));
  ASSERT_EQ(heap.groups[0].members.size(), 2u);
  EXPECT_EQ(heap.groups[0].members[1].event, 4);
  EXPECT_EQ(heap.stored_bytes, 100);
  const PackingCheck check = CheckPacking(heap, HeapRulesOf("cpu"));
  EXPECT_EQ(check.packed_bytes, 128);
  // In the order of time it keeps its place in between.
  EXPECT_EQ(CheckPacking(heap, HeapRulesOf("tpu")).packed_bytes, 2 * 16384);
}

TEST(HeapGroupsTest, PlatformsHaveTheirRules) {
  EXPECT_EQ(HeapRulesOf("gpu").alignment, 128);
  EXPECT_EQ(HeapRulesOf("cpu").alignment, 64);
  EXPECT_EQ(HeapRulesOf("tpu").order, HeapOrder::kTime);
}

}  // namespace
}  // namespace oomdb::ingest
