// Messages that were broken into lines, rewritten, wrapped in JSON, or mixed with others.
#include <gtest/gtest.h>

#include "base/error.h"
#include "ingest/log/json_line.h"
#include "tests/log/read_log.h"

namespace oomdb::ingest {
namespace {

TEST(BrokenLinesTest, AMessageGoesOnInTheNextLine) {
  for (const char* text : {
           "RESOURCE_EXHAUSTED: Shared memory size limit exceeded:\nrequested 2000, available: "
           "1000",
           "XlaRuntimeError: RESOURCE_EXHAUSTED: Shared memory size\nlimit exceeded: requested\n"
           "2000, available: 1000\n",
           "RESOURCE_EXHAUSTED: Shared memory size limit exceeded: requested 20\n00, available: "
           "1000",
       }) {
    const OomEventFact oom = ReadLog(text).only();
    EXPECT_EQ(oom.form, "S1") << text;
    EXPECT_EQ(oom.requested_bytes, 2000) << text;
    EXPECT_EQ(oom.capacity_bytes, 1000) << text;
    EXPECT_EQ(oom.line, 1) << text;
  }
  // Broken within a word, by a terminal's edge.
  EXPECT_EQ(ReadLog("failed to allocate 1.00G (1073741824 bytes) from d\n"
                    "evice: CUDA_ERROR_OUT_OF_MEMORY: out of memory")
                .only()
                .requested_bytes,
            kGi);
  const OomEventFact oom = ReadLog(
                               "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of "
                               "memory in memory space hbm. Used 3.00G of 2.00G\n"
                               "hbm. Exceeded hbm capacity by 1.00G.\n")
                               .only();
  EXPECT_EQ(oom.used_bytes, 3 * kGi);
  EXPECT_EQ(oom.exceeded_bytes, kGi);
}

TEST(BrokenLinesTest, AdviceInTheNextLine) {
  const OomEventFact oom = ReadLog(
                               "Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.00GiB "
                               "with\nfreed_by_count=0. The caller indicates that this is not a")
                               .only();
  EXPECT_EQ(oom.form, "A1");
  EXPECT_EQ(oom.fatal, false);
  // The next line is a message of its own.
  const ReadLog two(
      "Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.00GiB (rounded to "
      "2147483648)requested by op\n"
      "Allocator (GPU_0_bfc) ran out of memory trying to allocate 1.00GiB with freed_by_count=0.");
  ASSERT_EQ(two.events.size(), 2u);
  EXPECT_EQ(two.events[0].fatal, true);
  EXPECT_EQ(two.events[1].fatal, false);
}

TEST(BrokenLinesTest, ProgressBarsRewriteTheirLine) {
  std::string bar;
  for (int i = 0; i < 20000; ++i) bar += "\r" + std::to_string(i) + "/20000 [00:01<00:00]";
  const OomEventFact oom =
      ReadLog("start\n" + bar + "\rRESOURCE_EXHAUSTED: Out of memory while trying to allocate " +
              "1000 bytes.\nend\n" + bar + "\n")
          .only();
  EXPECT_EQ(oom.requested_bytes, 1000);
  EXPECT_EQ(oom.line, 2);
  EXPECT_EQ(oom.message.substr(0, 20), "RESOURCE_EXHAUSTED: ");
  // Of figures that were rewritten the last count.
  const ReadLog stats(
      "\r{'bytes_in_use': 100, 'bytes_limit': 900}\r{'bytes_in_use': 200, 'bytes_limit': 900}\n");
  EXPECT_EQ(stats.only().used_bytes, 200);
}

TEST(BrokenLinesTest, RanksWriteLineByLine) {
  std::string text;
  const auto both = [&](const std::string& zero, const std::string& one) {
    text += "[rank0]: " + zero + "\n[rank1]: " + one + "\n";
  };
  both(
      "Ran out of memory in memory space hbm. Used 3.00G of 2.00G hbm. Exceeded hbm capacity by "
      "1.00G.",
      "Ran out of memory in memory space hbm. Used 4.00G of 2.00G hbm. Exceeded hbm capacity by "
      "2.00G.");
  both("Total hbm usage >= 3.50G:", "Total hbm usage >= 4.50G:");
  both("    program           3.00G", "    program           4.00G");
  both("  1. Size: 1.00G", "  1. Size: 2.00G");
  both("     Shape: f32[1]{0}", "     Shape: f32[2]{0}");
  const ReadLog log(text);
  ASSERT_EQ(log.events.size(), 2u);
  EXPECT_EQ(log.events[0].total_bytes, 7 * kGi / 2);
  EXPECT_EQ(log.events[1].total_bytes, 9 * kGi / 2);
  ASSERT_EQ(log.buffers.size(), 2u);
  EXPECT_EQ(log.buffers[0].shape, "f32[1]{0}");
  EXPECT_EQ(log.buffers[1].shape, "f32[2]{0}");
}

TEST(BrokenLinesTest, NumbersInFrontAreRanksOrCountLines) {
  const std::vector<std::string> lines = {
      "Total hbm usage >= 3.50G:", "    program           3.00G", "  1. Size: 1.00G",
      "     Shape: f32[1]{0}"};
  std::string ranks;
  std::string counted;
  int line = 0;
  for (const std::string& text : lines) {
    for (const char* rank : {"0: ", "1: "}) ranks += rank + text + "\n";
    counted += std::to_string(++line) + ": " + text + "\n";
  }
  EXPECT_EQ(ReadLog(ranks).only().repeat_count, 2);
  EXPECT_EQ(ReadLog(ranks).buffers.size(), 1u);
  EXPECT_EQ(ReadLog(counted).only().program_bytes, 3 * kGi);
  EXPECT_EQ(ReadLog(counted).buffers.size(), 1u);
}

TEST(BrokenLinesTest, JsonIsUnwrapped) {
  EXPECT_EQ(JsonMessages("{'a': 1}").size(), 0u);
  EXPECT_EQ(JsonMessages(R"({"n": 1, "time": "t", "x": {"message": "a\n\u003e\"b\""}})"),
            (std::vector<std::string>{"a", ">\"b\""}));
  EXPECT_EQ(JsonMessages(R"({"log": "cut)"), (std::vector<std::string>{"cut"}));
  const ReadLog log(
      R"({"severity": "ERROR", "message": "Allocator (GPU_0_bfc) ran out of memory trying to )"
      R"(allocate 1.00MiB (rounded to 1048576)requested by op\nStats: \nLimit:           4000000\n)"
      R"(InUse:           3000000\nMaxInUse:       3000000\n"})"
      "\n");
  EXPECT_EQ(log.only().capacity_bytes, 4000000);
  EXPECT_EQ(log.only().used_bytes, 3000000);
}

TEST(BrokenLinesTest, Utf16IsNamed) {
  for (const std::string& text : {std::string("\xFF\xFE"
                                              "O\0O\0M\0",
                                              8),
                                  std::string("O\0u\0t\0 \0o\0f\0", 12)}) {
    try {
      ReadLog log(text);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("UTF-16"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace oomdb::ingest
