#include "cli/self_test_capture.h"

#include <initializer_list>
#include <string_view>
#include <utility>

#include "proto/hlo.pb.h"
#include "proto/xplane.pb.h"

namespace oomdb::cli {
namespace {

using Truth = SelfTestTruth;

constexpr int kF32 = 11;  // xla PrimitiveType.

void SetShape(proto::ShapeProto* shape, int64_t bytes) {
  shape->set_element_type(kF32);
  shape->add_dimensions(bytes / 4);
}

// One instruction with the logical buffer and the allocation that it fills; ids are 1, 2, 3 for all
// three.
proto::BufferAllocationProto* AddValue(proto::HloProto* hlo, const std::string& name,
                                       const char* opcode, int64_t bytes, int64_t operand) {
  proto::HloComputationProto* const entry = hlo->mutable_hlo_module()->mutable_computations(0);
  const int64_t id = entry->instructions_size() + 1;
  proto::HloInstructionProto* const instruction = entry->add_instructions();
  instruction->set_name(name);
  instruction->set_opcode(opcode);
  instruction->set_id(id);
  if (operand != 0) instruction->add_operand_ids(operand);
  SetShape(instruction->mutable_shape(), bytes);
  instruction->mutable_metadata()->set_op_name("jit(step)/jvp()/" + name);
  instruction->mutable_metadata()->set_source_file("train.py");
  instruction->mutable_metadata()->set_source_line(static_cast<int32_t>(10 + id));

  proto::BufferAssignmentProto* const plan = hlo->mutable_buffer_assignment();
  proto::LogicalBufferProto* const buffer = plan->add_logical_buffers();
  buffer->set_id(id);
  buffer->set_size(bytes);
  buffer->mutable_defined_at()->set_instruction_id(id);
  proto::BufferAllocationProto* const allocation = plan->add_buffer_allocations();
  allocation->set_index(id - 1);
  allocation->set_size(bytes);
  auto* const assigned = allocation->add_assigned();
  assigned->set_logical_buffer_id(id);
  assigned->set_size(bytes);
  return allocation;
}

std::string StepPlan() {
  proto::HloProto hlo;
  proto::HloModuleProto* const module = hlo.mutable_hlo_module();
  module->set_name("jit_step");
  module->set_id(7);
  module->set_entry_computation_name("main");
  module->set_entry_computation_id(1);
  SetShape(module->mutable_host_program_shape()->add_parameters(), Truth::kParameterBytes);
  SetShape(module->mutable_host_program_shape()->mutable_result(), Truth::kOutputBytes);
  proto::HloComputationProto* const entry = module->add_computations();
  entry->set_name("main");
  entry->set_id(1);
  proto::BufferAllocationProto* const parameter =
      AddValue(&hlo, "x", "parameter", Truth::kParameterBytes, 0);
  parameter->set_is_entry_computation_parameter(true);
  AddValue(&hlo, "scores", "dot", Truth::kTempBytes, 1);
  AddValue(&hlo, "loss", "reduce", Truth::kOutputBytes, 2)->set_maybe_live_out(true);
  entry->set_root_id(3);
  proto::HeapSimulatorTrace* const trace =
      hlo.mutable_buffer_assignment()->add_heap_simulator_traces();
  trace->set_buffer_allocation_index(1);
  for (const auto kind :
       {proto::HeapSimulatorTrace::Event::ALLOC, proto::HeapSimulatorTrace::Event::FREE}) {
    auto* const event = trace->add_events();
    event->set_kind(kind);
    event->set_buffer_id(2);
  }
  return hlo.SerializeAsString();
}

// Names of events and stats are metadata of their plane, referred to by id.
class PlaneWriter {
 public:
  PlaneWriter(proto::XSpace* space, const std::string& name) : plane_(space->add_planes()) {
    plane_->set_name(name);
  }

  proto::XPlane* plane() { return plane_; }

  int64_t EventId(const std::string& name) {
    const int64_t id = plane_->event_metadata_size() + 1;
    (*plane_->mutable_event_metadata())[id].set_id(id);
    (*plane_->mutable_event_metadata())[id].set_name(name);
    return id;
  }

  proto::XStat* AddStat(google::protobuf::RepeatedPtrField<proto::XStat>* stats,
                        const std::string& name) {
    const int64_t id = plane_->stat_metadata_size() + 1;
    (*plane_->mutable_stat_metadata())[id].set_id(id);
    (*plane_->mutable_stat_metadata())[id].set_name(name);
    proto::XStat* const stat = stats->Add();
    stat->set_metadata_id(id);
    return stat;
  }

  proto::XEvent* AddEvent(proto::XLine* line, const std::string& name, int64_t start_ns,
                          int64_t duration_ns) {
    proto::XEvent* const event = line->add_events();
    event->set_metadata_id(EventId(name));
    event->set_offset_ps(start_ns * 1000);
    event->set_duration_ps(duration_ns * 1000);
    return event;
  }

 private:
  proto::XPlane* const plane_;
};

void AddMemoryEvent(PlaneWriter* host, proto::XLine* line, const std::string& name,
                    int64_t start_ns, int64_t in_use_bytes) {
  proto::XEvent* const event = host->AddEvent(line, name, start_ns, 0);
  host->AddStat(event->mutable_stats(), "allocator_name")->set_str_value("GPU_0_bfc");
  const int64_t available = Truth::kCapacityBytes - in_use_bytes;
  for (const auto& [key, number] : std::initializer_list<std::pair<const char*, int64_t>>{
           {"bytes_reserved", 0},
           {"bytes_allocated", in_use_bytes},
           {"bytes_available", available},
           {"peak_bytes_in_use", Truth::kParameterBytes + Truth::kOutputBytes},
           {"requested_bytes", Truth::kOutputBytes},
           {"allocation_bytes", Truth::kOutputBytes},
           {"addr", int64_t{0x7f0000000000}}}) {
    host->AddStat(event->mutable_stats(), key)->set_int64_value(number);
  }
  host->AddStat(event->mutable_stats(), "fragmentation")->set_double_value(0);
}

}  // namespace

std::string SelfTestCapture() {
  proto::XSpace space;
  space.add_hostnames("self-test");

  PlaneWriter metadata(&space, "/host:metadata");
  const int64_t module = metadata.EventId("jit_step(7)");
  auto* const stats = (*metadata.plane()->mutable_event_metadata())[module].mutable_stats();
  metadata.AddStat(stats, "Hlo Proto")->set_bytes_value(StepPlan());
  metadata.AddStat(stats, "program_id")->set_uint64_value(7);

  PlaneWriter device(&space, "/device:GPU:0");
  device.AddStat(device.plane()->mutable_stats(), "memory_size")
      ->set_uint64_value(2 * Truth::kCapacityBytes);

  PlaneWriter host(&space, "/host:CPU");
  proto::XLine* const line = host.plane()->add_lines();
  line->set_id(1);
  line->set_name("python");
  line->set_timestamp_ns(1790000000000000000);
  host.AddEvent(line, "PjitFunction(step)", 1000, 50000);
  host.AddEvent(line, "CommonPjRtLoadedExecutable::Execute (jit_step)", 2000, 48000);
  host.AddEvent(line, "CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice", 3000, 46000);
  host.AddEvent(line, "Build buffer allocations", 4000, 20000);
  AddMemoryEvent(&host, line, "MemoryAllocation", 5000,
                 Truth::kParameterBytes + Truth::kOutputBytes);
  AddMemoryEvent(&host, line, "MemoryDeallocation", 30000, Truth::kParameterBytes);
  return space.SerializeAsString();
}

}  // namespace oomdb::cli
