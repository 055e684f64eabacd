#include "tests/support/hlo_builder.h"

#include <algorithm>
#include <set>
#include <stdexcept>

namespace oomdb {
namespace {

constexpr int kPred = 1;
constexpr int kF32 = 11;
constexpr int kTuple = 13;
constexpr int64_t kPointerBytes = 8;

void FillShape(const Value& value, proto::ShapeProto& shape) {
  int element_type = value.element_type;
  std::vector<int64_t> dimensions = value.dimensions;
  if (element_type == 0) {
    element_type = value.bytes % 4 == 0 ? kF32 : kPred;
    dimensions = {value.bytes % 4 == 0 ? value.bytes / 4 : value.bytes};
  }
  shape.set_element_type(element_type);
  for (const int64_t dimension : dimensions) {
    shape.add_dimensions(dimension);
    shape.add_is_dynamic_dimension(false);
  }
  for (size_t i = dimensions.size(); i > 0; --i) {
    shape.mutable_layout()->add_minor_to_major(static_cast<int64_t>(i - 1));
  }
  shape.mutable_layout()->set_memory_space(value.memory_space);
}

void FillSharding(const std::vector<int64_t>& tiles, proto::OpSharding& sharding) {
  sharding.set_type(tiles.empty() ? proto::OpSharding::REPLICATED : proto::OpSharding::OTHER);
  if (tiles.empty()) return;
  int64_t parts = 1;
  for (const int64_t tile : tiles) {
    sharding.add_tile_assignment_dimensions(tile);
    parts *= tile;
  }
  sharding.add_iota_reshape_dims(parts);
  sharding.add_iota_transpose_perm(0);
}

}  // namespace

Value& Value::Shape(int type, std::vector<int64_t> sizes) {
  element_type = type;
  dimensions = std::move(sizes);
  return *this;
}

Value& Value::Op(std::string name_stack) {
  op_name = std::move(name_stack);
  return *this;
}

Value& Value::At(std::string source_file, int source_line, std::string source_function) {
  file = std::move(source_file);
  line = source_line;
  function = std::move(source_function);
  return *this;
}

Value& Value::Opcode(std::string hlo_opcode) {
  opcode = std::move(hlo_opcode);
  return *this;
}

Value& Value::CustomCall(std::string target) {
  opcode = "custom-call";
  custom_call_target = std::move(target);
  return *this;
}

Value& Value::Name(std::string instruction_name) {
  name = std::move(instruction_name);
  return *this;
}

Value& Value::Space(int64_t space) {
  memory_space = space;
  return *this;
}

Value& Value::Replicated() { return Sharded({}); }

Value& Value::Sharded(std::vector<int64_t> tile_sizes) {
  tiles = std::move(tile_sizes);
  return *this;
}

HloBuilder::HloBuilder(std::string module_name) : module_name_(std::move(module_name)) {}

HloBuilder& HloBuilder::Parameter(Value value) {
  parameters_.push_back({std::move(value), false});
  return *this;
}

HloBuilder& HloBuilder::DonatedParameter(Value value) {
  parameters_.push_back({std::move(value), true});
  return *this;
}

HloBuilder& HloBuilder::Constant(Value value) {
  constants_.push_back(std::move(value));
  return *this;
}

HloBuilder& HloBuilder::Output(Value value) {
  order_.emplace_back(Kind::kOutput, static_cast<int>(outputs_.size()));
  outputs_.push_back(std::move(value));
  return *this;
}

int HloBuilder::Temp(Value value) {
  const int temp = static_cast<int>(temps_.size());
  order_.emplace_back(Kind::kTemp, temp);
  temps_.push_back(std::move(value));
  events_.push_back({proto::HeapSimulatorTrace::Event::ALLOC, temp});
  return temp;
}

int HloBuilder::SharedTemp(int temp, Value value) {
  if (value.memory_space != temps_.at(static_cast<size_t>(temp)).memory_space) {
    throw std::logic_error("temps of two memory spaces can't share memory");
  }
  const int sharer = static_cast<int>(temps_.size());
  order_.emplace_back(Kind::kTemp, sharer);
  temps_.push_back(std::move(value));
  shared_with_[sharer] = temp;
  events_.push_back({proto::HeapSimulatorTrace::Event::SHARE_WITH, sharer, temp});
  return sharer;
}

HloBuilder& HloBuilder::Free(int temp) {
  events_.push_back({proto::HeapSimulatorTrace::Event::FREE, temp});
  return *this;
}

HloBuilder& HloBuilder::TempPadding(int64_t bytes) {
  temp_padding_ = bytes;
  return *this;
}

HloBuilder& HloBuilder::Partitions(int partitions) {
  partitions_ = partitions;
  return *this;
}

HloBuilder& HloBuilder::WithoutBufferAssignment() {
  with_buffer_assignment_ = false;
  return *this;
}

int HloBuilder::RootTemp(int temp) const {
  for (auto shared = shared_with_.find(temp); shared != shared_with_.end();
       shared = shared_with_.find(temp)) {
    temp = shared->second;
  }
  return temp;
}

std::vector<HloBuilder::HeapEvent> HloBuilder::EventsToTheEnd() const {
  std::set<int> live;
  for (const HeapEvent& event : events_) {
    if (event.kind != proto::HeapSimulatorTrace::Event::FREE) {
      live.insert(event.temp);
    } else if (live.erase(event.temp) == 0) {
      throw std::logic_error("a temp that is freed twice or before it is made");
    }
  }
  std::vector<HeapEvent> events = events_;
  for (const int temp : live) events.push_back({proto::HeapSimulatorTrace::Event::FREE, temp});
  return events;
}

// First fit. Memory that is shared stays reserved from its first use to its last, also in between,
// so that it can be revived; what counts as live are the references only.
HloBuilder::TempLayout HloBuilder::LayOut(int64_t memory_space) const {
  const std::vector<HeapEvent> events = EventsToTheEnd();
  std::map<int, size_t> last_use;  // By root: the position of its last event.
  for (size_t i = 0; i < events.size(); ++i) last_use[RootTemp(events[i].temp)] = i;

  TempLayout layout;
  std::map<int64_t, int64_t> reserved;  // Offset to end.
  std::map<int, int> references;
  int64_t live = 0;
  for (size_t i = 0; i < events.size(); ++i) {
    const int root = RootTemp(events[i].temp);
    const Value& value = temps_[static_cast<size_t>(root)];
    if (value.memory_space != memory_space) continue;
    if (events[i].kind == proto::HeapSimulatorTrace::Event::FREE) {
      if (--references[root] == 0) live -= value.bytes;
    } else {
      if (references[root]++ == 0) live += value.bytes;
      layout.peak_bytes = std::max(layout.peak_bytes, live);
    }
    if (events[i].kind == proto::HeapSimulatorTrace::Event::ALLOC) {
      int64_t offset = 0;
      for (const auto& [start, end] : reserved) {
        if (offset + value.bytes <= start) break;
        offset = std::max(offset, end);
      }
      reserved[offset] = offset + value.bytes;
      layout.bytes = std::max(layout.bytes, offset + value.bytes);
      layout.offsets[root] = offset;
    } else {
      layout.offsets[events[i].temp] = layout.offsets[root];
    }
    if (last_use[root] == i) reserved.erase(layout.offsets[root]);
  }
  if (memory_space == 0) layout.bytes += temp_padding_;
  return layout;
}

size_t HloBuilder::output_count() const {
  const auto donated = std::count_if(parameters_.begin(), parameters_.end(),
                                     [](const Input& input) { return input.donated; });
  return outputs_.size() + static_cast<size_t>(donated);
}

std::vector<HloBuilder::Request> HloBuilder::Requests() const {
  std::vector<Request> requests;
  for (const Value& output : outputs_) {
    if (output.memory_space == 0) requests.push_back({output.bytes, false});
  }
  if (output_count() != 1) {
    requests.push_back({kPointerBytes * static_cast<int64_t>(output_count()), false});
  }
  if (temp_bytes() > 0) requests.push_back({temp_bytes(), true});
  return requests;
}

int64_t HloBuilder::parameter_bytes() const {
  int64_t bytes = 0;
  for (const Input& input : parameters_) {
    if (input.value.memory_space == 0) bytes += input.value.bytes;
  }
  return bytes;
}

int64_t HloBuilder::output_bytes() const {
  int64_t bytes = 0;
  for (const Request& request : Requests()) bytes += request.is_temp ? 0 : request.bytes;
  return bytes;
}

int64_t HloBuilder::temp_bytes() const { return LayOut(0).bytes; }

int64_t HloBuilder::heap_peak_bytes() const { return LayOut(0).peak_bytes; }

// Numbers instructions, logical buffers and allocations as it goes.
class HloBuilder::Writer {
 public:
  explicit Writer(const HloBuilder& builder) : builder_(builder) {
    proto::HloModuleProto& module = *proto_.mutable_hlo_module();
    module.set_name(builder.module_name_);
    module.set_entry_computation_name("main");
    module.set_entry_computation_id(kEntryId);
    if (builder.partitions_ > 0) {
      module.mutable_device_assignment()->set_replica_count(1);
      module.mutable_device_assignment()->set_computation_count(builder.partitions_);
    }
    entry_ = module.add_computations();
    entry_->set_name("main");
    entry_->set_id(kEntryId);
  }

