// Which cause an error log's failure has, and the remedy that this cause asks for: where each is
// named, and where a text that looks like it is not.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "schema/query.h"
#include "tests/rules/error_logs.h"
#include "tests/rules/rule_database.h"
#include "tests/support/gpu_story.h"

namespace oomdb::queries {
namespace {

using schema::Record;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// Of the rule's own views: those of all rules together take their time to expand.
Record One(RuleDatabase& database, const std::string& rule) {
  std::vector<Record> found = schema::ReadView(database.database(), rule);
  EXPECT_THAT(found, SizeIs(1)) << rule;
  return found.at(0);
}

bool Quiet(RuleDatabase& database, const std::string& rule) {
  return schema::ReadView(database.database(), rule).empty();
}

std::vector<Record> Remedies(RuleDatabase& database, const std::string& rule) {
  return schema::ReadView(database.database(), rule + "_remedies", {}, "position");
}

std::vector<std::string> Keys(RuleDatabase& database, const std::string& rule) {
  std::vector<std::string> keys;
  for (const Record& remedy : Remedies(database, rule)) keys.push_back(remedy.Text("remedy"));
  return keys;
}

std::string Branch(RuleDatabase& database, const std::string& rule) {
  return One(database, rule).Text("branch");
}

std::string Request2025(const std::string& size, const std::string& module) {
  return "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate " +
         size + " with allocator GPU_0_bfc on device 0. [executable_name='" + module +
         "'] [tf-allocator-allocation-error='']\n";
}

// A pool of cudaMallocAsync that holds `pool` bytes of the `limit` that it may.
std::string AsyncPool(int64_t request, int64_t limit, int64_t pool, int64_t used,
                      int64_t device_free) {
  return fmt::format(
      "E0302 04:10:55.700101    4417 gpu_cudamallocasync_allocator.cc:361] gpu_async_0 "
      "cuMemAllocAsync failed to allocate {} bytes: RESOURCE_EXHAUSTED: : "
      "CUDA_ERROR_OUT_OF_MEMORY: "
      "out of memory\n Reported by CUDA: Free memory/Total memory: {}/85899345920\n"
      "E0302 04:10:55.700120    4417 gpu_cudamallocasync_allocator.cc:366] Stats: Limit: {:>26}\n"
      "InUse: {:>26}\nMaxInUse: {:>23}\nNumAllocs: 41207\nMaxAllocSize: {}\nReserved: 0\n"
      "PeakReserved: 0\nLargestFreeBlock: 0\n"
      "E0302 04:10:55.700141    4417 gpu_cudamallocasync_allocator.cc:90] "
      "CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: {}\n"
      "E0302 04:10:55.700142    4417 gpu_cudamallocasync_allocator.cc:92] "
      "CU_MEMPOOL_ATTR_USED_MEM_CURRENT: {}\n",
      request, device_free, limit, used, used, request, pool, used);
}

// A pool of one region; sizes in MiB, free ones negative.
std::string Dump(const std::vector<int64_t>& chunks, int64_t request_mib, int64_t limit_mib) {
  int64_t used = 0, all = 0;
  std::string lines;
  for (const int64_t mib : chunks) {
    const int64_t size = std::max(mib, -mib);
    lines += fmt::format("{} at {:x} of size {} next 1\n", mib < 0 ? "Free " : "InUse",
                         0x7f0000000000 + (all << 20), size << 20);
    all += size;
    if (mib > 0) used += mib;
  }
  return fmt::format(
      "W bfc_allocator.cc:479] Allocator (GPU_0_bfc) ran out of memory trying to allocate "
      "{}.00MiB (rounded to {})requested by op \nBFCAllocator dump for GPU_0_bfc\n"
      "Next region of size {}\n{}Stats: \nLimit: {}\nInUse: {}\nMaxInUse: {}\nNumAllocs: 9\n"
      "MaxAllocSize: 256\nReserved: 0\nPeakReserved: 0\nLargestFreeBlock: 0\n\n",
      request_mib, request_mib << 20, all << 20, lines, limit_mib << 20, used << 20, used << 20);
}

TEST(OomCausesTest, AnAsyncPoolThatHoldsEnough) {
  RuleDatabase database;
  database.IngestText(AsyncPool(40_GiB, 60_GiB, 56_GiB, 10_GiB, 9_GiB));
  EXPECT_TRUE(Quiet(database, "runtime_oom"));
  const Record finding = One(database, "fragmentation");
  EXPECT_THAT(finding.Text("title"), HasSubstr("not in one piece"));
  EXPECT_THAT(finding.Text("detail"), HasSubstr("outside of the pool, 9663676416 bytes"));
  EXPECT_THAT(Keys(database, "fragmentation"), ElementsAre("smaller_temp_block"));
}

TEST(OomCausesTest, AnAsyncPoolThatDoesNot) {
  RuleDatabase database;
  database.IngestText(AsyncPool(40_GiB, 60_GiB, 30_GiB, 10_GiB, 9_GiB));
  EXPECT_TRUE(Quiet(database, "fragmentation"));
  EXPECT_THAT(One(database, "runtime_oom").Text("detail"), HasSubstr("must be freed"));
}

TEST(OomCausesTest, AFractionThatHoldsWhatIsNeeded) {
  RuleDatabase database;
  // 30 + 40 GiB of 80 are 87.5 %.
  database.IngestText(AsyncPool(40_GiB, 60_GiB, 30_GiB, 30_GiB, 48_GiB));
  const std::vector<Record> remedies = Remedies(database, "runtime_oom");
  ASSERT_THAT(remedies, Not(IsEmpty()));
  EXPECT_EQ(remedies[0].Text("remedy"), "raise_memory_fraction");
  EXPECT_THAT(remedies[0].Text("fix"), HasSubstr("XLA_PYTHON_CLIENT_MEM_FRACTION=0.91"));
  EXPECT_EQ(remedies[0].Integer("fits"), 1);
  RuleDatabase full;
  full.IngestText(AsyncPool(60_GiB, 60_GiB, 30_GiB, 30_GiB, 48_GiB));
  EXPECT_THAT(Keys(full, "runtime_oom"), Not(Contains("raise_memory_fraction")));
}

TEST(OomCausesTest, ASecondCopy) {
  RuleDatabase database;
  database.IngestText(Dump({12288, -4096}, 12288, 16384));
  EXPECT_EQ(Branch(database, "runtime_oom"), "second_copy");
  const Record remedy = Remedies(database, "runtime_oom").at(0);
  EXPECT_EQ(remedy.Text("remedy"), "donate");
  EXPECT_EQ(remedy.Integer("saving_bytes"), 12_GiB);
  EXPECT_EQ(remedy.Integer("fits"), 1);
}

TEST(OomCausesTest, NotOfAnotherSize) {
  RuleDatabase database;
  database.IngestText(Dump({12288, -4096}, 9000, 16384));
  EXPECT_EQ(Branch(database, "runtime_oom"), "shortage");
  EXPECT_THAT(Keys(database, "runtime_oom"), Not(Contains("donate")));
}

TEST(OomCausesTest, ThePoolMayGrowButTheDeviceIsFull) {
  RuleDatabase database;
  database.IngestText(Dump({2048, -1024}, 4096, 16384));
  EXPECT_EQ(Branch(database, "runtime_oom"), "ungrown");
  EXPECT_THAT(One(database, "runtime_oom").Text("detail"), Not(HasSubstr("must be freed")));
  EXPECT_THAT(Remedies(database, "runtime_oom").at(0).Text("fix"), HasSubstr("nvidia-smi"));
  EXPECT_TRUE(Quiet(database, "fragmentation"));
}

TEST(OomCausesTest, AnEagerOperation) {
  for (const std::string name : {"jit_convert_element_type", "jit_add", "jit__where"}) {
    RuleDatabase database;
    database.IngestText(Request2025("6.00GiB", name));
    EXPECT_EQ(Branch(database, "runtime_oom"), "eager") << name;
    EXPECT_EQ(Keys(database, "runtime_oom")[0], "inside_jit") << name;
  }
}

TEST(OomCausesTest, NotAStep) {
  RuleDatabase database;
  database.IngestText(Request2025("6.00GiB", "jit_train_step"));
  EXPECT_THAT(Keys(database, "runtime_oom"), Not(Contains("inside_jit")));
  RuleDatabase victim;
  victim.IngestText(Request2025("6.00MiB", "jit_add"));
  EXPECT_EQ(Branch(victim, "runtime_oom"), "victim");
}

TEST(OomCausesTest, MemoryOutsideOfThePool) {
  const std::pair<std::string, std::string> kTexts[] = {
      {"jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Failed to load in-memory CUBIN (compiled "
       "for a different GPU?).: CUDA_ERROR_OUT_OF_MEMORY: out of memory\n",
       "A program's code"},
      {"jax.errors.JaxRuntimeError: INTERNAL: NCCL operation ncclGroupEnd() failed: unhandled cuda "
       "error. Last NCCL warning(error) log entry (may be unrelated) 'Cuda failure 'out of "
       "memory''. [executable_name='jit_step']\n",
       "NCCL"},
      {"XlaRuntimeError: INTERNAL: Failed to launch CUDA kernel: fusion_29 with block dimensions: "
       "128x1x1: CUDA_ERROR_OUT_OF_MEMORY: out of memory\n",
       "The launch of a kernel"},
      {"XlaRuntimeError: INTERNAL: Failed to instantiate CUDA graph: CUDA_ERROR_OUT_OF_MEMORY: out "
       "of memory\n",
       "A CUDA graph"},
  };
  for (const auto& [text, library] : kTexts) {
    RuleDatabase database;
    database.IngestText(text);
    EXPECT_EQ(Branch(database, "runtime_oom"), "outside_pool") << text;
    EXPECT_THAT(One(database, "runtime_oom").Text("title"), HasSubstr(library));
    EXPECT_THAT(Keys(database, "runtime_oom"),
                ElementsAre("lower_memory_fraction", "disable_command_buffers", "find_holder"));
  }
}

TEST(OomCausesTest, NotARequestOfThePool) {
  RuleDatabase database;
  database.IngestText(Request(18_GiB));
  EXPECT_NE(Branch(database, "runtime_oom"), "outside_pool");
  EXPECT_THAT(Keys(database, "runtime_oom"), Not(Contains("lower_memory_fraction")));
}

std::string ChipFull(const std::string& chip, const std::string& request, const std::string& free) {
  return "ValueError: RESOURCE_EXHAUSTED: E0100: RuntimeBufferAllocationFailure: Error allocating "
         "device buffer: Attempting to allocate " +
         request + ". That was not possible. There are " + free + " free.; (" + chip + "_HBM0)\n";
}

TEST(OomCausesTest, OneChipIsFull) {
  RuleDatabase database;
  database.IngestText(ChipFull("0x1x0", "32.00M", "12.50M"));
  EXPECT_EQ(Branch(database, "runtime_oom"), "full_chip");
  EXPECT_EQ(Keys(database, "runtime_oom")[0], "shard_on_load");
}

TEST(OomCausesTest, NotWhereAllChipsAreFull) {
  RuleDatabase database;
  database.IngestText(ChipFull("0x1x0", "32.00M", "12.50M") + ChipFull("0x0x0", "32.00M", "9.50M"));
  EXPECT_EQ(Branch(database, "runtime_oom"), "victim");
}

constexpr char kLoad[] =
    "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: E0101: RuntimeProgramAllocationFailure: Error "
    "loading program '{}': Attempting to reserve 400.00M at the bottom of memory. That was not "
    "possible. There are 336.00M free, 0B reserved, and 336.00M reservable.\n";

TEST(OomCausesTest, AProgramIsLoadedBesideACache) {
  RuleDatabase database;
  database.IngestText(fmt::format(fmt::runtime(kLoad), "jit_decode"));
  EXPECT_EQ(Branch(database, "runtime_oom"), "program_load");
  const Record remedy = Remedies(database, "runtime_oom").at(0);
  EXPECT_EQ(remedy.Text("remedy"), "serving_utilization");
  EXPECT_EQ(remedy.Integer("saving_bytes"), 64_MiB);
}

TEST(OomCausesTest, NotInATraining) {
  RuleDatabase database;
  database.IngestText(fmt::format(fmt::runtime(kLoad), "jit_train_step"));
  EXPECT_EQ(Branch(database, "runtime_oom"), "program_load");
  EXPECT_THAT(Keys(database, "runtime_oom"), Not(Contains("serving_utilization")));
  EXPECT_EQ(Keys(database, "runtime_oom")[0], "release");
}

std::string Remat(const std::string& reduced, const std::string& originally) {
  return "W hlo_rematerialization.cc:3021] Can't reduce memory use below 20.00GiB (21474836480 "
         "bytes) by rematerialization; only reduced to " +
         reduced + ", down from " + originally + " originally\n";
}

TEST(OomCausesTest, ACountThatTheRequestContradicts) {
  RuleDatabase database;
  database.IngestText(Remat("22.00GiB (23622320128 bytes)", "130.00GiB (139586437120 bytes)") +
                      Request(128_GiB));
  EXPECT_EQ(Branch(database, "runtime_oom"), "remat_contradicted");
  EXPECT_EQ(Keys(database, "runtime_oom")[0], "report_to_xla");
}

TEST(OomCausesTest, NotOfAnotherProgram) {
  RuleDatabase database;
  // More than the compiler ever counted: the request is another program's.
  database.IngestText(Remat("22.00GiB (23622320128 bytes)", "25.00GiB (26843545600 bytes)") +
                      Request(48_GiB));
  EXPECT_NE(Branch(database, "runtime_oom"), "remat_contradicted");
  // And here the count holds.
  RuleDatabase within;
  within.IngestText(Remat("22.00GiB (23622320128 bytes)", "130.00GiB (139586437120 bytes)") +
                    Request(21_GiB));
  EXPECT_NE(Branch(within, "runtime_oom"), "remat_contradicted");
}

std::string OnePeakBuffer(const std::string& op, const std::string& shape) {
  return "BufferAssignment OOM Debugging.\nBufferAssignment stats:\n"
         "             parameter allocation:    3.81GiB\n"
         "              constant allocation:         0B\n"
         "        maybe_live_out allocation:    3.81GiB\n"
         "     preallocated temp allocation:         0B\n"
         "                 total allocation:    7.63GiB\nPeak buffers:\n\tBuffer 1:\n"
         "\t\tSize: 3.81GiB\n\t\tOperator: op_name=\"" +
         op +
         "\" source_file=\"/app/m.py\" source_line=20\n\t\tXLA Label: fusion\n\t\tShape: " + shape +
         "\n\t\t==========================\n\n";
}

TEST(OomCausesTest, SixtyFourBitsAreNoAttention) {
  RuleDatabase database;
  database.IngestText(Request(4096000000) +
                      OnePeakBuffer("jit(fn)/jit(main)/mul", "f64[20,160,400,400]"));
  EXPECT_EQ(Branch(database, "runtime_oom"), "eager");
  const std::vector<std::string> keys = Keys(database, "runtime_oom");
  EXPECT_THAT(keys, Contains("narrower_dtype"));
  EXPECT_THAT(keys, Not(Contains("fused_attention")));
  EXPECT_THAT(keys, Not(Contains("return_less")));
}

TEST(OomCausesTest, ScoresAreAttention) {
  RuleDatabase database;
  database.IngestText(Request(4096000000) + OnePeakBuffer("jit(step)/jvp(Block)/attn/dot_general",
                                                          "bf16[20,160,800,800]"));
  const std::vector<std::string> keys = Keys(database, "runtime_oom");
  EXPECT_THAT(keys, Contains("fused_attention"));
  EXPECT_THAT(keys, Not(Contains("narrower_dtype")));
}

TEST(OomCausesTest, EveryPinnedPoolHasItsLimit) {
  RuleDatabase database;
  database.IngestText(
      "W bfc_allocator.cc:501] Allocator (xla_gpu_host_bfc) ran out of memory trying to allocate "
      "9.00GiB (rounded to 9663676416)requested by op \nJaxRuntimeError: RESOURCE_EXHAUSTED: Out "
      "of "
      "host memory while trying to allocate 9.00GiB with allocator xla_gpu_host_bfc on device 0. "
      "Please set the environment variable XLA_PJRT_GPU_HOST_MEMORY_LIMIT_GB to allocate larger "
      "host memory than the default 64 GB.\n");
  EXPECT_EQ(Branch(database, "host_oom"), "pinned");
  EXPECT_THAT(Keys(database, "host_oom"), ElementsAre("pinned_host_limit", "less_on_host"));
  EXPECT_THAT(Remedies(database, "host_oom").at(0).Text("fix"), HasSubstr("to 73 or more"));
}

TEST(OomCausesTest, OfTheHostEachHasItsOwn) {
  const struct {
    std::string text, branch, first;
  } kTexts[] = {
      {"numpy._core._exceptions._ArrayMemoryError: Unable to allocate 2.00 GiB for an array with "
       "shape (1024, 524288) and data type int32\n",
       "array", "raise_job_memory"},
      {"numpy.core._exceptions._ArrayMemoryError: Unable to allocate 3.64 TiB for an array with "
       "shape (1000000, 1000000) and data type float32\n",
       "absurd", "check_shapes"},
      {"slurmstepd: error: Detected 1 oom_kill event in StepId=77.0. Some of the step tasks have "
       "been OOM Killed.\n",
       "killed", "raise_job_memory"},
      {"terminate called after throwing an instance of 'std::bad_alloc'\n", "machine",
       "raise_job_memory"},
      {"RESOURCE_EXHAUSTED: Out of memory allocating 40000000000 bytes.\n", "cpu", "vmap"},
  };
  for (const auto& one : kTexts) {
    RuleDatabase database;
    database.IngestText(one.text);
    EXPECT_EQ(Branch(database, "host_oom"), one.branch) << one.text;
    const std::vector<std::string> keys = Keys(database, "host_oom");
    ASSERT_THAT(keys, Not(IsEmpty()));
    EXPECT_EQ(keys[0], one.first);
    if (one.branch != "cpu") EXPECT_THAT(keys, Not(Contains("vmap")));
  }
}

TEST(OomCausesTest, PaddingByUtilization) {
  const std::string kReport =
      "Total hbm usage >= 14.25G:\n    reserved        256.00M \n    program          14.00G \n"
      "    arguments            0B \n\nProgram hbm requirement 14.00G:\n"
      "    HLO temp         14.00G ({}, 0.0% fragmentation (0B))\n\n"
      "  Largest program allocations in hbm:\n\n  1. Size: 10.50G\n"
      "     Operator: op_name=\"jit(pool)/reduce_window\"\n";
  RuleDatabase database;
  database.IngestText(
      fmt::format(fmt::runtime(kReport), "1.6% utilization: Unpadded (224.00M) Padded (14.00G)"));
  EXPECT_THAT(One(database, "compile_oom").Text("detail"), HasSubstr("padding to the tile"));
  EXPECT_EQ(Keys(database, "compile_oom")[0], "change_layout");
  RuleDatabase dense;
  dense.IngestText(
      fmt::format(fmt::runtime(kReport), "100.0% utilization: Unpadded (14.00G) Padded (14.00G)"));
  EXPECT_THAT(Keys(dense, "compile_oom"), Not(Contains("change_layout")));
}

TEST(OomCausesTest, TheCompilersOwnOperationInVmem) {
  RuleDatabase database;
  database.IngestText(
      "RESOURCE_EXHAUSTED: Ran out of memory in memory space vmem while allocating on stack for "
      "%reduce-window.7 = (s32[8,8,128]{2,1,0:T(8,128)S(1)}, s32[8,8,128]{2,1,0:T(8,128)S(1)}) "
      "reduce-window(s32[8,8,128]{2,1,0:T(8,128)S(1)} %bitcast.11). Scoped allocation with size "
      "24.00M and limit 16.00M exceeded scoped vmem limit by 8.00M.\n");
  EXPECT_THAT(Keys(database, "on_chip_oom"),
              ElementsAre("vmem_limit", "reformulate", "report_to_xla"));
  EXPECT_THAT(Remedies(database, "on_chip_oom").at(0).Text("fix"),
              HasSubstr("xla_tpu_scoped_vmem_limit_kib=24576"));
}

TEST(OomCausesTest, AKernelsBlocksInVmem) {
  RuleDatabase database;
  database.IngestText(
      "Ran out of memory in memory space vmem while allocating on stack for %my_kernel.1 = "
      "f32[8192,2048]{1,0:T(8,128)} custom-call(%x.1), custom_call_target=\"tpu_custom_call\", "
      "metadata={op_name=\"jit(f)/my_kernel/pallas_call\"}. Scoped allocation with size 32.00M and "
      "limit 16.00M exceeded scoped vmem limit by 16.00M.\n");
  EXPECT_THAT(Keys(database, "on_chip_oom"), ElementsAre("smaller_kernel_blocks", "vmem_limit"));
}

TEST(OomCausesTest, AnEngineThatDidNotStart) {
  RuleDatabase database;
  // 42 GiB are missing, 53 per cent of the device.
  database.IngestText(
      "ValueError: Free memory on device cuda:0 (30.0/80.0 GiB) on startup is less than desired "
      "GPU "
      "memory utilization (0.9, 72.0 GiB). Decrease GPU memory utilization or reduce GPU memory "
      "used by other processes.\n");
  EXPECT_EQ(Branch(database, "runtime_oom"), "engine_start");
  EXPECT_EQ(Keys(database, "runtime_oom")[0], "serving_utilization");
  EXPECT_THAT(Remedies(database, "runtime_oom")[0].Text("fix"), HasSubstr("at least 53 per cent"));
}

TEST(OomCausesTest, AnEngineWhoseCacheFindsNoRoom) {
  RuleDatabase database;
  database.IngestText(
      "ValueError: To serve at least one request with the models's max seq len (131072), (16.00 "
      "GiB "
      "KV cache is needed, which is larger than the available KV cache memory (4.50 GiB).\n");
  EXPECT_EQ(Branch(database, "runtime_oom"), "engine_cache");
  EXPECT_THAT(Remedies(database, "runtime_oom").at(0).Text("fix"), HasSubstr("max_model_len"));
}

// What a cause asks for stands before what only searches.
TEST(OomCausesTest, EveryRemedyHasAnEffort) {
  RuleDatabase database;
  EXPECT_EQ(database.Integer("SELECT COUNT(*) FROM remedy_kinds k WHERE NOT EXISTS (SELECT 1 FROM "
                             "remedy_efforts e WHERE e.remedy = k.remedy)"),
            0);
}

}  // namespace
}  // namespace oomdb::queries
