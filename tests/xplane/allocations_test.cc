// What allocations are for, and how long executions waited for them.
#include <gtest/gtest.h>

#include "ingest/plan/plan.h"
#include "tests/support/gpu_story.h"
#include "tests/xplane/collected_facts.h"

namespace oomdb::ingest {
namespace {

constexpr int64_t kUnix = static_cast<int64_t>(GpuStory::kStartUnixNs);

HloBuilder StepModule() {
  HloBuilder hlo("jit_step");
  hlo.Parameter(128_MiB).Output(96_MiB);
  hlo.Temp(350_MiB);
  return hlo;
}

TEST(AllocationTest, OutputsTempsTransfersAndTheRest) {
  GpuStory story(GpuStory::Dialect::kNew);
  story.Pool(0, 1_GiB, {.in_use_before = 128_MiB, .peak_before = 900_MiB}).Module(StepModule(), 7);
  const Handle before = story.Before(0, 3_MiB);
  story.InPython("data.py:41 next_batch", [&] { story.Transfer(0, 256_KiB, "s32[64,1024]"); });
  const Execution step = story.Step("jit_step");
  story.Free(step.outputs);
  story.Free(before);
  story.Allocate(0, 1000, "SomeLibrary::Scratch");
  story.Allocate(0, 1000);
  const CollectedFacts facts = Import(story.Bytes());

  ASSERT_EQ(facts.allocators.size(), 1u);
  const AllocatorFact& pool = facts.allocators[0];
  EXPECT_EQ(pool.name, "GPU_0_bfc");
  EXPECT_EQ(pool.device, 0);
  EXPECT_EQ(pool.capacity_bytes, 1_GiB);
  EXPECT_EQ(pool.before_capture_bytes, 131_MiB);
  EXPECT_EQ(pool.peak_bytes, 900_MiB);
  EXPECT_EQ(pool.capture_peak_bytes, (131 + 96 + 350) * 1_MiB + 256_KiB);
  EXPECT_EQ(pool.in_use_last_bytes, 128_MiB + 256_KiB + 2048);
  EXPECT_EQ(pool.last_available_bytes, 1_GiB - 128_MiB - 256_KiB - 2048);
  EXPECT_EQ(pool.allocation_count, 5);
  EXPECT_EQ(pool.deallocation_count, 3);
  EXPECT_EQ(pool.reconciliation_breaks, 0);

  ASSERT_EQ(facts.allocations.size(), 7u);
  const AllocationFact& transfer = facts.allocations[0];
  EXPECT_EQ(transfer.purpose, "transfer");
  EXPECT_EQ(transfer.origin, "BufferFromHostBuffer(s32[64,1024])");
  EXPECT_EQ(transfer.execution, std::nullopt);
  EXPECT_EQ(facts.events.at(*transfer.alloc_event).name, "MemoryAllocation");
  EXPECT_EQ(facts.events.at(*transfer.alloc_event).start_ns, transfer.alloc_ns);

  const AllocationFact& output = facts.allocations[1];
  EXPECT_EQ(output.purpose, "output");
  EXPECT_EQ(output.origin, "outputs of jit_step execution 1");
  EXPECT_EQ(output.execution, 0);
  EXPECT_EQ(output.module, 0);
  EXPECT_EQ(output.bytes, 96_MiB);
  EXPECT_EQ(output.in_use_after_bytes, (131 + 96) * 1_MiB + 256_KiB);
  ASSERT_TRUE(output.free_event);
  EXPECT_EQ(facts.events.at(*output.free_event).start_ns, output.free_ns);
  EXPECT_GT(*output.free_ns, step.end_ns + kUnix);

  const AllocationFact& temp = facts.allocations[2];
  EXPECT_EQ(temp.purpose, "temp");
  EXPECT_EQ(temp.origin, "temp of jit_step execution 1");
  EXPECT_LT(*temp.free_ns, step.end_ns + kUnix);

  const AllocationFact& old = facts.allocations[3];
  EXPECT_EQ(old.alloc_ns, std::nullopt);
  EXPECT_EQ(old.bytes, 3_MiB);
  EXPECT_EQ(old.origin, "allocated before the capture began");
  EXPECT_TRUE(old.free_ns);

  EXPECT_EQ(facts.allocations[4].purpose, "other");
  EXPECT_EQ(facts.allocations[4].origin, "SomeLibrary::Scratch");
  EXPECT_EQ(facts.allocations[4].requested_bytes, 1000);
  EXPECT_EQ(facts.allocations[4].bytes, 1024);
  EXPECT_EQ(facts.allocations[5].origin, "");

  const AllocationFact& rest = facts.allocations[6];
  EXPECT_EQ(rest.address, std::nullopt);
  EXPECT_EQ(rest.bytes, 128_MiB);
  EXPECT_EQ(rest.free_ns, std::nullopt);
}

// Recorded allocator events, one by one, for what a story has no word for.
class Thread {
 public:
  explicit Thread(LineBuilder& line, int64_t in_use = 0) : line_(line), in_use_(in_use) {}
  Thread& Allocate(int64_t at_ns, int64_t address, int64_t bytes) {
    in_use_ += bytes;
    return Memory("MemoryAllocation", at_ns, address, bytes);
  }
  Thread& Free(int64_t at_ns, int64_t address, int64_t bytes) {
    in_use_ -= bytes;
    return Memory("MemoryDeallocation", at_ns, address, bytes);
  }

