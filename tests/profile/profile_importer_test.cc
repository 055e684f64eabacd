#include "ingest/profile/profile_importer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/profile/pprof_builder.h"

namespace oomdb::ingest {
namespace {

using testing::HasSubstr;

class Kept : public FactSink {
 public:
  void Add(const CaptureFact& fact) override { capture = fact; }
  void Add(const IssueFact& fact) override { issues.push_back(fact); }
  void Add(const ProfileSampleFact& fact) override { samples.push_back(fact); }
  void Add(const ModuleFact&) override { ADD_FAILURE(); }
  void Add(const DeviceFact&) override { ADD_FAILURE(); }
  void Add(const AllocatorFact&) override { ADD_FAILURE(); }
  void Add(const ExecutionFact&) override { ADD_FAILURE(); }
  void Add(const AllocationFact&) override { ADD_FAILURE(); }
  void Add(const HostEventFact&) override { ADD_FAILURE(); }
  void Add(const GapCallFact&) override { ADD_FAILURE(); }
  void Add(const OomEventFact&) override { ADD_FAILURE(); }
  void Add(const OomBufferFact&) override { ADD_FAILURE(); }
  void Add(const OomChunkFact&) override { ADD_FAILURE(); }

  CaptureFact capture;
  std::vector<IssueFact> issues;
  std::vector<ProfileSampleFact> samples;
};

Kept Import(const std::string& bytes) {
  Kept kept;
  ImportProfile(*MemorySource(bytes, "memory.prof"), ImportOptions(), kept);
  return kept;
}

const PprofBuilder::Frame kJax = {"apply", "/v/lib/python3.11/site-packages/jax/core.py", 9};
const PprofBuilder::Frame kFrozen = {"_call", "<frozen importlib._bootstrap>", 241};
const PprofBuilder::Frame kLeak = {"keep", "/home/me/train.py", 42};
const PprofBuilder::Frame kMain = {"<module>", "/home/me/main.py", 7};

TEST(ProfileImporterTest, BuffersAndExecutables) {
  const Kept kept = Import(PprofBuilder()
                               .Sample("buffer", "TPU_0(0,0,0,0)", 3, 300, {kJax, kLeak, kMain})
                               .Sample("executable", "", 1, -1, {kFrozen, kJax})
                               .Build());
  EXPECT_EQ(kept.capture.kind, "device_memory_profile");
  EXPECT_FALSE(kept.capture.truncated);
  EXPECT_EQ(kept.capture.started_unix_ns, std::nullopt);
  EXPECT_TRUE(kept.issues.empty());
  ASSERT_EQ(kept.samples.size(), 2u);
  const ProfileSampleFact& buffer = kept.samples[0];
  EXPECT_EQ(buffer.kind, "buffer");
  EXPECT_EQ(buffer.device, "TPU_0(0,0,0,0)");
  EXPECT_EQ(buffer.count, 3);
  EXPECT_EQ(buffer.bytes, 300);
  EXPECT_EQ(buffer.stack,
            "apply (/v/lib/python3.11/site-packages/jax/core.py:9)\n"
            "keep (/home/me/train.py:42)\n"
            "<module> (/home/me/main.py:7)");
  EXPECT_EQ(buffer.source_file, "/home/me/train.py");
  EXPECT_EQ(buffer.source_line, 42);
  EXPECT_EQ(buffer.function_name, "keep");
  const ProfileSampleFact& executable = kept.samples[1];
  EXPECT_EQ(executable.kind, "executable");
  EXPECT_EQ(executable.device, "");
  EXPECT_EQ(executable.bytes, std::nullopt);
  EXPECT_EQ(executable.source_file, "");
  EXPECT_EQ(executable.source_line, std::nullopt);
}

TEST(ProfileImporterTest, ValuesGoByTheirNames) {
  PprofBuilder other{PprofBuilder::Empty()};
  other.ValueType("space", "bytes").ValueType("allocations", "count");
  const Kept kept = Import(other.Sample("buffer", "d", 300, 3, {kMain}).Build());
  ASSERT_EQ(kept.samples.size(), 1u);
  EXPECT_EQ(kept.samples[0].bytes, 300);
  EXPECT_EQ(kept.samples[0].count, 3);
}

TEST(ProfileImporterTest, NumbersThatAreNotPackedCountToo) {
  const std::string sample = PprofBuilder::Number(2, 2) + PprofBuilder::Number(2, 64);
  const Kept kept = Import(PprofBuilder().Append(2, sample).Build());
  ASSERT_EQ(kept.samples.size(), 1u);
  EXPECT_EQ(kept.samples[0].count, 2);
  EXPECT_EQ(kept.samples[0].bytes, 64);
  EXPECT_EQ(kept.samples[0].stack, "");
}

TEST(ProfileImporterTest, ReferencesThatLeadNowhereAreCounted) {
  const auto number = [](uint32_t field, uint64_t n) { return PprofBuilder::Number(field, n); };
  const std::string sample = number(1, 77) + number(1, 5) + number(2, 1) +
                             PprofBuilder::Bytes(3, number(1, ~uint64_t{0}) + number(2, 999999));
  const Kept kept = Import(
      PprofBuilder()
          .Append(2, sample)
          .Append(4, number(1, 5) + PprofBuilder::Bytes(4, number(1, 123) + number(2, ~0ull)))
          .Append(5, number(1, 6) + number(2, 1u << 31) + number(4, 1u << 31))
          .Build());
  ASSERT_EQ(kept.samples.size(), 1u);
  EXPECT_EQ(kept.samples[0].bytes, std::nullopt);  // One value only.
  EXPECT_EQ(kept.samples[0].stack, "?");
  ASSERT_EQ(kept.issues.size(), 1u);
  EXPECT_EQ(kept.issues[0].what, "profile_bad_reference");
  EXPECT_GE(kept.issues[0].count, 4);
}

TEST(ProfileImporterTest, LongStacksAreCut) {
  const PprofBuilder::Frame longest = {std::string(40000, 'f'), "/a.py", 1};
  const Kept kept =
      Import(PprofBuilder().Sample("buffer", "d", 1, 1, {longest, longest, longest}).Build());
  ASSERT_EQ(kept.samples.size(), 1u);
  EXPECT_LT(kept.samples[0].stack.size(), 65536u);
  ASSERT_EQ(kept.issues.size(), 1u);
  EXPECT_EQ(kept.issues[0].what, "profile_stack_cut");
}

TEST(ProfileImporterTest, CutAnywhereItDoesNotCrash) {
  // The texts come last: what ends in the second copy has those of the first.
  std::string whole = PprofBuilder().Sample("buffer", "d", 3, 300, {kJax, kLeak}).Build();
  whole += whole;
  int truncated = 0;
  for (size_t length = 0; length < whole.size(); ++length) {
    try {
      truncated += Import(whole.substr(0, length)).capture.truncated;
    } catch (const Error&) {  // Too little to know it by.
    }
  }
  EXPECT_GT(truncated, 100);
}

TEST(ProfileImporterTest, OtherContentIsAnError) {
  for (const std::string& bytes : {std::string(), std::string("<html>"), std::string(400, '\xff')})
    EXPECT_THROW(Import(bytes), Error);
  PprofBuilder cpu{PprofBuilder::Empty()};
  cpu.ValueType("samples", "count").ValueType("cpu", "nanoseconds");
  try {
    Import(cpu.Build());
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("not a pprof profile of memory"));
  }
  EXPECT_FALSE(HoldsProfile(*MemorySource(cpu.Build()), /*named=*/true));
  EXPECT_TRUE(HoldsProfile(*MemorySource(PprofBuilder().Build()), /*named=*/true));
  EXPECT_FALSE(HoldsProfile(*MemorySource("\nstep 1\n"), /*named=*/true));
}

TEST(ProfileImporterTest, ClaimsByName) {
  EXPECT_TRUE(ClaimsProfile("memory.prof"));
  EXPECT_TRUE(ClaimsProfile("step_10.pprof.gz"));
  EXPECT_FALSE(ClaimsProfile("heap.pb.gz"));
}

}  // namespace
}  // namespace oomdb::ingest
