#include "ingest/dump/assignment_text.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/plan/text_proto.h"

namespace oomdb::ingest {
namespace {

constexpr char kText[] =
    "BufferAssignment:\n"
    "allocation 0: size 4000, parameter 1, shape |(f32[10], s32[])| at ShapeIndex {0,1}, output "
    "shape is |f32[10]|, maybe-live-out:\n"
    " value: <8 param.1 @0> (size=4000,offset=0): f32[10,100]{1,0:T(8,128)}\n"
    " value: <9 while.5{1,2} (phi) @0> (size=16,offset=8): (f32[2]{0}, /*index=1*/s32[]{:T(128)})\n"
    "allocation 1: size 512, color 5, preallocated-temp:\n"
    " value: <3 copy{} @5> (size=512,offset=128): s4[1024]{0:E(4)S(5)}\n"
    "allocation 2: size 8, thread-local:\n"
    "allocation 3: size 12, constant:\n"
    "allocation 4: size 100, output shape is |(f32[5], f32[5])|, maybe-live-out:\n"
    "allocation 5: size 7, something-new, preallocated-temp:\n"
    "\n"
    "Total bytes used: 4639 (4.5KiB)\n"
    "\n"
    "Used values:\n"
    "allocation 6: size 1000000, preallocated-temp:\n";

TEST(AssignmentTextTest, ClassesSumsAndValues) {
  const Plan plan = ReadAssignmentText(kText);
  EXPECT_TRUE(plan.issues.empty()) << plan.issues.front().detail;
  EXPECT_TRUE(plan.has_buffer_assignment);
  EXPECT_EQ(plan.instruction_count, std::nullopt);
  EXPECT_EQ(plan.parameter_bytes, 4000);
  EXPECT_EQ(plan.parameter_count, 1);
  EXPECT_EQ(plan.donated_parameter_count, 1);
  EXPECT_EQ(plan.donated_bytes, 4000);
  EXPECT_EQ(plan.output_bytes, 100);
  EXPECT_EQ(plan.constant_bytes, 12);
  EXPECT_EQ(plan.thread_local_bytes, 8);
  EXPECT_EQ(plan.temp_bytes, 7);
  EXPECT_EQ(plan.plan_bytes, 4119);
  EXPECT_EQ(plan.heap_peak_bytes, std::nullopt);
  EXPECT_EQ(plan.peak_bytes, 4119);
  ASSERT_EQ(plan.allocations.size(), 6u);
  EXPECT_EQ(plan.allocations[0].parameter_number, 1);
  EXPECT_EQ(plan.allocations[0].parameter_shape_index, "{0,1}");
  EXPECT_TRUE(plan.allocations[4].is_tuple);
  ASSERT_EQ(plan.spaces.size(), 2u);
  EXPECT_EQ(plan.spaces[1].space_name, "host");
  EXPECT_EQ(plan.spaces[1].temp_bytes, 512);

  const PlanBuffer parameter = BufferOf(plan, 8);
  EXPECT_EQ(parameter.instruction, "param.1");
  EXPECT_EQ(parameter.shape, "f32[10,100]");
  EXPECT_EQ(parameter.layout, "{1,0:T(8,128)}");
  EXPECT_EQ(parameter.unpadded_bytes, 4000);
  EXPECT_EQ(parameter.allocation_class, AllocationClass::kParameter);
  const PlanBuffer tuple = BufferOf(plan, 9);
  EXPECT_EQ(tuple.instruction, "while.5");
  EXPECT_EQ(tuple.shape_index, "{1,2}");
  EXPECT_EQ(tuple.shape, "(f32[2], /*index=1*/s32[])");
  EXPECT_EQ(tuple.dtype, "tuple");
  EXPECT_EQ(tuple.layout, "");
  EXPECT_EQ(tuple.unpadded_bytes, 16);
  EXPECT_EQ(tuple.offset_bytes, 8);
  const PlanBuffer host = BufferOf(plan, 3);
  EXPECT_EQ(host.memory_space, 5);
  EXPECT_EQ(host.unpadded_bytes, 512);  // Packed: four bits an element.
}

TEST(AssignmentTextTest, UsedValuesNameTheLines) {
  const Plan plan = ReadAssignmentText(
      "BufferAssignment:\n"
      "allocation 0: size 64, preallocated-temp:\n"
      " value: <1 fusion.21{1} @0> (size=8,offset=0): f32[2]{0}\n"
      " value: <2 call @0> (size=8,offset=8): u8[8]{0}\n"
      " value: <3 copy @0> (size=8,offset=16): f32[2]{0}\n"
      "allocation 1: size 8, maybe-live-out:\n"
      " value: <4 add @0> (size=8,offset=0): f32[2]{0}\n"
      "\nTotal bytes used: 72 (72B)\n\nUsed values:\n"
      "<1 fusion.21{1} @0>\n positions:\n  fusion.21 {1}\n"
      " from instruction: %fusion.21 = (f32[8]{0:T(8,128)S(1)}, f32[2]{0}) fusion(%a), kind=kLoop, "
      "metadata={op_name=\"jit(f)/jvp(\\\"x\\\")/sub\" source_file=\"/m.py\" source_line=17}\n"
      "<2 call @0>\n from instruction: %call = u8[8]{0} custom-call(%a), metadata={op_name=\"x\"}\n"
      "<3 copy @0>\n from instruction: %copy = f32[2]{0} copy(%a)\n"
      "<4 add @0>\n from instruction: ROOT %add = f32[2]{0} add(%a, %a), "
      "metadata={op_name=\"jit(f)/transpose(jvp())/add\"}\n"
      "<99999999999999999999 x>\n from instruction: %x = f32[]\n<5 y>\n from instr");
  EXPECT_TRUE(plan.issues.empty());
  const PlanBuffer fusion = BufferOf(plan, 1);
  EXPECT_EQ(fusion.opcode, "fusion");
  EXPECT_EQ(fusion.op_name, "jit(f)/jvp(\"x\")/sub");
  EXPECT_EQ(fusion.source_file, "/m.py");
  EXPECT_EQ(fusion.source_line, 17);
  EXPECT_EQ(fusion.role, Role::kForward);
  EXPECT_EQ(BufferOf(plan, 2).role, Role::kWorkspace);
  EXPECT_EQ(BufferOf(plan, 3).opcode, "copy");
  EXPECT_EQ(BufferOf(plan, 3).role, std::nullopt);
  EXPECT_EQ(BufferOf(plan, 4).op_name, "jit(f)/transpose(jvp())/add");
  EXPECT_EQ(BufferOf(plan, 4).role, std::nullopt);  // No temp.
}

TEST(AssignmentTextTest, WithoutTempsTheHeapPeakIsKnown) {
  const Plan plan =
      ReadAssignmentText("BufferAssignment:\nallocation 0: size 4, maybe-live-out:\n");
  EXPECT_EQ(plan.heap_peak_bytes, 0);
  EXPECT_EQ(plan.peak_bytes, 4);
}

// The same compilations' text and proto, as XLA wrote both, agree in all that both say.
TEST(AssignmentTextTest, SaysWhatTheProtoSays) {
  for (const std::string name : {"module_0000.jit_fn.cl_933746096.after_optimizations",
                                 "module_0001.jit_loss.sm_8.0_gpu_after_optimizations"}) {
    const Plan proto = ReadPlan(TestData(name + ".hlo.pb"));
    const Plan text =
        ReadAssignmentText(TestData("../../dump/testdata/" + name + "-buffer-assignment.txt"));
    EXPECT_TRUE(text.issues.empty());
    EXPECT_EQ(text.parameter_bytes, proto.parameter_bytes);
    EXPECT_EQ(text.donated_bytes, proto.donated_bytes);
    EXPECT_EQ(text.output_bytes, proto.output_bytes);
    EXPECT_EQ(text.constant_bytes, proto.constant_bytes);
    EXPECT_EQ(text.temp_bytes, proto.temp_bytes);
    EXPECT_EQ(text.thread_local_bytes, proto.thread_local_bytes);
    EXPECT_EQ(text.plan_bytes, proto.plan_bytes);
    ASSERT_EQ(text.spaces.size(), proto.spaces.size());
    ASSERT_EQ(text.allocations.size(), proto.allocations.size());
    for (size_t i = 0; i < text.allocations.size(); ++i) {
      EXPECT_EQ(text.allocations[i].allocation_class, proto.allocations[i].allocation_class);
      EXPECT_EQ(text.allocations[i].bytes, proto.allocations[i].bytes);
      EXPECT_EQ(text.allocations[i].memory_space, proto.allocations[i].memory_space);
      EXPECT_EQ(text.allocations[i].shape, proto.allocations[i].shape);
    }
    ASSERT_EQ(text.buffers.size(), proto.buffers.size());
    for (size_t i = 0; i < text.buffers.size(); ++i) {
      const PlanBuffer& a = text.buffers[i];
      const PlanBuffer& b = proto.buffers[i];
      EXPECT_EQ(a.logical_buffer_id, b.logical_buffer_id);
      EXPECT_EQ(a.allocation_index, b.allocation_index);
      EXPECT_EQ(a.offset_bytes, b.offset_bytes);
      EXPECT_EQ(a.bytes, b.bytes);
      EXPECT_EQ(a.instruction, b.instruction);
      EXPECT_EQ(a.shape_index, b.shape_index);
      EXPECT_EQ(a.shape, b.shape);
      EXPECT_EQ(a.layout, b.layout);
      EXPECT_EQ(a.dtype, b.dtype);
      EXPECT_EQ(a.unpadded_bytes, b.unpadded_bytes);
    }
  }
}

TEST(AssignmentTextTest, HostileNumbersAreIssues) {
  const Plan plan = ReadAssignmentText(
      "BufferAssignment:\n"
      "allocation 0: size 99999999999999999999999, preallocated-temp:\n"
      "allocation 1: size -5, preallocated-temp:\n"
      "allocation 2: size 9223372036854775807, preallocated-temp:\n"
      "allocation 3: size 2305843009213693951, color 99999999999999999999999, preallocated-temp:\n"
      "allocation 3: size 1, preallocated-temp:\n"
      "allocation 99999999999999999999999: size 1:\n"
      " value: <1 a @0> (size=99999999999999999999999,offset=-1): f32[99999999999999999999999]{0}\n"
      " value: <2 b @0> (size=8,offset=9223372036854775807): f32[4611686018427387904,16]{0}\n");
  EXPECT_TRUE(HasIssue(plan, "plan_size_impossible"));
  EXPECT_TRUE(HasIssue(plan, "plan_duplicate_id"));
  EXPECT_TRUE(HasIssue(plan, "plan_text_line"));
  EXPECT_EQ(plan.temp_bytes, 2305843009213693951);
  EXPECT_EQ(BufferOf(plan, 1).bytes, 0);
  EXPECT_EQ(BufferOf(plan, 1).offset_bytes, std::nullopt);
  EXPECT_EQ(BufferOf(plan, 1).unpadded_bytes, std::nullopt);
  EXPECT_EQ(BufferOf(plan, 2).unpadded_bytes, std::nullopt);
}

TEST(AssignmentTextTest, CutAnywhereItYieldsWhatIsWhole) {
  const std::string text = kText;
  for (size_t length = 0; length <= text.size(); ++length) {
    const Plan plan = ReadAssignmentText(text.substr(0, length));
    EXPECT_LE(plan.plan_bytes, 4119) << length;
    EXPECT_LE(plan.buffers.size(), 3u) << length;
  }
  EXPECT_TRUE(
      HasIssue(ReadAssignmentText(text.substr(0, text.find(" at ShapeIndex"))), "plan_text_line"));
}

}  // namespace
}  // namespace oomdb::ingest
