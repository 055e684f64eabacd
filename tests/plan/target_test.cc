#include "ingest/plan/target.h"

#include <gtest/gtest.h>

namespace oomdb::ingest {
namespace {

TEST(TargetTest, OfADumpedFile) {
  EXPECT_EQ(TargetOfFile("d/module_0001.jit_f.sm_8.0_gpu_after_optimizations.hlo.pb", "jit_f"),
            "sm_8.0");
  EXPECT_EQ(TargetOfFile("module_0001.jit_f.gfx942_gpu_after_optimizations.hlo.pb", "jit_f"),
            "gfx942");
  EXPECT_EQ(TargetOfFile("module_0001.jit_f.cpu_after_optimizations.hlo.pb", "jit_f"), "");
  EXPECT_EQ(TargetOfFile("jit_f(7).hlo_proto.pb", "jit_f"), "");
}

// A function may have any name: only what follows it counts.
TEST(TargetTest, NotByTheNameOfTheModule) {
  EXPECT_EQ(TargetOfFile("module_0001.jit_x.sm_9.0_test.cpu_after.hlo.pb", "jit_x.sm_9.0_test"),
            "");
  EXPECT_EQ(TargetOfFile("sm_9.0/module_0001.jit_f.cpu_after.hlo.pb", "jit_f"), "");
}

TEST(TargetTest, OfADevice) {
  EXPECT_EQ(TargetOfDevice("TPU v5 lite"), "tpu_v5e");
  EXPECT_EQ(TargetOfDevice("TPU v5"), "tpu_v5p");
  EXPECT_EQ(TargetOfDevice("TPU v5p"), "tpu_v5p");
  EXPECT_EQ(TargetOfDevice("TPU v4"), "tpu_v4");
  EXPECT_EQ(TargetOfDevice("TPU v6 lite"), "tpu_v6e");
  EXPECT_EQ(TargetOfDevice("NVIDIA A100-SXM4-80GB"), "");
  EXPECT_EQ(TargetOfDevice("TPU"), "");
  EXPECT_EQ(TargetOfDevice(""), "");
}

}  // namespace
}  // namespace oomdb::ingest
