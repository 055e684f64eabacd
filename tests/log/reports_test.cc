// Reports of several lines: whole, in halves, wrapped, with other lines between.
#include <gtest/gtest.h>

#include "tests/log/read_log.h"

namespace oomdb {
namespace {

const char* const kHeadline =
    "Ran out of memory in memory space hbm. Used 3.00G of 2.00G hbm. Exceeded hbm capacity by "
    "1.00G.\n";
const char* const kReport =
    "\n"
    "Total hbm usage >= 3.25G:\n"
    "    reserved        256.00M \n"
    "    program           1.00G \n"
    "    arguments         2.00G (99.9% utilization)\n"
    "\n"
    "Output size 1.0K (100.0% utilization); shares 512B with arguments.\n"
    "\n"
    "Program hbm requirement 1.00G:\n"
    "    reserved           4.0K\n"
    "    global            29.82M\n"
    "    constants          3.0K\n"
    "    HLO temp        900.00M (24.2% utilization: Unpadded (1.00M) Padded (2.00M), 0.7% "
    "fragmentation (6.00M))\n"
    "\n"
    "  Largest program allocations in hbm:\n"
    "\n"
    "  1. Size: 512.00M\n"
    "     Operator: op_type=\"T\" op_name=\"jit(f)/a[b=\"c\" d=(1, 2)]\" source_file=\"/a b.py\" "
    "source_line=7 deduplicated_name=\"fusion.1\"\n"
    "     Shape: (f32[8,4]{1,0:T(8,128)}, u32[])\n"
    "     Unpadded size: 16.00M\n"
    "     Extra memory due to padding: 496.00M (32.0x expansion)\n"
    "     Tag: input window\n"
    "     XLA label: fusion.1.remat3 = fusion(x), kind=kOutput\n"
    "     Allocation type: HLO temp\n"
    "     ==========================\n"
    "\n"
    "  2. Size: 64.0K\n"
    "     XLA label: register allocator spill slots call depth 2\n"
    "     Allocation type: scoped\n"
    "     ==========================\n";

void ExpectReport(const ReadLog& log) {
  const OomEventFact oom = log.only();
  EXPECT_EQ(oom.memory_space, "hbm");
  EXPECT_EQ(oom.total_bytes, 3 * kGi + 256 * kMi);
  EXPECT_EQ(oom.reserved_bytes, 256 * kMi);
  EXPECT_EQ(oom.program_bytes, kGi);
  EXPECT_EQ(oom.arguments_bytes, 2 * kGi);
  EXPECT_EQ(oom.output_bytes, kKi);
  EXPECT_EQ(oom.alias_bytes, 512);
  EXPECT_EQ(oom.temp_bytes, 900 * kMi);
  EXPECT_EQ(oom.constant_bytes, 3 * kKi);
  EXPECT_EQ(oom.fragmentation_bytes, 6 * kMi);
  ASSERT_EQ(log.buffers.size(), 2u);
  EXPECT_EQ(log.buffers[0].position, 1);
  EXPECT_EQ(log.buffers[0].bytes, 512 * kMi);
  EXPECT_EQ(log.buffers[0].unpadded_bytes, 16 * kMi);
  EXPECT_EQ(log.buffers[0].padding_bytes, 496 * kMi);
  EXPECT_EQ(log.buffers[0].shape, "(f32[8,4]{1,0:T(8,128)}, u32[])");
  EXPECT_EQ(log.buffers[0].op_name, "jit(f)/a[b=\"c\" d=(1, 2)]");
  EXPECT_EQ(log.buffers[0].source_file, "/a b.py");
  EXPECT_EQ(log.buffers[0].source_line, 7);
  EXPECT_EQ(log.buffers[0].label, "fusion.1.remat3 = fusion(x), kind=kOutput");
  EXPECT_EQ(log.buffers[0].allocation_type, "HLO temp");
  EXPECT_EQ(log.buffers[1].position, 2);
  EXPECT_EQ(log.buffers[1].shape, "");
  EXPECT_EQ(log.buffers[1].allocation_type, "scoped");
}

std::string WithPrefix(const std::string& prefix, std::string text) {
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    text.insert(at, prefix);
    if (text.find('\n', at) == std::string::npos) break;
  }
  return text;
}

TEST(ReportsTest, TpuReportBelowItsHeadline) {
  const ReadLog log(std::string(kHeadline) + kReport);
  ExpectReport(log);
  EXPECT_EQ(log.only().kind, "T1");
  EXPECT_EQ(log.only().fatal, true);
}

TEST(ReportsTest, TpuReportInWrappers) {
  for (const char* prefix :
       {"> ", "(Actor pid=4) ", "I0309 12:51:51.367184 140000000000000 run_docker.py:247] ",
        " 12   ", "\x1b[36m(A pid=1, ip=1.2.3.4)\x1b[0m "}) {
    ExpectReport(ReadLog(WithPrefix(prefix, std::string(kHeadline) + kReport)));
  }
  // Other processes write too.
  const std::string other = "I0309 12:51:51.367184   77 other.py:1] step 3 loss 0.5\n";
  std::string between = std::string(kHeadline) + kReport;
  for (size_t at = between.find('\n'); at != std::string::npos;
       at = between.find('\n', at + 1 + other.size())) {
    between.insert(at + 1, other);
  }
  ExpectReport(ReadLog(between));
}

TEST(ReportsTest, AllOfItInOneLine) {
  std::string joined = std::string(kHeadline) + kReport;
  for (size_t at = joined.find('\n'); at != std::string::npos; at = joined.find('\n', at))
    joined.replace(at, 1, " ");
  const ReadLog log(joined);
  EXPECT_EQ(log.only().reserved_bytes, 256 * kMi);
  EXPECT_EQ(log.only().program_bytes, kGi);
  EXPECT_EQ(log.only().arguments_bytes, 2 * kGi);
  EXPECT_EQ(log.only().output_bytes, kKi);
  EXPECT_EQ(log.only().temp_bytes, 900 * kMi);
  ASSERT_EQ(log.buffers.size(), 2u);
  EXPECT_EQ(log.buffers[0].bytes, 512 * kMi);
  EXPECT_EQ(log.buffers[0].source_line, 7);
}

TEST(ReportsTest, TwiceIsOnce) {
  const std::string whole = std::string(kHeadline) + kReport;
  const ReadLog log(whole + "Traceback (most recent call last):\n" + whole);
  ExpectReport(log);
  EXPECT_EQ(log.only().repeat_count, 2);
  // libtpu logs it first.
  const ReadLog logged(WithPrefix("I0810 15:08:30.248222    4815 backend.cc:2163] ", kReport) +
                       "Traceback (most recent call last):\n" + whole);
  ExpectReport(logged);
  EXPECT_EQ(logged.only().kind, "T1");
}

TEST(ReportsTest, WithoutItsHeadlineNobodyKnows) {
  const ReadLog log(kReport);
  ExpectReport(log);
  EXPECT_EQ(log.only().kind, "T2");
  EXPECT_EQ(log.only().fatal, std::nullopt);
  EXPECT_EQ(log.only().capacity_bytes, std::nullopt);
}

TEST(ReportsTest, AnyPartOfItIsRead) {
  const std::string whole = std::string(kHeadline) + kReport;
  for (size_t at = 0; at != std::string::npos; at = whole.find('\n', at + 1)) {
    const ReadLog head(whole.substr(0, at + 1));
    EXPECT_LE(head.events.size(), 1u);
    const ReadLog tail(whole.substr(at));
    EXPECT_LE(tail.events.size(), 1u);
    if (at > 0) {
      EXPECT_EQ(head.only().used_bytes, 3 * kGi);
    }
  }
}

TEST(ReportsTest, ArgumentsThatWereNotChargedAreUnknown) {
  const char* const report =
      "Total hbm usage >= 3.25G:\n    reserved  256.00M\n    program  3.00G\n    arguments  0B\n\n"
      "Output size 0B; shares 0B with arguments.\n";
  const OomEventFact oom = ReadLog(std::string(kHeadline) + report).only();
  EXPECT_EQ(oom.program_bytes, 3 * kGi);
  EXPECT_EQ(oom.arguments_bytes, std::nullopt);
  EXPECT_EQ(oom.output_bytes, std::nullopt);
  EXPECT_EQ(oom.alias_bytes, std::nullopt);
  const OomEventFact unknown =
      ReadLog(std::string(kHeadline) +
              "Total hbm usage >= 49.34G:\n  reserved 256.00M\n  program unknown size\n  arguments "
              "49.34G\nOutput size unknown.\n")
          .only();
  EXPECT_EQ(unknown.program_bytes, std::nullopt);
  EXPECT_GT(unknown.arguments_bytes, 49 * kGi);
}

TEST(ReportsTest, ABrokenOpNameIsJoined) {
  const ReadLog log(std::string(kHeadline) +
                    "  1. Size: 1.00G\n     Operator: op_name=\"jit(f)/a_long\n_name/mul\" "
                    "source_file=\"a.py\" source_line=3\n     Shape: f32[2]{0}\n");
  ASSERT_EQ(log.buffers.size(), 1u);
  EXPECT_EQ(log.buffers[0].op_name, "jit(f)/a_long_name/mul");
  EXPECT_EQ(log.buffers[0].source_line, 3);
  EXPECT_EQ(log.buffers[0].shape, "f32[2]{0}");
}

const char* const kBuffers =
    "BufferAssignment OOM Debugging.\n"
    "BufferAssignment stats:\n"
    "             parameter allocation:    2.00GiB\n"
    "              constant allocation:         0B\n"
    "        maybe_live_out allocation:    1.00GiB\n"
    "     preallocated temp allocation:    9.00GiB\n"
    "  preallocated temp fragmentation:    4.00MiB (8.04%)\n"
    "                 total allocation:   12.00GiB\n"
    "              total fragmentation:    1.17GiB (9.13%)\n"
    "Peak buffers:\n"
    "\tBuffer 1:\n"
    "\t\tSize: 1.50GiB\n"
    "\t\tOperator: op_name=\"jit(f)/dot[a=(2,)]\" source_file=\"/m.py\" source_line=1446\n"
    "\t\tXLA Label: fusion\n"
    "\t\tShape: f32[5120,1286,64]\n"
    "\t\t==========================\n"
    "\n"
    "\tBuffer 2:\n"
    "\t\tSize: 384.0KiB\n"
    "\t\tEntry Parameter Subshape: f32[256,128,3]\n"
    "\t\t==========================\n";

void ExpectBuffers(const ReadLog& log) {
  const OomEventFact oom = log.only();
  EXPECT_EQ(oom.fatal, true);
  EXPECT_EQ(oom.memory_space, "gpu");
  EXPECT_EQ(oom.arguments_bytes, 2 * kGi);
  EXPECT_EQ(oom.constant_bytes, 0);
  EXPECT_EQ(oom.output_bytes, kGi);
  EXPECT_EQ(oom.temp_bytes, 9 * kGi);
  EXPECT_EQ(oom.fragmentation_bytes, 4 * kMi);
  EXPECT_EQ(oom.total_bytes, 12 * kGi);
  ASSERT_EQ(log.buffers.size(), 2u);
  EXPECT_EQ(log.buffers[0].position, 1);
  EXPECT_EQ(log.buffers[0].bytes, 3 * kGi / 2);
  EXPECT_EQ(log.buffers[0].op_name, "jit(f)/dot[a=(2,)]");
  EXPECT_EQ(log.buffers[0].label, "fusion");
  EXPECT_EQ(log.buffers[1].position, 2);
  EXPECT_EQ(log.buffers[1].shape, "f32[256,128,3]");
  EXPECT_EQ(log.buffers[1].allocation_type, "entry parameter");
}

TEST(ReportsTest, BufferAssignment) {
  const std::string request = "Out of memory while trying to allocate 9663676416 bytes.\n";
  ExpectBuffers(ReadLog(request + kBuffers));
  ExpectBuffers(ReadLog(request + kBuffers + request + kBuffers));
  ExpectBuffers(ReadLog(WithPrefix("12[2m[36m(A pid=489)[0m ", request + kBuffers)));
  ExpectBuffers(ReadLog(kBuffers));
  // As a repr prints it.
  std::string escaped = "XlaRuntimeError('RESOURCE_EXHAUSTED: " + request + kBuffers;
  for (size_t at = escaped.find('\n'); at != std::string::npos; at = escaped.find('\n', at))
    escaped.replace(at, 1, "\\n");
  for (size_t at = escaped.find('\t'); at != std::string::npos; at = escaped.find('\t', at))
    escaped.replace(at, 1, "\\t");
  ExpectBuffers(ReadLog(escaped + "')\n"));
}

TEST(ReportsTest, BfcDump) {
  const char* const dump =
      "bfc_allocator.cc:1049] BFCAllocator dump for GPU_1_bfc\n"
      "bfc_allocator.cc:1056] Bin (256): \tTotal Chunks: 1, Chunks in use: 1. 256B allocated for "
      "chunks. 256B in use in bin. 4B client-requested in use in bin.\n"
      "bfc_allocator.cc:1072] Bin for 12.00MiB was 8.00MiB, Chunk State: \n"
      "bfc_allocator.cc:1085] Next region of size 3000\n"
      "bfc_allocator.cc:1105] InUse at 7f09f41ff040 of size 1000 by op jit(f)/mul add "
      "action_count 7 step 0 next 3\n"
      "bfc_allocator.cc:1105] Free  at 7f09f41ff440 of size 2000 next 18446744073709551615\n"
      "bfc_allocator.cc:1085] Next region of size 2500\n"
      "bfc_allocator.cc:1105] InUse at 0x7f0a1001f040 of size 2500 next 1\n"
      "bfc_allocator.cc:1110]      Summary of in-use Chunks by size: \n"
      "bfc_allocator.cc:1113] 1 Chunks of size 2500 totalling 2.4KiB\n"
      "bfc_allocator.cc:1117] Sum Total of in-use chunks: 3.4KiB\n"
      "bfc_allocator.cc:1119] Total bytes in pool: 5500 memory_limit_: 6000 available bytes: 500 "
      "curr_region_allocation_bytes_: 6000\n"
      "bfc_allocator.cc:1128] Stats: \n"
      "Limit:                        6000\n"
      "InUse:                        3500\n"
      "MaxInUse:                     3500\n"
      "NumAllocs:                       3\n"
      "MaxAllocSize:                 2500\n"
      "LargestFreeBlock:                0\n"
      "\n"
      "bfc_allocator.cc:513] ****************************************_____\n";
  const std::string request =
      "Allocator (GPU_1_bfc) ran out of memory trying to allocate 2.9KiB (rounded to 3072)"
      "requested by op \nIf the cause is memory fragmentation maybe\nCurrent allocation summary "
      "follows.\n";
  for (const std::string& text :
       {request + dump, dump + std::string("Out of memory while trying to allocate 3072 bytes."),
        request + dump + request + dump}) {
    const ReadLog log(text);
    const OomEventFact oom = log.only();
    EXPECT_EQ(oom.fatal, true);
    EXPECT_EQ(oom.requested_bytes, 3072);
    EXPECT_EQ(oom.allocator, "GPU_1_bfc");
    EXPECT_EQ(oom.device, 1);
    EXPECT_EQ(oom.capacity_bytes, 6000);
    EXPECT_EQ(oom.used_bytes, 3500);
    EXPECT_EQ(oom.free_bytes, 2500);
    EXPECT_EQ(oom.largest_free_bytes, 2000);
    ASSERT_EQ(log.chunks.size(), 3u);
    EXPECT_EQ(log.chunks[0].op_name, "jit(f)/mul add");
    EXPECT_EQ(log.chunks[0].address, 0x7f09f41ff040);
    EXPECT_TRUE(log.chunks[0].in_use);
    EXPECT_FALSE(log.chunks[1].in_use);
    EXPECT_EQ(log.chunks[1].region, 1);
    EXPECT_EQ(log.chunks[2].region, 2);
  }
  // Cut within the chunks: the largest free one may be among those that are missing.
  const std::string cut = request + std::string(dump).substr(0, std::string(dump).find("Summary"));
  EXPECT_EQ(ReadLog(cut.substr(0, cut.rfind("bfc_"))).only().largest_free_bytes, std::nullopt);
}

TEST(ReportsTest, PoolsOfEveryGeneration) {
  for (const char* line :
       {"total_region_allocated_bytes_: 5 memory_limit_: 4096 available bytes: 0 "
        "curr_region_allocation_bytes_: 9",
        "Total bytes in pool: 5 memory_limit_: 4096 available bytes: 0 "
        "curr_region_allocation_bytes_: 9",
        "Total size in pool: 4.0KiB memory_limit_: 4.0KiB available size: 0B "
        "curr_region_allocation_bytes_: 9B"}) {
    EXPECT_EQ(ReadLog(line).only().capacity_bytes, 4096) << line;
  }
  const OomEventFact newest =
      ReadLog(
          "Allocator memory summary: rounded request 4.0KiB, total free in pool 3.0KiB, "
          "largest free chunk usable by upper end 2.0KiB, unallocated bytes 0B, pool size "
          "8.0KiB, pool limit 8.0KiB\n")
          .only();
  EXPECT_EQ(newest.requested_bytes, 4096);
  EXPECT_EQ(newest.free_bytes, 3072);
  EXPECT_EQ(newest.largest_free_bytes, 2048);
  EXPECT_EQ(newest.capacity_bytes, 8192);
}

TEST(ReportsTest, CudaMallocAsync) {
  const OomEventFact oom =
      ReadLog(
          "gpu_async_1 cuMemAllocAsync failed to allocate 3000 bytes: RESOURCE_EXHAUSTED: : "
          "CUDA_ERROR_OUT_OF_MEMORY: out of memory\n Reported by CUDA: Free memory/Total "
          "memory: 1000/9000\nStats: Limit:                               0\nInUse:           "
          "          2000\nMaxInUse:                  2000\n")
          .only();
  EXPECT_EQ(oom.kind, "A9");
  EXPECT_EQ(oom.requested_bytes, 3000);
  EXPECT_EQ(oom.free_bytes, 1000);
  EXPECT_EQ(oom.capacity_bytes, 9000);
  EXPECT_EQ(oom.used_bytes, 2000);
  EXPECT_EQ(oom.largest_free_bytes, std::nullopt);
}

TEST(ReportsTest, RowsOfTheUsageReport) {
  const std::string rows =
      "   1.50GiB( 66%);  768.00MiB;   239578644480;                1; bf16[8,256]\n"
      "   2.25GiB( 66%);  768.00MiB;   238773338112;                1; bf16[8,256]\n"
      "   2.26GiB( 66%);   10.00MiB;              0;                2; f32[2,3], 3\xC3\x97"
      "f32[4]\n   2.3\n";
  const ReadLog log(rows + "compiler_base.cc:3882] Failed to verify buffer assignment.\n");
  EXPECT_EQ(log.only().kind, "T9");
  EXPECT_EQ(log.only().fatal, true);
  EXPECT_EQ(log.only().memory_space, "hbm");
  ASSERT_EQ(log.buffers.size(), 2u);
  EXPECT_EQ(log.buffers[0].count, 2);
  EXPECT_EQ(log.buffers[0].bytes, 768 * kMi);
  EXPECT_EQ(log.buffers[1].shape,
            "f32[2,3], 3\xC3\x97"
            "f32[4]");
  EXPECT_EQ(ReadLog(rows).only().fatal, std::nullopt);
}

TEST(ReportsTest, Statistics) {
  for (const char* between : {" ", "\n    "}) {
    const ReadLog log("CompiledMemoryStats(" + std::string(between) +
                      "generated_code_size_in_bytes=1," + between + "argument_size_in_bytes=20," +
                      between + "output_size_in_bytes=30," + between + "alias_size_in_bytes=4," +
                      between + "temp_size_in_bytes=5," + between +
                      "host_temp_size_in_bytes=600)\n");
    EXPECT_EQ(log.only().kind, "K1");
    EXPECT_EQ(log.only().fatal, false);
    EXPECT_EQ(log.only().arguments_bytes, 20);
    EXPECT_EQ(log.only().output_bytes, 30);
    EXPECT_EQ(log.only().alias_bytes, 4);
    EXPECT_EQ(log.only().temp_bytes, 5);
    EXPECT_TRUE(log.has_issue("no_oom_found"));
  }
  EXPECT_TRUE(ReadLog("CompiledMemoryStats(argument_size_in_bytes=0, output_size_in_bytes=0, "
                      "temp_size_in_bytes=0)")
                  .events.empty());
  for (const char* between : {" ", "\n "}) {
    const std::string comma = "," + std::string(between);
    const OomEventFact stats = ReadLog("{'num_allocs': 3" + comma + "'bytes_in_use': 100" + comma +
                                       "'peak_bytes_in_use': 150" + comma + "'bytes_limit': 900" +
                                       comma + "'largest_free_block_bytes': 0}")
                                   .only();
    EXPECT_EQ(stats.kind, "K3");
    EXPECT_EQ(stats.used_bytes, 100);
    EXPECT_EQ(stats.capacity_bytes, 900);
    EXPECT_EQ(stats.free_bytes, 800);
    EXPECT_EQ(stats.largest_free_bytes, std::nullopt);
  }
  const ReadLog maxtext(
      "Total memory size: 8.0 GB, Output size: 4.0 GB, Temp size: 2.0 GB, Argument size: 3.0 GB, "
      "Host temp size: 1.0 GB.\n");
  EXPECT_EQ(maxtext.only().kind, "K5");
  EXPECT_EQ(maxtext.only().total_bytes, 8 * kGi);
  EXPECT_EQ(maxtext.only().output_bytes, 4 * kGi);
  EXPECT_EQ(maxtext.only().temp_bytes, 2 * kGi);
  EXPECT_EQ(maxtext.only().arguments_bytes, 3 * kGi);
  EXPECT_TRUE(maxtext.has_issue("unit_ambiguous"));
  const OomEventFact axlearn = ReadLog(
                                   "Input memory: 4.0GB\nOutput memory: 2.0GB\nTemp memory: "
                                   "1.0GB\nCode memory: 0.1GB\nTotal HBM memory: 7.0GB\n")
                                   .only();
  EXPECT_EQ(axlearn.kind, "K6");
  EXPECT_EQ(axlearn.arguments_bytes, 4 * kGi);
  EXPECT_EQ(axlearn.total_bytes, 7 * kGi);
}

}  // namespace
}  // namespace oomdb
