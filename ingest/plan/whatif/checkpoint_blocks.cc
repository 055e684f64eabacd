// Checkpointing of blocks that are written out one after the other.
#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "ingest/plan/whatif/checkpoint.h"
#include "ingest/plan/whatif/levers.h"
#include "ingest/plan/whatif/training.h"

namespace oomdb::ingest {
namespace {

constexpr std::string_view kAgain = kComputedAgain;
constexpr int64_t kLeastKeptBytes = 4096;  // Smaller values don't tell when a block is needed.

class BlockCheckpoint {
 public:
  BlockCheckpoint(const PlanModel& model, PlanState* state)
      : model_(model), program_(model.program()), state_(*state), blocks_(BlocksOf(model)) {}

  bool Run() {
    if (blocks_.empty()) return false;
    forward_end_ = blocks_.back().end;
    ReadForwardPositions();
    ReadGroups();
    FindTimes();
    FindInputs();
    std::vector<HeapPiece> pieces;
    for (size_t g = 0; g < groups_.size(); ++g) Rewrite(g, &pieces);
    for (size_t p = groups_.size(); p < state_.pieces.size(); ++p) {
      pieces.push_back(std::move(state_.pieces[p]));
    }
    state_.pieces = std::move(pieces);
    return true;
  }

 private:
  struct GroupFacts {
    int block = -1;  // In which the forward pass makes it; -1: in none.
    bool is_forward = false;
    int32_t made = -1;           // Position.
    std::vector<int32_t> reads;  // Positions of who reads its forward values, in order.
    bool leaves = false;         // The forward pass reads it after its block.
  };

  void ReadForwardPositions() {
    is_forward_at_.assign(program_.position_count(), false);
    for (int32_t p = 0; p < program_.position_count(); ++p) {
      const InstructionNumber i = program_.InstructionAt(p);
      is_forward_at_[p] = program_.IsInEntry(i) && model_.IsForward(i);
    }
  }

  void ReadGroups() {
    groups_.resize(model_.groups().size());
    for (size_t g = 0; g < groups_.size(); ++g) {
      const HeapGroup& group = model_.groups()[g];
      GroupFacts& facts = groups_[g];
      const InstructionNumber maker = program_.buffers()[group.root].value.instruction;
      if (maker != IdIndex::kNone) facts.made = program_.position(maker);
      for (const HeapGroup::Member& member : group.members) {
        const LeafId n = model_.LeafOf(member.buffer);
        if (program_.PassOfBuffer(member.buffer) != Pass::kForward) continue;
        facts.is_forward = true;
        if (n == IdIndex::kNone) continue;
        for (InstructionNumber reader : model_.UsesOf(n).readers) {
          facts.reads.push_back(std::max(0, program_.position(reader)));
        }
      }
      std::sort(facts.reads.begin(), facts.reads.end());
      if (!facts.is_forward || facts.made < 0) continue;
      for (size_t k = 0; k < blocks_.size(); ++k) {
        if (blocks_[k].begin <= facts.made && facts.made < blocks_[k].end) {
          facts.block = static_cast<int>(k);
          break;
        }
      }
      if (facts.block < 0) continue;
      facts.leaves = std::any_of(facts.reads.begin(), facts.reads.end(), [&](int32_t p) {
        return p >= blocks_[facts.block].end && is_forward_at_[p];
      });
    }
  }

  // Whether what runs there makes something of the batch: a weight's gradient can wait.
  bool IsOnChain(int32_t position) const {
    if (!model_.batch().found()) return true;
    const LeafRange result = program_.LeavesOf(program_.InstructionAt(position));
    for (int32_t k = 0; k < result.count; ++k) {
      if (model_.HasBatch(result.first + k)) return true;
    }
    return false;
  }

  // When each block is computed again: before the backward pass first needs what it kept.
  void FindTimes() {
    for (size_t g = 0; g < groups_.size(); ++g) {
      const GroupFacts& facts = groups_[g];
      const HeapGroup& group = model_.groups()[g];
      if (facts.block < 0 || facts.leaves || group.bytes <= kLeastKeptBytes ||
          group.intervals.empty() || group.intervals.back().end <= BeginOf(forward_end_)) {
        continue;
      }
      for (int32_t p : facts.reads) {
        if (p < forward_end_ || is_forward_at_[p] || !IsOnChain(p)) continue;
        const Moment at = BeginOf(p) - kMomentsOfStep;
        const auto [known, is_new] = again_at_.emplace(facts.block, at);
        if (!is_new) known->second = std::min(known->second, at);
        break;
      }
    }
  }

