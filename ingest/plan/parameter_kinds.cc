#include "ingest/plan/parameter_kinds.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "ingest/plan/limits.h"
#include "ingest/plan/parameter_uses.h"

namespace oomdb::ingest {
namespace {

constexpr int kMaxRounds = 64;  // One follows from another, from layer to layer.

bool IsFloat(const proto::ShapeProto& shape) {
  const std::string dtype = DtypeName(shape.element_type());
  return dtype.front() == 'f' || dtype.front() == 'b';  // f32, bf16, f8e4m3fn; not pred.
}

// Quantized weights are such small integers; what indexes is wider.
bool MayBeWeight(const proto::ShapeProto& shape) {
  const std::string dtype = DtypeName(shape.element_type());
  return IsFloat(shape) || dtype == "s8" || dtype == "u8" || dtype == "s4" || dtype == "u4";
}

int64_t RankWithoutOnes(const proto::ShapeProto& shape) {
  return std::count_if(shape.dimensions().begin(), shape.dimensions().end(),
                       [](int64_t n) { return n > 1; });
}

bool HasBackward(const Instructions& instructions) {
  for (InstructionNumber i = 0; i < instructions.size(); ++i) {
    if (RoleOf(instructions[i].metadata().op_name()) == Role::kBackward) return true;
  }
  return false;
}

class KindReader {
 public:
  KindReader(const proto::HloModuleProto& module, const Instructions& instructions,
             const BufferAssignment& assignment, NameStacks& stacks, const Plan& plan)
      : module_(module),
        instructions_(instructions),
        assignment_(assignment),
        stacks_(stacks),
        plan_(plan) {}

  ParameterKinds Read() {
    found_.has_backward = HasBackward(instructions_);
    ReadLeaves();
    ReadHandedBack();
    if (found_.has_backward) {
      ReadForward();
      ReadTrained();
    } else {
      ReadUpdatedSlices();
    }
    ReadIntegers();
    ReadProducts();
    ReadRelatives();
    for (const ParameterLeaf& leaf : found_.leaves) {
      if (leaf.kind == MemoryKind::kWeights) {
        found_.weight_shapes.insert(DimensionsOf(*leaf.shape));
      }
    }
    // Rows that are overwritten are a cache of what a model read only where there is a model.
    for (ParameterLeaf& leaf : found_.leaves) {
      if (leaf.kind == MemoryKind::kKvCache && !found_.HasWeights()) leaf.kind = MemoryKind::kOther;
    }
    return std::move(found_);
  }

 private:
  const PlanAllocation& AllocationOf(const ParameterLeaf& leaf) const {
    return plan_.allocations[leaf.allocation];
  }

  void ReadLeaves() {
    std::map<int64_t, InstructionNumber> parameters;
    if (instructions_.entry() == IdIndex::kNone) return;
    const auto [begin, end] = instructions_.Range(instructions_.entry());
    for (InstructionNumber i = begin; i < end; ++i) {
      if (instructions_[i].opcode() == "parameter") {
        parameters.emplace(instructions_[i].parameter_number(), i);
      }
    }
    for (size_t a = 0; a < plan_.allocations.size(); ++a) {
      const PlanAllocation& allocation = plan_.allocations[a];
      if (!allocation.parameter_number || allocation.is_tuple) continue;
      const auto at = parameters.find(*allocation.parameter_number);
      if (at == parameters.end()) continue;
      ParameterLeaf leaf;
      leaf.allocation = a;
      const proto::HloInstructionProto& parameter = instructions_[at->second];
      const auto& index = assignment_.allocations()[a]->parameter_shape_index();
      leaf.value = {at->second, ShapeIndex(index.begin(), index.end())};
      leaf.shape = SubshapeAt(parameter.shape(), leaf.value.index);
      if (leaf.shape == nullptr || IsTuple(*leaf.shape)) continue;
      leaf.name = parameter.metadata().op_name();
      if (!leaf.name.empty() && !leaf.value.index.empty()) {
        leaf.name += allocation.parameter_shape_index;
      }
      found_.of_value.emplace(leaf.value, found_.leaves.size());
      found_.leaves.push_back(std::move(leaf));
    }
  }

