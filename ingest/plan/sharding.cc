#include "ingest/plan/sharding.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

namespace oomdb::ingest {
namespace {

using proto::OpSharding;

template <typename Numbers>
std::string Join(const Numbers& numbers) {
  std::string text;
  for (const auto number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

// The product of the first `count` tile sizes; std::nullopt when it is not a number of parts.
MaybeInt PartsOf(const OpSharding& sharding, int count) {
  int64_t parts = 1;
  for (int i = 0; i < count; ++i) {
    const int64_t size = sharding.tile_assignment_dimensions(i);
    if (size < 1 || parts > std::numeric_limits<int32_t>::max() / size) return std::nullopt;
    parts *= size;
  }
  return parts;
}

std::string_view SubgroupName(int type) {
  switch (type) {
    case OpSharding::REPLICATED:
      return "replicated";
    case OpSharding::MANUAL:
      return "manual";
    case OpSharding::UNREDUCED:
      return "unreduced";
    default:
      return "unknown";
  }
}

Sharding ReadTiled(const OpSharding& sharding) {
  const int dimensions = sharding.tile_assignment_dimensions_size();
  // The last dimensions are not dimensions of the array: over them it is not split.
  const int beside = sharding.last_tile_dims_size() > 0      ? sharding.last_tile_dims_size()
                     : sharding.replicate_on_last_tile_dim() ? 1
                                                             : 0;
  if (dimensions == 0 || beside > dimensions) return {};
  bool replicated = true;
  for (const int type : sharding.last_tile_dims())
    replicated = replicated && type == OpSharding::REPLICATED;

  Sharding read;
  read.parts = PartsOf(sharding, dimensions - beside);
  if (read.parts == 1 && beside > 0 && replicated) {
    read.text = "{replicated}";
    return read;
  }
  // What differs from device to device in a way that the sharding doesn't tell may be the whole or
  // a part.
  if (!replicated && read.parts == 1) read.parts = std::nullopt;
  read.text = "{devices=[" + Join(sharding.tile_assignment_dimensions()) + "]";
  if (sharding.iota_reshape_dims_size() == 0) {
    read.text += Join(sharding.tile_assignment_devices());
  } else {
    read.text += "<=[" + Join(sharding.iota_reshape_dims()) + "]";
    if (sharding.iota_reshape_dims_size() > 1)
      read.text += "T(" + Join(sharding.iota_transpose_perm()) + ")";
  }
  if (sharding.replicate_on_last_tile_dim()) read.text += " last_tile_dim_replicate";
  for (int i = 0; i < sharding.last_tile_dims_size(); ++i) {
    read.text += i == 0 ? " last_tile_dims={" : ", ";
    read.text += SubgroupName(sharding.last_tile_dims(i));
    if (i + 1 == sharding.last_tile_dims_size()) read.text += "}";
  }
  read.text += "}";
  return read;
}

}  // namespace

Sharding ReadSharding(const OpSharding& sharding) {
  switch (sharding.type()) {
    case OpSharding::REPLICATED:
      return {"{replicated}", 1};
    case OpSharding::MAXIMAL:
      if (sharding.tile_assignment_devices_size() == 0) return {};
      return {"{maximal device=" + std::to_string(sharding.tile_assignment_devices(0)) + "}",
              std::nullopt};
    case OpSharding::OTHER:
      return ReadTiled(sharding);
    case OpSharding::MANUAL:
      return {"{manual}", std::nullopt};
    case OpSharding::UNKNOWN:
      return {"{unknown}", std::nullopt};
    case OpSharding::UNREDUCED:
      return {"{unreduced}", std::nullopt};
    default:
      return {};
  }
}

ParameterShardings::ParameterShardings(const proto::HloModuleProto& module,
                                       const Instructions& instructions) {
  if (instructions.entry() == Instructions::kNone) return;
  const auto [begin, end] = instructions.Range(instructions.entry());
  for (InstructionNumber i = begin; i < end; ++i) {
    const proto::HloInstructionProto& instruction = instructions[i];
    if (instruction.opcode() != "parameter") continue;
    Parameter parameter;
    parameter.shape = &instruction.shape();
    const int64_t number = instruction.parameter_number();
    if (instruction.has_sharding()) {
      parameter.sharding = &instruction.sharding();
    } else if (number >= 0 && number < module.spmd_parameters_shardings_size()) {
      parameter.sharding = &module.spmd_parameters_shardings(static_cast<int>(number));
    }
    if (parameter.sharding == nullptr) continue;
    if (parameter.sharding->type() == OpSharding::TUPLE) {
      parameter.leaves = LeafIndices(
          *parameter.shape, static_cast<size_t>(parameter.sharding->tuple_shardings_size()));
    }
    parameters_.emplace(number, std::move(parameter));
  }
}

const Sharding& ParameterShardings::Of(int64_t parameter, const ShapeIndex& index) {
  static const Sharding kNone;
  const auto found = parameters_.find(parameter);
  if (found == parameters_.end()) return kNone;
  const OpSharding* sharding = found->second.sharding;
  if (sharding->type() == OpSharding::TUPLE) {
    const std::vector<ShapeIndex>& leaves = found->second.leaves;
    const auto leaf = std::lower_bound(leaves.begin(), leaves.end(), index);
    if (leaf == leaves.end() || *leaf != index) return kNone;
    sharding = &sharding->tuple_shardings(static_cast<int>(leaf - leaves.begin()));
  }
  auto known = read_.find(sharding);
  if (known == read_.end()) known = read_.emplace(sharding, ReadSharding(*sharding)).first;
  return known->second;
}

std::string ShapeSignatureText(const Instructions& instructions) {
  if (instructions.entry() == Instructions::kNone) return {};
  const InstructionNumber root = instructions.RootOf(instructions.entry());
  if (root == Instructions::kNone) return {};
  std::vector<std::pair<int64_t, InstructionNumber>> parameters;
  const auto [begin, end] = instructions.Range(instructions.entry());
  for (InstructionNumber i = begin; i < end; ++i) {
    if (instructions[i].opcode() == "parameter")
      parameters.emplace_back(instructions[i].parameter_number(), i);
  }
  std::sort(parameters.begin(), parameters.end());
  std::string text = "(";
  for (const auto& [number, parameter] : parameters)
    text += (text.size() == 1 ? "" : ", ") + PrintShape(instructions[parameter].shape());
  return text + ")->" + PrintShape(instructions[root].shape());
}

}  // namespace oomdb::ingest
