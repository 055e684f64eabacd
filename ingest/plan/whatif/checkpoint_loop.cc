// Checkpointing of a scanned block: the stacks of what every layer kept go, one stack of what
// enters the layers stays, and the backward loop computes one layer again.
#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "ingest/plan/whatif/checkpoint.h"
#include "ingest/plan/whatif/levers.h"

namespace oomdb::ingest {
namespace {

class LoopCheckpoint {
 public:
  LoopCheckpoint(const PlanModel& model, bool keep_carry, PlanState* state)
      : model_(model), program_(model.program()), keep_carry_(keep_carry), state_(*state) {}

  bool Run() {
    if (!FindLoops() || !ReadCarry()) return false;
    const Recomputation recomputation(BeginOf(forward_span_.first), BeginOf(forward_span_.last + 1),
                                      BeginOf(backward_span_.first) - kMomentsOfStep);
    std::vector<HeapPiece> pieces;
    std::vector<size_t> clones;
    Moment first_stack = INT64_MAX;
    double ratio = 1;
    for (size_t g = 0; g < model_.groups().size(); ++g) {
      const HeapGroup& group = model_.groups()[g];
      HeapPiece& piece = state_.pieces[g];
      if (group.intervals.empty()) {
        pieces.push_back(piece);
        continue;
      }
      const LeafId stack = StackIn(group);
      if (stack != IdIndex::kNone) {
        first_stack = std::min(first_stack, group.intervals.front().begin);
        if (group.bytes > 0) {
          ratio = static_cast<double>(piece.bytes) / static_cast<double>(group.bytes);
        }
        ReplaceStack(stack, piece, recomputation, &pieces);
        continue;
      }
      if (IsCopyOfStack(group)) continue;
      if (IsScannedInput(group) && !piece.intervals.empty()) {
        const Moment end =
            std::max(piece.intervals.back().end, EndOf(program_.position(backward_)));
        piece.intervals = {{piece.intervals.front().begin, end}};
      }
      pieces.push_back(piece);
      if (IsMadeInBody(group) && IsInBody(group)) clones.push_back(g);
    }
    if (first_stack == INT64_MAX) return false;
    for (size_t g : clones) {
      HeapPiece clone{state_.pieces[g].bytes, {}, -1, model_.groups()[g].root, kComputedAgain};
      for (const HeapInterval& at : model_.groups()[g].intervals) {
        clone.intervals.push_back(recomputation.Map(at));
      }
      if (const auto until = needed_until_.find(static_cast<int32_t>(g));
          until != needed_until_.end()) {
        clone.intervals = {
            {clone.intervals.front().begin, std::max(clone.intervals.back().end, until->second)}};
      }
      pieces.push_back(std::move(clone));
    }
    if (keep_carry_) {
      const double bytes = static_cast<double>(carry_bytes_) * static_cast<double>(layers_) * ratio;
      pieces.push_back({static_cast<int64_t>(bytes),
                        {{first_stack, EndOf(program_.position(backward_))}},
                        -1,
                        -1,
                        "what enters the layers"});
    }
    for (size_t p = model_.groups().size(); p < state_.pieces.size(); ++p) {
      pieces.push_back(std::move(state_.pieces[p]));
    }
    state_.pieces = std::move(pieces);
    return true;
  }

 private:
  // The loop of each pass that carries most.
  bool FindLoops() {
    if (!model_.batch().found()) return false;
    int32_t most_forward = 0;
    int32_t most_backward = 0;
    for (InstructionNumber i = 0; i < program_.instructions().size(); ++i) {
      if (program_.op(i) != Op::kWhile || !program_.IsInEntry(i) ||
          program_.position(i) == IdIndex::kNone) {
        continue;
      }
      const int32_t carried = program_.LeavesOf(i).count;
      if (program_.pass(i) == Pass::kForward && carried > most_forward) {
        most_forward = carried;
        forward_ = i;
      } else if (program_.pass(i) == Pass::kBackward && carried > most_backward) {
        most_backward = carried;
        backward_ = i;
      }
    }
    if (forward_ == IdIndex::kNone || backward_ == IdIndex::kNone) return false;
    const int32_t body = program_.instructions().WhileBody(forward_);
    const int32_t backward_body = program_.instructions().WhileBody(backward_);
    if (body == IdIndex::kNone || backward_body == IdIndex::kNone) return false;
    body_root_ = program_.instructions().RootOf(body);
    body_parameter_ = ParameterOf(body);
    backward_parameter_ = ParameterOf(backward_body);
    forward_span_ = program_.SpanOf(body);
    backward_span_ = program_.SpanOf(backward_body);
    return body_root_ != IdIndex::kNone && body_parameter_ != IdIndex::kNone &&
           backward_parameter_ != IdIndex::kNone && forward_span_.first >= 0 &&
           backward_span_.first >= 0;
  }