  proto::HloProto Write() {
    WriteParametersAndConstants();
    for (const auto& [kind, index] : builder_.order_) {
      if (kind == Kind::kTemp) {
        WriteTemp(index);
      } else {
        const Value& value = builder_.outputs_[static_cast<size_t>(index)];
        output_ids_.push_back(Instruction(value, LastOperand()).id());
        const int64_t buffer = LogicalBuffer(output_ids_.back(), value.bytes, value.memory_space);
        Assign(NewAllocation(value.bytes, value.memory_space, /*live_out=*/true), buffer, 0,
               value.bytes);
      }
    }
    WriteRoot();
    WriteTempAllocations();
    if (!builder_.with_buffer_assignment_) proto_.clear_buffer_assignment();
    return std::move(proto_);
  }

 private:
  static constexpr int64_t kEntryId = 1;

  proto::BufferAssignmentProto& assignment() { return *proto_.mutable_buffer_assignment(); }

  proto::HloInstructionProto& Instruction(const Value& value, std::vector<int64_t> operands) {
    proto::HloInstructionProto& instruction = *entry_->add_instructions();
    const int64_t id = (kEntryId << 32) + entry_->instructions_size();
    instruction.set_id(id);
    instruction.set_name(value.name.empty()
                             ? value.opcode + "." + std::to_string(entry_->instructions_size())
                             : value.name);
    instruction.set_opcode(value.opcode);
    instruction.set_custom_call_target(value.custom_call_target);
    FillShape(value, *instruction.mutable_shape());
    if (value.tiles.has_value()) FillSharding(*value.tiles, *instruction.mutable_sharding());
    instruction.mutable_metadata()->set_op_name(value.op_name);
    if (!value.file.empty()) instruction.mutable_metadata()->set_stack_frame_id(Frame(value));
    for (const int64_t operand : operands) instruction.add_operand_ids(operand);
    return instruction;
  }

