#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/rules/error_logs.h"
#include "tests/rules/rule_database.h"
#include "tests/support/gpu_story.h"

namespace oomdb::queries {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::string Assignment(const std::string& parameters, const std::string& outputs,
                       const std::string& temps, const std::string& total) {
  return "BufferAssignment OOM Debugging.\nBufferAssignment stats:\n             parameter "
         "allocation: " +
         parameters +
         "\n              constant allocation:         0B\n        maybe_live_out "
         "allocation: " +
         outputs + "\n     preallocated temp allocation: " + temps +
         "\n                 total allocation: " + total + "\n";
}

// A pool of one region: sizes in MiB, free ones negative. `request` failed.
std::string Dump(const std::vector<int64_t>& chunks, int64_t request) {
  int64_t used = 0, all = 0;
  std::string lines, region;
  for (const int64_t mib : chunks) {
    const int64_t bytes = (mib < 0 ? -mib : mib) << 20;
    lines += fmt::format("{} at {:x} of size ", mib < 0 ? "Free " : "InUse", 0x7f0000000000 + all) +
             std::to_string(bytes) + " next 1\n";
    all += bytes;
    if (mib > 0) used += bytes;
  }
  return "W bfc_allocator.cc:479] Allocator (GPU_0_bfc) ran out of memory trying to allocate " +
         std::to_string(request >> 20) + ".00MiB (rounded to " + std::to_string(request) +
         ")requested by op \nBFCAllocator dump for GPU_0_bfc\nNext region of size " +
         std::to_string(all) + "\n" + lines + "Stats: \nLimit: " + std::to_string(all) +
         "\nInUse: " + std::to_string(used) + "\nMaxInUse: " + std::to_string(used) +
         "\nNumAllocs: 9\nMaxAllocSize: " + std::to_string(all) +
         "\nReserved: 0\nPeakReserved: 0\nLargestFreeBlock: 0\n\n";
}

TEST(RuntimeOomTest, ASmallRequestIsTheVictim) {
  RuleDatabase database;
  database.IngestText(Request(6_MiB));
  const Finding finding = Only(database, "runtime_oom");
  EXPECT_EQ(finding.severity, "error");
  EXPECT_EQ(finding.bytes, 6_MiB);
  EXPECT_THAT(finding.title, HasSubstr("it is the victim"));
  EXPECT_THAT(database.Remedies(finding)[0].fix, HasSubstr("who holds the memory"));
}

TEST(RuntimeOomTest, NotSoOfALargeProgram) {
  RuleDatabase database;
  database.IngestText(Request(6_MiB) + Assignment("20.00GiB", "6.00MiB", "9.00GiB", "29.01GiB"));
  const Finding finding = Only(database, "runtime_oom");
  EXPECT_THAT(finding.title, Not(HasSubstr("victim")));
  EXPECT_THAT(finding.detail, HasSubstr("The program needs"));
}

TEST(RuntimeOomTest, OutputsLead) {
  RuleDatabase database;
  database.IngestText(Request(11_GiB) + Assignment("80B", "13.00GiB", "11.00GiB", "24.00GiB"));
  const Finding finding = Only(database, "runtime_oom");
  EXPECT_THAT(finding.detail, HasSubstr("13958643712 bytes of the program's"));
  EXPECT_THAT(database.Remedies(finding)[0].fix, HasSubstr("return less"));
}

TEST(RuntimeOomTest, ChunksOfOneSizeHoldTheMemory) {
  RuleDatabase database;
  database.IngestText(Dump({400, 400, 400, 400, -300}, 400_MiB) + Request(400_MiB));
  const Finding finding = Only(database, "runtime_oom");
  EXPECT_THAT(finding.title, HasSubstr("4 arrays of one size"));
  EXPECT_THAT(finding.detail, HasSubstr("earlier results are still referenced"));
  const std::vector<Remedy> remedies = database.Remedies(finding);
  ASSERT_THAT(remedies, Not(IsEmpty()));
  EXPECT_EQ(remedies[0].saving_bytes, 1200_MiB);
  const std::vector<Item> items = database.Items(finding);
  ASSERT_THAT(items, Not(IsEmpty()));
  EXPECT_EQ(items[0].count, 4);
  EXPECT_THAT(database.Findings("fragmentation"), IsEmpty());
}

TEST(RuntimeOomTest, EnoughInPiecesIsFragmentation) {
  RuleDatabase database;
  database.IngestText(Dump({100, -300, 20, -300, 20, -300, 100}, 400_MiB) + Request(400_MiB));
  EXPECT_THAT(database.Findings("runtime_oom"), IsEmpty());
  const Finding finding = Only(database, "fragmentation");
  EXPECT_EQ(finding.bytes, 400_MiB);
  // The two chunks between the holes, not those at the ends.
  std::vector<std::string> between;
  for (const Item& item : database.Items(finding)) {
    if (item.kind == "between two holes") {
      EXPECT_EQ(item.count, 2);
      EXPECT_EQ(item.bytes, 40_MiB);
      between.push_back(item.label);
    }
  }
  EXPECT_THAT(between, SizeIs(1));
}

TEST(RuntimeOomTest, TheTpuSaysHowMuchMustBeFreed) {
  RuleDatabase database;
  database.IngestText(
      "RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 15.00G. That was "
      "not possible. There are 11.00G free.; (0x0x0_HBM0)\n");
  EXPECT_THAT(Only(database, "runtime_oom").detail, HasSubstr("4294967296 bytes must be freed"));
}

TEST(RuntimeOomTest, AnAbsurdRequestIsNoMatterOfTuning) {
  RuleDatabase database;
  database.IngestText(Request(int64_t{2} << 40));
  const Finding finding = Only(database, "runtime_oom");
  EXPECT_THAT(finding.title, HasSubstr("a mistake in a shape"));
  EXPECT_THAT(database.Remedies(finding), SizeIs(1));
}

TEST(RuntimeOomTest, ThePlanOfTheRunIsJoinedByItsTemps) {
  HloBuilder hlo("jit_step");
  hlo.Parameter(300_MiB).Output(1_MiB);
  hlo.Temp(700_MiB);
  RuleDatabase database;
  database.IngestPlan(hlo.Bytes());
  database.IngestText(Request(hlo.temp_bytes()));
  const Finding finding = Only(database, "runtime_oom");
  EXPECT_EQ(finding.module_name, "jit_step");
  EXPECT_THAT(finding.detail, AllOf(HasSubstr("matched by size"), HasSubstr("Largest: ")));
}

TEST(RuntimeOomTest, WhatTheCompilerRemarkedBeforeIsSaid) {
  RuleDatabase database;
  database.IngestText(
      "W hlo_rematerialization.cc:3005] Can't reduce memory use below 10.00GiB (10737418240 bytes) "
      "by rematerialization; only reduced to 20.00GiB (21474836480 bytes), down from 30.00GiB "
      "(32212254720 bytes) originally\n" +
      Request(18_GiB));
  EXPECT_THAT(Only(database, "runtime_oom").detail,
              AllOf(HasSubstr("could only get to 21474836480 bytes"),
                    HasSubstr("wanted 10737418240 bytes")));
  // Its limit is a wish, not what the device may use.
  EXPECT_EQ(database.Integer("SELECT COUNT(*) FROM effective_capacity WHERE capacity_bytes > 0"),
            0);
}

TEST(RuntimeOomTest, ALogThatLiesBreaksNoQuestion) {
  RuleDatabase database;
  database.IngestText(
      "W bfc_allocator.cc:479] Allocator (GPU_0_bfc) ran out of memory trying to allocate 1.00GiB "
      "(rounded to 1073741824)requested by op \nBFCAllocator dump for GPU_0_bfc\nNext region of "
      "size 10\nInUse at 7f0000000000 of size 9223372036854775807 next 1\nInUse at 7f0000000100 of "
      "size 9223372036854775807 next 2\nFree  at 7f0000000200 of size 256 next 3\nStats: \nLimit: "
      "9223372036854775807\nInUse: -9223372036854775808\n\n");
  EXPECT_THAT(database.Summary(), ElementsAre("runtime_oom error"));
  EXPECT_EQ(
      database.Integer("SELECT COUNT(*) FROM oom_events WHERE used_bytes < 0 OR free_bytes < 0"),
      0);
  EXPECT_EQ(database.Integer("SELECT COUNT(*) FROM ingest_issues WHERE what = 'impossible_size'"),
            1);
}

TEST(RuntimeOomTest, QuietForAdvice) {
  RuleDatabase database;
  database.IngestText(
      "W bfc_allocator.cc:290] Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.20GiB "
      "with freed_by_count=0. The caller indicates that this is not a failure, but this may mean "
      "that there could be performance gains if more memory were available.\n");
  EXPECT_THAT(database.Summary(), IsEmpty());
}

}  // namespace
}  // namespace oomdb::queries
