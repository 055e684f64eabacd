#include "ingest/plan/anatomy.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "ingest/plan/idle_spans.h"
#include "ingest/plan/limits.h"
#include "ingest/plan/parameter_kinds.h"
#include "ingest/plan/parameter_uses.h"
#include "ingest/plan/upstream.h"

namespace oomdb::ingest {
namespace {

constexpr int kMaxCopySteps = 32;

bool IsCollective(std::string_view opcode) {
  constexpr std::array<std::string_view, 8> kNames = {
      "all-reduce",         "all-gather",           "reduce-scatter",    "all-to-all",
      "collective-permute", "collective-broadcast", "ragged-all-to-all", "send"};
  for (std::string_view name : kNames) {
    if (opcode == name) return true;
    if (opcode.substr(0, name.size()) != name) continue;
    const std::string_view rest = opcode.substr(name.size());
    if (rest == "-start" || rest == "-done") return true;
  }
  return opcode == "recv" || opcode == "recv-done";
}

class AnatomyReader {
 public:
  AnatomyReader(const PlanSources& from, NameStacks& stacks, TextBudget& text, Plan* plan)
      : instructions_(from.instructions),
        assignment_(from.assignment),
        replay_(from.replay),
        frames_(from.frames),
        stacks_(stacks),
        text_(text),
        plan_(*plan),
        upstream_(from.instructions),
        updates_(from.instructions, stacks, false),
        idle_(from.module, from.instructions, from.assignment, from.replay, stacks),
        kinds_(ReadParameterKinds(from.module, from.instructions, from.assignment, stacks, *plan)) {
  }

  void Read() {
    if (idle_.schedule_length() > 0) plan_.schedule_length = idle_.schedule_length();
    ReadAllocations();
    ReadTemps();
    ReadHoles();
  }

 private:
  // ---- parameters, outputs, constants
  void ReadAllocations() {
    std::map<int64_t, const ParameterLeaf*> leaf_of;
    for (const ParameterLeaf& leaf : kinds_.leaves) {
      leaf_of[plan_.allocations[leaf.allocation].index] = &leaf;
    }
    const std::map<int64_t, int32_t> outputs = ReadOutputBuffers();
    std::map<int64_t, int32_t> constants;
    for (int32_t b = 0; b < static_cast<int32_t>(plan_.buffers.size()); ++b) {
      const PlanBuffer& buffer = plan_.buffers[b];
      if (buffer.allocation_class != AllocationClass::kConstant) continue;
      constants.emplace(*buffer.allocation_index, b);
    }
    const std::set<int64_t> untraced = UntracedSpaces();
    for (const PlanAllocation& allocation : plan_.allocations) {
      PlanPart part;
      part.memory_space = allocation.memory_space;
      part.allocation_class = allocation.allocation_class;
      part.bytes = allocation.bytes;
      part.allocation_index = allocation.index;
      switch (allocation.allocation_class) {
        case AllocationClass::kParameter: {
          part.shape = text_.Copy(allocation.shape);
          const auto leaf = leaf_of.find(allocation.index);
          if (leaf == leaf_of.end()) break;
          part.kind = leaf->second->kind;
          part.name = text_.Copy(leaf->second->name);
          const int32_t buffer = assignment_.FindBufferOf(leaf->second->value);
          if (buffer != IdIndex::kNone) part.buffer = buffer;
          break;
        }
        case AllocationClass::kConstant: {
          part.kind = MemoryKind::kConstants;
          const auto constant = constants.find(allocation.index);
          if (constant == constants.end()) break;
          part.buffer = constant->second;
          part.shape = text_.Copy(plan_.buffers[constant->second].shape);
          break;
        }
        case AllocationClass::kOutput: {
          const auto output = outputs.find(allocation.index);
          if (output == outputs.end()) break;  // The table of a tuple.
          part.kind = output_kinds_[output->second];
          part.shape = text_.Copy(plan_.outputs[output->second].shape);
          if (output_buffers_[output->second] != IdIndex::kNone) {
            part.buffer = output_buffers_[output->second];
          }
          break;
        }
        case AllocationClass::kTemp:
          if (!untraced.contains(allocation.memory_space)) continue;
          break;
        case AllocationClass::kThreadLocal:
          continue;
      }
      plan_.parts.push_back(std::move(part));
    }
  }

  std::set<int64_t> UntracedSpaces() const {
    std::set<int64_t> spaces;
    for (const PlanMemory& space : plan_.spaces) {
      if (!space.heap_peak_bytes) spaces.insert(space.memory_space);
    }
    return spaces;
  }