  std::vector<int64_t> LastOperand() const {
    if (entry_->instructions().empty()) return {};
    return {entry_->instructions(entry_->instructions_size() - 1).id()};
  }

  // Newer compilers leave source_file empty and point into the module's table of frames.
  int Frame(const Value& value) {
    proto::StackFrameIndexProto& index = *proto_.mutable_hlo_module()->mutable_stack_frame_index();
    index.add_file_names(value.file);
    index.add_function_names(value.function);
    proto::StackFrameIndexProto::FileLocation& location = *index.add_file_locations();
    location.set_file_name_id(index.file_names_size());
    location.set_function_name_id(index.function_names_size());
    location.set_line(value.line);
    index.add_stack_frames()->set_file_location_id(index.file_locations_size());
    return index.stack_frames_size();
  }

  int64_t LogicalBuffer(int64_t instruction, int64_t bytes, int64_t space) {
    proto::LogicalBufferProto& buffer = *assignment().add_logical_buffers();
    buffer.set_id(assignment().logical_buffers_size());
    buffer.set_size(bytes);
    buffer.set_color(space);
    buffer.mutable_defined_at()->set_instruction_id(instruction);
    return buffer.id();
  }

  proto::BufferAllocationProto& NewAllocation(int64_t bytes, int64_t space, bool live_out) {
    proto::BufferAllocationProto& allocation = *assignment().add_buffer_allocations();
    allocation.set_index(assignment().buffer_allocations_size() - 1);
    allocation.set_size(bytes);
    allocation.set_color(space);
    allocation.set_maybe_live_out(live_out);
    return allocation;
  }

