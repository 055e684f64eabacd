// Forms of other programs' texts, and of what only looks like one.
#include <gtest/gtest.h>

#include "tests/log/read_log.h"

namespace oomdb {
namespace {

TEST(MoreFormsTest, AllocatorsBeforeTheyHadNames) {
  const ReadLog log(
      "W bfc_allocator.cc:217] Ran out of memory trying to allocate 2.00GiB. The caller indicates "
      "that this is not a failure, but may mean that\n"
      "W bfc_allocator.cc:275] Ran out of memory trying to allocate 3.00MiB.  See logs for\n");
  ASSERT_EQ(log.events.size(), 2u);
  EXPECT_EQ(log.events[0].kind, "A1");
  EXPECT_EQ(log.events[0].fatal, false);
  EXPECT_EQ(log.events[0].requested_bytes, 2 * kGi);
  EXPECT_EQ(log.events[1].kind, "A2");
  EXPECT_EQ(log.events[1].fatal, true);
  EXPECT_EQ(log.events[1].requested_bytes, 3 * kMi);
}

TEST(MoreFormsTest, SingleAllocationWithoutANumber) {
  const ReadLog log(
      "Allocation (size=2000) would exceed memory (size=1000) :: [shape = 'u8[2000]{0}', "
      "space=smem, scoped, tag = 'operand 0'] :: kernel.3");
  EXPECT_EQ(log.only().memory_space, "smem");
  ASSERT_EQ(log.buffers.size(), 1u);
  EXPECT_EQ(log.buffers[0].shape, "u8[2000]{0}");
}

TEST(MoreFormsTest, StatisticsBelowAFailureOfTheTpu) {
  const OomEventFact oom =
      ReadLog(
          "Error allocating device buffer: Attempting to allocate 3.00M. That was not possible. "
          "There are 2.00M free. The largest contiguous region of free memory is 1.00M due to "
          "fragmentation.; (0x0x0_HBM0)\n"
          "third_party/tensorflow/compiler/xla/util.h:288\n"
          "[OOM Summary: Reason: Not enough free memory. Allocator stats:\n"
          "Limit:                         900\n"
          "InUse:                         600\n"
          "MaxInUse:                      700\n"
          "Reserved:                      100\n"
          "LargestFreeBlock:                0\n]\n")
          .only();
  EXPECT_EQ(oom.kind, "R1");
  EXPECT_EQ(oom.memory_space, "hbm");
  EXPECT_EQ(oom.free_bytes, 2 * kMi);
  EXPECT_EQ(oom.largest_free_bytes, kMi);
  EXPECT_EQ(oom.capacity_bytes, 900);
  EXPECT_EQ(oom.used_bytes, 600);
  EXPECT_EQ(oom.reserved_bytes, 100);
}

TEST(MoreFormsTest, SizesOfAGraphWithATitleInEachLine) {
  const OomEventFact plan = ReadLog(
                                "Post Compilation Analysis: ======\n"
                                "Post Compilation Analysis: Graph input size: 2.000000 GB\n"
                                "Post Compilation Analysis: Graph output size: 3.000000 GB\n"
                                "Post Compilation Analysis: Aliased Input size: 1.000000 GB\n"
                                "Post Compilation Analysis: Intermediate tensor size: 4.000000 GB\n"
                                "Post Compilation Analysis: ======\n")
                                .only();
  EXPECT_EQ(plan.kind, "K6");
  EXPECT_EQ(plan.arguments_bytes, 2 * kGi);
  EXPECT_EQ(plan.output_bytes, 3 * kGi);
  EXPECT_EQ(plan.alias_bytes, kGi);
  EXPECT_EQ(plan.temp_bytes, 4 * kGi);
}

TEST(MoreFormsTest, AReservationThatWasCut) {
  const OomEventFact oom = ReadLog(
                               "Error loading program 'jit_f': Attempting to reserve 2.00G at the "
                               "bottom of memory. That "
                               "was not possible.")
                               .only();
  EXPECT_EQ(oom.kind, "R2");
  EXPECT_EQ(oom.module_name, "jit_f");
  EXPECT_EQ(oom.requested_bytes, 2 * kGi);
  EXPECT_EQ(oom.free_bytes, std::nullopt);
}

TEST(MoreFormsTest, TheHostKills) {
  for (const char* text : {
           "Memory cgroup out of memory: Killed process 7 (python3) total-vm:9kB, anon-rss:4kB",
           "slurmstepd: error: Detected 1 oom_kill event in StepId=7.batch.",
           "    Reason:       OOMKilled",
           "trainer-0   0/1     OOMKilled   2 (5m ago)   9m",
           "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on "
           "memory.",
           "OSError: [Errno 12] Cannot allocate memory",
           "MemoryError",
       }) {
    const OomEventFact oom = ReadLog(text).only();
    EXPECT_EQ(oom.memory_space, "host") << text;
    EXPECT_EQ(oom.fatal, true) << text;
  }
  EXPECT_TRUE(ReadLog("OOMKilled: false\n\"OOMKilled\": false,").has_issue("no_oom_found"));
  // Ray says it in two lines, C++ too.
  const OomEventFact ray =
      ReadLog(
          "Task was killed due to the node running low on memory.\n"
          "Memory on the node (IP: a) where the task (b) was running was 3.00GB / 4.00GB (0.75), "
          "which exceeds the memory usage threshold of 0.7.")
          .only();
  EXPECT_EQ(ray.used_bytes, 3 * kGi);
  EXPECT_EQ(ray.capacity_bytes, 4 * kGi);
  EXPECT_EQ(ReadLog("terminate called after throwing an instance of 'std::bad_alloc'\n"
                    "  what():  std::bad_alloc\n")
                .only()
                .repeat_count,
            2);
}

TEST(MoreFormsTest, MemoryOfTheDriver) {
  const OomEventFact context =
      ReadLog(
          "failed initializing StreamExecutor for CUDA device ordinal 3: INTERNAL: failed call to "
          "cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY: out of memory; total memory "
          "reported: 34089730048")
          .only();
  EXPECT_EQ(context.device, 3);
  EXPECT_EQ(context.capacity_bytes, 34089730048);
  for (const char* text : {
           "Failed to load in-memory CUBIN: CUDA_ERROR_OUT_OF_MEMORY: out of memory",
           "INTERNAL: NCCL operation ncclCommInitRank(&comm) failed: unhandled cuda error. Last "
           "entry 'Cuda failure 2 'out of memory''.",
           "INTERNAL: cudaErrorMemoryAllocation : out of memory",
       }) {
    EXPECT_EQ(ReadLog(text).only().kind, "D4x") << text;
    EXPECT_EQ(ReadLog(text).only().fatal, true) << text;
  }
  EXPECT_EQ(ReadLog("Could not create cudnn handle: CUDNN_STATUS_ALLOC_FAILED").only().fatal,
            std::nullopt);
  EXPECT_EQ(ReadLog("Shared memory requested exceeds device resources.").only().memory_space,
            "gpu_shared");
}

TEST(MoreFormsTest, AnotherFramework) {
  const OomEventFact old =
      ReadLog(
          "CUDA out of memory. Tried to allocate 1.00 GiB (GPU 2; 8.00 GiB total capacity; 6.00 "
          "GiB already allocated; 0 bytes free; 7.00 GiB reserved")
          .only();
  EXPECT_EQ(old.device, 2);
  EXPECT_EQ(old.requested_bytes, kGi);
  EXPECT_EQ(old.capacity_bytes, 8 * kGi);
  EXPECT_EQ(old.used_bytes, 6 * kGi);
  EXPECT_EQ(old.free_bytes, 0);
  const OomEventFact now =
      ReadLog(
          "HIP out of memory. Tried to allocate 4.00 GiB. GPU 1 has a total capacity of 8.00 GiB "
          "of which 3.00 GiB is free. Of the allocated memory 2.00 GiB is allocated by PyTorch")
          .only();
  EXPECT_EQ(now.device, 1);
  EXPECT_EQ(now.capacity_bytes, 8 * kGi);
  EXPECT_EQ(now.free_bytes, 3 * kGi);
  EXPECT_EQ(now.used_bytes, 2 * kGi);
}

TEST(MoreFormsTest, SourceTextIsNoFailure) {
  for (const char* text : {
           "} catch (const std::bad_alloc& e) {",
           "  throw std::bad_alloc();",
           "case CUDA_ERROR_OUT_OF_MEMORY:",
           "if (status == hipErrorOutOfMemory) {",
           "case CUDNN_STATUS_ALLOC_FAILED:",
           "except MemoryError:",
           "Buffer 1:\n  Size: 1000\n  Shape: (84, 84, 4)",
       }) {
    EXPECT_TRUE(ReadLog(text).has_issue("no_oom_found")) << text;
  }
}

}  // namespace
}  // namespace oomdb
