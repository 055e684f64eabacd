// Modules that XLA wrote, against the figures that XLA printed for them (memory analysis and
// memory-usage-report of the same compilation).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plan/text_proto.h"

namespace oomdb::ingest {
namespace {

TEST(RealModulesTest, TpuWithAnArgumentInHostMemory) {
  const Plan plan =
      ReadPlan(TestData("module_0000.jit_fn.cl_933746096.after_optimizations.hlo.pb"));
  EXPECT_TRUE(plan.issues.empty());
  EXPECT_EQ(plan.module_name, "jit_fn");
  EXPECT_EQ(plan.instruction_count, 16);
  EXPECT_EQ(plan.parameter_count, 2);
  EXPECT_EQ(plan.parameter_bytes, 16777216);
  EXPECT_EQ(plan.output_bytes, 16777216);
  EXPECT_EQ(plan.plan_bytes, 50364416);
  EXPECT_EQ(plan.peak_bytes, 50331648);
  std::vector<int64_t> spaces;
  std::vector<int64_t> temps;
  for (const PlanMemory& space : plan.spaces) {
    spaces.push_back(space.memory_space);
    temps.push_back(space.temp_bytes);
    ASSERT_TRUE(space.heap_peak_bytes.has_value());
    EXPECT_EQ(BytesAtPeak(plan, space.memory_space), *space.heap_peak_bytes);
  }
  EXPECT_THAT(spaces, testing::ElementsAre(0, 1, 2, 5));
  EXPECT_THAT(temps, testing::ElementsAre(16809984, 16777216, 8, 0));
  EXPECT_EQ(plan.spaces[3].parameter_bytes, 16777216);
}

TEST(RealModulesTest, GpuWithOffloadedActivations) {
  const Plan plan =
      ReadPlan(TestData("module_0001.jit_loss.sm_8.0_gpu_after_optimizations.hlo.pb"));
  EXPECT_TRUE(plan.issues.empty());
  EXPECT_EQ(plan.instruction_count, 166);
  EXPECT_EQ(plan.plan_bytes, 247465780);
  EXPECT_EQ(plan.heap_peak_bytes, 146800648);
  EXPECT_EQ(plan.peak_bytes, 247463956);
  EXPECT_EQ(BytesAtPeak(plan, 0), 146800648);
  ASSERT_EQ(plan.spaces.size(), 2u);
  EXPECT_EQ(plan.spaces[1].memory_space, 5);
  EXPECT_EQ(plan.spaces[1].temp_bytes, 268435456);
  int64_t backward = 0;
  int64_t forward = 0;
  for (const PlanBuffer& buffer : plan.buffers) {
    if (buffer.at_peak != true || buffer.memory_space != 0) continue;
    if (buffer.role == Role::kBackward) backward += buffer.bytes;
    if (buffer.role == Role::kForward) forward += buffer.bytes;
  }
  EXPECT_EQ(backward, 113246216);
  EXPECT_EQ(forward, 33554432);
  EXPECT_FALSE(plan.frames.empty());
}

TEST(RealModulesTest, EightDevicesThatShareABatch) {
  const Plan plan = ReadPlan(TestData("jit_forward_3d_conv.mi300.hlo.pb"));
  EXPECT_TRUE(plan.issues.empty());
  EXPECT_EQ(plan.num_partitions, 8);
  EXPECT_EQ(plan.replica_count, 1);
  std::vector<std::string> shardings;
  for (const PlanAllocation& allocation : plan.allocations) {
    if (allocation.allocation_class != AllocationClass::kParameter) continue;
    shardings.push_back(std::to_string(allocation.bytes) + " " + allocation.sharding);
    EXPECT_EQ(allocation.shard_count, allocation.parameter_number == 0 ? 8 : 1);
  }
  EXPECT_THAT(shardings, testing::UnorderedElementsAre("6389760 {devices=[8,1,1,1,1]<=[8]}",
                                                       "655360 {replicated}"));
}

}  // namespace
}  // namespace oomdb::ingest