  InstructionNumber ParameterOf(int32_t computation) const {
    const auto [begin, end] = program_.instructions().Range(computation);
    for (InstructionNumber i = begin; i < end; ++i) {
      if (program_.op(i) == Op::kParameter) return i;
    }
    return IdIndex::kNone;
  }

  bool BatchLeads(LeafId n) const { return model_.batch().symbol.IsInDimension(n, 0); }

  // What the body hands on as element k, kNone when it isn't told.
  LeafId HandedOn(int64_t k) const {
    if (program_.op(body_root_) != Op::kTuple) return IdIndex::kNone;
    const LeafRange element = program_.Element(body_root_, k);
    return element.count == 1 ? program_.Source(element.first) : IdIndex::kNone;
  }
  bool IsUnchanged(int64_t k) const {
    const LeafId source = HandedOn(k);
    return source != IdIndex::kNone &&
           program_.op(program_.leaf(source).instruction) == Op::kParameter;
  }

  // Tells the stacks [layers, ...] that the loop writes, those it only reads, and its carry.
  bool ReadCarry() {
    const LeafRange leaves = program_.LeavesOf(forward_);
    std::map<int64_t, int> count;
    for (LeafId n = leaves.first; n < leaves.first + leaves.count; ++n) {
      if (program_.leaf(n).rank() > 1 && model_.HasBatch(n) && !BatchLeads(n)) {
        ++count[program_.leaf(n).extent(0)];
      }
    }
    int most = 0;
    for (const auto& [extent, times] : count) {
      if (times > most) {
        most = times;
        layers_ = extent;
      }
    }
    if (most == 0) return false;
    for (LeafId n = leaves.first; n < leaves.first + leaves.count; ++n) {
      if (!model_.HasBatch(n)) continue;
      const int64_t k = program_.ElementOf(n);
      const bool is_stacked =
          program_.leaf(n).rank() > 1 && program_.leaf(n).extent(0) == layers_ && !BatchLeads(n);
      if (is_stacked && IsUnchanged(k)) {
        scanned_inputs_.insert(n);
        // What the loop only reads mostly has no buffer of the loop's own.
        const InstructionNumber given = program_.Operand(forward_, 0);
        const LeafRange element =
            given == IdIndex::kNone ? LeafRange() : program_.Element(given, k);
        if (element.count == 1) scanned_inputs_.insert(program_.Source(element.first));
      } else if (is_stacked) {
        stacks_.insert(n);
      } else if (!IsUnchanged(k)) {
        carry_bytes_ += PaddedBytes(*program_.leaf(n).shape);
      }
    }
    return true;
  }

  LeafId StackIn(const HeapGroup& group) const {
    for (const HeapGroup::Member& member : group.members) {
      const LeafId n = model_.LeafOf(member.buffer);
      if (n != IdIndex::kNone && stacks_.contains(n)) return n;
    }
    return IdIndex::kNone;
  }
  bool IsScannedInput(const HeapGroup& group) const {
    return std::any_of(group.members.begin(), group.members.end(), [&](const auto& member) {
      const LeafId n = model_.LeafOf(member.buffer);
      return n != IdIndex::kNone && scanned_inputs_.contains(n);
    });
  }
  bool IsMadeInBody(const HeapGroup& group) const {
    return std::any_of(group.members.begin(), group.members.end(), [&](const auto& member) {
      const InstructionNumber i = program_.buffers()[member.buffer].value.instruction;
      if (i == IdIndex::kNone) return false;
      const int32_t p = program_.position(i);
      return p >= forward_span_.first && p <= forward_span_.last;
    });
  }
  bool IsInBody(const HeapGroup& group) const {
    return std::all_of(group.intervals.begin(), group.intervals.end(), [&](const auto& at) {
      return at.begin >= BeginOf(forward_span_.first) && at.end <= EndOf(forward_span_.last);
    });
  }

