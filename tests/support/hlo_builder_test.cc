#include "tests/support/hlo_builder.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/support/sizes.h"

namespace oomdb {
namespace {

TEST(HloBuilderTest, ModuleHasTheSizesAskedFor) {
  HloBuilder hlo("jit_step");
  hlo.Parameter(64_MiB).DonatedParameter(32_MiB).Constant(4).Output(4_MiB);
  const int scores = hlo.Temp(Value(384_MiB).Op("jit(f)/jvp()/dot").At("model.py", 17, "layer"));
  hlo.Temp(96_MiB);
  hlo.Free(scores);
  hlo.Temp(100_MiB);
  EXPECT_EQ(hlo.parameter_bytes(), 96_MiB);
  EXPECT_EQ(hlo.output_bytes(), 4_MiB + 16);  // Two outputs: a table of two pointers.
  EXPECT_EQ(hlo.heap_peak_bytes(), 480_MiB);
  EXPECT_EQ(hlo.temp_bytes(), 480_MiB);  // The last temp fits where the first one was.

  proto::HloProto proto;
  ASSERT_TRUE(proto.ParseFromString(hlo.Bytes()));
  const proto::BufferAssignmentProto& assignment = proto.buffer_assignment();
  int64_t parameters = 0;
  int64_t outputs = 0;
  int64_t temps = 0;
  for (const proto::BufferAllocationProto& allocation : assignment.buffer_allocations()) {
    if (allocation.is_entry_computation_parameter()) {
      parameters += allocation.size();
    } else if (allocation.maybe_live_out()) {
      outputs += allocation.size();
    } else if (!allocation.is_constant()) {
      temps += allocation.size();
    }
    for (const auto& assigned : allocation.assigned()) {
      EXPECT_LE(assigned.offset() + assigned.size(), allocation.size());
    }
  }
  EXPECT_EQ(parameters, hlo.parameter_bytes());
  EXPECT_EQ(outputs, hlo.output_bytes());
  EXPECT_EQ(temps, hlo.temp_bytes());
  ASSERT_EQ(proto.hlo_module().input_output_alias().entries_size(), 1);
  EXPECT_EQ(proto.hlo_module().input_output_alias().entries(0).parameter_number(), 1);
  EXPECT_EQ(proto.hlo_module().stack_frame_index().file_names(0), "model.py");
  ASSERT_EQ(assignment.heap_simulator_traces_size(), 1);
  EXPECT_EQ(assignment.heap_simulator_traces(0).events_size(), 6);
}

TEST(HloBuilderTest, AskedForAreOutputsThenTheTemps) {
  HloBuilder hlo("jit_step");
  hlo.Output(8_MiB).Output(4_MiB);
  hlo.Temp(1_MiB);
  const std::vector<HloBuilder::Request> requests = hlo.Requests();
  ASSERT_EQ(requests.size(), 4u);
  EXPECT_EQ(requests[0].bytes, 8_MiB);
  EXPECT_EQ(requests[1].bytes, 4_MiB);
  EXPECT_EQ(requests[2].bytes, 16);
  EXPECT_EQ(requests[3].bytes, 1_MiB);
  EXPECT_TRUE(requests[3].is_temp);
}

TEST(HloBuilderTest, SingleOutputIsTheRoot) {
  HloBuilder hlo("jit_step");
  hlo.Parameter(4).Output(Value(8).Name("the_output"));
  EXPECT_EQ(hlo.output_bytes(), 8);
  const proto::HloProto proto = hlo.Proto();
  const proto::HloComputationProto& entry = proto.hlo_module().computations(0);
  for (const proto::HloInstructionProto& instruction : entry.instructions()) {
    if (instruction.name() == "the_output") {
      EXPECT_EQ(entry.root_id(), instruction.id());
    }
  }
  EXPECT_EQ(proto.hlo_module().host_program_shape().result().element_type(), 11);
}

TEST(HloBuilderTest, SharedTempRevivesItsMemory) {
  HloBuilder hlo("jit_step");
  const int first = hlo.Temp(10_MiB);
  hlo.Free(first);
  const int second = hlo.Temp(6_MiB);
  hlo.SharedTemp(first, 10_MiB);
  hlo.Free(second);
  EXPECT_EQ(hlo.heap_peak_bytes(), 16_MiB);
  const proto::HloProto proto = hlo.Proto();
  const auto& events = proto.buffer_assignment().heap_simulator_traces(0).events();
  EXPECT_EQ(events[3].kind(), proto::HeapSimulatorTrace::Event::SHARE_WITH);
  EXPECT_EQ(events[3].share_with_canonical_id(), events[0].buffer_id());
}

TEST(HloBuilderTest, SpacesHaveAllocationsOfTheirOwn) {
  HloBuilder hlo("jit_step");
  hlo.Temp(2_MiB);
  hlo.Temp(Value(3_MiB).Space(5));
  hlo.TempPadding(1_MiB);
  EXPECT_EQ(hlo.temp_bytes(), 3_MiB);
  EXPECT_EQ(hlo.heap_peak_bytes(), 2_MiB);
  EXPECT_EQ(hlo.Proto().buffer_assignment().heap_simulator_traces_size(), 2);
}

TEST(HloBuilderTest, RefusesADoubleFree) {
  HloBuilder hlo("jit_step");
  const int temp = hlo.Temp(4);
  hlo.Free(temp).Free(temp);
  EXPECT_THROW(hlo.Bytes(), std::logic_error);
}

}  // namespace
}  // namespace oomdb
