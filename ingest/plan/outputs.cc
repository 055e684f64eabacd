#include "ingest/plan/outputs.h"

#include <algorithm>
#include <utility>

#include "ingest/plan/limits.h"

namespace oomdb::ingest {
namespace {

constexpr int kMaxFusionRootSteps = 64;

// A computation that the search went into, and where it came from.
struct Entered {
  InstructionNumber caller;
  int32_t computation;
  ShapeIndex index;  // The value's place in the caller's result.
};

bool PassesOperandOn(const std::string& opcode) {
  return opcode == "bitcast" || opcode == "optimization-barrier" || opcode == "add-dependency" ||
         opcode == "domain" || opcode == "async-update" || opcode == "async-done";
}

}  // namespace

Origins::Origins(const Instructions& instructions, IssueLog& log)
    : instructions_(instructions),
      upstream_(instructions),
      log_(log),
      steps_left_(SearchSteps(instructions.size())),
      loop_steps_left_(steps_left_) {}

std::vector<ValueAt> Origins::PathOf(ValueAt value) {
  std::vector<ValueAt> path = {value};
  std::vector<Entered> entered;
  while (true) {
    if (--steps_left_ < 0) {
      log_.Warn("plan_output_search_limit",
                "the search for what makes the outputs was cut short; some stay unknown");
      return path;
    }
    const proto::HloInstructionProto& instruction = instructions_[value.instruction];
    const std::string& opcode = instruction.opcode();
    InstructionNumber next = IdIndex::kNone;
    ShapeIndex index = value.index;
    if (opcode == "tuple" && !index.empty()) {
      if (index.front() >= 0 && index.front() < instruction.operand_ids_size()) {
        next = instructions_.Operand(value.instruction, static_cast<int>(index.front()));
      }
      index.erase(index.begin());
    } else if (opcode == "get-tuple-element") {
      next = instructions_.Operand(value.instruction, 0);
      index.insert(index.begin(), instruction.tuple_index());
    } else if (PassesOperandOn(opcode)) {
      next = instructions_.Operand(value.instruction, 0);
    } else if (opcode == "call" || opcode == "async-start" || opcode == "while") {
      const int32_t computation = instructions_.Called(value.instruction, 0);
      next = instructions_.RootOf(computation);
      if (next != IdIndex::kNone) entered.push_back({value.instruction, computation, value.index});
    } else if (opcode == "parameter" && !entered.empty() &&
               instructions_.ComputationOf(value.instruction) == entered.back().computation) {
      const Entered from = std::move(entered.back());
      entered.pop_back();
      if (instructions_[from.caller].opcode() != "while") {
        const int64_t number = instruction.parameter_number();
        if (number >= 0 && number < instructions_[from.caller].operand_ids_size()) {
          next = instructions_.Operand(from.caller, static_cast<int>(number));
        }
      } else if (index == from.index) {
        next = instructions_.Operand(from.caller, 0);
      } else {
        // The body moves the loop's state about: the loop is what makes the value.
        path.push_back({from.caller, from.index});
        return path;
      }
    }
    // No program has an index or a nesting this deep.
    if (next == IdIndex::kNone || index.size() > kMaxShapeIndexDepth ||
        entered.size() > kMaxShapeIndexDepth) {
      return path;
    }
    value = {next, std::move(index)};
    path.push_back(value);
  }
}

bool Origins::LoopReadsParameterOf(const std::vector<ValueAt>& path, const std::string& printed,
                                   const DonatedParameters& donated) {
  const ValueAt* loop = nullptr;
  for (const ValueAt& at : path) {
    if (instructions_[at.instruction].opcode() == "while") loop = &at;
  }
  if (loop == nullptr || loop->index.empty()) return false;
  const InstructionNumber entered = instructions_.Operand(loop->instruction, 0);
  if (entered == IdIndex::kNone || instructions_[entered].opcode() != "tuple") return false;
  bool reads = false;
  for (int n = 0; n < instructions_[entered].operand_ids_size(); ++n) {
    ValueAt at{instructions_.Operand(entered, n), {}};
    if (at.instruction == IdIndex::kNone) continue;
    for (int steps = 0; steps < kMaxFusionRootSteps; ++steps) {
      if (--loop_steps_left_ < 0) return false;
      if (instructions_[at.instruction].opcode() == "copy") break;  // Memory of its own.
      std::optional<ValueAt> next = upstream_.Step(at);
      if (!next) break;
      at = std::move(*next);
    }
    const proto::HloInstructionProto& source = instructions_[at.instruction];
    if (source.opcode() != "parameter" ||
        instructions_.ComputationOf(at.instruction) != instructions_.entry()) {
      continue;
    }
    if (std::binary_search(donated.begin(), donated.end(),
                           std::make_pair(source.parameter_number(), at.index))) {
      continue;
    }
    const proto::ShapeProto* shape = SubshapeAt(source.shape(), at.index);
    if (shape == nullptr || PrintShape(*shape) != printed) continue;
    if (n == loop->index.front()) return false;  // It is the very memory that the loop updates.
    reads = true;
  }
  return reads;
}

InstructionNumber Origins::MakerOf(const ValueAt& value) const {
  if (instructions_[value.instruction].opcode() != "fusion") return value.instruction;
  InstructionNumber at = instructions_.RootOf(instructions_.Called(value.instruction, 0));
  ShapeIndex index = value.index;
  for (int steps = 0; at != IdIndex::kNone && steps < kMaxFusionRootSteps; ++steps) {
    const proto::HloInstructionProto& inside = instructions_[at];
    if (inside.opcode() == "tuple" && !index.empty()) {
      const int64_t place = index.front();
      index.erase(index.begin());
      if (place < 0 || place >= inside.operand_ids_size()) break;
      at = instructions_.Operand(at, static_cast<int>(place));
    } else if (inside.opcode() == "bitcast" || inside.opcode() == "convert") {
      at = instructions_.Operand(at, 0);
    } else {
      return at;
    }
  }
  return value.instruction;
}

namespace {

// The places in the result that take over a donated parameter, ordered.
std::vector<ShapeIndex> ReadAliased(const proto::HloModuleProto& module) {
  std::vector<ShapeIndex> aliased;
  for (const auto& entry : module.input_output_alias().entries()) {
    aliased.emplace_back(entry.output_shape_index().begin(), entry.output_shape_index().end());
  }
  std::sort(aliased.begin(), aliased.end());
  return aliased;
}

}  // namespace

std::vector<PlanOutput> ReadOutputs(const proto::HloModuleProto& module,
                                    const Instructions& instructions,
                                    const BufferAssignment& assignment, NameStacks& stacks,
                                    TextBudget& text, IssueLog& log) {
  std::vector<PlanOutput> outputs;
  const InstructionNumber root = instructions.RootOf(instructions.entry());
  if (root == IdIndex::kNone) {
    log.Warn("plan_without_root", "the entry computation has no root; the outputs are unknown");
    return outputs;
  }
  const proto::ShapeProto& result = instructions[root].shape();
  const std::vector<ShapeIndex> aliased = ReadAliased(module);
  const DonatedParameters donated = ReadDonated(module);
  Origins origins(instructions, log);
  SizeGuard guard;
  for (const ShapeIndex& index : LeafIndices(result, kMaxLeaves)) {
    const proto::ShapeProto& shape = *SubshapeAt(result, index);
    PlanOutput output;
    output.position = static_cast<int64_t>(outputs.size());
    output.shape = text.Copy(PrintShape(shape));
    output.aliased = std::binary_search(aliased.begin(), aliased.end(), index);
    output.memory_space = shape.layout().memory_space();

    const std::vector<ValueAt> path = origins.PathOf({root, index});
    int32_t buffer = IdIndex::kNone;
    for (const ValueAt& value : path) {
      buffer = assignment.FindBufferOf(value);
      if (buffer != IdIndex::kNone) break;
    }
    if (buffer != IdIndex::kNone) {
      output.bytes = guard.Admit(assignment.buffers()[buffer].bytes, log);
      output.memory_space = assignment.buffers()[buffer].memory_space;
    } else {
      output.bytes = guard.Admit(UnpaddedBytes(shape).value_or(0), log);
    }

    const ValueAt& origin = path.back();
    output.instruction = text.Copy(instructions[origin.instruction].name());
    const InstructionNumber maker = origins.MakerOf(origin);
    output.opcode = text.Copy(instructions[maker].opcode());
    if (!output.aliased && output.opcode == "dynamic-update-slice") {
      output.donor_is_read = origins.LoopReadsParameterOf(path, output.shape, donated);
    }
    // What the program is given and gives back has no role.
    if (output.opcode != "parameter") {
      std::optional<NameStack> stack = stacks.OfInstruction(maker);
      if (!stack) stack = stacks.OfValue(origin);
      output.role = stack ? RoleOf(stack->text) : Role::kOther;
    }
    outputs.push_back(std::move(output));
  }
  return outputs;
}

}  // namespace oomdb::ingest
