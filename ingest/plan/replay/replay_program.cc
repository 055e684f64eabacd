#include "ingest/plan/replay/replay_program.h"

#include <zstd.h>

#include <unordered_set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "ingest/plan/limits.h"
#include "ingest/plan/replay/columns.h"
#include "ingest/plan/roles.h"

namespace oomdb::ingest {
namespace {

using proto::HloInstructionProto;

const ColumnRules& ReplayRules() {
  static const auto* const kRules = new ColumnRules{
      {"ShapeProto", "WindowProto", "DotDimensionNumbers", "ConvolutionDimensionNumbers",
       "GatherDimensionNumbers", "ScatterDimensionNumbers", "OpMetadata"},
      {"HloInstructionProto.id", "HloInstructionProto.called_computation_ids",
       "HloComputationProto.id", "HloComputationProto.root_id",
       "InstructionSequence.instruction_ids", "LogicalBufferProto.id", "Location.instruction_id",
       "Event.buffer_id", "Event.share_with_canonical_id", "Assigned.logical_buffer_id",
       "BufferAllocationProto.index"},
      {"HloInstructionProto.operand_ids"}};
  return *kRules;
}

void ReduceShapeToReplay(proto::ShapeProto* shape) {
  for (proto::ShapeProto& element : *shape->mutable_tuple_shapes()) ReduceShapeToReplay(&element);
  if (!shape->has_layout()) return;
  proto::LayoutProto& layout = *shape->mutable_layout();
  layout.clear_memory_space();
  layout.clear_element_size_in_bits();
  // The first tile alone pads.
  if (layout.tiles_size() > 1) layout.mutable_tiles()->DeleteSubrange(1, layout.tiles_size() - 1);
}

class ReplayReducer {
 public:
  ReplayReducer(const Instructions& instructions, const StackFrames& frames, proto::HloProto* hlo)
      : hlo_(*hlo),
        instructions_(instructions),
        frames_(frames),
        runs_(hlo->hlo_module().computations_size(), false),
        is_named_(instructions.size(), false) {}

  void Run() {
    if (instructions_.entry() != IdIndex::kNone) FindWhatRuns();
    FindNames();
    InstructionNumber i = 0;
    proto::HloModuleProto& module = *hlo_.mutable_hlo_module();
    for (int c = 0; c < module.computations_size(); ++c) {
      for (HloInstructionProto& one : *module.mutable_computations(c)->mutable_instructions()) {
        Reduce(runs_[c], is_named_[i++], &one);
      }
    }
    module.clear_host_program_shape();
    module.clear_spmd_parameters_shardings();
    module.clear_device_assignment();
    module.clear_stack_frame_index();
    module.clear_buffer_donor();
    ReduceAssignment();
  }

 private:
  // Computations that are part of the program's order; others belong to a fusion, a reduction.
  void FindWhatRuns() {
    std::vector<int32_t> todo = {instructions_.entry()};
    runs_[instructions_.entry()] = true;
    while (!todo.empty()) {
      const auto [begin, end] = instructions_.Range(todo.back());
      todo.pop_back();
      for (InstructionNumber i = begin; i < end; ++i) {
        const std::string& opcode = instructions_[i].opcode();
        if (opcode != "while" && opcode != "call" && opcode != "conditional" &&
            opcode != "async-start") {
          continue;
        }
        for (int n = 0; n < instructions_[i].called_computation_ids_size(); ++n) {
          const int32_t c = instructions_.Called(i, n);
          if (c == IdIndex::kNone || runs_[c]) continue;
          runs_[c] = true;
          todo.push_back(c);
        }
      }
    }
  }

  // Names that something refers to, and those of values that answers show.
  void FindNames() {
    const auto& assignment = hlo_.buffer_assignment();
    std::unordered_set<std::string_view> names;
    for (const auto& buffer : assignment.logical_buffers()) {
      names.insert(buffer.defined_at().instruction_name());
      const InstructionNumber i = instructions_.FindById(buffer.defined_at().instruction_id());
      if (i != IdIndex::kNone) is_named_[i] = true;
    }
    for (const auto& trace : assignment.heap_simulator_traces()) {
      for (const auto& event : trace.events()) names.insert(event.instruction_name());
    }
    for (InstructionNumber i = 0; i < instructions_.size(); ++i) {
      const std::string_view name = instructions_[i].name();
      if (!IsRematerialized(name)) continue;
      names.insert(name);
      names.insert(name.substr(0, name.find(".remat")));
    }
    for (InstructionNumber i = 0; i < instructions_.size(); ++i) {
      const HloInstructionProto& one = instructions_[i];
      if (one.opcode() == "parameter" || names.contains(one.name())) is_named_[i] = true;
    }
  }

