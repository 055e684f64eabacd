#include "bench/synthetic_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "proto/hlo.pb.h"

namespace oomdb {
namespace {

constexpr int kF32 = 11;  // xla PrimitiveType.
constexpr int64_t kColumns = 1024;
// A value lives until two later ones are made, so three of them are live at a time.
constexpr int64_t kSlots = 3;
constexpr int64_t kRows = 256;
constexpr int64_t kValueBytes = kRows * kColumns * 4;

void FillShape(proto::ShapeProto* shape) {
  shape->set_element_type(kF32);
  for (const int64_t size : {kRows, kColumns}) {
    shape->add_dimensions(size);
    shape->add_is_dynamic_dimension(false);
  }
  shape->mutable_layout()->add_minor_to_major(1);
  shape->mutable_layout()->add_minor_to_major(0);
}

proto::BufferAllocationProto* AddAllocation(proto::BufferAssignmentProto* plan, int64_t bytes) {
  proto::BufferAllocationProto* const allocation = plan->add_buffer_allocations();
  allocation->set_index(plan->buffer_allocations_size() - 1);
  allocation->set_size(bytes);
  return allocation;
}

// Instruction, logical buffer: both have the number `id`, from 1.
void AddValue(proto::HloProto* hlo, int64_t id, const char* opcode) {
  proto::HloModuleProto* const module = hlo->mutable_hlo_module();
  proto::HloInstructionProto* const instruction =
      module->mutable_computations(0)->add_instructions();
  instruction->set_name(fmt::format("{}.{}", opcode, id));
  instruction->set_opcode(opcode);
  instruction->set_id(id);
  for (const int64_t operand : {id - 2, id - 1}) {
    if (operand > 0) instruction->add_operand_ids(operand);
  }
  FillShape(instruction->mutable_shape());
  const int64_t layer = id / 50;
  proto::OpMetadata* const metadata = instruction->mutable_metadata();
  metadata->set_op_name(fmt::format("jit(step)/jvp(layer_{})/{}", layer, opcode));
  metadata->set_source_file("/home/user/model.py");
  metadata->set_source_line(static_cast<int32_t>(10 + id % 500));

  proto::LogicalBufferProto* const buffer = hlo->mutable_buffer_assignment()->add_logical_buffers();
  buffer->set_id(id);
  buffer->set_size(kValueBytes);
  buffer->mutable_defined_at()->set_instruction_id(id);
}

void Assign(proto::BufferAllocationProto* allocation, int64_t buffer, int64_t offset) {
  auto* const assigned = allocation->add_assigned();
  assigned->set_logical_buffer_id(buffer);
  assigned->set_offset(offset);
  assigned->set_size(kValueBytes);
}

}  // namespace

SyntheticPlan MakePlan(const std::string& module_name, int64_t program_id, int instructions) {
  const int64_t last = std::max(instructions, 3);
  proto::HloProto hlo;
  proto::HloModuleProto* const module = hlo.mutable_hlo_module();
  module->set_name(module_name);
  module->set_id(program_id);
  module->set_entry_computation_name("main");
  module->set_entry_computation_id(1);
  FillShape(module->mutable_host_program_shape()->add_parameters());
  FillShape(module->mutable_host_program_shape()->mutable_result());
  proto::HloComputationProto* const entry = module->add_computations();
  entry->set_name("main");
  entry->set_id(1);
  entry->set_root_id(last);

  constexpr const char* kOpcodes[] = {"dot", "add", "multiply", "fusion", "exponential"};
  AddValue(&hlo, 1, "parameter");
  for (int64_t id = 2; id <= last; ++id) AddValue(&hlo, id, kOpcodes[id % std::size(kOpcodes)]);

  proto::BufferAssignmentProto* const plan = hlo.mutable_buffer_assignment();
  proto::BufferAllocationProto* const parameter = AddAllocation(plan, kValueBytes);
  parameter->set_is_entry_computation_parameter(true);
  Assign(parameter, 1, 0);
  proto::BufferAllocationProto* const output = AddAllocation(plan, kValueBytes);
  output->set_maybe_live_out(true);
  Assign(output, last, 0);
  proto::BufferAllocationProto* const temp = AddAllocation(plan, kSlots * kValueBytes);
  proto::HeapSimulatorTrace* const trace = plan->add_heap_simulator_traces();
  trace->set_buffer_allocation_index(temp->index());
  const auto add = [&](proto::HeapSimulatorTrace::Event::Kind kind, int64_t buffer) {
    proto::HeapSimulatorTrace::Event* const event = trace->add_events();
    event->set_kind(kind);
    event->set_buffer_id(buffer);
  };
  for (int64_t id = 2; id < last; ++id) {
    Assign(temp, id, (id % kSlots) * kValueBytes);
    add(proto::HeapSimulatorTrace::Event::ALLOC, id);
    if (id > 3) add(proto::HeapSimulatorTrace::Event::FREE, id - 2);
  }
  for (int64_t id = std::max<int64_t>(last - 2, 2); id < last; ++id) {
    add(proto::HeapSimulatorTrace::Event::FREE, id);
  }
  return {hlo.SerializeAsString(), kValueBytes, kSlots * kValueBytes};
}

}  // namespace oomdb
