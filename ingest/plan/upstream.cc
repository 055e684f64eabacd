#include "ingest/plan/upstream.h"

#include <array>
#include <utility>

namespace oomdb::ingest {

bool RepeatsOperand(std::string_view opcode) {
  constexpr std::array<std::string_view, 14> kOpcodes = {
      "copy",       "convert",   "bitcast",          "bitcast-convert", "transpose",
      "reshape",    "copy-done", "reduce-precision", "add-dependency",  "optimization-barrier",
      "copy-start", "domain",    "async-done",       "async-update"};
  for (std::string_view repeats : kOpcodes) {
    if (opcode == repeats) return true;
  }
  return false;
}

Upstream::Upstream(const Instructions& instructions)
    : instructions_(instructions), caller_(instructions.computations(), IdIndex::kNone) {
  for (InstructionNumber i = 0; i < instructions.size(); ++i) {
    for (int n = 0; n < instructions[i].called_computation_ids_size(); ++n) {
      const int32_t called = instructions.Called(i, n);
      if (called != IdIndex::kNone && caller_[called] == IdIndex::kNone) caller_[called] = i;
    }
  }
}

std::optional<ValueAt> Upstream::Step(const ValueAt& value) const {
  const proto::HloInstructionProto& instruction = instructions_[value.instruction];
  const std::string& opcode = instruction.opcode();
  ValueAt next{IdIndex::kNone, value.index};
  if (opcode == "tuple") {
    if (next.index.empty() || next.index.front() < 0 ||
        next.index.front() >= instruction.operand_ids_size()) {
      return std::nullopt;
    }
    next.instruction =
        instructions_.Operand(value.instruction, static_cast<int>(next.index.front()));
    next.index.erase(next.index.begin());
  } else if (opcode == "get-tuple-element") {
    if (next.index.size() >= kMaxShapeIndexDepth) return std::nullopt;
    next.instruction = instructions_.Operand(value.instruction, 0);
    next.index.insert(next.index.begin(), instruction.tuple_index());
  } else if (opcode == "copy-start") {
    // Its result is (copy, operand, context).
    next.instruction = instructions_.Operand(value.instruction, 0);
    next.index.clear();
  } else if (RepeatsOperand(opcode)) {
    next.instruction = instructions_.Operand(value.instruction, 0);
  } else if (opcode == "fusion" || opcode == "call" || opcode == "async-start" ||
             opcode == "while") {
    next.instruction = instructions_.RootOf(instructions_.Called(value.instruction, 0));
  } else if (opcode == "parameter") {
    return OfParameter(value);
  }
  if (next.instruction == IdIndex::kNone) return std::nullopt;
  return next;
}

std::optional<ValueAt> Upstream::OfParameter(const ValueAt& value) const {
  const InstructionNumber caller = caller_[instructions_.ComputationOf(value.instruction)];
  if (caller == IdIndex::kNone) return std::nullopt;
  const std::string& opcode = instructions_[caller].opcode();
  if (opcode == "while") {
    const InstructionNumber root = instructions_.RootOf(instructions_.WhileBody(caller));
    if (root == IdIndex::kNone) return std::nullopt;
    std::optional<ValueAt> put = Step({root, value.index});
    if (!put || instructions_[root].opcode() != "tuple") return std::nullopt;
    const proto::HloInstructionProto& at = instructions_[put->instruction];
    const bool untouched = at.opcode() == "get-tuple-element" && !value.index.empty() &&
                           at.tuple_index() == value.index.front() &&
                           instructions_.Operand(put->instruction, 0) == value.instruction;
    if (!untouched) return put;
    const InstructionNumber entered = instructions_.Operand(caller, 0);
    if (entered == IdIndex::kNone) return std::nullopt;
    return ValueAt{entered, value.index};
  }
  if (opcode != "fusion" && opcode != "call" && opcode != "async-start") return std::nullopt;
  const int64_t number = instructions_[value.instruction].parameter_number();
  if (number < 0 || number >= instructions_[caller].operand_ids_size()) return std::nullopt;
  const InstructionNumber operand = instructions_.Operand(caller, static_cast<int>(number));
  if (operand == IdIndex::kNone) return std::nullopt;
  return ValueAt{operand, value.index};
}

}  // namespace oomdb::ingest
