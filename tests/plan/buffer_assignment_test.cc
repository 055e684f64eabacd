// Classes, sums, donation and memory spaces.
#include "ingest/plan/buffer_assignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/plan/text_proto.h"

namespace oomdb::ingest {
namespace {

// Two parameters, the second a tuple of which element {1} is donated; every class once; host
// memory.
constexpr char kModule[] = R"(
  hlo_module {
    name: "jit_step" id: 12 device_type: "GPU"
    computations {
      id: 1 root_id: 3
      instructions { name: "p0" opcode: "parameter" id: 1 shape { element_type: 11 dimensions: 2 } }
      instructions { name: "p1" opcode: "parameter" id: 2 parameter_number: 1
        shape { element_type: 13 tuple_shapes { element_type: 4 }
                tuple_shapes { element_type: 11 dimensions: 16 } } }
      instructions { name: "add.1.remat" opcode: "add" id: 3 operand_ids: 1
                     shape { element_type: 11 dimensions: 2 } }
      instructions { name: "bitcast.remat2" opcode: "bitcast" id: 4 operand_ids: 1
                     shape { element_type: 11 dimensions: 2 } }
      instructions { name: "call.rematted_computation" opcode: "call" id: 5
                     shape { element_type: 11 dimensions: 2 } }
    }
    computations { id: 9 instructions { name: "x" opcode: "add" id: 90 } }
    entry_computation_id: 1
    input_output_alias {
      entries { output_shape_index: 0 parameter_number: 1 parameter_shape_index: 1 }
      entries { output_shape_index: 1 parameter_number: 1 parameter_shape_index: 1 }
    }
  }
  buffer_assignment {
    buffer_allocations { index: 7 size: 1000 assigned { logical_buffer_id: 4 offset: 24 } }
    buffer_allocations { index: 1 size: 64 is_entry_computation_parameter: true parameter_number: 1
                         parameter_shape_index: 1 maybe_live_out: true }
    buffer_allocations { size: 8 is_entry_computation_parameter: true
                         assigned { logical_buffer_id: 1 } }
    buffer_allocations { index: 2 size: 16 is_entry_computation_parameter: true parameter_number: 1
                         is_tuple: true }
    buffer_allocations { index: 3 size: 20 is_constant: true is_thread_local: true }
    buffer_allocations { index: 4 size: 300 is_thread_local: true maybe_live_out: true }
    buffer_allocations { index: 5 size: 40 maybe_live_out: true assigned { logical_buffer_id: 3 } }
    buffer_allocations { index: 6 size: 5000 color: 5 }
    buffer_allocations { index: 8 size: 70000 color: 5 is_entry_computation_parameter: true
                         parameter_number: 2 }
    logical_buffers { id: 3 size: 40 defined_at { instruction_id: 3 } }
    logical_buffers { id: 1 size: 8 defined_at { instruction_id: 1 } }
    logical_buffers { id: 4 size: 900 defined_at { instruction_name: "bitcast.remat2" } }
    logical_buffers { id: 8 size: 9 color: 1 defined_at { instruction_id: 3 } }
  }
)";

TEST(BufferAssignmentTest, TheFirstClassThatHoldsCounts) {
  const Plan plan = PlanOf(kModule);
  std::vector<std::string> classes;
  for (const PlanAllocation& allocation : plan.allocations) {
    EXPECT_EQ(allocation.index, static_cast<int64_t>(classes.size()));  // Ascending.
    classes.emplace_back(ToString(allocation.allocation_class));
  }
  EXPECT_THAT(classes, testing::ElementsAre("parameter", "parameter", "parameter", "constant",
                                            "thread_local", "output", "temp", "temp", "parameter"));
}

TEST(BufferAssignmentTest, SumsAreOfTheDefaultSpace) {
  const Plan plan = PlanOf(kModule);
  EXPECT_EQ(plan.parameter_count, 4);  // All spaces.
  EXPECT_EQ(plan.parameter_bytes, 8 + 64 + 16);
  EXPECT_EQ(plan.constant_bytes, 20);
  EXPECT_EQ(plan.thread_local_bytes, 300);
  EXPECT_EQ(plan.output_bytes, 40);
  EXPECT_EQ(plan.temp_bytes, 1000);
  EXPECT_EQ(plan.plan_bytes, 88 + 40 + 20 + 1000);  // Without thread-local memory.
  ASSERT_EQ(plan.spaces.size(), 2u);
  EXPECT_EQ(plan.spaces[0].space_name, "device");
  EXPECT_EQ(plan.spaces[1].memory_space, 5);
  EXPECT_EQ(plan.spaces[1].space_name, "host");
  EXPECT_EQ(plan.spaces[1].temp_bytes, 5000);
  EXPECT_EQ(plan.spaces[1].parameter_bytes, 70000);
}

TEST(BufferAssignmentTest, DonationIsPerParameterAndIndex) {
  const Plan plan = PlanOf(kModule);
  EXPECT_EQ(plan.donated_parameter_count, 1);  // Named twice in the table.
  EXPECT_EQ(plan.donated_bytes, 64);
  EXPECT_EQ(plan.allocations[0].aliased_output, false);
  EXPECT_EQ(plan.allocations[1].aliased_output, true);
  EXPECT_EQ(plan.allocations[2].aliased_output, false);  // The tuple itself is not.
  EXPECT_EQ(plan.allocations[5].aliased_output, std::nullopt);
  EXPECT_EQ(plan.allocations[1].parameter_shape_index, "{1}");
  EXPECT_EQ(plan.allocations[1].shape, "f32[16]");
  EXPECT_EQ(plan.allocations[2].shape, "(s32[], f32[16])");
  EXPECT_TRUE(plan.allocations[2].is_tuple);
  EXPECT_EQ(plan.allocations[8].shape, "");  // There is no parameter 2.
}

TEST(BufferAssignmentTest, BuffersComeByIdWithTheirAllocation) {
  const Plan plan = PlanOf(kModule);
  ASSERT_EQ(plan.buffers.size(), 4u);
  EXPECT_EQ(plan.buffers[0].logical_buffer_id, 1);
  EXPECT_EQ(plan.buffers[0].allocation_index, 0);
  EXPECT_EQ(plan.buffers[0].role, std::nullopt);  // Temps only.
  const PlanBuffer by_name = BufferOf(plan, 4);   // As older compilers write it.
  EXPECT_EQ(by_name.instruction, "bitcast.remat2");
  EXPECT_EQ(by_name.offset_bytes, 24);
  EXPECT_EQ(by_name.bytes, 900);
  EXPECT_EQ(by_name.unpadded_bytes, 8);
  EXPECT_EQ(by_name.shape_index, "{}");
  EXPECT_EQ(by_name.role, Role::kOther);
  const PlanBuffer unassigned = BufferOf(plan, 8);
  EXPECT_EQ(unassigned.allocation_index, std::nullopt);
  EXPECT_EQ(unassigned.allocation_class, std::nullopt);
  EXPECT_EQ(unassigned.memory_space, 1);
}

TEST(BufferAssignmentTest, CountsInstructionsOfAllComputations) {
  const Plan plan = PlanOf(kModule);
  EXPECT_EQ(plan.module_name, "jit_step");
  EXPECT_EQ(plan.module_id, 12);
  EXPECT_EQ(plan.device_type, "GPU");
  EXPECT_EQ(plan.instruction_count, 6);
  EXPECT_EQ(plan.remat_instruction_count, 2);
  EXPECT_EQ(plan.remat_compute_count, 1);
}

TEST(BufferAssignmentTest, RematerializedNames) {
  EXPECT_TRUE(IsRematerialized("fusion.3.remat"));
  EXPECT_TRUE(IsRematerialized("fusion.3.remat4"));
  EXPECT_TRUE(IsRematerialized("fusion.remat.1.clone"));
  EXPECT_TRUE(IsRematerialized("copy.remat_compressed"));
  EXPECT_FALSE(IsRematerialized("remat.3"));
  EXPECT_FALSE(IsRematerialized("call.rematted_computation"));
}

TEST(BufferAssignmentTest, WithoutAnAssignmentTheMemoryIsUnknown) {
  const Plan plan = PlanOf(R"(hlo_module { name: "m" computations { id: 1
    instructions { name: "a" opcode: "add" shape { element_type: 11 } } } })");
  EXPECT_FALSE(plan.has_buffer_assignment);
  EXPECT_TRUE(PlanOf(kModule).has_buffer_assignment);
  EXPECT_EQ(plan.module_id, std::nullopt);
  EXPECT_EQ(plan.instruction_count, 1);
}

TEST(BufferAssignmentTest, WhatIsNoModuleIsRefused) {
  EXPECT_THROW(ReadPlan(""), Error);
  EXPECT_THROW(ReadPlan("<html>not found</html>"), Error);
  EXPECT_THROW(ReadPlan(std::string(100, '\0')), Error);
  EXPECT_THROW(PlanOf("buffer_assignment { buffer_allocations { size: 3 } }"), Error);
  EXPECT_THROW(PlanOf(R"(hlo_module { name: "empty" })"), Error);
}

}  // namespace
}  // namespace oomdb::ingest