 private:
  Thread& Memory(const char* name, int64_t at_ns, int64_t address, int64_t bytes) {
    line_.Event(name, at_ns, 0,
                {Ref("allocator_name", "GPU_0_bfc"), Int("bytes_allocated", in_use_),
                 Int("bytes_available", 1_GiB - in_use_), Int("requested_bytes", bytes),
                 Int("allocation_bytes", bytes), Int("addr", address)});
    return *this;
  }
  LineBuilder& line_;
  int64_t in_use_;
};

// Indices of the plan: outputs 1, 2 (1 MiB each), 3 (2 MiB), then the tuple's table, then the temp
// block.
CaptureBuilder TwinOutputs() {
  HloBuilder hlo("jit_step");
  hlo.Parameter(4_MiB).Output(1_MiB).Output(1_MiB).Output(2_MiB);
  hlo.Temp(8_MiB);
  CaptureBuilder capture;
  capture.AddModule("jit_step", 7, hlo.Bytes());
  capture.Plane("/device:GPU:0");
  return capture;
}

TEST(AllocationTest, EqualSizesTakeTheirPlacesInAscendingOrder) {
  CaptureBuilder capture = TwinOutputs();
  LineBuilder& line = capture.Plane("/host:CPU").Line("python");
  line.Event("PjitFunction(step)", 1000, 900);
  line.Event("PjRtStreamExecutorLoadedExecutable::ExecuteHelper", 1001, 800);
  Thread(line)
      .Allocate(1100, 1, 2_MiB)
      .Allocate(1110, 2, 1_MiB)
      .Allocate(1120, 3, 1_MiB)
      .Allocate(1130, 4, 1_MiB);
  const CollectedFacts facts = Import(capture.Bytes());
  const auto& plan = facts.modules.at(0).plan->allocations;
  std::vector<int64_t> of_1_mib, of_2_mib;
  for (const PlanAllocation& a : plan) {
    if (a.bytes == 1_MiB) of_1_mib.push_back(a.index);
    if (a.bytes == 2_MiB) of_2_mib.push_back(a.index);
  }
  ASSERT_EQ(of_1_mib.size(), 2u);
  EXPECT_EQ(facts.allocations.at(0).allocation_index, of_2_mib.at(0));
  EXPECT_EQ(facts.allocations.at(1).allocation_index, of_1_mib[0]);
  EXPECT_EQ(facts.allocations.at(2).allocation_index, of_1_mib[1]);
  EXPECT_EQ(facts.allocations.at(3).allocation_index, std::nullopt);  // There are only two.
  EXPECT_EQ(facts.allocations.at(3).purpose, "other");
  EXPECT_EQ(facts.allocations.at(3).execution, 0);
  // What is left of the plan, in ascending order: the tuple's table comes before the temp block.
  const ExecutionFact& e = facts.executions.at(0);
  EXPECT_EQ(e.launched, false);
  for (const PlanAllocation& a : plan) {
    if (a.index == *e.failed_allocation_index) {
      EXPECT_TRUE(a.is_tuple);
    }
  }
}

// Short of memory, an execution frees what it got, waits, and asks for all of it again.
TEST(AllocationTest, APreparationThatIsRepeatedTakesItsPlacesAgain) {
  for (const bool succeeds : {true, false}) {
    CaptureBuilder capture = TwinOutputs();
    LineBuilder& line = capture.Plane("/host:CPU").Line("python");
    Thread memory(line);
    line.Event("PjitFunction(step)", 1000, 9'000'000'000);
    line.Event("CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice", 1001, 8'000'000'000);
    line.Event("CommonPjRtLoadedExecutable::ExecutePrepareWithOomRetries", 1002, 7'000'000'000);
    line.Event("CommonPjRtLoadedExecutable::ExecutePrepare", 1003, 2'000'000'000);
    memory.Allocate(1100, 1, 1_MiB)
        .Allocate(1110, 2, 1_MiB)
        .Free(2'000'001'200, 2, 1_MiB)
        .Free(2'000'001'300, 1, 1_MiB);
    line.Event("CommonPjRtLoadedExecutable::ExecutePrepare", 2'000'002'000, 3'000'000'000);
    memory.Allocate(2'000'002'100, 2, 1_MiB)
        .Allocate(2'000'002'200, 1, 1_MiB)
        .Allocate(2'000'002'300, 3, 2_MiB);
    if (succeeds) {
      memory.Allocate(5'000'001'000, 4, 24).Allocate(5'000'001'100, 5, 8_MiB);
      line.Event("[0] GpuExecutable::ExecuteThunks", 7'100'000'000, 1000,
                 {Text("module_name", "jit_step")});
    }
    const CollectedFacts facts = Import(capture.Bytes());
    ASSERT_EQ(facts.executions.size(), 1u);
    const ExecutionFact& e = facts.executions[0];
    EXPECT_EQ(e.launched, succeeds);
    EXPECT_EQ(e.output_bytes, 4_MiB + (succeeds ? 24 : 0));
    EXPECT_EQ(e.temp_bytes, succeeds ? 8_MiB : 0);
    // From the third allocation on, to the fourth or to the end of the span.
    EXPECT_EQ(e.wait_ns, succeeds ? 2'999'998'700 : 2'999'999'700);
    EXPECT_EQ(e.wait_evidence, "inferred");
    EXPECT_EQ(e.retry_count, 1);
    ASSERT_GE(facts.allocations.size(), 5u);
    EXPECT_EQ(facts.allocations[2].purpose, "output");
    EXPECT_EQ(facts.allocations[2].allocation_index, facts.allocations[0].allocation_index);
    EXPECT_EQ(facts.allocations[3].allocation_index, facts.allocations[1].allocation_index);
  }
}

class WaitTest : public testing::Test {
 protected:
  CollectedFacts Story(const StepOptions& options, int64_t wait_min_ns = 1'000'000'000) {
    GpuStory story(GpuStory::Dialect::kNew);
    story.Pool(0, 1_GiB).Module(StepModule(), 7);
    story.Step("jit_step", options);
    ImportOptions import;
    import.wait_min_ns = wait_min_ns;
    return Import(story.Bytes(), import);
  }
};

TEST_F(WaitTest, RetryEventsAreMeasured) {
  const CollectedFacts facts = Story({.wait_ns = 2'500'000'000});
  const ExecutionFact& e = facts.executions.at(0);
  EXPECT_EQ(e.wait_ns, 2'500'000'000);
  EXPECT_EQ(e.wait_evidence, "measured");
  EXPECT_EQ(e.retry_count, 1);
  EXPECT_EQ(e.launched, true);
}

TEST_F(WaitTest, MeasuredHoweverShort) {
  EXPECT_EQ(Story({.wait_ns = 1000}).executions.at(0).wait_ns, 1000);
}

TEST_F(WaitTest, ASilentStretchIsInferred) {
  const CollectedFacts facts = Story({.wait_ns = 2'500'000'000, .retry_event = false});
  const ExecutionFact& e = facts.executions.at(0);
  ASSERT_TRUE(e.wait_ns);
  EXPECT_NEAR(static_cast<double>(*e.wait_ns), 2.5e9, 1e5);
  EXPECT_EQ(e.wait_evidence, "inferred");
}

TEST_F(WaitTest, SilenceBelowTheThresholdIsNoWait) {
  const StepOptions options{.wait_ns = 900'000'000, .retry_event = false};
  EXPECT_EQ(Story(options).executions.at(0).wait_ns, std::nullopt);
  EXPECT_EQ(Story(options).executions.at(0).wait_evidence, "");
  EXPECT_TRUE(Story(options, 800'000'000).executions.at(0).wait_ns);
}

TEST_F(WaitTest, NoWaitIsNone) {
  const CollectedFacts facts = Story({});
  EXPECT_EQ(facts.executions.at(0).wait_ns, std::nullopt);
  EXPECT_EQ(facts.executions.at(0).retry_count, std::nullopt);
}

// What a long event inside the allocating span did, such as growing the pool, was no waiting.
TEST_F(WaitTest, ABusyStretchIsNoWait) {
  CaptureBuilder capture = TwinOutputs();
  LineBuilder& line = capture.Plane("/host:CPU").Line("python");
  line.Event("PjRtStreamExecutorLoadedExecutable::ExecuteHelper", 1000, 9'000'000'000);
  line.Event("Build buffer allocations", 1001, 8'000'000'000);
  line.Event("DeviceMemAllocator::Alloc", 1002, 7'500'000'000);
  EXPECT_EQ(Import(capture.Bytes()).executions.at(0).wait_ns, std::nullopt);
}

TEST(AllocatorEventTest, OrderedByAbsoluteTimeNotByOffset) {
  CaptureBuilder capture;
  LineBuilder& late = capture.Plane("/host:CPU").Line("a", 1'000'000, 1);
  LineBuilder& early = capture.Plane("/host:CPU").Line("b", 10, 2);
  Thread(early)
      .Allocate(500'000, 1, 1_MiB)
      .Allocate(600'000, 2, 1_MiB);                   // Offsets of half a millisecond.
  Thread(late, 2_MiB).Allocate(1'000'100, 3, 1_MiB);  // Offset 100 ns, but later.
  const CollectedFacts facts = Import(capture.Bytes());
  EXPECT_EQ(facts.allocators.at(0).reconciliation_breaks, 0);
  EXPECT_EQ(facts.allocators.at(0).in_use_last_bytes, 3_MiB);
  EXPECT_EQ(facts.allocators.at(0).before_capture_bytes, 0);
}

TEST(AllocatorEventTest, EventsThatSayTooLittleAreCountedNotUsed) {
  CaptureBuilder capture;
  LineBuilder& line = capture.Plane("/host:CPU").Line("python");
  for (int i = 0; i < 30; ++i)
    line.Event("MemoryAllocation", 100 + i, 0, {Int("bytes_allocated", 5)});
  line.Event("MemoryAllocation", 200, 0, {Text("allocator_name", "GPU_0_bfc")});
  line.Event("MemoryAllocation", 300, 0,
             {Text("allocator_name", "GPU_0_bfc"), Int("bytes_allocated", -5),
              Int("allocation_bytes", 5)});
  line.Event("MemoryAllocation", 400, 0,
             {Text("allocator_name", "GPU_0_bfc"), Int("bytes_allocated", 5),
              Int("allocation_bytes", INT64_MAX)});
  Thread(line).Allocate(500, 1, 1_MiB);
  const CollectedFacts facts = Import(capture.Bytes());
  EXPECT_EQ(facts.allocators.at(0).allocation_count, 1);
  int64_t left_out = 0;
  for (const IssueFact& issue : facts.issues)
    left_out += issue.what == "incomplete_allocator_event" ? issue.count : 0;
  EXPECT_EQ(left_out, 33);
}

TEST(AllocatorEventTest, HostPoolsHaveNoDevice) {
  CaptureBuilder capture;
  capture.Plane("/host:CPU")
      .Line("python")
      .Event("MemoryAllocation", 100, 0,
             {Text("allocator_name", "xla_gpu_host_bfc"), Int("bytes_allocated", 256),
              Int("bytes_available", 1000), Int("allocation_bytes", 256), Int("requested_bytes", 5),
              Int("addr", 9), Real("fragmentation", 0.25)});
  const CollectedFacts facts = Import(capture.Bytes());
  EXPECT_EQ(facts.allocators.at(0).device, std::nullopt);
  EXPECT_EQ(facts.allocators.at(0).capacity_bytes, 1256);
  EXPECT_EQ(facts.allocators.at(0).last_fragmentation, 0.25);
  EXPECT_EQ(facts.allocations.at(0).fragmentation, 0.25);
  EXPECT_TRUE(facts.devices.empty());
}

}  // namespace
}  // namespace oomdb::ingest
