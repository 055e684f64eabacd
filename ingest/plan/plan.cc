#include "ingest/plan/plan.h"

#include <limits>
#include <map>
#include <utility>

#include "base/error.h"
#include "ingest/base/phases.h"
#include "ingest/plan/anatomy.h"
#include "ingest/plan/buffer_assignment.h"
#include "ingest/plan/heap_replay.h"
#include "ingest/plan/hlo_bytes.h"
#include "ingest/plan/hlo_importer.h"
#include "ingest/plan/instructions.h"
#include "ingest/plan/limits.h"
#include "ingest/plan/marks.h"
#include "ingest/plan/outputs.h"
#include "ingest/plan/replay/replay_program.h"
#include "ingest/plan/roles.h"
#include "ingest/plan/shape.h"
#include "ingest/plan/sharding.h"
#include "ingest/plan/stack_frames.h"
#include "proto/hlo.pb.h"

namespace oomdb::ingest {
namespace {

void CountInstructions(const Instructions& instructions, Plan* plan) {
  int64_t rematerialized = 0;
  int64_t computing = 0;
  for (InstructionNumber i = 0; i < instructions.size(); ++i) {
    if (!IsRematerialized(instructions[i].name())) continue;
    ++rematerialized;
    const std::string& opcode = instructions[i].opcode();
    if (opcode != "bitcast" && opcode != "get-tuple-element") ++computing;
  }
  plan->instruction_count = instructions.size();
  plan->remat_instruction_count = rematerialized;
  plan->remat_compute_count = computing;
}

void ReadPartitions(const proto::HloModuleProto& module, Plan* plan) {
  const proto::DeviceAssignmentProto& devices = module.device_assignment();
  if (devices.computation_count() > 0) plan->num_partitions = devices.computation_count();
  if (devices.replica_count() > 0) plan->replica_count = devices.replica_count();
}

// The line of an instruction, and its stack.
void DescribeLine(const proto::OpMetadata& metadata, StackFrames& frames, TextBudget& text,
                  PlanBuffer* buffer) {
  const SourceLine line = frames.LineOf(metadata);
  buffer->source_file = text.Copy(line.file);
  buffer->source_line = line.line;
  buffer->function_name = text.Copy(line.function);
  if (frames.Has(metadata.stack_frame_id())) {
    buffer->frame_id = metadata.stack_frame_id();
    frames.Use(metadata.stack_frame_id());
  }
}

// What the instruction that defines a buffer says of it.
void Describe(const Instructions& instructions, const LogicalBuffer& logical, TextBudget& text,
              IssueLog& log, PlanBuffer* buffer) {
  const proto::HloInstructionProto& instruction = instructions[logical.value.instruction];
  buffer->instruction = text.Copy(instruction.name());
  buffer->opcode = text.Copy(instruction.opcode());
  buffer->op_name = text.Copy(instruction.metadata().op_name());
  buffer->shape_index = text.Copy(PrintShapeIndex(logical.value.index));
  const proto::ShapeProto* shape = SubshapeAt(instruction.shape(), logical.value.index);
  if (shape == nullptr) {
    log.Warn("plan_shape_index",
             "a logical buffer is at a place that its instruction's shape lacks");
    return;
  }
  buffer->dtype = DtypeName(shape->element_type());
  buffer->shape = text.Copy(PrintShape(*shape));
  buffer->layout = text.Copy(PrintLayout(*shape));
  buffer->unpadded_bytes = UnpaddedBytes(*shape);
  if (const std::optional<PaddedDimension> padded = MostPadded(*shape)) {
    buffer->padded_dimension = padded->dimension;
    buffer->padded_from = padded->from;
    buffer->padded_to = padded->to;
  }
}

void ReadBuffers(const Instructions& instructions, const BufferAssignment& assignment,
                 const HeapReplay& replay, NameStacks& stacks, StackFrames& frames,
                 TextBudget& text, IssueLog& log, Plan* plan) {
  plan->buffers.reserve(assignment.buffers().size());
  std::vector<PeakTemp> at_peak;
  for (int32_t b = 0; b < static_cast<int32_t>(assignment.buffers().size()); ++b) {
    const LogicalBuffer& logical = assignment.buffers()[b];
    PlanBuffer buffer;
    buffer.logical_buffer_id = logical.id;
    buffer.memory_space = logical.memory_space;
    buffer.bytes = logical.bytes;
    if (logical.allocation != nullptr) {
      buffer.allocation_index = logical.allocation->index();
      buffer.allocation_class = ClassOf(*logical.allocation);
      buffer.offset_bytes = logical.offset_bytes;
    }
    InstructionNumber line = logical.value.instruction;
    std::string_view name_stack;
    if (logical.IsTemp()) {
      const Attribution from = stacks.OfBuffer(assignment, b, replay.sharers[b]);
      buffer.stack = from.filled;
      if (from.stack) name_stack = from.stack->text;
      if (from.line != IdIndex::kNone) line = from.line;
      if (IsWorkspace(instructions, logical.value)) {
        buffer.role = Role::kWorkspace;
      } else {
        buffer.role = from.stack ? RoleOf(from.stack->text) : Role::kOther;
        if (from.stack && from.stack->via != IdIndex::kNone) {
          buffer.role_via = text.Copy(instructions[from.stack->via].name());
        }
      }
    }
    if (logical.value.instruction != IdIndex::kNone) {
      Describe(instructions, logical, text, log, &buffer);
    }
    if (line != IdIndex::kNone) {
      DescribeLine(instructions[line].metadata(), frames, text, &buffer);
      if (line != logical.value.instruction) buffer.line_via = text.Copy(instructions[line].name());
    }
    const Lifetime& lifetime = replay.lifetimes[b];
    buffer.first_live = lifetime.first_live;
    buffer.last_live = lifetime.last_live;
    if (replay.peak_bytes.contains(logical.memory_space)) buffer.at_peak = lifetime.at_peak;
    if (logical.IsTemp() && logical.memory_space == 0 && lifetime.at_peak) {
      const proto::ShapeProto* shape =
          logical.value.instruction == IdIndex::kNone
              ? nullptr
              : SubshapeAt(instructions[logical.value.instruction].shape(), logical.value.index);
      at_peak.push_back({plan->buffers.size(), shape, name_stack, line});
    }
    plan->buffers.push_back(std::move(buffer));
  }
  MarkPeak(instructions, at_peak, plan);
  plan->block = FindBlock(instructions, frames, at_peak, *plan, text);
}

// Which parameters the forward pass reads: those are trained, or data.
void ReadForwardParameters(const Instructions& instructions, NameStacks& stacks, Plan* plan) {
  std::map<int64_t, InstructionNumber> parameters;
  const auto [begin, end] = instructions.Range(instructions.entry());
  for (InstructionNumber i = begin; i < end; ++i) {
    if (instructions[i].opcode() == "parameter") {
      parameters.emplace(instructions[i].parameter_number(), i);
    }
  }
  for (PlanAllocation& allocation : plan->allocations) {
    if (!allocation.parameter_number) continue;
    const auto at = parameters.find(*allocation.parameter_number);
    if (at == parameters.end() || IsTuple(instructions[at->second].shape())) continue;
    allocation.forward_read = stacks.IsReadByForward({at->second, {}});
  }
}

void SetPeaks(const HeapReplay& replay, Plan* plan) {
  for (PlanMemory& space : plan->spaces) {
    auto peak = replay.peak_bytes.find(space.memory_space);
    if (peak != replay.peak_bytes.end()) {
      space.heap_peak_bytes = peak->second;
    } else if (space.temp_bytes == 0) {
      space.heap_peak_bytes = 0;
    }
    if (space.memory_space == 0) plan->heap_peak_bytes = space.heap_peak_bytes;
  }
  plan->peak_bytes = plan->plan_bytes;
  if (plan->heap_peak_bytes) {
    plan->peak_bytes += *plan->heap_peak_bytes - plan->temp_bytes;
  }
}

}  // namespace

std::string_view ToString(AllocationClass c) {
  switch (c) {
    case AllocationClass::kParameter:
      return "parameter";
    case AllocationClass::kConstant:
      return "constant";
    case AllocationClass::kThreadLocal:
      return "thread_local";
    case AllocationClass::kOutput:
      return "output";
    case AllocationClass::kTemp:
      break;
  }
  return "temp";
}

std::string_view ToString(Stack stack) { return stack == Stack::kKept ? "kept" : "carried"; }

std::string_view ToString(Role role) {
  switch (role) {
    case Role::kWorkspace:
      return "workspace";
    case Role::kBackward:
      return "backward";
    case Role::kForward:
      return "forward";
    case Role::kOther:
      break;
  }
  return "other";
}

std::string_view ToString(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kWeights:
      return "weights";
    case MemoryKind::kOptimizerState:
      return "optimizer_state";
    case MemoryKind::kGradients:
      return "gradients";
    case MemoryKind::kActivations:
      return "activations";
    case MemoryKind::kBackward:
      return "backward";
    case MemoryKind::kBatch:
      return "batch";
    case MemoryKind::kKvCache:
      return "kv_cache";
    case MemoryKind::kCollectives:
      return "collectives";
    case MemoryKind::kWorkspace:
      return "workspace";
    case MemoryKind::kConstants:
      return "constants";
    case MemoryKind::kResults:
      return "results";
    case MemoryKind::kOther:
      break;
  }
  return "other";
}

