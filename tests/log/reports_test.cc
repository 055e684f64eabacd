// A report of several lines: in halves, wrapped, with other lines between. Whole reports are in
// tests/log/cases.
#include <gtest/gtest.h>

#include "tests/log/read_log.h"

namespace oomdb::ingest {
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

TEST(ReportsTest, TwiceIsOnce) {
  const std::string whole = std::string(kHeadline) + kReport;
  const ReadLog log(whole + "Traceback (most recent call last):\n" + whole);
  ExpectReport(log);
  EXPECT_EQ(log.only().repeat_count, 2);
  // libtpu logs it first.
  const ReadLog logged(WithPrefix("I0810 15:08:30.248222    4815 backend.cc:2163] ", kReport) +
                       "Traceback (most recent call last):\n" + whole);
  ExpectReport(logged);
  EXPECT_EQ(logged.only().form, "T1");
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

}  // namespace
}  // namespace oomdb::ingest