  // The first result in every allocation of outputs; sets what every result is.
  std::map<int64_t, int32_t> ReadOutputBuffers() {
    std::map<int64_t, int32_t> output_of;
    const InstructionNumber root = instructions_.RootOf(instructions_.entry());
    output_kinds_.assign(plan_.outputs.size(), MemoryKind::kResults);
    output_buffers_.assign(plan_.outputs.size(), IdIndex::kNone);
    if (root == IdIndex::kNone) return output_of;
    const std::vector<ShapeIndex> leaves = LeafIndices(instructions_[root].shape(), kMaxLeaves);
    const size_t count = std::min(leaves.size(), plan_.outputs.size());
    for (size_t n = 0; n < count; ++n) {
      ValueAt value{root, leaves[n]};
      int32_t buffer = assignment_.FindBufferOf(value);
      // A result that something else makes: through the tuple and views of it.
      for (int steps = 0; buffer == IdIndex::kNone && steps < kMaxCopySteps; ++steps) {
        const std::string& opcode = instructions_[value.instruction].opcode();
        if (opcode == "fusion" || opcode == "call" || opcode == "while") break;
        std::optional<ValueAt> next = upstream_.Step(value);
        if (!next) break;
        value = std::move(*next);
        buffer = assignment_.FindBufferOf(value);
      }
      output_buffers_[n] = buffer;
      const PlanOutput& output = plan_.outputs[n];
      if (output.aliased) continue;
      output_kinds_[n] = KindOfOutput(output, *SubshapeAt(instructions_[root].shape(), leaves[n]),
                                      {root, leaves[n]});
      if (buffer == IdIndex::kNone) continue;
      const LogicalBuffer& logical = assignment_.buffers()[buffer];
      if (logical.allocation == nullptr) continue;
      output_of.emplace(logical.allocation->index(), static_cast<int32_t>(n));
    }
    ReadNewState();
    return output_of;
  }

  MemoryKind KindOfOutput(const PlanOutput& output, const proto::ShapeProto& shape,
                          const ValueAt& value) {
    if (kinds_.has_backward && output.role == Role::kBackward &&
        kinds_.weight_shapes.contains(DimensionsOf(shape))) {
      return MemoryKind::kGradients;
    }
    if (kinds_.has_backward) return MemoryKind::kResults;
    if (output.opcode == "dynamic-update-slice" || output.opcode == "scatter") {
      const std::optional<ValueAt> updated = updates_.UpdatedParameter(value);
      const ParameterLeaf* leaf = updated ? kinds_.Find(*updated) : nullptr;
      if (leaf != nullptr && leaf->kind == MemoryKind::kKvCache) return MemoryKind::kKvCache;
    }
    return MemoryKind::kResults;
  }

  // New weights and optimizer state that take over nothing. Which is which doesn't show, but a step
  // that hands back as many of a shape as it was given hands back each of them.
  void ReadNewState() {
    if (!kinds_.has_backward) return;
    std::map<std::string_view, std::vector<MemoryKind>> given;
    for (const ParameterLeaf& leaf : kinds_.leaves) {
      const PlanAllocation& allocation = plan_.allocations[leaf.allocation];
      if (allocation.aliased_output == true) continue;
      if (leaf.kind == MemoryKind::kWeights || leaf.kind == MemoryKind::kOptimizerState) {
        given[allocation.shape].push_back(leaf.kind);
      }
    }
    std::map<std::string_view, std::vector<size_t>> back;
    for (size_t n = 0; n < plan_.outputs.size(); ++n) {
      const PlanOutput& output = plan_.outputs[n];
      if (!output.aliased && output.role == Role::kOther && output.opcode != "parameter") {
        back[output.shape].push_back(n);
      }
    }
    for (const auto& [shape, places] : back) {
      const auto kinds = given.find(shape);
      if (kinds == given.end() || kinds->second.size() != places.size()) continue;
      for (size_t n = 0; n < places.size(); ++n) output_kinds_[places[n]] = kinds->second[n];
    }
  }

  // ---- temps
  void ReadTemps() {
    for (int32_t b = 0; b < static_cast<int32_t>(plan_.buffers.size()); ++b) {
      const PlanBuffer& buffer = plan_.buffers[b];
      if (buffer.allocation_class != AllocationClass::kTemp || buffer.at_peak != true) continue;
      PlanPart part;
      part.memory_space = buffer.memory_space;
      part.bytes = buffer.bytes;
      part.allocation_index = buffer.allocation_index;
      part.buffer = b;
      part.shape = text_.Copy(buffer.shape);
      part.kind = KindOfTemp(b, &part);
      if (buffer.memory_space == 0) AddIdleSpan(b, &part);
      plan_.parts.push_back(std::move(part));
    }
  }

