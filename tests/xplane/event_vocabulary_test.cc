#include "ingest/xplane/event_vocabulary.h"

#include <gtest/gtest.h>

namespace oomdb::ingest {
namespace {

struct NameCase {
  std::string_view name;
  EventRole role;
  std::string_view module = "";
  int32_t device = -1;
  Client client = Client::kUnknown;
};

// One row a dialect: whoever adds a name adds a row.
TEST(MeaningOfTest, EveryDialect) {
  constexpr Client kGpu = Client::kGpu, kCpu = Client::kCpu;
  const NameCase cases[] = {
      {"MemoryAllocation", EventRole::kAllocation},
      {"MemoryDeallocation", EventRole::kDeallocation},
      {"AllocatorRetry::AllocateRaw", EventRole::kRetry},
      {"DeviceMemAllocator::Alloc", EventRole::kPoolGrowth},
      {"CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice", EventRole::kExecute},
      {"PjRtStreamExecutorLoadedExecutable::ExecuteHelper", EventRole::kExecute, "", -1, kGpu},
      {"TfrtGpuExecutable::ExecuteHelper", EventRole::kExecute, "", -1, kGpu},
      {"TfrtCpuExecutable::ExecuteHelper", EventRole::kExecute, "", -1, kCpu},
      {"Build buffer allocations", EventRole::kAllocating},
      {"KernelAndDeviceFunc::Run", EventRole::kAllocating},
      {"CommonPjRtLoadedExecutable::ExecutePrepare", EventRole::kPrepare},
      {"CommonPjRtLoadedExecutable::ExecutePrepareWithOomRetries", EventRole::kAllocating},
      {"GpuExecutable::ExecuteThunks", EventRole::kLaunch, "", -1, kGpu},
      {"[7] GpuExecutable::ExecuteThunks", EventRole::kLaunch, "", 7, kGpu},
      {"jit_f:XLA GPU module", EventRole::kLaunch, "jit_f", -1, kGpu},
      {"PjRtStreamExecutorLoadedExecutable::EnqueueExecution", EventRole::kExecuteInner, "", -1,
       kGpu},
      {"[12] PjRtStreamExecutorRawLoadedExecutable::Execute", EventRole::kExecuteInner, "", 12,
       kGpu},
      {"PJRT_LoadedExecutable_Execute", EventRole::kExecuteInner},
      {"PjRtCApiLoadedExecutable::Execute", EventRole::kExecuteInner},
      {"CommonPjRtLoadedExecutable::Execute (jit_train_step)", EventRole::kExecuteNamed,
       "jit_train_step"},
      {"CommonPjRtLoadedExecutable::Execute (jit_f(x))", EventRole::kExecuteNamed, "jit_f(x)"},
      {"ThunkExecutor::Execute (wait for completion)", EventRole::kThunkWait},
      {"PjitFunction(train_step)", EventRole::kPjit, "jit_train_step"},
      {"PjitFunction(<lambda>)", EventRole::kPjit, "jit__lambda_"},
      {"PjitFunction(größe)", EventRole::kPjit, "jit_größe"},
      {"PmapFunction(f)", EventRole::kPjit, "pmap_f"},
      {"BufferFromHostBuffer(s32[64,1024])", EventRole::kHostBuffer},
      {"BufferFromHostLiteral", EventRole::kHostBuffer},
      {"DevicePutWithDevice", EventRole::kTransfer},
      {"PjRtStreamExecutorBuffer::CopyToMemorySpace", EventRole::kTransfer},
      {"PjRtStreamExecutorBuffer::ToLiteral", EventRole::kTransfer},
      {"backend_compile_and_load", EventRole::kCompile},
      {"PjRtStreamExecutorClient::CompileAndLoad", EventRole::kCompile},
      {"$train.py:57 train_loop", EventRole::kPythonFrame},
      {"$MemoryAllocation", EventRole::kPythonFrame},
      {"loop_broadcast_fusion.3", EventRole::kUnknown},
      {"MemoryAllocations", EventRole::kUnknown},
      {"PjitFunction()", EventRole::kUnknown},
      {"Foo::Execute ()", EventRole::kUnknown},
      {"[x] GpuExecutable::ExecuteThunks", EventRole::kUnknown},
      {"[99999999999] MemoryAllocation", EventRole::kUnknown},
      {"", EventRole::kUnknown},
  };
  for (const NameCase& expected : cases) {
    const EventMeaning meaning = MeaningOf(expected.name);
    EXPECT_EQ(static_cast<int>(meaning.role), static_cast<int>(expected.role)) << expected.name;
    EXPECT_EQ(meaning.module_name, expected.module) << expected.name;
    EXPECT_EQ(meaning.device_ordinal, expected.device) << expected.name;
    EXPECT_EQ(static_cast<int>(meaning.client), static_cast<int>(expected.client)) << expected.name;
  }
}

TEST(SplitProgramIdTest, OnlyANumberInBracketsAtTheEnd) {
  const auto expect = [](std::string_view name, std::string_view before,
                         std::optional<int64_t> id) {
    const SplitName split = SplitProgramId(name);
    EXPECT_EQ(split.name, before);
    EXPECT_EQ(split.id, id) << name;
  };
  expect("jit_f(15)", "jit_f", 15);
  expect("jit_f(g)(15)", "jit_f(g)", 15);
  expect("jit_f(g)", "jit_f(g)", std::nullopt);
  expect("jit_f", "jit_f", std::nullopt);
  expect("jit_f()", "jit_f()", std::nullopt);
  expect("(15)", "(15)", std::nullopt);
  expect("jit_f(1 5)", "jit_f(1 5)", std::nullopt);
  expect("jit_f(+15)", "jit_f(+15)", std::nullopt);
  expect("", "", std::nullopt);
  // Fingerprints: 64 bits, printed unsigned or signed.
  expect("jit_f(9223372036854775807)", "jit_f", INT64_MAX);
  expect("jit_f(9223372036854775808)", "jit_f", INT64_MIN);
  expect("jit_f(18446744073709551615)", "jit_f", -1);
  expect("jit_f(-1)", "jit_f", -1);
  expect("jit_f(18446744073709551616)", "jit_f(18446744073709551616)", std::nullopt);
}

TEST(DeviceOfAllocatorTest, DevicesAndHostPools) {
  const auto expect = [](std::string_view name, std::string_view kind, int64_t ordinal) {
    EXPECT_EQ(DeviceOfAllocator(name).kind, kind) << name;
    EXPECT_EQ(DeviceOfAllocator(name).ordinal, ordinal) << name;
  };
  expect("GPU_0_bfc", "gpu", 0);
  expect("GPU_2048_bfc", "gpu", 2048);
  expect("GPU_7", "gpu", 7);
  expect("TPU_3", "tpu", 3);
  expect("xla_gpu_host_bfc", "", -1);
  expect("gpu_host_bfc", "", -1);
  expect("GPU_host_bfc", "", -1);
  expect("bfc_cpu_allocator_for_gpu", "", -1);
  expect("GPU_", "", -1);
  expect("", "", -1);
}

TEST(StatKeyOfTest, KnownAndUnknown) {
  EXPECT_EQ(StatKeyOf("addr"), StatKey::kAddress);
  EXPECT_EQ(StatKeyOf("Hlo Proto"), StatKey::kHloProto);
  EXPECT_EQ(StatKeyOf("addres"), StatKey::kNone);
}

TEST(IsContainerCallTest, CallsThatKeepAValue) {
  EXPECT_TRUE(IsContainerCall("$builtins append"));
  EXPECT_TRUE(IsContainerCall("$<unknown> setdefault"));
  EXPECT_FALSE(IsContainerCall("$train.py:5 step"));
  EXPECT_FALSE(IsContainerCall("append"));
  EXPECT_FALSE(IsContainerCall("$append"));
}

}  // namespace
}  // namespace oomdb::ingest
