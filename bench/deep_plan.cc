#include "bench/deep_plan.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace oomdb {
namespace {

// Ids and names of one copy.
class Copy {
 public:
  Copy(const proto::HloProto& step, int number) : step_(step), number_(number) {
    for (const auto& computation : step.hlo_module().computations()) {
      computations_ = std::max(computations_, computation.id() + 1);
      for (const auto& instruction : computation.instructions()) {
        instructions_ = std::max(instructions_, instruction.id() + 1);
      }
    }
    for (const auto& buffer : step.buffer_assignment().logical_buffers()) {
      buffers_ = std::max(buffers_, buffer.id() + 1);
    }
    for (const auto& allocation : step.buffer_assignment().buffer_allocations()) {
      allocations_ = std::max(allocations_, allocation.index() + 1);
    }
  }

  int64_t Computation(int64_t id) const { return id + 1 + number_ * (computations_ + 1); }
  int64_t Instruction(int64_t id) const { return id + 1 + number_ * (instructions_ + 1); }
  int64_t Buffer(int64_t id) const { return id + number_ * buffers_; }
  int64_t Allocation(int64_t index) const { return index + number_ * allocations_; }
  std::string Name(const std::string& name) const { return name + "_" + std::to_string(number_); }

  const proto::HloComputationProto& entry() const {
    const auto& module = step_.hlo_module();
    for (const auto& computation : module.computations()) {
      if (computation.id() == module.entry_computation_id()) return computation;
    }
    return module.computations(module.computations_size() - 1);
  }

  proto::HloInstructionProto Renamed(const proto::HloInstructionProto& of) const {
    proto::HloInstructionProto instruction = of;
    instruction.set_id(Instruction(of.id()));
    instruction.set_name(Name(of.name()));
    for (int64_t& id : *instruction.mutable_operand_ids()) id = Instruction(id);
    for (int64_t& id : *instruction.mutable_called_computation_ids()) id = Computation(id);
    return instruction;
  }

 private:
  const proto::HloProto& step_;
  const int64_t number_;
  int64_t computations_ = 0, instructions_ = 0, buffers_ = 0, allocations_ = 0;
};

const proto::HeapSimulatorTrace& LongestTrace(const proto::HloProto& step) {
  const auto& traces = step.buffer_assignment().heap_simulator_traces();
  return *std::max_element(traces.begin(), traces.end(), [](const auto& a, const auto& b) {
    return a.events_size() < b.events_size();
  });
}

}  // namespace

proto::HloProto DeepPlan(const proto::HloProto& step, int copies) {
  proto::HloProto deep;
  proto::HloModuleProto& module = *deep.mutable_hlo_module();
  proto::BufferAssignmentProto& assignment = *deep.mutable_buffer_assignment();
  module.set_name(step.hlo_module().name());
  const int64_t entry_id = 0;
  module.set_entry_computation_id(entry_id);
  proto::HloComputationProto entry;
  entry.set_id(entry_id);
  proto::HloInstructionProto root;
  root.set_name("root");
  root.set_id(0);
  root.set_opcode("tuple");
  constexpr int kTuple = 13;
  root.mutable_shape()->set_element_type(kTuple);

  std::vector<std::vector<int64_t>> order(copies);
  std::vector<std::vector<proto::HeapSimulatorTrace::Event>> events(copies);
  int parameters = 0;
  for (int c = 0; c < copies; ++c) {
    const Copy copy(step, c);
    const int first_parameter = parameters;
    for (const auto& computation : step.hlo_module().computations()) {
      const bool is_entry = computation.id() == copy.entry().id();
      proto::HloComputationProto* into = is_entry ? &entry : module.add_computations();
      if (!is_entry) {
        into->set_id(copy.Computation(computation.id()));
        into->set_root_id(copy.Instruction(computation.root_id()));
      }
      for (const auto& instruction : computation.instructions()) {
        proto::HloInstructionProto* added = into->add_instructions();
        *added = copy.Renamed(instruction);
        if (is_entry && instruction.opcode() == "parameter") {
          added->set_parameter_number(first_parameter + instruction.parameter_number());
          ++parameters;
        }
        if (is_entry && instruction.id() == computation.root_id()) {
          *root.mutable_shape()->add_tuple_shapes() = instruction.shape();
          root.add_operand_ids(added->id());
        }
      }
    }
    for (const auto& [id, sequence] : step.hlo_module().schedule().sequences()) {
      auto& into = (*module.mutable_schedule()->mutable_sequences())[copy.Computation(id)];
      for (int64_t i : sequence.instruction_ids()) {
        into.add_instruction_ids(copy.Instruction(i));
        if (id == copy.entry().id()) order[c].push_back(copy.Instruction(i));
      }
    }
    for (const auto& entry_of : step.hlo_module().input_output_alias().entries()) {
      auto* alias = module.mutable_input_output_alias()->add_entries();
      *alias = entry_of;
      alias->set_parameter_number(first_parameter + entry_of.parameter_number());
      alias->clear_output_shape_index();
      alias->add_output_shape_index(c);
      for (int64_t k : entry_of.output_shape_index()) alias->add_output_shape_index(k);
    }
    for (const auto& buffer : step.buffer_assignment().logical_buffers()) {
      auto* added = assignment.add_logical_buffers();
      *added = buffer;
      added->set_id(copy.Buffer(buffer.id()));
      added->mutable_defined_at()->set_instruction_id(
          copy.Instruction(buffer.defined_at().instruction_id()));
      added->mutable_defined_at()->clear_instruction_name();
    }
    for (const auto& allocation : step.buffer_assignment().buffer_allocations()) {
      auto* added = assignment.add_buffer_allocations();
      *added = allocation;
      added->set_index(copy.Allocation(allocation.index()));
      for (auto& assigned : *added->mutable_assigned()) {
        assigned.set_logical_buffer_id(copy.Buffer(assigned.logical_buffer_id()));
      }
    }
    for (const auto& event : LongestTrace(step).events()) {
      events[c].push_back(event);
      events[c].back().set_buffer_id(copy.Buffer(event.buffer_id()));
      events[c].back().set_instruction_name(copy.Name(event.instruction_name()));
      events[c].back().set_share_with_canonical_id(copy.Buffer(event.share_with_canonical_id()));
    }
  }
  *entry.add_instructions() = root;
  entry.set_root_id(root.id());
  *module.add_computations() = std::move(entry);

  auto& sequence = (*module.mutable_schedule()->mutable_sequences())[entry_id];
  auto* trace = assignment.add_heap_simulator_traces();
  for (bool second : {false, true}) {
    for (int k = 0; k < copies; ++k) {
      const int c = second ? copies - 1 - k : k;
      const size_t middle = order[c].size() / 2;
      for (size_t i = second ? middle : 0; i < (second ? order[c].size() : middle); ++i) {
        sequence.add_instruction_ids(order[c][i]);
      }
      const size_t half = events[c].size() / 2;
      for (size_t i = second ? half : 0; i < (second ? events[c].size() : half); ++i) {
        *trace->add_events() = events[c][i];
      }
    }
  }
  sequence.add_instruction_ids(root.id());
  return deep;
}

}  // namespace oomdb
