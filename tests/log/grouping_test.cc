// What is one failure, and what are two.
#include <gtest/gtest.h>

#include "tests/log/read_log.h"

namespace oomdb {
namespace {

const char* const kRequest =
    "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 50677266816 bytes.\n";

TEST(GroupingTest, TracebacksRepeatTheException) {
  const std::string text = std::string(
                               "E1214 19:57:44.464390   17928 pjrt.cc:3084] Execution of "
                               "replica 0 failed: ") +
                           kRequest + "jax._src.traceback_util.UnfilteredStackTrace: jaxlib." +
                           "xla_extension.XlaRuntimeError: " + kRequest +
                           "The stack trace below excludes JAX-internal frames.\n" +
                           "jaxlib.xla_extension.XlaRuntimeError: " + kRequest;
  const OomEventFact oom = ReadLog(text).only();
  EXPECT_EQ(oom.repeat_count, 3);
  EXPECT_EQ(oom.line, 1);
}

TEST(GroupingTest, TheAllocatorAndTheExceptionTellOfOne) {
  const OomEventFact exact =
      ReadLog(
          "Allocator (GPU_0_bfc) ran out of memory trying to allocate 47.20GiB (rounded to "
          "50677266944)requested by op \n" +
          std::string(kRequest))
          .only();
  EXPECT_EQ(exact.kind, "A2");
  EXPECT_EQ(exact.requested_bytes, 50677266816);  // Not the rounded one.
  EXPECT_EQ(exact.repeat_count, 2);
  const OomEventFact rounded =
      ReadLog(
          "Allocator (GPU_0_bfc) ran out of memory trying to allocate 47.20GiB (rounded to "
          "50677266944)requested by op \nOut of memory while trying to allocate 47.20GiB. "
          "[executable_name='jit_f']\n")
          .only();
  EXPECT_EQ(rounded.requested_bytes, 50677266944);
  EXPECT_EQ(rounded.module_name, "jit_f");
}

TEST(GroupingTest, OthersAreOthers) {
  EXPECT_EQ(ReadLog("Out of memory while trying to allocate 1000000 bytes.\n"
                    "Out of memory while trying to allocate 2000000 bytes.\n")
                .events.size(),
            2u);
  // The same request on two devices, and on the host.
  EXPECT_EQ(ReadLog("Allocator (GPU_0_bfc) ran out of memory trying to allocate 1.00MiB (rounded "
                    "to 1048576)requested by op \n"
                    "Allocator (GPU_1_bfc) ran out of memory trying to allocate 1.00MiB (rounded "
                    "to 1048576)requested by op \n"
                    "Out of host memory while trying to allocate 1048576 bytes.\n")
                .events.size(),
            3u);
}

TEST(GroupingTest, AdviceIsNotTheFailure) {
  const ReadLog log(
      "Allocator (GPU_0_bfc) ran out of memory trying to allocate 47.20GiB with freed_by_count=0. "
      "The caller indicates that this is not a failure\n" +
      std::string(kRequest));
  ASSERT_EQ(log.events.size(), 2u);
  EXPECT_EQ(log.events[0].fatal, false);
  EXPECT_EQ(log.events[1].fatal, true);
}

TEST(GroupingTest, ADriverThatBacksOffIsOneAdvice) {
  std::string text;
  double bytes = 1e9;
  for (int i = 0; i < 8; ++i, bytes *= 0.9) {
    const std::string size = std::to_string(static_cast<int64_t>(bytes));
    text += "failed to allocate 900.00M (" + size +
            " bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory\n";
  }
  const OomEventFact oom = ReadLog(text).only();
  EXPECT_EQ(oom.kind, "D1");
  EXPECT_EQ(oom.fatal, false);
  EXPECT_EQ(oom.requested_bytes, 1000000000);
  EXPECT_EQ(oom.repeat_count, 8);
}

TEST(GroupingTest, WhatTheDriverRefusedMayBeFatal) {
  const OomEventFact oom =
      ReadLog(
          "failed to allocate 1.00G (1073741824 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY\n"
          "RESOURCE_EXHAUSTED: Failed to allocate request for 1.00GiB (1073741824B) on device "
          "ordinal 1\n")
          .only();
  EXPECT_EQ(oom.kind, "G2");
  EXPECT_EQ(oom.fatal, true);
  EXPECT_EQ(oom.device, 1);
  EXPECT_EQ(oom.repeat_count, 2);
}

TEST(GroupingTest, WordsOfOneFailureInSeveralWrappings) {
  const OomEventFact oom =
      ReadLog(
          "E a.cc:1] Execution of replica 0 failed: INTERNAL: Failed to launch CUDA kernel: f with "
          "block: CUDA_ERROR_OUT_OF_MEMORY: out of memory; current tracing scope: f; current "
          "profiling annotation: XlaModule:#hlo_module=jit_g,program_id=1#.\n"
          "XlaRuntimeError: INTERNAL: Failed to launch CUDA kernel: f with block: "
          "CUDA_ERROR_OUT_OF_MEMORY: out of memory\n")
          .only();
  EXPECT_EQ(oom.repeat_count, 2);
  EXPECT_EQ(oom.module_name, "jit_g");
}

TEST(GroupingTest, AnOomIsFoundWhereverItStands) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "step " + std::to_string(i) + " loss 0.1\n";
  const OomEventFact oom = ReadLog(text + kRequest + text + kRequest + text).only();
  EXPECT_EQ(oom.line, 5001);
  EXPECT_EQ(oom.repeat_count, 2);
}

TEST(GroupingTest, TooManyAreCounted) {
  std::string text;
  for (int i = 0; i < 10010; ++i) {
    text += "Out of memory while trying to allocate " + std::to_string(1000000 + i * 1000) +
            " bytes.\n";
  }
  const ReadLog log(text);
  EXPECT_EQ(log.events.size(), 10000u);
  EXPECT_TRUE(log.has_issue("events_left_out"));
}

}  // namespace
}  // namespace oomdb
