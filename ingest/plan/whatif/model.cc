#include "ingest/plan/whatif/model.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_set>
#include <utility>

#include "ingest/plan/whatif/training.h"

namespace oomdb::ingest {
namespace {

// The rules of the platform, or those that explain the stored heap best.
HeapRules ChooseRules(const HeapGroups& heap, std::string* platform, PackingCheck* check) {
  if (!platform->empty()) {
    const HeapRules rules = HeapRulesOf(*platform);
    *check = CheckPacking(heap, rules);
    return rules;
  }
  HeapRules best;
  double error = 1e300;
  for (std::string_view candidate : {"gpu", "cpu", "tpu"}) {
    const HeapRules rules = HeapRulesOf(candidate);
    const PackingCheck found = CheckPacking(heap, rules);
    if (std::abs(found.Error()) >= error) continue;
    error = std::abs(found.Error());
    best = rules;
    *check = found;
    *platform = candidate;
  }
  return best;
}

}  // namespace

PlanModel::PlanModel(const proto::HloProto& hlo, std::string_view platform, const BatchHint& hint)
    : program_(hlo),
      graph_(program_),
      platform_(platform),
      training_facts_(std::make_unique<TrainingFacts>()) {
  ReadNeed();
  ReadHeap();
  ReadState();
  batch_ = FindBatch(graph_, state_, hint);
  if (!hint.size && hint.argument.empty()) DoubtBatch();
  ReadGradients();
}

PlanModel::~PlanModel() = default;

const Program::Uses& PlanModel::UsesOf(LeafId n) const {
  const auto [at, is_new] = uses_.try_emplace(n);
  if (is_new) at->second = program_.UsesOf(n);
  return at->second;
}

// A key of random numbers leads with a number, too, but nothing grows with it.
void PlanModel::DoubtBatch() {
  constexpr double kLeastShare = 0.01;
  if (!batch_.found()) return;
  double heap = 0;
  double grows = 0;
  for (const HeapGroup& group : groups_) {
    heap += static_cast<double>(group.bytes);
    const bool has_batch = std::any_of(group.members.begin(), group.members.end(),
                                       [&](const auto& m) { return HasBatch(LeafOf(m.buffer)); });
    if (has_batch) grows += static_cast<double>(group.bytes);
  }
  if (heap == 0 || grows >= kLeastShare * heap) return;
  const std::string argument = batch_.argument;
  batch_ = Batch();
  batch_.why_not = "less than 1 % of the heap grows with the leading dimension of " + argument;
}

void PlanModel::ReadNeed() {
  const BufferAssignment& assignment = program_.assignment();
  for (size_t a = 0; a < assignment.allocations().size(); ++a) {
    const proto::BufferAllocationProto& allocation = *assignment.allocations()[a];
    if (allocation.color() != 0) continue;
    const int64_t bytes = assignment.allocation_bytes()[a];
    switch (ClassOf(allocation)) {
      case AllocationClass::kParameter:
        need_.parameter_bytes += bytes;
        break;
      case AllocationClass::kOutput:
        need_.output_bytes += bytes;
        break;
      case AllocationClass::kConstant:
        need_.constant_bytes += bytes;
        break;
      case AllocationClass::kTemp:
        need_.temp_bytes += bytes;
        break;
      case AllocationClass::kThreadLocal:
        break;
    }
  }
}

void PlanModel::ReadHeap() {
  group_of_leaf_.assign(program_.leaf_count(), -1);
  HeapGroups heap = ReadHeapGroups(program_.assignment_proto(), program_.assignment());
  rules_ = ChooseRules(heap, &platform_, &check_);
  rest_bytes_ = need_.temp_bytes;
  if (heap.trace == nullptr) return;
  // A TPU program that would not fit otherwise is laid out in the other order.
  constexpr int64_t kTolerance = 16384;
  if (rules_.order == HeapOrder::kTime && check_.packed_bytes > check_.stored_bytes + kTolerance &&
      std::abs(check_.globally_packed_bytes - check_.stored_bytes) <= kTolerance) {
    rules_.order = HeapOrder::kGlobal;
    check_.packed_bytes = check_.globally_packed_bytes;
  }
  rest_bytes_ -= check_.packed_bytes;
  groups_ = std::move(heap.groups);

  // Events as moments: those of one position keep their order.
  int32_t position = 0;
  int64_t step = 0;
  trace_moments_.reserve(heap.trace->events_size() + 1);
  for (const auto& event : heap.trace->events()) {
    const InstructionNumber i = program_.instructions().FindByName(event.instruction_name());
    const int32_t at = i == IdIndex::kNone ? position : std::max(position, program_.position(i));
    step = at == position && !trace_moments_.empty() ? step + 1 : 0;
    position = at;
    constexpr int64_t kFirstStep = 1000;  // Values that a question adds begin before.
    constexpr int64_t kLastStep = kMomentsOfPosition / kMomentsOfStep - 2;
    trace_moments_.push_back(BeginOf(position) +
                             std::min(kFirstStep + step, kLastStep) * kMomentsOfStep);
  }
  trace_moments_.push_back(BeginOf(last_position() + 1));
  heap_begin_ = trace_moments_.back();
  heap_end_ = 0;
  member_moments_.reserve(groups_.size());
  for (size_t g = 0; g < groups_.size(); ++g) {
    for (HeapInterval& at : groups_[g].intervals) {
      at = {trace_moments_[at.begin], trace_moments_[at.end]};
      heap_begin_ = std::min(heap_begin_, at.begin);
      heap_end_ = std::max(heap_end_, at.end);
    }
    std::vector<Moment>& moments = member_moments_.emplace_back();
    for (const HeapGroup::Member& member : groups_[g].members) {
      moments.push_back(trace_moments_[member.event]);
      const LeafId n = LeafOf(member.buffer);
      if (n != IdIndex::kNone) group_of_leaf_[n] = static_cast<int32_t>(g);
    }
  }
}

std::vector<InstructionNumber> PlanModel::ReadersThroughCopies(LeafId n) const {
  std::vector<InstructionNumber> readers;
  std::vector<LeafId> todo = {n};
  std::unordered_set<LeafId> seen = {n};
  std::vector<LeafId> next;
  for (size_t at = 0; at < todo.size(); ++at) {
    const InstructionNumber here = program_.leaf(todo[at]).instruction;
    next.clear();
    program_.FlowsInto(todo[at], &next);
    for (const Program::User& user : program_.Users(here)) {
      const InstructionNumber u = user.instruction;
      switch (program_.op(u)) {
        case Op::kTuple:
        case Op::kGetTupleElement:
          break;
        case Op::kBitcast:
        case Op::kBarrier:
        case Op::kWhile:
          readers.push_back(u);
          break;
        case Op::kCopy:
        case Op::kTranspose:
        case Op::kConvert:
        case Op::kReshape:
        case Op::kCopyStart:
        case Op::kCopyDone: {
          const LeafRange result = program_.LeavesOf(u);
          if (result.count > 0) next.push_back(result.first);
          break;
        }
        default:
          if (program_.position(u) != Program::kNone) readers.push_back(u);
      }
    }
    for (LeafId leaf : next) {
      if (seen.insert(leaf).second) todo.push_back(leaf);
    }
  }
  return readers;
}

void PlanModel::ReadState() {
  std::set<std::pair<int64_t, ShapeIndex>> aliased;
  for (auto& donated : ReadDonated(program_.module())) aliased.insert(donated);
  auto key = [](const proto::ShapeProto& shape) {
    return std::pair(shape.element_type(),
                     std::vector<int64_t>(shape.dimensions().begin(), shape.dimensions().end()));
  };
  std::set<std::pair<int32_t, std::vector<int64_t>>> outputs;
  const InstructionNumber root = program_.instructions().RootOf(program_.instructions().entry());
  if (root != IdIndex::kNone) {
    const LeafRange leaves = program_.LeavesOf(root);
    for (int32_t k = 0; k < leaves.count; ++k) {
      outputs.insert(key(*program_.leaf(leaves.first + k).shape));
    }
  }
  for (InstructionNumber i : program_.parameters()) {
    const proto::ShapeProto& shape = program_.instructions()[i].shape();
    const std::vector<ShapeIndex> indices =
        LeafIndices(shape, static_cast<size_t>(program_.LeavesOf(i).count));
    for (size_t k = 0; k < indices.size(); ++k) {
      const LeafId n = program_.LeavesOf(i).first + static_cast<int32_t>(k);
      const proto::ShapeProto& leaf = *program_.leaf(n).shape;
      StateLeaf state;
      state.leaf = n;
      state.aliased = aliased.contains({program_.instructions()[i].parameter_number(), indices[k]});
      const bool is_array = std::any_of(leaf.dimensions().begin(), leaf.dimensions().end(),
                                        [](int64_t d) { return d > 1; });
      if (!state.aliased && !(is_array && outputs.contains(key(leaf)))) continue;
      const std::string type = DtypeName(leaf.element_type());
      state.is_float = is_array && (type == "f32" || type == "bf16" || type == "f16");
      state.readers = ReadersThroughCopies(n);
      for (InstructionNumber reader : state.readers) {
        if (program_.pass(reader) == Pass::kNeither) continue;
        state.pass_readers.push_back(reader);
        state.trained = state.trained || (state.is_float && IsForward(reader));
      }
      state_.push_back(std::move(state));
    }
  }
  for (const StateLeaf& state : state_) {
    if (state.trained) trained_.push_back(&state);
  }
}

void PlanModel::ReadGradients() {
  auto sorted_extents = [](const proto::ShapeProto& shape) {
    std::vector<int64_t> extents(shape.dimensions().begin(), shape.dimensions().end());
    std::sort(extents.begin(), extents.end());
    return extents;
  };
  std::set<std::vector<int64_t>> shapes;
  for (const StateLeaf* weight : trained_) {
    shapes.insert(sorted_extents(*program_.leaf(weight->leaf).shape));
  }
  for (size_t g = 0; g < groups_.size(); ++g) {
    for (const HeapGroup::Member& member : groups_[g].members) {
      const LeafId n = LeafOf(member.buffer);
      if (n == IdIndex::kNone || HasBatch(n)) continue;
      if (program_.PassOfBuffer(member.buffer) != Pass::kBackward) continue;
      if (!shapes.contains(sorted_extents(*program_.leaf(n).shape))) continue;
      const Program::Uses& uses = UsesOf(n);
      const bool is_read_after =
          uses.is_output ||
          std::any_of(uses.readers.begin(), uses.readers.end(), [this](InstructionNumber reader) {
            return program_.pass(reader) != Pass::kBackward;
          });
      if (!is_read_after) continue;
      gradients_.push_back(static_cast<int32_t>(g));
      break;
    }
  }
}

std::optional<HeapInterval> PlanModel::ReadSpanOf(const StateLeaf& leaf) const {
  int32_t first = INT32_MAX;
  int32_t last = -1;
  for (InstructionNumber reader : leaf.pass_readers) {
    if (program_.position(reader) == IdIndex::kNone) continue;
    first = std::min(first, program_.position(reader));
    last = std::max(last, program_.position(reader));
  }
  if (last < 0) return std::nullopt;
  return HeapInterval{BeginOf(first), EndOf(last)};
}

Moment PlanModel::GradientMadeAt(int32_t group) const {
  const HeapGroup& g = groups_[group];
  Moment made = g.intervals.empty() ? 0 : g.intervals.front().begin;
  Moment last = -1;
  for (size_t m = 0; m < g.members.size(); ++m) {
    if (program_.PassOfBuffer(g.members[m].buffer) == Pass::kBackward) {
      last = std::max(last, member_moments_[group][m]);
    }
  }
  return last >= 0 ? last : made;
}

}  // namespace oomdb::ingest