  MemoryKind KindOfTemp(int32_t b, PlanPart* part) {
    const PlanBuffer& buffer = plan_.buffers[b];
    const ValueAt& value = assignment_.buffers()[b].value;
    if (buffer.role == Role::kWorkspace) return MemoryKind::kWorkspace;
    if (IsCollective(buffer.opcode)) return MemoryKind::kCollectives;
    if (value.instruction == IdIndex::kNone) return MemoryKind::kOther;
    const proto::ShapeProto* shape =
        SubshapeAt(instructions_[value.instruction].shape(), value.index);
    if (shape == nullptr || IsTuple(*shape)) return MemoryKind::kOther;
    if (const ParameterLeaf* leaf = CopiedParameter(b, *shape, part)) {
      if (leaf->kind != MemoryKind::kOther) return leaf->kind;
    }
    if (kinds_.has_backward) {
      if (buffer.role == Role::kForward) return MemoryKind::kActivations;
      if (buffer.role != Role::kBackward) return MemoryKind::kOther;
      const bool is_gradient = kinds_.weight_shapes.contains(DimensionsOf(*shape)) &&
                               stacks_.IsReadOutsideBackward(value);
      return is_gradient ? MemoryKind::kGradients : MemoryKind::kBackward;
    }
    if (!kinds_.HasWeights()) return MemoryKind::kOther;
    if (const std::optional<ValueAt> updated = updates_.UpdatedParameter(value)) {
      const ParameterLeaf* leaf = kinds_.Find(*updated);
      if (leaf != nullptr && leaf->kind == MemoryKind::kKvCache) return MemoryKind::kKvCache;
    }
    return MemoryKind::kActivations;
  }

  // The parameter that a temp repeats, null: none. Notes what it repeats, where that is there too.
  const ParameterLeaf* CopiedParameter(int32_t b, const proto::ShapeProto& shape, PlanPart* part) {
    ValueAt at = assignment_.buffers()[b].value;
    for (int steps = 0; steps < kMaxCopySteps; ++steps) {
      const proto::HloInstructionProto& here = instructions_[at.instruction];
      // A loop's result is none of what entered it.
      if (here.opcode() == "while") return nullptr;
      std::optional<ValueAt> next = upstream_.Step(at);
      if (!next) break;
      at = std::move(*next);
    }
    const proto::HloInstructionProto& source = instructions_[at.instruction];
    const proto::ShapeProto* from = SubshapeAt(source.shape(), at.index);
    if (from == nullptr || Elements(*from) != Elements(shape)) return nullptr;
    const int32_t source_buffer = assignment_.FindBufferOf(at);
    if (source_buffer != IdIndex::kNone && source_buffer != b && IsUnchanged(b) &&
        IsUnchanged(source_buffer) && IsThereAtPeak(source_buffer)) {
      part->copy_of = CopiedValue{text_.Copy(source.name()), DtypeName(from->element_type())};
    }
    return kinds_.Find(at);
  }

  static int64_t Elements(const proto::ShapeProto& shape) {
    int64_t count = 1;
    for (const int64_t n : shape.dimensions()) {
      if (n < 0 || __builtin_mul_overflow(count, n, &count)) return -1;
    }
    return count;
  }

  // Nothing takes over its memory: a copy that is updated in place is no duplicate.
  bool IsUnchanged(int32_t b) const { return replay_.sharers[b].empty(); }

  bool IsThereAtPeak(int32_t b) const {
    const PlanBuffer& buffer = plan_.buffers[b];
    if (!buffer.allocation_class) return false;
    switch (*buffer.allocation_class) {
      case AllocationClass::kParameter:
      case AllocationClass::kConstant:
        return true;
      case AllocationClass::kTemp:
        return buffer.at_peak == true;
      default:
        return false;  // An output's memory may hold something else at the peak.
    }
  }

