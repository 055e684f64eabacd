#include "ingest/plan/buffer_assignment.h"

#include <algorithm>
#include <map>

namespace oomdb::ingest {

AllocationClass ClassOf(const proto::BufferAllocationProto& allocation) {
  if (allocation.is_entry_computation_parameter()) return AllocationClass::kParameter;
  if (allocation.is_constant()) return AllocationClass::kConstant;
  if (allocation.is_thread_local()) return AllocationClass::kThreadLocal;
  if (allocation.maybe_live_out()) return AllocationClass::kOutput;
  return AllocationClass::kTemp;
}

std::string SpaceName(int64_t memory_space) {
  switch (memory_space) {
    case 0:
      return "device";
    case 1:
      return "vmem";
    case 2:
      return "smem";
    case 3:
      return "hbm";
    case 5:
      return "host";  // Layouts print S(5). XLA's reports call it cmem, after an older use.
    default:
      return "color_" + std::to_string(memory_space);
  }
}

BufferAssignment::BufferAssignment(const proto::BufferAssignmentProto& assignment,
                                   const Instructions& instructions, IssueLog& log) {
  ReadAllocations(assignment, log);
  ReadBuffers(assignment, instructions, log);
  Assign(log);
}

void BufferAssignment::ReadAllocations(const proto::BufferAssignmentProto& assignment,
                                       IssueLog& log) {
  for (const auto& allocation : assignment.buffer_allocations()) {
    allocations_.push_back(&allocation);
  }
  auto by_index = [](const auto* a, const auto* b) { return a->index() < b->index(); };
  std::stable_sort(allocations_.begin(), allocations_.end(), by_index);
  auto same_index = [](const auto* a, const auto* b) { return a->index() == b->index(); };
  auto end = std::unique(allocations_.begin(), allocations_.end(), same_index);
  if (end != allocations_.end()) {
    log.Warn("plan_duplicate_id", "two buffer allocations have the same index; the first counts");
    allocations_.erase(end, allocations_.end());
  }
  SizeGuard guard;
  for (const auto* allocation : allocations_) {
    allocation_bytes_.push_back(guard.Admit(allocation->size(), log));
  }
}

void BufferAssignment::ReadBuffers(const proto::BufferAssignmentProto& assignment,
                                   const Instructions& instructions, IssueLog& log) {
  std::vector<const proto::LogicalBufferProto*> sorted;
  sorted.reserve(assignment.logical_buffers_size());
  for (const auto& buffer : assignment.logical_buffers()) sorted.push_back(&buffer);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto* a, const auto* b) { return a->id() < b->id(); });
  buffers_.reserve(sorted.size());
  buffer_ids_.Reserve(sorted.size());
  SizeGuard guard;
  for (const auto* proto : sorted) {
    if (!buffers_.empty() && buffers_.back().id == proto->id()) {
      log.Warn("plan_duplicate_id", "two logical buffers have the same id; the first counts");
      continue;
    }
    LogicalBuffer buffer;
    buffer.id = proto->id();
    buffer.bytes = guard.Admit(proto->size(), log);
    buffer.memory_space = proto->color();
    const auto& at = proto->defined_at();
    // Older compilers name the instruction and leave its id 0.
    const bool only_named = at.instruction_id() == 0 && !at.instruction_name().empty();
    if (!only_named) buffer.value.instruction = instructions.FindById(at.instruction_id());
    if (buffer.value.instruction == kNone && !at.instruction_name().empty()) {
      buffer.value.instruction = instructions.FindByName(at.instruction_name());
    }
    if (at.shape_index_size() > static_cast<int>(kMaxShapeIndexDepth)) {
      buffer.value.instruction = kNone;
    } else {
      buffer.value.index.assign(at.shape_index().begin(), at.shape_index().end());
    }
    if (buffer.value.instruction == kNone) {
      log.Warn("plan_unknown_instruction",
               "a logical buffer is defined by an instruction that the module does not have");
    }
    buffer_ids_.Add(buffer.id, static_cast<int32_t>(buffers_.size()));
    buffers_.push_back(std::move(buffer));
  }
  buffer_ids_.Seal();

  for (int32_t i = 0; i < static_cast<int32_t>(buffers_.size()); ++i) {
    if (buffers_[i].value.instruction != kNone) by_value_.push_back(i);
  }
  std::stable_sort(by_value_.begin(), by_value_.end(),
                   [this](int32_t a, int32_t b) { return buffers_[a].value < buffers_[b].value; });
}

void BufferAssignment::Assign(IssueLog& log) {
  for (const auto* allocation : allocations_) {
    for (const auto& assigned : allocation->assigned()) {
      const int32_t at = FindBuffer(assigned.logical_buffer_id());
      if (at == kNone || buffers_[at].allocation != nullptr) {
        log.Warn("plan_bad_assignment",
                 "an allocation holds a logical buffer that does not exist or that another holds");
        continue;
      }
      buffers_[at].allocation = allocation;
      buffers_[at].memory_space = allocation->color();
      if (assigned.offset() >= 0) buffers_[at].offset_bytes = assigned.offset();
    }
  }
}

