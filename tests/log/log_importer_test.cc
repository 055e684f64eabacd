#include "ingest/log/log_importer.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/log/read_log.h"

namespace oomdb::ingest {
namespace {

const char* const kOom = "Out of memory while trying to allocate 777 bytes.\n";

bool Holds(const std::string& text, bool named) { return HoldsLog(*MemorySource(text), named); }

TEST(LogImporterTest, NamesOfLogs) {
  for (const char* name : {"train.log", "a/slurm-12.out", "x.err", "error.txt", "stderr",
                           "train.log.gz", "stderr.zst"}) {
    EXPECT_TRUE(ClaimsLog(name)) << name;
  }
  for (const char* name :
       {"a.py", "x.xplane.pb", "module_0001.jit_f.txt", "module_0001.jit_f.debug_options",
        "1795989309821401.module_0001.jit_f.txt", "fast-buffer-assignment.txt",
        "x-memory-usage-report.txt", "1795989309821401.peak_memory_tensors.txt",
        "oom_top_memory_consuming_instructions"}) {
    EXPECT_FALSE(ClaimsLog(name)) << name;
  }
  EXPECT_TRUE(ClaimsLog("module_test.log"));
}

TEST(LogImporterTest, InAFolderOnlyWithAFailureInIt) {
  EXPECT_TRUE(Holds(std::string(200000, '\n') + kOom, false));
  EXPECT_FALSE(Holds("hello\n", false));
  EXPECT_TRUE(Holds("hello\n", true));
  // Statistics are no failure; the last line counts.
  EXPECT_FALSE(Holds("{'bytes_in_use': 100, 'bytes_limit': 900}", false));
  EXPECT_TRUE(Holds("BufferAssignment OOM Debugging.", false));
  const std::string binary = std::string(300, '\0') + kOom;
  EXPECT_FALSE(Holds(binary, false));
  EXPECT_FALSE(Holds(binary, true));
}

TEST(LogImporterTest, NoneFoundIsAnAnswer) {
  const ReadLog log("a\nb\nc");
  ASSERT_EQ(log.captures.size(), 1u);
  EXPECT_EQ(log.captures[0].kind, "oom_log");
  EXPECT_FALSE(log.captures[0].truncated);
  ASSERT_EQ(log.issues.size(), 1u);
  EXPECT_EQ(log.issues[0].what, "no_oom_found");
  EXPECT_EQ(log.issues[0].severity, "info");
  EXPECT_EQ(log.issues[0].detail, "no OOM found in 3 lines");
}

TEST(LogImporterTest, WhatIsNoTextIsRefused) {
  EXPECT_THROW(ReadLog(""), Error);
  EXPECT_THROW(ReadLog(std::string(1000, '\0')), Error);
}

TEST(LogImporterTest, JunkIsPassedOver) {
  std::string text(200000, 'a');
  text += '\n';
  for (int i = 0; i < 100000; ++i) text += static_cast<char>(i * 7919 >> 3);
  const OomEventFact oom = ReadLog(text + "\n\0\0" + kOom).only();
  EXPECT_EQ(oom.requested_bytes, 777);
}

TEST(LogImporterTest, LongLinesAreReadToTheirEnd) {
  const std::string filler(10 << 20, 'x');
  EXPECT_EQ(ReadLog(filler + kOom + kOom).only().line, 1);
  const OomEventFact first = ReadLog(kOom + filler + "\n").only();
  EXPECT_EQ(first.line, 1);
  EXPECT_LE(
      ReadLog("Out of memory while trying to allocate 777 bytes." + filler).only().message.size(),
      500u);
}

TEST(LogImporterTest, FormsThatAreNotKnownAreCounted) {
  const ReadLog log("RESOURCE_EXHAUSTED: the memory is all gone\n");
  EXPECT_TRUE(log.events.empty());
  EXPECT_TRUE(log.has_issue("unknown_oom_form"));
}

TEST(LogImporterTest, BuffersBelongToTheirEvent) {
  const ReadLog log(std::string(kOom) + kOom +
                    "Allocation (size=9) would exceed memory (size=8) :: #allocation1 [shape = "
                    "'u8[9]{0}', space=smem]\n");
  ASSERT_EQ(log.events.size(), 2u);
  ASSERT_EQ(log.buffers.size(), 1u);
  EXPECT_EQ(log.buffers[0].event, 1);
}

}  // namespace
}  // namespace oomdb::ingest
