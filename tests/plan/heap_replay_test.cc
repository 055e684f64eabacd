// The replay on traces small enough to follow by hand. Sizes are decimal digits of their own, so
// that a wrong sum shows which buffer is missing or counted twice.
#include "ingest/plan/heap_replay.h"

#include <gtest/gtest.h>

#include <chrono>

#include "tests/plan/text_proto.h"

namespace oomdb::ingest {
namespace {

// Buffers 1 (1 byte), 2 (10), 3 (100), 4 (1000), 5 (100) in temp allocation 0; 6 (5) is a
// parameter's; 7 (10000) in temp allocation 2 of memory space 5.
std::string Module(const std::string& traces) {
  return R"(
    hlo_module {
      name: "m"
      computations { id: 1 root_id: 1 instructions { name: "a" opcode: "add" id: 1
                     shape { element_type: 11 } } }
      entry_computation_id: 1
    }
    buffer_assignment {
      logical_buffers { id: 1 size: 1 defined_at { instruction_id: 1 } }
      logical_buffers { id: 2 size: 10 defined_at { instruction_id: 1 } }
      logical_buffers { id: 3 size: 100 defined_at { instruction_id: 1 } }
      logical_buffers { id: 4 size: 1000 defined_at { instruction_id: 1 } }
      logical_buffers { id: 5 size: 100 defined_at { instruction_id: 1 } }
      logical_buffers { id: 6 size: 5 defined_at { instruction_id: 1 } }
      logical_buffers { id: 7 size: 10000 defined_at { instruction_id: 1 } }
      buffer_allocations { index: 0 size: 2000
        assigned { logical_buffer_id: 1 } assigned { logical_buffer_id: 2 }
        assigned { logical_buffer_id: 3 } assigned { logical_buffer_id: 4 }
        assigned { logical_buffer_id: 5 } }
      buffer_allocations { index: 1 size: 5 is_entry_computation_parameter: true
        assigned { logical_buffer_id: 6 } }
      buffer_allocations { index: 2 size: 10000 color: 5 assigned { logical_buffer_id: 7 } }
      )" +
         traces + "}";
}

std::string Alloc(int id) { return "events { buffer_id: " + std::to_string(id) + " } "; }
std::string Free(int id) { return "events { kind: FREE buffer_id: " + std::to_string(id) + " } "; }
std::string Share(int id, int with) {
  return "events { kind: SHARE_WITH buffer_id: " + std::to_string(id) +
         " share_with_canonical_id: " + std::to_string(with) + " } ";
}
std::string Trace(const std::string& events) { return "heap_simulator_traces { " + events + " } "; }

TEST(HeapReplayTest, PeakIsTheMostLiveAtOnce) {
  const Plan plan =
      PlanOf(Module(Trace(Alloc(1) + Alloc(2) + Free(1) + Alloc(3) + Free(2) + Free(3))));
  EXPECT_EQ(plan.heap_peak_bytes, 110);
  EXPECT_EQ(plan.peak_bytes, 110 + 5);
  EXPECT_EQ(plan.plan_bytes, 2000 + 5);
  EXPECT_EQ(BufferOf(plan, 1).at_peak, false);
  EXPECT_EQ(BufferOf(plan, 2).at_peak, true);
  EXPECT_EQ(BufferOf(plan, 3).at_peak, true);
  EXPECT_EQ(BufferOf(plan, 4).at_peak, false);  // In no trace.
  EXPECT_EQ(BufferOf(plan, 2).first_live, 1);
  EXPECT_EQ(BufferOf(plan, 2).last_live, 4);
  EXPECT_EQ(BufferOf(plan, 4).first_live, std::nullopt);
  EXPECT_TRUE(plan.issues.empty());
}

TEST(HeapReplayTest, TheFirstOfEqualPeaksCounts) {
  const Plan plan = PlanOf(Module(Trace(Alloc(3) + Free(3) + Alloc(5) + Free(5))));
  EXPECT_EQ(plan.heap_peak_bytes, 100);
  EXPECT_EQ(BufferOf(plan, 3).at_peak, true);
  EXPECT_EQ(BufferOf(plan, 5).at_peak, false);
}

TEST(HeapReplayTest, SharedMemoryIsFreedWithItsLastReference) {
  // 5 shares 3; 3's own FREE leaves it taken until 5 is freed.
  const Plan plan = PlanOf(
      Module(Trace(Alloc(3) + Share(5, 3) + Free(3) + Alloc(2) + Free(5) + Alloc(1) + Free(2))));
  EXPECT_EQ(plan.heap_peak_bytes, 110);
  EXPECT_EQ(BufferOf(plan, 3).at_peak, true);   // The row that stands for the memory.
  EXPECT_EQ(BufferOf(plan, 5).at_peak, false);  // Another name of it.
  EXPECT_EQ(BufferOf(plan, 3).last_live, 4);
  EXPECT_EQ(BufferOf(plan, 5).first_live, 1);
  EXPECT_EQ(BufferOf(plan, 5).last_live, 4);
  EXPECT_EQ(BufferOf(plan, 1).last_live, 6);  // Never freed: the last event.
  EXPECT_TRUE(plan.issues.empty());
}

TEST(HeapReplayTest, SharingRevivesWhatWasFreed) {
  const Plan plan =
      PlanOf(Module(Trace(Alloc(3) + Free(3) + Share(5, 3) + Alloc(2) + Free(5) + Free(2))));
  EXPECT_EQ(plan.heap_peak_bytes, 110);
  EXPECT_EQ(BufferOf(plan, 3).at_peak, false);
  EXPECT_EQ(BufferOf(plan, 5).at_peak, true);
  EXPECT_EQ(BufferOf(plan, 3).last_live, 1);
  EXPECT_EQ(BufferOf(plan, 5).first_live, 2);
  EXPECT_EQ(BufferOf(plan, 5).last_live, 4);
  EXPECT_EQ(BytesAtPeak(plan, 0), 110);
}

TEST(HeapReplayTest, ChainsOfSharersCountAtTheirRoot) {
  // 1 <- 2 would change sizes; here 3 <- 5, then 4 shares 5, which is 3 by then.
  const Plan plan = PlanOf(Module(Trace(Alloc(3) + Share(5, 3) + Share(4, 5) + Free(3) + Free(5) +
                                        Alloc(1) + Free(4) + Alloc(2))));
  EXPECT_EQ(plan.heap_peak_bytes, 101);  // 3's bytes, not 4's, until 4 is freed.
  EXPECT_EQ(BufferOf(plan, 3).at_peak, true);
  EXPECT_EQ(BufferOf(plan, 3).last_live, 6);
  EXPECT_TRUE(plan.issues.empty());
}

TEST(HeapReplayTest, AReviverOfAnotherSizeDoesNotBendTheSum) {
  const Plan plan = PlanOf(Module(Trace(Alloc(3) + Free(3) + Share(4, 3) + Free(4))));
  EXPECT_EQ(plan.heap_peak_bytes, 100);
  EXPECT_EQ(BytesAtPeak(plan, 0), 100);
  const Plan revived = PlanOf(Module(Trace(Alloc(3) + Free(3) + Share(4, 3) + Alloc(1))));
  EXPECT_EQ(revived.heap_peak_bytes, 101);
  EXPECT_EQ(BytesAtPeak(revived, 0), 101);
  EXPECT_EQ(BufferOf(revived, 3).at_peak, true);
  EXPECT_EQ(BufferOf(revived, 4).at_peak, false);
}

TEST(HeapReplayTest, TheTraceWithTheLargestPeakIsTheSpaces) {
  const Plan plan = PlanOf(Module(Trace(Alloc(1) + Alloc(2)) + Trace(Alloc(3) + Free(3)) +
                                  Trace(Alloc(5) + Free(5)) + Trace(Alloc(7) + Free(7))));
  EXPECT_EQ(plan.heap_peak_bytes, 100);
  EXPECT_EQ(BufferOf(plan, 3).at_peak, true);
  EXPECT_EQ(BufferOf(plan, 5).at_peak, false);  // As large, but later.
  EXPECT_EQ(BufferOf(plan, 2).at_peak, false);
  EXPECT_EQ(BufferOf(plan, 2).first_live, 1);  // In its own trace.
  ASSERT_EQ(plan.spaces.size(), 2u);
  EXPECT_EQ(plan.spaces[1].memory_space, 5);
  EXPECT_EQ(plan.spaces[1].heap_peak_bytes, 10000);
  EXPECT_EQ(BufferOf(plan, 7).at_peak, true);
  EXPECT_EQ(BytesAtPeak(plan, 5), 10000);
}

TEST(HeapReplayTest, ATraceBelongsToTheAllocationOfItsBuffersNotOfItsIndex) {
  const Plan plan = PlanOf(Module(Trace("buffer_allocation_index: 2 " + Alloc(3) + Free(3))));
  EXPECT_EQ(plan.heap_peak_bytes, 100);
  EXPECT_EQ(plan.spaces[1].heap_peak_bytes, std::nullopt);
}

TEST(HeapReplayTest, WithoutATraceThePeakIsUnknownAndThePlanIsTheBound) {
  const Plan plan = PlanOf(Module(""));
  EXPECT_EQ(plan.heap_peak_bytes, std::nullopt);
  EXPECT_EQ(plan.peak_bytes, plan.plan_bytes);
  EXPECT_EQ(BufferOf(plan, 3).at_peak, std::nullopt);
}

TEST(HeapReplayTest, InconsistentEventsAreCountedAndPassedOver) {
  for (const std::string& broken :
       {Alloc(3) + Free(3) + Free(3),              // Freed twice.
        Alloc(3) + Alloc(3),                       // Taken twice.
        Alloc(3) + Share(3, 3),                    // Its own sharer.
        Alloc(3) + Share(5, 3) + Share(3, 5),      // A cycle.
        Alloc(3) + Share(5, 3) + Share(5, 3),      // Shared twice.
        Alloc(3) + Alloc(77),                      // No such buffer.
        Alloc(3) + Alloc(6), Alloc(3) + Alloc(7),  // A parameter; another space.
        Alloc(3) + Share(5, 6), Alloc(3) + Share(5, 88),
        Alloc(3) + std::string("events { kind: SHARE_WITH buffer_id: 5 } ")}) {
    const Plan plan = PlanOf(Module(Trace(broken)));
    EXPECT_EQ(plan.heap_peak_bytes, 100) << broken;
    EXPECT_EQ(BytesAtPeak(plan, 0), 100) << broken;
    EXPECT_TRUE(HasIssue(plan, "heap_trace_inconsistent")) << broken;
  }
  const Plan nothing = PlanOf(Module(Trace(Alloc(6))));
  EXPECT_EQ(nothing.heap_peak_bytes, std::nullopt);
  EXPECT_TRUE(HasIssue(nothing, "heap_trace_without_temp"));
}

// A chain in which every buffer shares the one before, and the roots are looked up from its end:
// quadratic unless links are shortened. It is some minutes then, and well below a second so.
TEST(HeapReplayTest, LongChainsTakeLinearTime) {
  constexpr int kBuffers = 300000;
  proto::HloProto hlo = FromText<proto::HloProto>(
      R"(hlo_module { computations { id: 1 root_id: 1
           instructions { name: "a" opcode: "add" id: 1 shape { element_type: 11 } } } })");
  auto& assignment = *hlo.mutable_buffer_assignment();
  auto& allocation = *assignment.add_buffer_allocations();
  allocation.set_size(8);
  auto& trace = *assignment.add_heap_simulator_traces();
  for (int i = 0; i < kBuffers; ++i) {
    auto& buffer = *assignment.add_logical_buffers();
    buffer.set_id(i);
    buffer.set_size(8);
    buffer.mutable_defined_at()->set_instruction_id(1);
    allocation.add_assigned()->set_logical_buffer_id(i);
    auto& event = *trace.add_events();
    event.set_buffer_id(i);
    if (i > 0) {
      event.set_kind(proto::HeapSimulatorTrace::Event::SHARE_WITH);
      event.set_share_with_canonical_id(i - 1);
    }
  }
  for (int i = kBuffers - 1; i >= 0; --i) {
    auto& event = *trace.add_events();
    event.set_kind(proto::HeapSimulatorTrace::Event::FREE);
    event.set_buffer_id(i);
  }
  const std::string bytes = hlo.SerializeAsString();
  const auto start = std::chrono::steady_clock::now();
  const Plan plan = ReadPlan(bytes);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  EXPECT_EQ(plan.heap_peak_bytes, 8);
  EXPECT_EQ(BytesAtPeak(plan, 0), 8);
  EXPECT_TRUE(plan.issues.empty());
}

}  // namespace
}  // namespace oomdb::ingest