  static void Assign(proto::BufferAllocationProto& allocation, int64_t buffer, int64_t offset,
                     int64_t bytes) {
    proto::BufferAllocationProto::Assigned& assigned = *allocation.add_assigned();
    assigned.set_logical_buffer_id(buffer);
    assigned.set_offset(offset);
    assigned.set_size(bytes);
  }

  void WriteParametersAndConstants() {
    std::vector<std::pair<int64_t, const Input*>> donated;  // Allocation index.
    for (size_t i = 0; i < builder_.parameters_.size(); ++i) {
      const Input& input = builder_.parameters_[i];
      Value value = input.value;
      value.opcode = "parameter";
      proto::HloInstructionProto& instruction = Instruction(value, {});
      instruction.set_parameter_number(static_cast<int64_t>(i));
      *proto_.mutable_hlo_module()->mutable_host_program_shape()->add_parameters() =
          instruction.shape();
      const int64_t buffer = LogicalBuffer(instruction.id(), value.bytes, value.memory_space);
      proto::BufferAllocationProto& allocation =
          NewAllocation(value.bytes, value.memory_space, input.donated);
      allocation.set_is_entry_computation_parameter(true);
      allocation.set_parameter_number(static_cast<int64_t>(i));
      Assign(allocation, buffer, 0, value.bytes);
      if (input.donated) donated.emplace_back(allocation.index(), &input);
    }
    for (Value value : builder_.constants_) {
      value.opcode = "constant";
      const int64_t id = Instruction(value, {}).id();
      proto::BufferAllocationProto& allocation =
          NewAllocation(value.bytes, value.memory_space, /*live_out=*/false);
      allocation.set_is_constant(true);
      Assign(allocation, LogicalBuffer(id, value.bytes, value.memory_space), 0, value.bytes);
    }
    for (const auto& [index, input] : donated) {
      proto::BufferAllocationProto& allocation =
          *assignment().mutable_buffer_allocations(static_cast<int>(index));
      Value value = input->value;
      value.opcode = "add";
      value.name.clear();
      const int64_t parameter_id =
          entry_->instructions(static_cast<int>(allocation.parameter_number())).id();
      output_ids_.push_back(Instruction(value, {parameter_id}).id());
      Assign(allocation, LogicalBuffer(output_ids_.back(), value.bytes, value.memory_space), 0,
             value.bytes);
      proto::HloInputOutputAliasProto::AliasEntry& entry =
          *proto_.mutable_hlo_module()->mutable_input_output_alias()->add_entries();
      entry.set_parameter_number(allocation.parameter_number());
      if (builder_.output_count() != 1) {
        entry.add_output_shape_index(static_cast<int64_t>(output_ids_.size()) - 1);
      }
    }
  }

  void WriteTemp(int temp) {
    const Value& value = builder_.temps_[static_cast<size_t>(temp)];
    std::vector<int64_t> operands = LastOperand();
    const auto shared = builder_.shared_with_.find(temp);
    if (shared != builder_.shared_with_.end()) operands = {temp_ids_[shared->second]};
    const proto::HloInstructionProto& instruction = Instruction(value, operands);
    temp_ids_[temp] = instruction.id();
    temp_names_[temp] = instruction.name();
    temp_buffers_[temp] = LogicalBuffer(instruction.id(), value.bytes, value.memory_space);
  }

