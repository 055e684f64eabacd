#include "ingest/derived/failed_starts.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "ingest/plan/plan.h"

namespace oomdb::ingest {
namespace {

constexpr int64_t kOutputs = 1, kData = 2, kBefore = 3;  // Origins.
const std::map<Index, Index> kPools = {{0, 0}};

PlanAllocation Planned(int64_t index, AllocationClass allocation_class, int64_t bytes) {
  PlanAllocation allocation;
  allocation.index = index;
  allocation.allocation_class = allocation_class;
  allocation.bytes = bytes;
  return allocation;
}

// A step with two parameters of 100 bytes, one of 30, and a temp of 500.
ModuleFact Step() {
  auto plan = std::make_shared<Plan>();
  plan->has_buffer_assignment = true;
  plan->parameter_bytes = 230;
  plan->allocations = {
      Planned(0, AllocationClass::kParameter, 100), Planned(1, AllocationClass::kParameter, 100),
      Planned(2, AllocationClass::kParameter, 30), Planned(3, AllocationClass::kTemp, 500)};
  ModuleFact fact;
  fact.plan = std::move(plan);
  return fact;
}

ExecutionFact Execution(int64_t start_ns, std::optional<bool> launched) {
  ExecutionFact fact;
  fact.device = 0;
  fact.module = 0;
  fact.start_ns = start_ns;
  fact.launched = launched;
  return fact;
}

AllocationFact Live(int64_t bytes, MaybeInt alloc_ns, std::optional<Index> module = std::nullopt,
                    MaybeInt free_ns = std::nullopt) {
  AllocationFact fact;
  fact.address = 4096;
  fact.bytes = bytes;
  fact.alloc_ns = alloc_ns;
  fact.free_ns = free_ns;
  fact.module = module;
  return fact;
}

// What was there before the capture and is never seen in an event.
AllocationFact Before(int64_t bytes) {
  AllocationFact fact;
  fact.bytes = bytes;
  return fact;
}

TEST(FailedStartsTest, WithoutAFailureNothingIsWanted) {
  FailedStartsBuilder builder;
  builder.Add(Step());
  builder.Add(0, Execution(100, true));
  builder.Add(1, Execution(200, std::nullopt));
  EXPECT_FALSE(builder.WantsAllocations());
  EXPECT_TRUE(builder.Build(kPools).empty());
}

TEST(FailedStartsTest, TheStepsOwnParametersAreNotOthers) {
  FailedStartsBuilder builder;
  builder.Add(Step());
  builder.Add(0, Execution(1000, false));
  ASSERT_TRUE(builder.WantsAllocations());
  builder.Add(Live(100, 10, 0), kOutputs);  // State that goes round: its own outputs.
  builder.Add(Live(100, 20, 0), kOutputs);
  builder.Add(Live(30, 30, 0), kOutputs);
  builder.Add(Live(70, 40), kData);
  builder.Add(Live(50, 1000), kData);                   // Not before the failure.
  builder.Add(Live(60, 50, std::nullopt, 999), kData);  // Freed before it.
  builder.Add(Live(9, 50, std::nullopt, 1000), kData);  // Freed as it began: live.
  const std::vector<FailedLive> live = builder.Build(kPools);
  ASSERT_EQ(live.size(), 1u);
  EXPECT_EQ(live[0].execution, 0);
  EXPECT_EQ(live[0].origin_id, kData);
  EXPECT_EQ(live[0].bytes, 79);
  EXPECT_EQ(live[0].count, 2);
}

TEST(FailedStartsTest, OfMoreThanTheParametersTheOldestAreOthers) {
  FailedStartsBuilder builder;
  builder.Add(Step());
  builder.Add(0, Execution(1000, false));
  for (int64_t ns : {10, 20, 30, 40, 50}) builder.Add(Live(100, ns, 0), kOutputs);
  builder.Add(Live(30, 60, 0), kOutputs);
  const std::vector<FailedLive> live = builder.Build(kPools);
  ASSERT_EQ(live.size(), 1u);
  EXPECT_EQ(live[0].bytes, 300);
  EXPECT_EQ(live[0].count, 3);
}

TEST(FailedStartsTest, WhatWasThereBeforeHoldsTheMissingParameters) {
  FailedStartsBuilder builder;
  builder.Add(Step());
  builder.Add(0, Execution(1000, false));
  builder.Add(Before(1000), kBefore);
  // Of a parameter's size, made by others: what was there before can hold the parameters.
  builder.Add(Live(100, 10), kData);
  const std::vector<FailedLive> live = builder.Build(kPools);
  ASSERT_EQ(live.size(), 2u);
  EXPECT_EQ(live[0].origin_id, kData);
  EXPECT_EQ(live[0].bytes, 100);
  EXPECT_EQ(live[1].origin_id, kBefore);
  EXPECT_EQ(live[1].bytes, 1000 - 230);
}

TEST(FailedStartsTest, WhatOthersMadeIsTheParametersWhereNothingElseCanBe) {
  FailedStartsBuilder builder;
  builder.Add(Step());
  builder.Add(0, Execution(1000, false));
  builder.Add(Live(100, 10), kData);
  builder.Add(Live(100, 20), kData);
  builder.Add(Live(30, 30), kData);
  builder.Add(Live(100, 40), kData);  // A third of that size.
  const std::vector<FailedLive> live = builder.Build(kPools);
  ASSERT_EQ(live.size(), 1u);
  EXPECT_EQ(live[0].bytes, 100);
  EXPECT_EQ(live[0].count, 1);
}

TEST(FailedStartsTest, OnlyTheFirstFailureOfAModule) {
  FailedStartsBuilder builder;
  builder.Add(Step());
  builder.Add(0, Execution(3000, false));
  builder.Add(1, Execution(1000, false));
  builder.Add(Live(7, 10), kData);
  builder.Add(Live(8, 2000), kData);
  const std::vector<FailedLive> live = builder.Build(kPools);
  ASSERT_EQ(live.size(), 1u);
  EXPECT_EQ(live[0].execution, 1);
  EXPECT_EQ(live[0].bytes, 7);
}

TEST(FailedStartsTest, OneThatGotAllItWantedFailedForAnotherReason) {
  FailedStartsBuilder builder;
  builder.Add(Step());
  builder.Add(0, Execution(1000, false));
  AllocationFact temp = Live(500, 1001, 0);
  temp.execution = 0;
  temp.allocation_index = 3;
  builder.Add(temp, kOutputs);
  builder.Add(Live(7, 10), kData);
  EXPECT_TRUE(builder.Build(kPools).empty());
}

TEST(FailedStartsTest, WithoutAPlanOrAPoolNothingIsSaid) {
  FailedStartsBuilder without_plan;
  without_plan.Add(ModuleFact());
  without_plan.Add(0, Execution(1000, false));
  without_plan.Add(Live(7, 10), kData);
  EXPECT_TRUE(without_plan.Build(kPools).empty());

  FailedStartsBuilder without_pool;
  without_pool.Add(Step());
  without_pool.Add(0, Execution(1000, false));
  without_pool.Add(Live(7, 10), kData);
  EXPECT_TRUE(without_pool.Build({}).empty());
}

}  // namespace
}  // namespace oomdb::ingest
