#include "ingest/plan/plan_cache.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "tests/plan/text_proto.h"

namespace oomdb::ingest {
namespace {

std::string Module(const std::string& name) {
  return FromText<proto::HloProto>(
             "hlo_module { name: '" + name +
             "' computations { instructions { name: 'a' opcode: 'add' shape { element_type: 11 } "
             "} } }")
      .SerializeAsString();
}

TEST(PlanCacheTest, APlanIsReadOnce) {
  PlanCache cache;
  const auto first = cache.Read("f", Module("jit_f"));
  EXPECT_EQ(first->module_name, "jit_f");
  // What is kept under a hash is not read again, whatever the bytes.
  EXPECT_EQ(cache.Read("f", "no proto"), first);
  EXPECT_EQ(cache.Read("g", Module("jit_g"))->module_name, "jit_g");
}

TEST(PlanCacheTest, WhatCantBeReadIsNotKept) {
  PlanCache cache;
  EXPECT_THROW(cache.Read("f", "no proto"), Error);
  EXPECT_EQ(cache.Read("f", Module("jit_f"))->module_name, "jit_f");
}

TEST(PlanCacheTest, WhatWasAskedForLongestAgoGoesFirst) {
  const std::string bytes = Module("jit_f");
  PlanCache cache(2 * bytes.size());
  const auto a = cache.Read("a", bytes);
  const auto b = cache.Read("b", bytes);
  EXPECT_EQ(cache.Read("a", bytes), a);
  cache.Read("c", bytes);
  EXPECT_EQ(cache.Read("a", bytes), a);
  EXPECT_NE(cache.Read("b", bytes), b);
}

TEST(PlanCacheTest, OneLargerThanTheCacheIsReadAndNotKept) {
  const std::string small = Module("jit_f");
  PlanCache cache(small.size());
  const auto kept = cache.Read("small", small);
  EXPECT_EQ(cache.Read("large", Module("jit_of_a_longer_name"))->module_name,
            "jit_of_a_longer_name");
  EXPECT_EQ(cache.Read("small", small), kept);
}

TEST(PlanCacheTest, ThreadsMayAskAtOnce) {
  PlanCache cache(1000);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&cache] {
      for (int i = 0; i < 500; ++i) {
        const std::string name = "jit_" + std::to_string(i % 70);
        EXPECT_EQ(cache.Read(name, Module(name))->module_name, name);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace oomdb::ingest