Plan ReadPlan(std::string_view hlo_proto_bytes, int64_t replay_min_bytes) {
  const InPhase replaying(Phase::kReplay);
  google::protobuf::Arena arena;
  proto::HloProto& hlo = ParseHlo(hlo_proto_bytes, &arena);
  const proto::HloModuleProto& module = hlo.hlo_module();

  Plan plan;
  IssueLog log;
  TextBudget text(static_cast<int64_t>(hlo_proto_bytes.size()), log);
  plan.module_name = module.name();
  if (module.id() != 0) plan.module_id = module.id();
  plan.device_type = module.device_type();
  plan.has_buffer_assignment = hlo.has_buffer_assignment();

  ReadPartitions(module, &plan);

  const Instructions instructions(module);
  CountInstructions(instructions, &plan);
  const std::string signature = ShapeSignatureText(instructions);
  if (!signature.empty()) plan.shape_signature = HloHash(signature);
  const BufferAssignment assignment(hlo.buffer_assignment(), instructions, log);
  ParameterShardings shardings(module, instructions);
  ReadAllocationFacts(assignment, instructions, ReadDonated(module), shardings, text, &plan);
  const HeapReplay replay = ReplayHeap(hlo.buffer_assignment(), assignment, log);
  SetPeaks(replay, &plan);

  StackFrames frames(module.stack_frame_index(), log);
  NameStacks stacks(instructions, frames, log);
  ReadForwardParameters(instructions, stacks, &plan);
  ReadBuffers(instructions, assignment, replay, stacks, frames, text, log, &plan);
  plan.outputs = ReadOutputs(module, instructions, assignment, stacks, text, log);
  ReadAnatomy({module, instructions, assignment, replay, frames}, stacks, text, &plan);
  plan.frames = frames.Used(text);
  plan.issues = log.Take();
  // Last: of the module, only what a replay needs is left after it.
  if (plan.has_buffer_assignment && plan.plan_bytes >= replay_min_bytes) {
    ReduceToReplay(instructions, frames, &hlo);
    plan.replay = WriteReplay(hlo);
  }
  return plan;
}

}  // namespace oomdb::ingest
