#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/rules/rule_database.h"
#include "tests/support/gpu_story.h"

namespace oomdb::queries {
namespace {

constexpr char kCapacity[] = "SELECT capacity_bytes FROM effective_capacity";

std::string Capture(int64_t limit_bytes) {
  GpuStory story;
  story.Pool(0, limit_bytes, {.in_use_before = 1_MiB, .memory_bytes = 4_GiB});
  story.Transfer(0, 1_MiB, "f32[262144]");
  return story.Bytes();
}

void AddErrorText(RuleDatabase& database, const std::string& memory_space) {
  database.Execute(
      "INSERT INTO oom_events (oom_event_id, capture_id, memory_space, capacity_bytes) "
      "VALUES (1, 1, '" +
      memory_space + "', 2000)");
}

TEST(EffectiveCapacityTest, ThePoolComesFirst) {
  RuleDatabase database({{"capacity_bytes", 5}});
  database.Ingest(Capture(3_GiB));
  AddErrorText(database, "gpu");
  EXPECT_EQ(database.Integer(kCapacity), 3_GiB);
}

TEST(EffectiveCapacityTest, ThenAnErrorTextOfTheRun) {
  RuleDatabase database({{"capacity_bytes", 5}});
  database.Ingest(Capture(3_GiB));
  database.Execute("UPDATE allocators SET capacity_bytes = NULL");
  AddErrorText(database, "hbm");
  EXPECT_EQ(database.Integer(kCapacity), 2000);
}

TEST(EffectiveCapacityTest, OnChipMemoryIsNoCapacity) {
  RuleDatabase database;
  database.IngestPlan(HloBuilder("jit_f").Parameter(64).Bytes());
  AddErrorText(database, "vmem");
  EXPECT_EQ(database.Integer(kCapacity), std::nullopt);
}

TEST(EffectiveCapacityTest, ThenTheSettingThenTheDevicesMemory) {
  RuleDatabase set({{"capacity_bytes", 5}});
  set.Ingest(Capture(3_GiB));
  set.Execute("UPDATE allocators SET capacity_bytes = NULL");
  EXPECT_EQ(set.Integer(kCapacity), 5);

  RuleDatabase unset;
  unset.Ingest(Capture(3_GiB));
  unset.Execute("UPDATE allocators SET capacity_bytes = NULL");
  EXPECT_EQ(unset.Integer(kCapacity), 4_GiB);
}

TEST(EffectiveCapacityTest, AHostPoolNeverCounts) {
  RuleDatabase database;
  database.Ingest(Capture(3_GiB));
  database.Execute(
      "INSERT INTO allocators (allocator_id, capture_id, device_id, name, capacity_bytes, "
      "capture_peak_bytes, allocation_count, deallocation_count, reconciliation_breaks) "
      "VALUES (100, 1, NULL, 'xla_gpu_host_bfc', 1, 1, 0, 0, 0)");
  EXPECT_EQ(database.Integer(kCapacity), 3_GiB);
  EXPECT_EQ(database.Integer("SELECT COUNT(*) FROM effective_capacity"), 1);
}

}  // namespace
}  // namespace oomdb::queries