  void Reduce(bool runs, bool is_named, HloInstructionProto* one) const {
    ReduceShapeToReplay(one->mutable_shape());
    if (!is_named) one->clear_name();
    one->clear_sharding();
    ReduceConfig(one);
    const bool has_line = frames_.HasUsersLine(one->metadata());
    std::string op_name = one->metadata().op_name();
    // Inside of a fusion only the pass is asked for.
    if (!runs) op_name = PassOnly(op_name);
    one->clear_metadata();
    if (!op_name.empty()) one->mutable_metadata()->set_op_name(std::move(op_name));
    // Whether there is a line steers where name stacks are looked for; which one it is doesn't.
    if (has_line) {
      one->mutable_metadata()->set_source_file("u");
      one->mutable_metadata()->set_source_line(1);
    }
  }

  static std::string PassOnly(const std::string& op_name) {
    std::string pass;
    if (op_name.find('/') != std::string::npos) pass = "/";
    switch (RoleOf(op_name)) {
      case Role::kBackward:
        return pass + "transpose(";
      case Role::kForward:
        return pass + "jvp(";
      default:
        return pass;
    }
  }

  // Of a library's matrix product the dimensions are read out of it.
  static void ReduceConfig(HloInstructionProto* one) {
    if (one->backend_config().empty()) return;
    const std::string& target = one->custom_call_target();
    const size_t at = one->backend_config().find("\"dot_dimension_numbers\"");
    const bool is_product =
        target.find("gemm") != std::string::npos || target.find("matmul") != std::string::npos;
    if (!is_product || at == std::string::npos) {
      one->clear_backend_config();
      return;
    }
    const size_t end = one->backend_config().find('}', at);
    const size_t size = end == std::string::npos ? std::string::npos : end + 1 - at;
    one->set_backend_config(one->backend_config().substr(at, size));
  }

  void ReduceAssignment() {
    proto::BufferAssignmentProto& assignment = *hlo_.mutable_buffer_assignment();
    assignment.clear_buffer_aliases();
    for (auto& allocation : *assignment.mutable_buffer_allocations()) {
      for (auto& assigned : *allocation.mutable_assigned()) assigned.clear_size();
    }
    for (auto& trace : *assignment.mutable_heap_simulator_traces()) {
      for (auto& event : *trace.mutable_events()) event.clear_computation_name();
    }
  }

  proto::HloProto& hlo_;
  const Instructions& instructions_;
  const StackFrames& frames_;
  std::vector<bool> runs_;      // By computation.
  std::vector<bool> is_named_;  // By instruction.
};

}  // namespace

void ReduceToReplay(const Instructions& instructions, const StackFrames& frames,
                    proto::HloProto* hlo) {
  ReplayReducer(instructions, frames, hlo).Run();
}

void ReduceToReplay(proto::HloProto* hlo) {
  IssueLog issues;
  const Instructions instructions(hlo->hlo_module());
  // The frames go with the rest, and are asked until then.
  const proto::StackFrameIndexProto index = hlo->hlo_module().stack_frame_index();
  const StackFrames frames(index, issues);
  ReplayReducer(instructions, frames, hlo).Run();
}

std::string WriteReplay(const proto::HloProto& reduced) {
  // Level 9: 12 takes twice as long for 1 % less.
  constexpr int kLevel = 9;
  if (reduced.ByteSizeLong() > kMaxColumnBytes) return {};
  const std::string columns = EncodeColumns(reduced, ReplayRules());
  std::string bytes(ZSTD_compressBound(columns.size()), '\0');
  const size_t size =
      ZSTD_compress(bytes.data(), bytes.size(), columns.data(), columns.size(), kLevel);
  if (ZSTD_isError(size) != 0) throw Error("a plan's replay could not be compressed");
  bytes.resize(size);
  bytes.shrink_to_fit();
  return bytes;
}

const proto::HloProto& ReadReplay(std::string_view bytes, google::protobuf::Arena* arena) {
  const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  // Of the columns, which are smaller than what they are made of.
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN ||
      size > kMaxColumnBytes) {
    throw Error("the stored replay of a plan is damaged");
  }
  std::string columns(size, '\0');
  const size_t got = ZSTD_decompress(columns.data(), columns.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(got) != 0 || got != size) throw Error("the stored replay of a plan is damaged");
  auto& hlo = *google::protobuf::Arena::CreateMessage<proto::HloProto>(arena);
  DecodeColumns(columns, ReplayRules(), &hlo);
  return hlo;
}

}  // namespace oomdb::ingest