  // Which leaves a result takes over, or has the shape of.
  void ReadHandedBack() {
    const InstructionNumber root = instructions_.RootOf(instructions_.entry());
    if (root == IdIndex::kNone) return;
    std::map<ShapeIndex, size_t> outputs;
    for (const ShapeIndex& index : LeafIndices(instructions_[root].shape(), kMaxLeaves)) {
      if (outputs.size() >= plan_.outputs.size()) break;
      outputs.emplace(index, outputs.size());
    }
    for (const auto& entry : module_.input_output_alias().entries()) {
      const ShapeIndex to(entry.output_shape_index().begin(), entry.output_shape_index().end());
      const ShapeIndex from(entry.parameter_shape_index().begin(),
                            entry.parameter_shape_index().end());
      const auto output = outputs.find(to);
      if (output == outputs.end()) continue;
      aliased_.emplace(std::pair(entry.parameter_number(), from), output->second);
    }
    for (const PlanOutput& output : plan_.outputs) {
      if (!output.aliased && output.role && output.opcode != "parameter") {
        roles_of_shape_[output.shape].insert(*output.role);
      }
    }
    for (const auto& [index, position] : outputs) roots_.push_back({root, index});
  }

  // The roles of the results that may be the leaf's new value, or its gradient.
  std::set<Role> HandedBack(const ParameterLeaf& leaf) const {
    const PlanAllocation& allocation = AllocationOf(leaf);
    const auto alias = aliased_.find({*allocation.parameter_number, leaf.value.index});
    if (alias != aliased_.end()) {
      return {plan_.outputs[alias->second].role.value_or(Role::kOther)};
    }
    const auto shape = roles_of_shape_.find(allocation.shape);
    return shape == roles_of_shape_.end() ? std::set<Role>() : shape->second;
  }

  // The allocation's own answer doesn't look into loops.
  void ReadForward() {
    ParameterUses uses(instructions_, stacks_, /*forward_only=*/true);
    for (ParameterLeaf& leaf : found_.leaves) {
      leaf.forward_read =
          AllocationOf(leaf).forward_read == true || uses.IsReadByForward(leaf.value);
    }
  }

  void ReadTrained() {
    std::set<Dimensions> weights;
    for (ParameterLeaf& leaf : found_.leaves) {
      if (!IsFloat(*leaf.shape) || RankWithoutOnes(*leaf.shape) == 0) continue;
      if (!leaf.forward_read) continue;
      const std::set<Role> roles = HandedBack(leaf);
      if (!roles.contains(Role::kBackward) && !roles.contains(Role::kOther)) continue;
      leaf.kind = MemoryKind::kWeights;
      weights.insert(DimensionsOf(*leaf.shape));
    }
    for (ParameterLeaf& leaf : found_.leaves) {
      if (!IsFloat(*leaf.shape) || leaf.forward_read) continue;
      if (!weights.contains(DimensionsOf(*leaf.shape))) continue;
      if (HandedBack(leaf).contains(Role::kOther)) leaf.kind = MemoryKind::kOptimizerState;
    }
  }

  void ReadUpdatedSlices() {
    ParameterUses uses(instructions_, stacks_, /*forward_only=*/false);
    for (size_t position = 0; position < roots_.size(); ++position) {
      const std::string& opcode = plan_.outputs[position].opcode;
      if (opcode != "dynamic-update-slice" && opcode != "scatter") continue;
      const std::optional<ValueAt> updated = uses.UpdatedParameter(roots_[position]);
      if (!updated) continue;
      const auto at = found_.of_value.find(*updated);
      if (at != found_.of_value.end()) found_.leaves[at->second].kind = MemoryKind::kKvCache;
    }
  }

  void ReadIntegers() {
    for (ParameterLeaf& leaf : found_.leaves) {
      if (leaf.kind != MemoryKind::kOther || MayBeWeight(*leaf.shape)) continue;
      if (HandedBack(leaf).empty()) leaf.kind = MemoryKind::kBatch;
    }
  }

  void ReadProducts() {
    ParameterUses uses(instructions_, stacks_, found_.has_backward);
    std::map<size_t, std::vector<Partner>> open;
    for (size_t n = 0; n < found_.leaves.size(); ++n) {
      const ParameterLeaf& leaf = found_.leaves[n];
      if (leaf.kind == MemoryKind::kOther && MayBeWeight(*leaf.shape)) {
        open.emplace(n, uses.PartnersOf(leaf.value));
      }
    }
    Propagate(open);
    std::vector<ValueAt> batch = Batch();
    std::vector<bool> from_batch = uses.Dependent(batch);
    const bool any_value = batch.empty() && !found_.has_backward;
    for (auto& [n, partners] : open) {
      if (found_.leaves[n].kind != MemoryKind::kOther) continue;
      for (const Partner& partner : partners) {
        if (partner.computed && (any_value || (partner.value.instruction != IdIndex::kNone &&
                                               from_batch[partner.value.instruction]))) {
          found_.leaves[n].kind = MemoryKind::kWeights;
        }
      }
    }
    ReadRelatives();
    Propagate(open);
    batch = Batch();
    if (batch.empty()) return;
    from_batch = uses.Dependent(batch);
    for (const auto& [n, partners] : open) {
      ParameterLeaf& leaf = found_.leaves[n];
      if (leaf.kind != MemoryKind::kOther || RankWithoutOnes(*leaf.shape) < 2) continue;
      if (!HandedBack(leaf).empty() || !uses.MeetsElementwise(leaf.value, from_batch)) continue;
      leaf.kind = MemoryKind::kBatch;
    }
    ReadRelatives();
  }