  void AddIdleSpan(int32_t b, PlanPart* part) {
    const std::optional<EntrySpan> span = idle_.Of(b);
    if (!span) return;
    IdleSpan idle{span->from, span->to, {}, {}, {}, {}};
    const proto::HloInstructionProto& reader = instructions_[span->reader];
    idle.reader = text_.Copy(reader.name());
    const std::optional<NameStack> stack = stacks_.OfInstruction(span->reader);
    if (stack) idle.reader_op_name = text_.Copy(stack->text);
    const SourceLine line = frames_.LineOf(reader.metadata());
    idle.reader_file = text_.Copy(line.file);
    idle.reader_line = line.line;
    part->idle = std::move(idle);
  }

  // The free memory above every temp of the device memory at the peak.
  void ReadHoles() {
    std::map<int64_t, int64_t> bytes_of;
    for (const PlanAllocation& allocation : plan_.allocations) {
      bytes_of[allocation.index] = allocation.bytes;
    }
    struct Place {
      int64_t allocation, begin, end;
      size_t part;
    };
    std::vector<Place> places;
    for (size_t n = 0; n < plan_.parts.size(); ++n) {
      const PlanPart& part = plan_.parts[n];
      if (part.allocation_class != AllocationClass::kTemp || !part.buffer) continue;
      const PlanBuffer& buffer = plan_.buffers[*part.buffer];
      if (part.memory_space != 0 || !buffer.offset_bytes || !part.allocation_index) continue;
      places.push_back(
          {*part.allocation_index, *buffer.offset_bytes, *buffer.offset_bytes + part.bytes, n});
    }
    std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
      return std::tie(a.allocation, a.begin, a.end, a.part) <
             std::tie(b.allocation, b.begin, b.end, b.part);
    });
    for (size_t n = 0; n < places.size(); ++n) {
      const Place& here = places[n];
      const bool is_last = n + 1 == places.size() || places[n + 1].allocation != here.allocation;
      const int64_t end = is_last ? bytes_of[here.allocation] : places[n + 1].begin;
      if (end <= here.end) continue;
      PlanPart& part = plan_.parts[here.part];
      part.hole_bytes = end - here.end;
      if (is_last) continue;
      const PlanPart& above = plan_.parts[places[n + 1].part];
      part.hole_end = text_.Copy(plan_.buffers[*above.buffer].instruction);
    }
  }

  const Instructions& instructions_;
  const BufferAssignment& assignment_;
  const HeapReplay& replay_;
  StackFrames& frames_;
  NameStacks& stacks_;
  TextBudget& text_;
  Plan& plan_;
  Upstream upstream_;
  ParameterUses updates_;
  IdleSpans idle_;
  const ParameterKinds kinds_;
  std::vector<MemoryKind> output_kinds_;  // By position in the result.
  std::vector<int32_t> output_buffers_;
};

}  // namespace

void ReadAnatomyOfText(Plan* plan) {
  if (!plan->has_buffer_assignment) return;
  if (!plan->classes_known) {
    PlanPart part;
    part.bytes = plan->peak_bytes;
    plan->parts.push_back(std::move(part));
    return;
  }
  std::set<int64_t> traced;
  for (const PlanMemory& space : plan->spaces) {
    if (space.heap_peak_bytes) traced.insert(space.memory_space);
  }
  for (const PlanAllocation& allocation : plan->allocations) {
    if (allocation.allocation_class == AllocationClass::kThreadLocal) continue;
    const bool is_temp = allocation.allocation_class == AllocationClass::kTemp;
    if (is_temp && traced.contains(allocation.memory_space)) continue;
    PlanPart part;
    part.memory_space = allocation.memory_space;
    part.allocation_class = allocation.allocation_class;
    part.bytes = allocation.bytes;
    part.allocation_index = allocation.index;
    part.shape = allocation.shape;
    if (allocation.allocation_class == AllocationClass::kConstant) {
      part.kind = MemoryKind::kConstants;
    }
    plan->parts.push_back(std::move(part));
  }
  for (size_t b = 0; b < plan->buffers.size(); ++b) {
    const PlanBuffer& buffer = plan->buffers[b];
    if (buffer.allocation_class != AllocationClass::kTemp || buffer.at_peak != true) continue;
    PlanPart part;
    part.memory_space = buffer.memory_space;
    part.bytes = buffer.bytes;
    part.allocation_index = buffer.allocation_index;
    part.buffer = static_cast<int64_t>(b);
    part.shape = buffer.shape;
    plan->parts.push_back(std::move(part));
  }
}

void ReadAnatomy(const PlanSources& from, NameStacks& stacks, TextBudget& text, Plan* plan) {
  if (!plan->has_buffer_assignment) return;
  AnatomyReader(from, stacks, text, plan).Read();
}

}  // namespace oomdb::ingest
