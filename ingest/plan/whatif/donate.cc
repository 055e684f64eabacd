// Donation. It takes away more than an output: what lived in the output's memory before the result
// was written moves into the heap.
#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "ingest/plan/whatif/levers.h"

namespace oomdb::ingest {
namespace {

using ShapeKey = std::pair<std::pair<int32_t, std::vector<int64_t>>, std::vector<int32_t>>;

ShapeKey KeyOf(const proto::ShapeProto& shape) {
  return {{shape.element_type(),
           std::vector<int64_t>(shape.dimensions().begin(), shape.dimensions().end())},
          MinorToMajor(shape)};
}

// A value in the memory of an output that goes: by positions.
struct Tenant {
  int32_t first = 0, last = 0;
  int64_t offset = 0, bytes = 0;
  int32_t buffer = 0;

  friend bool operator<(const Tenant& a, const Tenant& b) {
    return std::tie(a.first, a.last, a.offset, a.bytes, a.buffer) <
           std::tie(b.first, b.last, b.offset, b.bytes, b.buffer);
  }
};

// Values that meet in place and time are one: each takes over the memory of the one before.
std::vector<Tenant> Joined(std::vector<Tenant> tenants) {
  std::sort(tenants.begin(), tenants.end());
  std::vector<Tenant> joined;
  for (const Tenant& t : tenants) {
    auto meets = std::find_if(joined.begin(), joined.end(), [&](const Tenant& q) {
      return q.last >= t.first && q.offset < t.offset + t.bytes && t.offset < q.offset + q.bytes;
    });
    if (meets == joined.end()) {
      joined.push_back(t);
    } else {
      meets->last = std::max(meets->last, t.last);
      meets->bytes = std::max(meets->bytes, t.bytes);
    }
  }
  return joined;
}

class Donation {
 public:
  Donation(const PlanModel& model, PlanState* state)
      : model_(model), program_(model.program()), state_(*state) {}

  void Run() {
    ReadFreeParameters();
    const InstructionNumber root = program_.instructions().RootOf(program_.instructions().entry());
    if (root == IdIndex::kNone) return;
    std::set<LeafId> aliased;
    for (const auto& entry : program_.module().input_output_alias().entries()) {
      const std::vector<int64_t> index(entry.output_shape_index().begin(),
                                       entry.output_shape_index().end());
      const LeafRange at = program_.Under(root, index);
      for (int32_t k = 0; k < at.count; ++k) aliased.insert(at.first + k);
    }
    const LeafRange outputs = program_.LeavesOf(root);
    for (int32_t k = 0; k < outputs.count; ++k) {
      if (!aliased.contains(outputs.first + k)) DonateFor(outputs.first + k);
    }
    AddTenants();
  }

 private:
  void ReadFreeParameters() {
    const DonatedParameters donated = ReadDonated(program_.module());
    for (InstructionNumber i : program_.parameters()) {
      const LeafRange leaves = program_.LeavesOf(i);
      const std::vector<ShapeIndex> indices =
          LeafIndices(program_.instructions()[i].shape(), leaves.count);
      for (size_t k = 0; k < indices.size(); ++k) {
        const std::pair<int64_t, ShapeIndex> at{program_.instructions()[i].parameter_number(),
                                                indices[k]};
        if (std::binary_search(donated.begin(), donated.end(), at)) continue;
        const LeafId n = leaves.first + static_cast<int32_t>(k);
        free_[KeyOf(*program_.leaf(n).shape)].push_back(n);
      }
    }
  }

  int32_t PositionOf(InstructionNumber i, int32_t otherwise) const {
    return program_.position(i) == IdIndex::kNone ? otherwise : program_.position(i);
  }

  void DonateFor(LeafId output) {
    const LeafId source = program_.Source(output);
    const int32_t buffer = program_.BufferOfLeaf(source);
    const auto candidates = free_.find(KeyOf(*program_.leaf(output).shape));
    if (candidates == free_.end() || candidates->second.empty() || buffer < 0) return;
    const proto::BufferAllocationProto* allocation = program_.buffers()[buffer].allocation;
    if (allocation == nullptr || ClassOf(*allocation) != AllocationClass::kOutput ||
        allocation->color() != 0 || state_.gone_allocations.contains(allocation->index())) {
      return;
    }
    // The parameter that the result is made of, if it is one of them.
    const InstructionNumber maker = program_.leaf(source).instruction;
    std::vector<LeafId>& leaves = candidates->second;
    auto choice = std::find_if(leaves.begin(), leaves.end(), [&](LeafId n) {
      for (int k = 0; k < program_.instructions()[maker].operand_ids_size(); ++k) {
        const InstructionNumber operand = program_.Operand(maker, k);
        if (operand == IdIndex::kNone || program_.LeavesOf(operand).count == 0) continue;
        const LeafId from = program_.Source(program_.LeavesOf(operand).first);
        if (program_.leaf(from).instruction == program_.leaf(n).instruction) return true;
      }
      return false;
    });
    if (choice == leaves.end()) choice = leaves.begin();
    const LeafId parameter = *choice;
    leaves.erase(choice);
    state_.gone_allocations.insert(allocation->index());
    state_.need.output_bytes -= std::max<int64_t>(0, allocation->size());

    int32_t last_read = 0;
    for (InstructionNumber reader : model_.UsesOf(parameter).readers) {
      last_read = std::max(last_read, PositionOf(reader, 0));
    }
    const int32_t made = PositionOf(maker, model_.last_position());
    if (last_read > made) copies_.push_back({buffer, made});

    for (const auto& assigned : allocation->assigned()) {
      const int32_t b = program_.assignment().FindBuffer(assigned.logical_buffer_id());
      if (b == IdIndex::kNone || b == buffer || model_.LeafOf(b) == source) continue;
      const LeafId n = model_.LeafOf(b);
      const InstructionNumber i = program_.buffers()[b].value.instruction;
      if (i == IdIndex::kNone) continue;
      const int32_t first = PositionOf(i, 0);
      int32_t last = first;
      if (n != IdIndex::kNone) {
        const Program::Uses& uses = model_.UsesOf(n);
        if (uses.is_output) continue;
        for (InstructionNumber reader : uses.readers) {
          last = std::max(last, PositionOf(reader, first));
        }
      }
      tenants_[allocation->index()].push_back(
          {first, last, std::max<int64_t>(0, assigned.offset()), program_.buffers()[b].bytes, b});
    }
  }

  void AddTenants() {
    for (auto& [allocation, tenants] : tenants_) {
      for (const Tenant& t : Joined(std::move(tenants))) {
        state_.Add("kept in a result's memory until now", t.bytes,
                   {BeginOf(t.first), EndOf(t.last)}, t.buffer);
      }
    }
    // Where the parameter is still read after its result was made, the compiler copies.
    for (const auto& [buffer, made] : copies_) {
      state_.Add("copy of a result", program_.buffers()[buffer].bytes,
                 {BeginOf(made), EndOf(model_.last_position())}, buffer);
    }
  }

  const PlanModel& model_;
  const Program& program_;
  PlanState& state_;
  std::map<ShapeKey, std::vector<LeafId>> free_;
  std::map<int64_t, std::vector<Tenant>> tenants_;  // By allocation.
  std::vector<std::pair<int32_t, int32_t>> copies_;
};

}  // namespace

void Donate(const PlanModel& model, PlanState* state) { Donation(model, state).Run(); }

}  // namespace oomdb::ingest
