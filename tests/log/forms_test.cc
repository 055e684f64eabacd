// Each form of a line, from short texts.
#include "ingest/log/forms.h"

#include <gtest/gtest.h>

#include "tests/log/read_log.h"

namespace oomdb {
namespace {

TEST(FormsTest, EveryNeedleStandsInItsPattern) {
  // A needle that its own form can do without would hide texts.
  for (const Form& form : Forms()) {
    EXPECT_FALSE(form.needle.empty()) << form.id;
    EXPECT_FALSE(form.pattern.empty()) << form.id;
  }
}

TEST(FormsTest, TpuHeadline) {
  const OomEventFact oom = ReadLog(
                               "XlaRuntimeError: RESOURCE_EXHAUSTED: XLA:TPU compile permanent "
                               "error. Ran out of memory in memory space hbm. Used 3.00G of 2.00G "
                               "hbm. Exceeded hbm capacity by 1.00G.\n")
                               .only();
  EXPECT_EQ(oom.kind, "T1");
  EXPECT_EQ(oom.fatal, true);
  EXPECT_EQ(oom.memory_space, "hbm");
  EXPECT_EQ(oom.used_bytes, 3 * kGi);
  EXPECT_EQ(oom.capacity_bytes, 2 * kGi);
  EXPECT_EQ(oom.exceeded_bytes, kGi);
  EXPECT_EQ(oom.error_code, "");
  EXPECT_EQ(oom.arguments_bytes, std::nullopt);
  EXPECT_EQ(oom.message.substr(0, 30), "RESOURCE_EXHAUSTED: XLA:TPU co");
}

TEST(FormsTest, TpuHeadlineVariants) {
  for (const char* text : {
           // Before 2020.
           "Compilation failure: Ran out of memory in memory space vmem. Please file a bug against "
           "XLA. Used 3.0M of 2.0M vmem. Exceeded vmem capacity by 1.0M.",
           // The line was broken, the last dot is gone.
           "Ran out of memory in memory space vmem. Used 3.0M of 2.0M vmem.\nExceeded vmem "
           "capacity by 1.0M",
           "Ran out of memory in memory space vmem.\nUsed 3.0M of 2.0M vmem. Exceeded vmem "
           "capacity by 1.0M.",
           "> Ran out of memory in memory space vmem. Used **3.0M** of **2.0M** vmem.  Exceeded "
           "vmem capacity by **1.0M**.",
       }) {
    const OomEventFact oom = ReadLog(text).only();
    EXPECT_EQ(oom.memory_space, "vmem") << text;
    EXPECT_EQ(oom.used_bytes, 3 * kMi) << text;
    EXPECT_EQ(oom.capacity_bytes, 2 * kMi) << text;
    EXPECT_EQ(oom.exceeded_bytes, kMi) << text;
  }
  EXPECT_EQ(ReadLog("Ran out of memory in memory space cmem. Used 3.0M of 2.0M cmem.")
                .only()
                .exceeded_bytes,
            std::nullopt);
}

TEST(FormsTest, CodesStandInTheLineOrInTheOneBefore) {
  const std::string rest =
      "Ran out of memory on HBM, the total memory required for HLO temporaries (2.00G) exceeds "
      "available HBM (1.00G). HLO module: jit_f.g-1.\nSee "
      "https://openxla.org/xla/errors/error_1000";
  for (const char* between : {" ", "\n", "\r\n"}) {
    const OomEventFact oom =
        ReadLog("RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom:" + std::string(between) + rest)
            .only();
    EXPECT_EQ(oom.kind, "T8");
    EXPECT_EQ(oom.error_code, "E1000");
    EXPECT_EQ(oom.module_name, "jit_f.g-1");
    EXPECT_EQ(oom.memory_space, "hbm");
    EXPECT_EQ(oom.used_bytes, 2 * kGi);
    EXPECT_EQ(oom.capacity_bytes, kGi);
  }
  // A code with words that are not known is a failure all the same.
  const OomEventFact unknown = ReadLog("E1001: CompileTimeScopedVmemOom: new words").only();
  EXPECT_EQ(unknown.error_code, "E1001");
  EXPECT_EQ(unknown.memory_space, "vmem");
  EXPECT_EQ(unknown.fatal, true);
  // E1200 concerns a layout, no lack of memory.
  EXPECT_TRUE(
      ReadLog("INVALID_ARGUMENT: E1200: CompileTimeHostOffloadOutputLocationMismatch: Tensor which "
              "is moved to host")
          .has_issue("no_oom_found"));
}

TEST(FormsTest, CoresAreTold) {
  const OomEventFact oom = ReadLog(
                               "TPU TensorCore Hbm usage: 1.00G, SparseCore Hbm usage 2.00G, "
                               "exceeding available bytes: 2.50G")
                               .only();
  EXPECT_EQ(oom.kind, "T5");
  EXPECT_EQ(oom.requested_bytes, 3 * kGi);
  EXPECT_EQ(oom.tensor_core_bytes, kGi);
  EXPECT_EQ(oom.sparse_core_bytes, 2 * kGi);
  EXPECT_EQ(oom.capacity_bytes, 5 * kGi / 2);
}

TEST(FormsTest, EarlyAbort) {
  for (const char* words : {"enough memory", "enough device memory"}) {
    for (const char* its : {"it's", "it&#39;s", "it\xE2\x80\x99s"}) {
      const OomEventFact oom =
          ReadLog("Aborting compilation early because " + std::string(its) + " unlikely to have " +
                  words + ". Requires 2.00T, has 1.00G available. If more")
              .only();
      EXPECT_EQ(oom.kind, "T6");
      EXPECT_EQ(oom.requested_bytes, 2 * kTi);
      EXPECT_EQ(oom.capacity_bytes, kGi);
    }
  }
}

TEST(FormsTest, SingleAllocation) {
  const ReadLog log(
      "Allocation (size=21474836480) would exceed memory (size=17179869184) :: #allocation23 "
      "[shape = 'f32[8,4]{1,0:T(8,128)}', space=hbm, size = 0xffffffffffffffff, tag = 'output of "
      "fusion.1@{1}'] :: <no-hlo-instruction>");
  EXPECT_EQ(log.only().kind, "T7");
  EXPECT_EQ(log.only().memory_space, "hbm");
  EXPECT_EQ(log.only().requested_bytes, 21474836480);
  EXPECT_EQ(log.only().capacity_bytes, 17179869184);
  ASSERT_EQ(log.buffers.size(), 1u);
  EXPECT_EQ(log.buffers[0].shape, "f32[8,4]{1,0:T(8,128)}");
  EXPECT_EQ(log.buffers[0].label, "output of fusion.1@{1}");

  const ReadLog scoped(
      "Allocation (size=16777216) would exceed memory (size=1048576) :: #allocation3 [shape = "
      "'u8[16777216]{0}', space=smem, size = 0x1000000, scoped, tag = 'prefetched SMEM operand "
      "0'] :: gather.1");
  EXPECT_EQ(scoped.only().memory_space, "smem");
  ASSERT_EQ(scoped.buffers.size(), 1u);
  EXPECT_EQ(scoped.buffers[0].label, "gather.1");
  EXPECT_EQ(scoped.buffers[0].allocation_type, "scoped");

  // Cut after the sizes: only HBM is that large, and what is small may be anything.
  EXPECT_EQ(ReadLog("Allocation (size=21474836480) would exceed memory (size=17179869184) :: #allo")
                .only()
                .memory_space,
            "hbm");
  EXPECT_EQ(
      ReadLog("Allocation (size=2147483) would exceed memory (size=1717986)").only().memory_space,
      "");
}

TEST(FormsTest, ScopedVmem) {
  const ReadLog log(
      "RESOURCE_EXHAUSTED: Ran out of memory in memory space vmem while allocating on stack for "
      "%kernel.1 = f32[8,2]{1,0:T(8,128)} custom-call(%x.1), metadata={op_name=\"jit(f)/kernel\" "
      "stack_frame_id=2}. Scoped allocation with size 32.00M and limit 16.00M exceeded scoped vmem "
      "limit by 16.00M. It should not be possible to run out of scoped vmem");
  EXPECT_EQ(log.only().kind, "V2");
  EXPECT_EQ(log.only().memory_space, "vmem");
  EXPECT_EQ(log.only().requested_bytes, 32 * kMi);
  EXPECT_EQ(log.only().capacity_bytes, 16 * kMi);
  EXPECT_EQ(log.only().exceeded_bytes, 16 * kMi);
  ASSERT_EQ(log.buffers.size(), 1u);
  EXPECT_EQ(log.buffers[0].label, "kernel.1");
  EXPECT_EQ(log.buffers[0].shape, "f32[8,2]{1,0:T(8,128)}");
  EXPECT_EQ(log.buffers[0].op_name, "jit(f)/kernel");

  const OomEventFact broken =
      ReadLog(
          "Ran out of memory in memory space vmem while allocating on stack for %k.1 = f32[8]{0}\n"
          "custom-call(%x). Scoped allocation with size 3.00M and limit 2.00M exceeded scoped vmem "
          "limit by 1.00M.")
          .only();
  EXPECT_EQ(broken.requested_bytes, 3 * kMi);
}

TEST(FormsTest, SparseCoreCountsWords) {
  const OomEventFact oom =
      ReadLog(
          "INTERNAL: E3000: CompileTimeSparseCoreAllocationFailure: error: 'memref.alloca' op "
          "current allocation offset upper bound (140704 words) exceeds the legitimate user "
          "allocatable offset upper bound (131071 words) in memory space 201 when allocating 73728 "
          "words.")
          .only();
  EXPECT_EQ(oom.kind, "SC1");
  EXPECT_EQ(oom.error_code, "E3000");
  EXPECT_EQ(oom.memory_space, "tile_spmem");
  EXPECT_EQ(oom.requested_bytes, 73728 * 4);
  EXPECT_EQ(oom.capacity_bytes, 131071 * 4);
}

TEST(FormsTest, TpuRunTime) {
  const OomEventFact plain =
      ReadLog(
          "E0100: RuntimeBufferAllocationFailure: Error allocating device buffer: Attempting "
          "to allocate 2.00G. That was not possible. There are 1.00G free.; (0x0x0_HBM0)")
          .only();
  EXPECT_EQ(plain.kind, "R1");
  EXPECT_EQ(plain.error_code, "E0100");
  EXPECT_EQ(plain.requested_bytes, 2 * kGi);
  EXPECT_EQ(plain.free_bytes, kGi);
  EXPECT_EQ(plain.largest_free_bytes, std::nullopt);
  for (const char* words :
       {" Due to fragmentation, the largest contiguous region of free memory is 512.00M.; "
        "(0x0x0_HBM0)",
        " The largest contiguous region of free memory is 512.00M due to fragmentation."}) {
    const OomEventFact oom =
        ReadLog("Attempting to allocate 1.50G. That was not possible. There are 2.00G free." +
                std::string(words))
            .only();
    EXPECT_EQ(oom.free_bytes, 2 * kGi);
    EXPECT_EQ(oom.largest_free_bytes, 512 * kMi) << words;
  }
  const OomEventFact program =
      ReadLog(
          "Error loading program 'jit_f': Attempting to reserve 6.00G at the bottom of memory. "
          "That was not possible. There are 7.00G free, 0B reserved, and 3.00G reservable. "
          "Scope: unknown..: while running replica 0")
          .only();
  EXPECT_EQ(program.kind, "R2");
  EXPECT_EQ(program.module_name, "jit_f");
  EXPECT_EQ(program.largest_free_bytes, 3 * kGi);
  EXPECT_EQ(program.reserved_bytes, 0);
  const OomEventFact driver =
      ReadLog(
          "Resource exhausted: Could not allocate 300 bytes in memory 0x0x0_HBM0; 200 bytes "
          "allocatable, 250 bytes available")
          .only();
  EXPECT_EQ(driver.kind, "R3");
  EXPECT_EQ(driver.error_code, "");
  EXPECT_EQ(driver.requested_bytes, 300);
  EXPECT_EQ(driver.largest_free_bytes, 200);
  EXPECT_EQ(driver.free_bytes, 250);
}

TEST(FormsTest, GpuRequests) {
  struct Case {
    const char* text;
    const char* kind;
    int64_t requested;
  };
  for (const Case& c : {
           Case{"Out of memory while trying to allocate 12267176800 bytes.", "G1", 12267176800},
           Case{"Out of memory while trying to allocate 2.00GiB.", "G1n", 2 * kGi},
           Case{"Out of memory while trying to allocate 512B.", "G1n", 512},
           Case{"Out of memory while trying to allocate 2.00GiB with allocator GPU_3_bfc on device "
                "3. [tf-allocator-allocation-error='']",
                "G3", 2 * kGi},
           Case{"Failed to allocate request for 1.00GiB (1073741828B) on device ordinal 3", "G2",
                kGi + 4},
           Case{"INTERNAL: Failed to allocate 98697216 bytes for new constant", "G4", 98697216},
       }) {
    const OomEventFact oom = ReadLog(c.text).only();
    EXPECT_EQ(oom.kind, c.kind) << c.text;
    EXPECT_EQ(oom.requested_bytes, c.requested) << c.text;
    EXPECT_EQ(oom.memory_space, "gpu") << c.text;
    EXPECT_EQ(oom.fatal, true) << c.text;
    if (oom.kind == "G3" || oom.kind == "G2") {
      EXPECT_EQ(oom.device, 3);
    }
  }
  EXPECT_EQ(
      ReadLog("INTERNAL: Failed to allocate 98697216 bytes for new constant").only().error_code,
      "INTERNAL");
  const OomEventFact payload =
      ReadLog(
          "Out of memory while trying to allocate 1.00GiB. [tf-allocator-allocation-error=''] "
          "[executable_name='jit_step']")
          .only();
  EXPECT_EQ(payload.module_name, "jit_step");
}

TEST(FormsTest, TensorFlowRequests) {
  const OomEventFact oom =
      ReadLog(
          "RESOURCE_EXHAUSTED: OOM when allocating tensor with shape[1024,2,3] and type float "
          "on /job:localhost/replica:0/task:0/device:GPU:1 by allocator GPU_1_bfc")
          .only();
  EXPECT_EQ(oom.requested_bytes, 1024 * 2 * 3 * 4);
  EXPECT_EQ(oom.device, 1);
  EXPECT_EQ(oom.allocator, "GPU_1_bfc");
  EXPECT_EQ(oom.memory_space, "gpu");
  EXPECT_EQ(ReadLog("OOM when allocating tensor with shape[9999999999,9999999999,9] and type float "
                    "on /device:GPU:0 by allocator a")
                .only()
                .requested_bytes,
            std::nullopt);
}

TEST(FormsTest, AllocatorsAdviseOrFail) {
  const OomEventFact advice =
      ReadLog(
          "Allocator (GPU_2_bfc) ran out of memory trying to allocate 2.00GiB with "
          "freed_by_count=0. The caller indicates that this is not a failure, but this may "
          "mean that there could be performance gains if more memory were available.")
          .only();
  EXPECT_EQ(advice.kind, "A1");
  EXPECT_EQ(advice.fatal, false);
  EXPECT_EQ(advice.device, 2);
  for (const char* end : {" (rounded to 2147483904)requested by op ",
                          " (rounded to 2147483904) from the upper end requested by op x"}) {
    const OomEventFact fatal =
        ReadLog(
            "Allocator (GPU_collectivememory_1_bfc) ran out of memory trying to allocate "
            "2.00GiB" +
            std::string(end))
            .only();
    EXPECT_EQ(fatal.kind, "A2");
    EXPECT_EQ(fatal.fatal, true);
    EXPECT_EQ(fatal.requested_bytes, 2147483904);
    EXPECT_EQ(fatal.device, 1);
    EXPECT_EQ(fatal.memory_space, "gpu");
  }
  EXPECT_EQ(ReadLog("Allocator (xla_gpu_host_bfc) ran out of memory trying to allocate 2.00GiB "
                    "(rounded to 2147483904)requested by op ")
                .only()
                .memory_space,
            "host");
}

TEST(FormsTest, TheHost) {
  const OomEventFact pinned =
      ReadLog(
          "Out of host memory while trying to allocate 2.00GiB with allocator xla_gpu_host_bfc "
          "on device 0. Please set the environment variable "
          "XLA_PJRT_GPU_HOST_MEMORY_LIMIT_GB to allocate larger host memory than the default "
          "64 GB.")
          .only();
  EXPECT_EQ(pinned.kind, "H1");
  EXPECT_EQ(pinned.memory_space, "host");
  EXPECT_EQ(pinned.requested_bytes, 2 * kGi);
  EXPECT_EQ(pinned.capacity_bytes, 64 * kGi);
  EXPECT_EQ(ReadLog("Out of memory allocating 40000000000 bytes.").only().kind, "C1");
  EXPECT_EQ(ReadLog("terminate called after throwing an instance of 'std::bad_alloc'")
                .only()
                .memory_space,
            "host");
  EXPECT_EQ(ReadLog("could not allocate pinned host memory of size: 67108864").only().fatal,
            std::nullopt);
  const OomEventFact killed =
      ReadLog(
          "[ 1234.5] Out of memory: Killed process 77 (python) total-vm:9kB, anon-rss:8192kB, "
          "file-rss:0kB")
          .only();
  EXPECT_EQ(killed.used_bytes, 8 * kMi);
}

TEST(FormsTest, OnChipMemoryIsNeverTheDevices) {
  const OomEventFact xla =
      ReadLog(
          "RESOURCE_EXHAUSTED: Shared memory size limit exceeded: requested 73728, available: "
          "65536, context: [Fusion: f]")
          .only();
  EXPECT_EQ(xla.memory_space, "gpu_shared");
  EXPECT_EQ(xla.exceeded_bytes, 8192);
  EXPECT_EQ(ReadLog("OutOfResources: out of resource: shared memory, Required: 73728, Hardware "
                    "limit: 65536")
                .only()
                .memory_space,
            "gpu_shared");
}

TEST(FormsTest, CompilersAdvice) {
  const OomEventFact remat =
      ReadLog(
          "Can't reduce memory use below -25.00GiB (-26843545600 bytes) by rematerialization; "
          "only reduced to 2.00GiB (2147483649 bytes), down from 3.00GiB (3221225473 bytes) "
          "originally")
          .only();
  EXPECT_EQ(remat.kind, "M1");
  EXPECT_EQ(remat.fatal, false);
  EXPECT_EQ(remat.capacity_bytes, -26843545600);
  EXPECT_EQ(remat.used_bytes, 2147483649);
  EXPECT_EQ(remat.total_bytes, 3221225473);
  // Cut.
  EXPECT_EQ(ReadLog("Can't reduce memory use below 1.00GiB by rematerialization; only reduced to "
                    "2.00GiB, down")
                .only()
                .used_bytes,
            2 * kGi);
  const OomEventFact budget =
      ReadLog(
          "The byte size of input/output arguments (300) exceeds the base limit (200). This "
          "indicates an error in the calculation!")
          .only();
  EXPECT_EQ(budget.kind, "M2");
  EXPECT_EQ(budget.fatal, false);
  EXPECT_EQ(budget.arguments_bytes, 300);
  EXPECT_EQ(budget.capacity_bytes, 200);
}

TEST(FormsTest, Drivers) {
  const OomEventFact kernel =
      ReadLog(
          "INTERNAL: Failed to launch CUDA kernel: fusion_29 with block dimensions: 1x1x1: "
          "CUDA_ERROR_OUT_OF_MEMORY: out of memory")
          .only();
  EXPECT_EQ(kernel.kind, "D4x");
  EXPECT_EQ(kernel.error_code, "INTERNAL");
  EXPECT_EQ(kernel.fatal, true);
  EXPECT_EQ(ReadLog("failed to allocate 1.00GiB (1073741824 bytes) from device: "
                    "HIP_ERROR_OutOfMemory")
                .only()
                .kind,
            "D2");
  EXPECT_EQ(ReadLog("UNKNOWN: Failed to determine best cudnn convolution algorithm for: %c = x "
                    "Original error: out of memory")
                .only()
                .kind,
            "N1");
  EXPECT_EQ(ReadLog("Error: command buffer exited with error status. Insufficient Memory (IOAF "
                    "code 8)")
                .only()
                .fatal,
            std::nullopt);
}

TEST(FormsTest, WhatIsNoOom) {
  for (const char* text : {
           "RESOURCE_EXHAUSTED: Quota exceeded for requests per minute",
           "E0101 07:35:00.272763 140408571025152 file.py:81] Closing session",
           "Attempting to allocate some time for this",
           "UNKNOWN: Failed to determine best cudnn convolution algorithm for: %c = x",
           "grpc: RESOURCE_EXHAUSTED: Received message larger than max (5 vs. 4)",
           "Buffer 1: a ring",
           "  3. Size: large",
       }) {
    const ReadLog log(text);
    EXPECT_TRUE(log.events.empty()) << text;
    EXPECT_TRUE(log.has_issue("no_oom_found")) << text;
  }
}

}  // namespace
}  // namespace oomdb