  // Between the loops stacks are copied into other layouts: those copies go, too.
  bool IsCopyOfStack(const HeapGroup& group) const {
    if (program_.PassOfBuffer(group.root) == Pass::kNeither) return false;
    const Moment backward_begin = BeginOf(backward_span_.first);
    if (group.intervals.front().begin < BeginOf(program_.position(forward_)) ||
        group.intervals.back().end > EndOf(program_.position(backward_)) ||
        group.intervals.front().begin >= backward_begin ||
        group.intervals.back().end <= backward_begin) {
      return false;
    }
    return std::any_of(group.members.begin(), group.members.end(), [&](const auto& member) {
      const LeafId n = model_.LeafOf(member.buffer);
      return model_.HasBatch(n) && program_.leaf(n).rank() > 2 &&
             program_.leaf(n).extent(0) == layers_;
    });
  }

  // The groups of the body that are read to make a layer of the stack: what must live to compute
  // it again. Elementwise work takes no room.
  std::set<int32_t> FeedsOf(LeafId written) const {
    std::set<int32_t> feeds;
    const InstructionNumber i = program_.leaf(written).instruction;
    std::vector<InstructionNumber> operands;
    if (program_.op(i) == Op::kFusion) {
      for (int n = 0; n < program_.instructions()[i].operand_ids_size(); ++n) {
        operands.push_back(program_.Operand(i, n));
      }
    } else if (program_.op(i) == Op::kDynamicUpdateSlice) {
      operands.push_back(program_.Operand(i, 1));
    }
    for (InstructionNumber operand : operands) {
      if (operand == IdIndex::kNone || program_.LeavesOf(operand).count == 0) continue;
      const LeafId n = program_.Source(program_.LeavesOf(operand).first);
      const int32_t g = model_.GroupOf(n);
      if (g >= 0 && model_.HasBatch(n) && IsInBody(model_.groups()[g])) feeds.insert(g);
    }
    return feeds;
  }

  // The last position in the backward body at which the stack is read.
  int32_t LastReadOf(LeafId stack) const {
    int32_t last = -1;
    const InstructionNumber start = program_.Operand(backward_, 0);
    const Program::Uses& uses = model_.UsesOf(stack);
    if (start != IdIndex::kNone &&
        std::find(uses.readers.begin(), uses.readers.end(), backward_) != uses.readers.end()) {
      for (int k = 0; k < program_.instructions()[start].operand_ids_size(); ++k) {
        const LeafRange given = program_.Element(start, k);
        const LeafRange inside = program_.Element(backward_parameter_, k);
        if (given.count != 1 || inside.count != 1) continue;
        if (program_.Source(given.first) != stack) continue;
        for (InstructionNumber reader : model_.UsesOf(inside.first).readers) {
          const int32_t p = program_.position(reader);
          last = std::max(last, p == IdIndex::kNone ? backward_span_.first : p);
        }
      }
    }
    return last < 0 ? backward_span_.last : last;
  }

  void ReplaceStack(LeafId stack, const HeapPiece& piece, const Recomputation& recomputation,
                    std::vector<HeapPiece>* pieces) {
    const LeafId written = HandedOn(program_.ElementOf(stack));
    const Moment end = EndOf(LastReadOf(stack));
    const std::set<int32_t> feeds =
        written == IdIndex::kNone ? std::set<int32_t>() : FeedsOf(written);
    for (int32_t g : feeds) needed_until_[g] = std::max(needed_until_[g], end);
    if (!feeds.empty()) return;
    int32_t made = forward_span_.last;
    if (written != IdIndex::kNone) {
      const int32_t p = program_.position(program_.leaf(written).instruction);
      if (p != IdIndex::kNone) made = p;
    }
    pieces->push_back({piece.bytes / layers_,
                       {{recomputation.Map(BeginOf(made)), end}},
                       -1,
                       -1,
                       "a layer of what was kept"});
  }

  const PlanModel& model_;
  const Program& program_;
  const bool keep_carry_;
  PlanState& state_;
  InstructionNumber forward_ = IdIndex::kNone;
  InstructionNumber backward_ = IdIndex::kNone;
  InstructionNumber body_root_ = IdIndex::kNone;
  InstructionNumber body_parameter_ = IdIndex::kNone;
  InstructionNumber backward_parameter_ = IdIndex::kNone;
  Program::Span forward_span_, backward_span_;
  int64_t layers_ = 0;
  int64_t carry_bytes_ = 0;
  std::set<LeafId> stacks_;
  std::set<LeafId> scanned_inputs_;
  std::map<int32_t, Moment> needed_until_;  // By group of the body.
};

}  // namespace

bool CheckpointLoop(const PlanModel& model, bool keep_carry, PlanState* state) {
  return LoopCheckpoint(model, keep_carry, state).Run();
}

}  // namespace oomdb::ingest
