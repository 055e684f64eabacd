// Captures made to cost much: the importer takes time and memory in proportion to their size. Each
// test here would take minutes, or all memory, if it did not; CTest's timeout and the bounds below
// are what fails then.
#include <gtest/gtest.h>

#include <chrono>

#include "base/error.h"
#include "tests/support/capture_builder.h"
#include "tests/support/hlo_builder.h"
#include "tests/support/sizes.h"
#include "tests/xplane/collected_facts.h"
#include "tests/xplane/wire_bytes.h"

namespace oomdb::ingest {
namespace {

class HostileTest : public testing::Test {
 protected:
  void TearDown() override {
    const auto took = std::chrono::steady_clock::now() - start_;
    EXPECT_LT(took, std::chrono::seconds(20));
  }
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::string Plane(const std::string& name, const std::string& content) {
  return BytesField(1, BytesField(2, name) + content);
}

TEST_F(HostileTest, APlaneOf4Exabytes) {
  const std::string good = Plane("/host:CPU", "");
  for (const uint64_t claimed : {uint64_t{1} << 62, (uint64_t{1} << 63) - 1, ~uint64_t{0}}) {
    CollectedFacts facts;
    try {
      facts = Import(good + CutField(1, claimed, BytesField(2, "/host:CPU")));
    } catch (const Error&) {
      FAIL() << claimed;
    }
    EXPECT_EQ(facts.captures.size(), 1u);
    EXPECT_FALSE(facts.issues.empty());
  }
}

TEST_F(HostileTest, AMillionTinyPlanes) {
  std::string bytes;
  // Each with one name of a very large id.
  const std::string entry =
      BytesField(4, NumberField(1, (1 << 20) - 1) + BytesField(2, BytesField(2, "e")));
  const std::string plane = Plane("/host:CPU", entry);
  for (int i = 0; i < 1'000'000; ++i) bytes += plane;
  const CollectedFacts facts = Import(bytes);
  EXPECT_NE(facts.Issue("too_many_planes"), nullptr);
  EXPECT_LT(facts.issues.size(), 100u);
}

TEST_F(HostileTest, AMillionTinyLines) {
  std::string lines;
  for (int i = 0; i < 1'000'000; ++i) lines += BytesField(3, "");
  EXPECT_NE(Import(Plane("/host:CPU", lines)).Issue("too_many_lines"), nullptr);
}

TEST_F(HostileTest, ManyDevices) {
  CaptureBuilder capture;
  for (int i = 0; i < 3000; ++i) {
    capture.Plane("/device:GPU:" + std::to_string(i)).Line("Stream #1").Event("kernel", 1000, 5);
  }
  EXPECT_EQ(Import(capture.Bytes()).devices.size(), 3000u);
}

TEST_F(HostileTest, AStringOf1GB) {
  // Claimed, not there: the message around it is cut.
  const std::string stat = CutField(5, uint64_t{1} << 30, "x");
  const std::string event = NumberField(1, 1) + BytesField(4, stat);
  const std::string line = BytesField(3, BytesField(4, event));
  const std::string names =
      BytesField(4, NumberField(1, 1) + BytesField(2, BytesField(2, "MemoryAllocation")));
  const CollectedFacts facts = Import(Plane("/host:CPU", line + names));
  EXPECT_NE(facts.Issue("incomplete_allocator_event"), nullptr);
}

TEST_F(HostileTest, NamesOf20MB) {
  const std::string large(20 << 20, 'n');
  const std::string names = BytesField(4, NumberField(1, 1) + BytesField(2, BytesField(2, large))) +
                            BytesField(5, NumberField(1, 1) + BytesField(2, BytesField(2, large))) +
                            BytesField(6, NumberField(1, 1) + BytesField(5, large));
  const CollectedFacts facts = Import(Plane("/host:CPU", names));
  EXPECT_NE(facts.Issue("oversized_metadata"), nullptr);
}

TEST_F(HostileTest, DeepNesting) {
  // A hundred thousand calls in one another, with as many executions and allocations at the bottom.
  CaptureBuilder capture;
  capture.Plane("/device:GPU:0");
  LineBuilder& line = capture.Plane("/host:CPU").Line("python");
  constexpr int64_t kDepth = 100'000;
  for (int64_t i = 0; i < kDepth; ++i) line.Event("PjitFunction(f)", i, 10 * kDepth - 2 * i);
  for (int64_t i = 0; i < kDepth; ++i) {
    line.Event("PjRtStreamExecutorLoadedExecutable::ExecuteHelper", kDepth + 2 * i, 1);
    line.Event("MemoryAllocation", kDepth + 2 * i, 0,
               {Text("allocator_name", "GPU_0_bfc"), Int("bytes_allocated", i),
                Int("allocation_bytes", 1), Int("addr", i), Int("requested_bytes", 1)});
  }
  EXPECT_EQ(Import(capture.Bytes()).executions.size(), static_cast<size_t>(kDepth));
}

TEST_F(HostileTest, ExecutionsThatAllOverlap) {
  CaptureBuilder capture;
  capture.Plane("/device:GPU:0");
  constexpr int64_t kCount = 30'000;
  LineBuilder& line = capture.Plane("/host:CPU").Line("python");
  for (int64_t i = 0; i < kCount; ++i) {
    line.Event("PjRtStreamExecutorLoadedExecutable::ExecuteHelper", i, kCount);
    line.Event("MemoryAllocation", i, 0,
               {Text("allocator_name", "GPU_0_bfc"), Int("bytes_allocated", i),
                Int("allocation_bytes", 1), Int("addr", i), Int("requested_bytes", 1)});
    line.Event("cuLaunchKernel", i, 1, {Int("correlation_id", 5), Text("hlo_module", "jit_f")});
  }
  EXPECT_GE(Import(capture.Bytes()).executions.size(), 1u);
}

TEST_F(HostileTest, ManyModulesOfOneNameAndManyExecutions) {
  CaptureBuilder capture;
  capture.Plane("/device:GPU:0");
  for (int64_t i = 0; i < 400; ++i) {
    HloBuilder hlo("jit_f");
    hlo.Parameter(4_KiB).Output(4_KiB + 256 * i);
    capture.AddModule("jit_f", i, hlo.Bytes());
  }
  LineBuilder& line = capture.Plane("/host:CPU").Line("python");
  int64_t in_use = 0;
  for (int64_t i = 0; i < 20'000; ++i) {
    const int64_t bytes = 4_KiB + 256 * (i % 400);
    in_use += bytes;
    line.Event("PjitFunction(f)", 100 * i, 90);
    line.Event("PjRtStreamExecutorLoadedExecutable::ExecuteHelper", 100 * i + 1, 80);
    line.Event("MemoryAllocation", 100 * i + 2, 0,
               {Text("allocator_name", "GPU_0_bfc"), Int("bytes_allocated", in_use),
                Int("allocation_bytes", bytes), Int("addr", i), Int("requested_bytes", bytes)});
  }
  const CollectedFacts facts = Import(capture.Bytes());
  ASSERT_EQ(facts.executions.size(), 20'000u);
  for (int64_t i = 0; i < 20'000; ++i) ASSERT_EQ(facts.executions[i].module, i % 400);
}

TEST_F(HostileTest, ManyAllocatorsAndAddresses) {
  CaptureBuilder capture;
  LineBuilder& line = capture.Plane("/host:CPU").Line("python");
  for (int64_t i = 0; i < 50'000; ++i) {
    line.Event(
        "MemoryAllocation", i, 0,
        {Text("allocator_name", "GPU_" + std::to_string(i) + "_bfc"), Int("bytes_allocated", 1),
         Int("allocation_bytes", 1), Int("addr", i * 62233), Int("requested_bytes", 1)});
  }
  EXPECT_EQ(Import(capture.Bytes()).allocators.size(), 50'000u);
}

TEST_F(HostileTest, SumsOfSizesStayExact) {
  CaptureBuilder capture;
  LineBuilder& line = capture.Plane("/host:CPU").Line("python");
  for (int64_t i = 0; i < 3'000; ++i) {
    line.Event(
        "MemoryAllocation", i, 0,
        {Text("allocator_name", "GPU_0_bfc"), Int("bytes_allocated", int64_t{1} << 50),
         Int("allocation_bytes", int64_t{1} << 50), Int("addr", i), Int("requested_bytes", 1)});
  }
  const CollectedFacts facts = Import(capture.Bytes());
  int64_t sum = 0;
  for (const AllocationFact& a : facts.allocations)
    ASSERT_FALSE(__builtin_add_overflow(sum, a.bytes, &sum));
  EXPECT_NE(facts.Issue("incomplete_allocator_event"), nullptr);
}

}  // namespace
}  // namespace oomdb::ingest
