#include "ingest/derived/module_starts.h"

#include <gtest/gtest.h>

#include <vector>

namespace oomdb::ingest {
namespace {

AllocatorFact Pool(std::optional<Index> device, MaybeInt peak_bytes = std::nullopt) {
  AllocatorFact fact;
  fact.device = device;
  fact.capture_peak_bytes = peak_bytes;
  return fact;
}

ExecutionFact Start(Index module, int64_t start_ns, MaybeInt in_use_bytes, Index device = 0) {
  ExecutionFact fact;
  fact.device = device;
  fact.module = module;
  fact.start_ns = start_ns;
  fact.in_use_at_start_bytes = in_use_bytes;
  return fact;
}

AllocationFact Allocation(int64_t bytes, MaybeInt alloc_ns, MaybeInt free_ns = std::nullopt) {
  AllocationFact fact;
  fact.bytes = bytes;
  fact.alloc_ns = alloc_ns;
  fact.free_ns = free_ns;
  return fact;
}

// A module that starts every 100 ns, with so much in use.
ModuleStartsBuilder Starts(const std::vector<int64_t>& in_use_bytes) {
  ModuleStartsBuilder builder;
  builder.Add(Pool(0));
  for (size_t i = 0; i < in_use_bytes.size(); ++i) {
    builder.Add(static_cast<Index>(i),
                Start(0, 100 * (static_cast<int64_t>(i) + 1), in_use_bytes[i]));
  }
  return builder;
}

TEST(ModuleStartsTest, OneStartHasNoRise) {
  ModuleStartsBuilder builder = Starts({7});
  const std::vector<ModuleStarts> modules = builder.Build();
  ASSERT_EQ(modules.size(), 1u);
  EXPECT_EQ(modules[0].executions, 1);
  EXPECT_EQ(modules[0].first_in_use_bytes, 7);
  EXPECT_EQ(modules[0].last_in_use_bytes, 7);
  EXPECT_EQ(modules[0].floor_rise_bytes, 0);
  EXPECT_TRUE(modules[0].rises.empty());
}

TEST(ModuleStartsTest, TheFloorRisesWhereNothingIsGivenBackLater) {
  // The floors are 10, 100, 100, 104, 114: the 130 is given back.
  ModuleStartsBuilder builder = Starts({10, 130, 100, 104, 114});
  const ModuleStarts module = builder.Build().at(0);
  EXPECT_EQ(module.executions, 5);
  EXPECT_EQ(module.first_start_ns, 100);
  EXPECT_EQ(module.last_start_ns, 500);
  EXPECT_EQ(module.floor_rise_bytes, 104);
  EXPECT_FALSE(module.fell_before);  // By 30 only, and after the first rise.
  ASSERT_EQ(module.rises.size(), 3u);
  EXPECT_EQ(module.rises[0].place, 1);
  EXPECT_EQ(module.rises[0].rise_bytes, 90);
  EXPECT_EQ(module.rises[1].place, 3);
  EXPECT_EQ(module.rises[1].rise_bytes, 4);
  EXPECT_EQ(module.rises[2].place, 4);
  EXPECT_EQ(module.rises[2].rise_bytes, 10);
}

TEST(ModuleStartsTest, WhatFallsOrStaysDoesNotRise) {
  EXPECT_TRUE(Starts({50, 40, 30, 20}).Build().at(0).rises.empty());
  EXPECT_TRUE(Starts({50, 50, 50, 50}).Build().at(0).rises.empty());
  EXPECT_TRUE(Starts({50, 90, 120, 50}).Build().at(0).rises.empty());
}

TEST(ModuleStartsTest, ASawToothIsToldFromAGrowth) {
  // Two ramps were given back, this one is cut before its end.
  const ModuleStarts saw = Starts({10, 20, 30, 10, 20, 30, 10, 20, 30}).Build().at(0);
  EXPECT_EQ(saw.floor_rise_bytes, 20);
  EXPECT_TRUE(saw.fell_before);
  EXPECT_TRUE(saw.recurs);
  // Given back once: it may be again.
  const ModuleStarts once = Starts({10, 20, 30, 40, 10, 20, 30}).Build().at(0);
  EXPECT_TRUE(once.fell_before);
  EXPECT_FALSE(once.recurs);
  // A descent in several steps is one fall, also a long one.
  const ModuleStarts descent = Starts({90, 60, 30, 10, 20, 30, 40}).Build().at(0);
  EXPECT_TRUE(descent.fell_before);
  EXPECT_FALSE(descent.recurs);
  // Short swings at the beginning say nothing of a long ramp.
  const ModuleStarts warm_up = Starts({90, 0, 90, 0, 10, 20, 30, 40}).Build().at(0);
  EXPECT_TRUE(warm_up.fell_before);
  EXPECT_FALSE(warm_up.recurs);
  // One fall since the first rise: what rises may have been given back by it.
  const ModuleStarts eager = Starts({0, 1, 20, 90, 150, 40, 60}).Build().at(0);
  EXPECT_TRUE(eager.fell_before);
  EXPECT_FALSE(eager.recurs);
  // Swings through which the floor rises gave nothing of it back.
  const ModuleStarts through = Starts({50, 0, 51, 1, 52, 2, 53, 3}).Build().at(0);
  EXPECT_FALSE(through.fell_before);
  EXPECT_EQ(through.rises.size(), 3u);
}

TEST(ModuleStartsTest, StartsComeInAnyOrderAndUnknownOnesDontCount) {
  ModuleStartsBuilder builder;
  builder.Add(Pool(0));
  builder.Add(0, Start(0, 300, 30));
  builder.Add(1, Start(0, 100, 10));
  builder.Add(2, Start(0, 400, std::nullopt));
  ExecutionFact nowhere = Start(0, 500, 50);
  nowhere.device = std::nullopt;
  builder.Add(3, nowhere);
  builder.Add(4, Start(0, 200, 20));
  const std::vector<ModuleStarts> modules = builder.Build();
  ASSERT_EQ(modules.size(), 1u);
  EXPECT_EQ(modules[0].executions, 3);
  EXPECT_EQ(modules[0].first_in_use_bytes, 10);
  ASSERT_EQ(modules[0].rises.size(), 2u);
  EXPECT_EQ(modules[0].rises[0].rise_bytes, 10);
  EXPECT_EQ(modules[0].last_in_use_bytes, 30);
}

TEST(ModuleStartsTest, WhatIsKeptBelongsToTheIntervalThatMadeIt) {
  ModuleStartsBuilder builder = Starts({0, 1, 2});
  AllocationFact output = Allocation(8, 150);
  output.purpose = "output";
  output.module = 0;
  builder.Add(output);
  AllocationFact of_another = Allocation(16, 250);
  of_another.purpose = "output";
  of_another.module = 1;
  builder.Add(of_another);
  builder.Add(Allocation(1, 99));             // Before the first start.
  builder.Add(Allocation(2, 150, 299));       // Freed before the last.
  builder.Add(Allocation(4, 100, 300));       // Made at the first start, live at the last.
  builder.Add(Allocation(32, 300));           // Made at the last start.
  builder.Add(Allocation(64, std::nullopt));  // Nobody knows when.
  const ModuleStarts module = builder.Build().at(0);
  EXPECT_EQ(module.survivor_bytes, 8 + 16 + 4);
  EXPECT_EQ(module.own_output_bytes, 8);
  ASSERT_EQ(module.rises.size(), 2u);
  EXPECT_EQ(module.rises[0].kept_bytes, 8 + 4);
  EXPECT_EQ(module.rises[1].kept_bytes, 16);
}

TEST(ModuleStartsTest, EachModuleHasItsOwnLastStart) {
  ModuleStartsBuilder builder = Starts({0, 0});
  builder.Add(2, Start(1, 150, 0));
  builder.Add(3, Start(1, 400, 0));
  builder.Add(Allocation(1, 120, 250));  // Live at 200, not at 400.
  builder.Add(Allocation(2, 300));       // After 200, live at 400.
  const std::vector<ModuleStarts> modules = builder.Build();
  ASSERT_EQ(modules.size(), 2u);
  EXPECT_EQ(modules[0].survivor_bytes, 1);
  EXPECT_EQ(modules[1].survivor_bytes, 2);
}

TEST(ModuleStartsTest, TheBusiestAllocatorOfADeviceIsItsPool) {
  ModuleStartsBuilder builder;
  builder.Add(Pool(0, std::nullopt));
  builder.Add(Pool(std::nullopt, 1000));  // The host's.
  builder.Add(Pool(0, 5));
  builder.Add(Pool(0, 5));  // As busy: the first stays.
  builder.Add(Pool(1, 3));
  EXPECT_EQ(builder.Pools(), (std::map<Index, Index>{{0, 2}, {1, 4}}));
  builder.Add(0, Start(0, 100, 0));
  builder.Add(1, Start(0, 200, 0));
  AllocationFact elsewhere = Allocation(7, 150);
  elsewhere.allocator = 3;
  builder.Add(elsewhere);
  AllocationFact here = Allocation(9, 150);
  here.allocator = 2;
  builder.Add(here);
  const ModuleStarts module = builder.Build().at(0);
  EXPECT_EQ(module.allocator, 2);
  EXPECT_EQ(module.survivor_bytes, 9);
}

TEST(ModuleStartsTest, WithoutAnAllocatorOnlyWhatTheStartsSay) {
  ModuleStartsBuilder builder;
  builder.Add(0, Start(0, 100, 1));
  builder.Add(1, Start(0, 200, 2));
  const ModuleStarts module = builder.Build().at(0);
  EXPECT_EQ(module.allocator, std::nullopt);
  EXPECT_EQ(module.floor_rise_bytes, 1);
  EXPECT_EQ(module.survivor_bytes, 0);
}

}  // namespace
}  // namespace oomdb::ingest