int32_t BufferAssignment::FindBufferOf(const ValueAt& value) const {
  auto it = std::lower_bound(by_value_.begin(), by_value_.end(), value,
                             [this](int32_t a, const ValueAt& v) { return buffers_[a].value < v; });
  return it != by_value_.end() && buffers_[*it].value == value ? *it : kNone;
}

DonatedParameters ReadDonated(const proto::HloModuleProto& module) {
  DonatedParameters donated;
  for (const auto& entry : module.input_output_alias().entries()) {
    const auto& index = entry.parameter_shape_index();
    donated.emplace_back(entry.parameter_number(), ShapeIndex(index.begin(), index.end()));
  }
  std::sort(donated.begin(), donated.end());
  donated.erase(std::unique(donated.begin(), donated.end()), donated.end());
  return donated;
}

namespace {

// The entry computation's parameters by number.
IdIndex EntryParameters(const Instructions& instructions) {
  IdIndex parameters;
  if (instructions.entry() != IdIndex::kNone) {
    const auto [begin, end] = instructions.Range(instructions.entry());
    for (InstructionNumber i = begin; i < end; ++i) {
      if (instructions[i].opcode() == "parameter") {
        parameters.Add(instructions[i].parameter_number(), i);
      }
    }
  }
  parameters.Seal();
  return parameters;
}

int64_t& SumOf(AllocationClass allocation_class, PlanMemory& space) {
  switch (allocation_class) {
    case AllocationClass::kParameter:
      return space.parameter_bytes;
    case AllocationClass::kConstant:
      return space.constant_bytes;
    case AllocationClass::kThreadLocal:
      return space.thread_local_bytes;
    case AllocationClass::kOutput:
      return space.output_bytes;
    case AllocationClass::kTemp:
      break;
  }
  return space.temp_bytes;
}

}  // namespace

void ReadAllocationFacts(const BufferAssignment& assignment, const Instructions& instructions,
                         const DonatedParameters& donated, ParameterShardings& shardings,
                         TextBudget& text, Plan* plan) {
  const IdIndex parameters = EntryParameters(instructions);
  for (size_t i = 0; i < assignment.allocations().size(); ++i) {
    const proto::BufferAllocationProto& proto = *assignment.allocations()[i];
    PlanAllocation allocation;
    allocation.index = proto.index();
    allocation.memory_space = proto.color();
    allocation.allocation_class = ClassOf(proto);
    allocation.bytes = assignment.allocation_bytes()[i];
    allocation.is_tuple = proto.is_tuple();
    if (allocation.allocation_class == AllocationClass::kParameter) {
      const ShapeIndex index(proto.parameter_shape_index().begin(),
                             proto.parameter_shape_index().end());
      allocation.parameter_number = proto.parameter_number();
      allocation.parameter_shape_index = text.Copy(PrintShapeIndex(index));
      const InstructionNumber at = parameters.Find(proto.parameter_number());
      if (at != IdIndex::kNone) {
        const proto::ShapeProto* shape = SubshapeAt(instructions[at].shape(), index);
        if (shape != nullptr) allocation.shape = text.Copy(PrintShape(*shape));
      }
      const Sharding& sharding = shardings.Of(proto.parameter_number(), index);
      allocation.sharding = text.Copy(sharding.text);
      allocation.shard_count = sharding.parts;
      allocation.aliased_output = std::binary_search(
          donated.begin(), donated.end(), std::make_pair(proto.parameter_number(), index));
    }
    plan->allocations.push_back(std::move(allocation));
  }
  plan->donated_parameter_count = static_cast<int64_t>(donated.size());
  SumByClass(plan);
}

void SumByClass(Plan* plan) {
  std::map<int64_t, PlanMemory> spaces;
  spaces[0];  // The device's memory always has a row.
  for (const PlanAllocation& allocation : plan->allocations) {
    SumOf(allocation.allocation_class, spaces[allocation.memory_space]) += allocation.bytes;
    if (allocation.allocation_class != AllocationClass::kParameter) continue;
    ++plan->parameter_count;
    if (allocation.aliased_output == true && allocation.memory_space == 0)
      plan->donated_bytes += allocation.bytes;
  }
  for (auto& [memory_space, space] : spaces) {
    space.memory_space = memory_space;
    space.space_name = SpaceName(memory_space);
    plan->spaces.push_back(space);
  }
  const PlanMemory& device = spaces[0];
  plan->parameter_bytes = device.parameter_bytes;
  plan->output_bytes = device.output_bytes;
  plan->constant_bytes = device.constant_bytes;
  plan->temp_bytes = device.temp_bytes;
  plan->thread_local_bytes = device.thread_local_bytes;
  plan->plan_bytes =
      device.parameter_bytes + device.output_bytes + device.constant_bytes + device.temp_bytes;
}

}  // namespace oomdb::ingest