  void WriteRoot() {
    proto::ProgramShapeProto& program = *proto_.mutable_hlo_module()->mutable_host_program_shape();
    if (output_ids_.size() == 1) {
      entry_->set_root_id(output_ids_[0]);
      for (const proto::HloInstructionProto& instruction : entry_->instructions()) {
        if (instruction.id() == output_ids_[0]) *program.mutable_result() = instruction.shape();
      }
      return;
    }
    Value table(kPointerBytes * static_cast<int64_t>(output_ids_.size()));
    proto::HloInstructionProto& root = Instruction(table.Opcode("tuple"), output_ids_);
    root.mutable_shape()->Clear();
    root.mutable_shape()->set_element_type(kTuple);
    for (const int64_t id : output_ids_) {
      for (const proto::HloInstructionProto& instruction : entry_->instructions()) {
        if (instruction.id() == id) *root.mutable_shape()->add_tuple_shapes() = instruction.shape();
      }
    }
    *program.mutable_result() = root.shape();
    entry_->set_root_id(root.id());
    proto::BufferAllocationProto& allocation =
        NewAllocation(table.bytes, /*space=*/0, /*live_out=*/true);
    allocation.set_is_tuple(true);
    Assign(allocation, LogicalBuffer(root.id(), table.bytes, 0), 0, table.bytes);
  }

  void WriteTempAllocations() {
    std::set<int64_t> spaces;
    for (const Value& temp : builder_.temps_) spaces.insert(temp.memory_space);
    if (builder_.temp_padding_ > 0) spaces.insert(0);
    for (const int64_t space : spaces) {
      const TempLayout layout = builder_.LayOut(space);
      proto::BufferAllocationProto& allocation =
          NewAllocation(layout.bytes, space, /*live_out=*/false);
      for (const auto& [temp, offset] : layout.offsets) {
        Assign(allocation, temp_buffers_[temp], offset,
               builder_.temps_[static_cast<size_t>(temp)].bytes);
      }
      if (layout.offsets.empty()) continue;
      proto::HeapSimulatorTrace& trace = *assignment().add_heap_simulator_traces();
      trace.set_whole_module_simulation(true);
      trace.set_buffer_allocation_index(allocation.index());
      for (const HeapEvent& event : builder_.EventsToTheEnd()) {
        if (builder_.temps_[static_cast<size_t>(event.temp)].memory_space != space) continue;
        proto::HeapSimulatorTrace::Event& written = *trace.add_events();
        written.set_kind(event.kind);
        written.set_buffer_id(temp_buffers_[event.temp]);
        written.set_computation_name("main");
        written.set_instruction_name(temp_names_[event.temp]);
        if (event.kind == proto::HeapSimulatorTrace::Event::SHARE_WITH) {
          written.set_share_with_canonical_id(temp_buffers_[event.shared_with]);
        }
      }
    }
  }

  const HloBuilder& builder_;
  proto::HloProto proto_;
  proto::HloComputationProto* entry_;
  std::vector<int64_t> output_ids_;
  std::map<int, int64_t> temp_ids_;
  std::map<int, std::string> temp_names_;
  std::map<int, int64_t> temp_buffers_;
};

proto::HloProto HloBuilder::Proto() const { return Writer(*this).Write(); }

std::string HloBuilder::Bytes() const { return Proto().SerializeAsString(); }

std::vector<std::string> HloBuilder::op_instructions() const {
  std::vector<std::string> names;
  const proto::HloProto hlo = Proto();
  for (const proto::HloInstructionProto& instruction :
       hlo.hlo_module().computations(0).instructions()) {
    const std::string& opcode = instruction.opcode();
    if (opcode != "parameter" && opcode != "constant" && opcode != "tuple") {
      names.push_back(instruction.name());
    }
  }
  return names;
}

}  // namespace oomdb