  // What is known of it.
  std::vector<ValueAt> Batch() const {
    std::vector<ValueAt> batch;
    for (const ParameterLeaf& leaf : found_.leaves) {
      const bool is_array = leaf.shape->dimensions_size() > 0;  // Not a position alone.
      if (leaf.kind == MemoryKind::kBatch && is_array) batch.push_back(leaf.value);
    }
    return batch;
  }

  void Propagate(const std::map<size_t, std::vector<Partner>>& open) {
    bool changed = true;
    for (int round = 0; changed && round < kMaxRounds; ++round) {
      changed = false;
      for (const auto& [n, partners] : open) {
        if (found_.leaves[n].kind != MemoryKind::kOther) continue;
        for (const Partner& partner : partners) {
          const ParameterLeaf* other = partner.computed ? nullptr : found_.Find(partner.value);
          if (other == nullptr || other == &found_.leaves[n]) continue;
          if (other->kind == MemoryKind::kWeights) found_.leaves[n].kind = MemoryKind::kBatch;
          if (other->kind == MemoryKind::kBatch) found_.leaves[n].kind = MemoryKind::kWeights;
        }
        changed |= found_.leaves[n].kind != MemoryKind::kOther;
      }
    }
  }

  // The part of the argument's tree that `name` is in; empty: it is an argument itself.
  static std::string_view ParentOf(std::string_view name) {
    const size_t at = name.find_last_of("[.{");
    return at == std::string_view::npos ? std::string_view() : name.substr(0, at);
  }

  // What a step hands back is no batch; what its forward pass reads is no optimizer's.
  bool MayBe(const ParameterLeaf& leaf, MemoryKind kind) const {
    if (kind == MemoryKind::kBatch) return HandedBack(leaf).empty();
    if (!found_.has_backward) return true;
    if (kind == MemoryKind::kWeights) return leaf.forward_read;
    return !leaf.forward_read && !HandedBack(leaf).empty();
  }

  void ReadRelatives() {
    // The kinds that are known under every part of a tree.
    std::map<std::string_view, std::set<MemoryKind>> known;
    for (const ParameterLeaf& leaf : found_.leaves) {
      if (leaf.kind == MemoryKind::kOther) continue;
      for (std::string_view part = ParentOf(leaf.name); !part.empty(); part = ParentOf(part)) {
        known[part].insert(leaf.kind);
      }
    }
    std::vector<std::pair<ParameterLeaf*, MemoryKind>> told;
    for (ParameterLeaf& leaf : found_.leaves) {
      if (leaf.kind != MemoryKind::kOther) continue;
      for (std::string_view part = ParentOf(leaf.name); !part.empty(); part = ParentOf(part)) {
        const auto at = known.find(part);
        if (at == known.end()) continue;
        if (at->second.size() == 1 && MayBe(leaf, *at->second.begin())) {
          told.emplace_back(&leaf, *at->second.begin());
        }
        break;
      }
    }
    for (const auto& [leaf, kind] : told) leaf->kind = kind;
  }

  const proto::HloModuleProto& module_;
  const Instructions& instructions_;
  const BufferAssignment& assignment_;
  NameStacks& stacks_;
  const Plan& plan_;
  ParameterKinds found_;
  // (parameter, index) to the position of the result that takes over its memory.
  std::map<std::pair<int64_t, ShapeIndex>, size_t> aliased_;
  std::map<std::string, std::set<Role>> roles_of_shape_;  // Of results that take over no parameter.
  std::vector<ValueAt> roots_;                            // The results, by position.
};

}  // namespace

Dimensions DimensionsOf(const proto::ShapeProto& shape) {
  return {shape.dimensions().begin(), shape.dimensions().end()};
}

ParameterKinds ReadParameterKinds(const proto::HloModuleProto& module,
                                  const Instructions& instructions,
                                  const BufferAssignment& assignment, NameStacks& stacks,
                                  const Plan& plan) {
  return KindReader(module, instructions, assignment, stacks, plan).Read();
}

}  // namespace oomdb::ingest