  // What each block reads of the one before it: the largest such group is what stays of it.
  void FindInputs() {
    std::map<int, size_t> input_of;
    for (size_t g = 0; g < groups_.size(); ++g) {
      const GroupFacts& facts = groups_[g];
      if (!facts.is_forward || facts.made < 0) continue;
      for (int q = 0; q < static_cast<int>(blocks_.size()); ++q) {
        const BlockSpan& block = blocks_[q];
        if (facts.made >= block.begin || (facts.block >= 0 && facts.block != q - 1)) continue;
        const auto read = std::lower_bound(facts.reads.begin(), facts.reads.end(), block.begin);
        if (read == facts.reads.end() || *read >= block.end) continue;
        const auto [known, is_new] = input_of.emplace(q, g);
        if (!is_new && model_.groups()[g].bytes > model_.groups()[known->second].bytes) {
          known->second = g;
        }
      }
    }
    for (const auto& [q, g] : input_of) {
      if (const auto at = again_at_.find(q); at != again_at_.end()) {
        needed_at_[g] = std::max(needed_at_[g], at->second + kMomentsOfStep);
      }
    }
  }

  void Rewrite(size_t g, std::vector<HeapPiece>* pieces) {
    const GroupFacts& facts = groups_[g];
    const HeapGroup& group = model_.groups()[g];
    HeapPiece piece = std::move(state_.pieces[g]);
    const int64_t bytes = piece.bytes;
    const auto needed = needed_at_.find(g);
    auto stretch = [&](std::vector<HeapInterval> intervals) {
      if (needed == needed_at_.end() || intervals.empty()) return intervals;
      Moment end = needed->second;
      for (const HeapInterval& at : intervals) end = std::max(end, at.end);
      return std::vector<HeapInterval>{{intervals.front().begin, end}};
    };
    const auto again = again_at_.find(facts.block);
    const bool is_last = facts.block + 1 == static_cast<int>(blocks_.size());
    if (facts.block < 0 || again == again_at_.end() || (facts.leaves && is_last) ||
        group.intervals.empty()) {
      piece.intervals = stretch(std::move(piece.intervals));
      pieces->push_back(std::move(piece));
      return;
    }
    const BlockSpan& block = blocks_[facts.block];
    const Recomputation recomputation(BeginOf(block.begin), BeginOf(block.end), again->second);
    const bool is_kept = std::any_of(facts.reads.begin(), facts.reads.end(), [&](int32_t p) {
      return p >= block.end && !is_forward_at_[p];
    });
    if (!is_kept) {
      pieces->push_back(std::move(piece));
      HeapPiece clone{bytes, {}, -1, group.root, kAgain};
      for (const HeapInterval& at : group.intervals) {
        clone.intervals.push_back(recomputation.Map(at));
      }
      pieces->push_back(std::move(clone));
      return;
    }
    if (needed != needed_at_.end()) {
      piece.intervals = stretch(group.intervals);
      pieces->push_back(std::move(piece));
      return;
    }
    int32_t last_read = facts.made;
    for (int32_t p : facts.reads) {
      if (p < block.end) last_read = std::max(last_read, p);
    }
    piece.intervals = {{group.intervals.front().begin, EndOf(last_read)}};
    pieces->push_back(std::move(piece));
    pieces->push_back(
        {bytes,
         {{recomputation.Map(group.intervals.front().begin), group.intervals.back().end}},
         -1,
         group.root,
         kAgain});
  }

  const PlanModel& model_;
  const Program& program_;
  PlanState& state_;
  const std::vector<BlockSpan>& blocks_;
  int32_t forward_end_ = 0;
  std::vector<bool> is_forward_at_;
  std::vector<GroupFacts> groups_;
  std::map<int, Moment> again_at_;      // By block.
  std::map<size_t, Moment> needed_at_;  // By group: until when a block's input is needed.
};

}  // namespace

Moment Recomputation::Map(Moment moment) const {
  const double length = static_cast<double>(std::max<Moment>(1, end_ - begin_));
  const double part = std::clamp(static_cast<double>(moment - begin_) / length, 0.0, 1.0);
  return at_ - static_cast<Moment>(0.9 * kMomentsOfStep) +
         static_cast<Moment>(0.8 * kMomentsOfStep * part);
}

bool CheckpointBlocks(const PlanModel& model, PlanState* state) {
  return BlockCheckpoint(model, state).Run();
}

void Checkpoint(const PlanModel& model, PlanState* state) {
  if (CheckpointLoop(model, /*keep_carry=*/true, state)) {
    state->new_schedule = true;
    return;
  }
  if (model.platform() == "cpu") {
    throw LeverUnknown(
        "XLA:CPU undoes jax.checkpoint outside of loops: it merges what is computed again with "
        "what was kept");
  }
  if (!CheckpointBlocks(model, state)) {
    throw LeverUnknown("no repeated blocks in the forward pass of the plan");
  }
  state->new_schedule = true;
}

void OffloadActivations(const PlanModel& model, PlanState* state) {
  if (!CheckpointLoop(model, /*keep_carry=*/false, state)) {
    throw LeverUnknown("no loop over layers in the plan whose inputs could wait on the host");
  }
  state->new_schedule = true;
}

}  // namespace oomdb::ingest
