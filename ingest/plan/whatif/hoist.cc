// Finding a better order of instructions around the peak. See state.h.
#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ingest/plan/whatif/state.h"

namespace oomdb::ingest {
namespace {

constexpr int kMaxRounds = 40;
constexpr double kLeastShare = 0.01;  // Of the peak: what is smaller isn't worth another order.

// The bytes that live at each moment, changed bit by bit.
class LiveCurve {
 public:
  explicit LiveCurve(const std::vector<HeapPiece>& pieces) {
    for (const HeapPiece& piece : pieces) {
      for (const HeapInterval& at : piece.intervals) {
        changes_.emplace_back(at.begin, piece.bytes);
        changes_.emplace_back(at.end, -piece.bytes);
      }
    }
    std::sort(changes_.begin(), changes_.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
  }

  void Change(const HeapPiece& piece, int64_t sign) {
    for (const HeapInterval& at : piece.intervals) {
      Insert(at.begin, sign * piece.bytes);
      Insert(at.end, -sign * piece.bytes);
    }
  }

  LivePeak Peak() const {
    LivePeak peak;
    int64_t live = 0;
    for (size_t i = 0; i < changes_.size(); ++i) {
      live += changes_[i].second;
      if (i + 1 < changes_.size() && changes_[i + 1].first == changes_[i].first) continue;
      if (live > peak.bytes) peak = {live, changes_[i].first};
    }
    return peak;
  }

 private:
  void Insert(Moment moment, int64_t bytes) {
    auto at = std::lower_bound(changes_.begin(), changes_.end(), moment,
                               [](const auto& c, Moment m) { return c.first < m; });
    if (at != changes_.end() && at->first == moment) {
      at->second += bytes;
    } else {
      changes_.insert(at, {moment, bytes});
    }
  }

  std::vector<std::pair<Moment, int64_t>> changes_;
};

class Hoister {
 public:
  Hoister(const PlanModel& model, PlanState* state)
      : model_(model), program_(model.program()), pieces_(state->pieces), curve_(state->pieces) {
    pieces_of_group_.resize(model.groups().size());
    for (size_t p = 0; p < pieces_.size(); ++p) {
      if (pieces_[p].group >= 0) pieces_of_group_[pieces_[p].group].push_back(p);
    }
  }

  bool Run() {
    int rounds = 0;
    while (rounds < kMaxRounds && Improve()) ++rounds;
    return rounds > 0;
  }

 private:
  // Who reads a group's values, without those that are in the group themselves.
  struct GroupReaders {
    std::vector<InstructionNumber> readers;
    bool is_output = false;
  };
  struct Move {
    int64_t gain = 0;
    size_t piece = 0;
    std::vector<InstructionNumber> late;
    std::vector<size_t> made;  // Pieces of what the late ones make.
    int32_t first_ready = 0;   // Positions.
    int32_t last_ready = 0;
  };

  const GroupReaders& ReadersOf(int32_t g) {
    const auto [at, is_new] = readers_.try_emplace(g);
    if (!is_new) return at->second;
    std::set<InstructionNumber> readers;
    for (const HeapGroup::Member& member : model_.groups()[g].members) {
      const LeafId n = model_.LeafOf(member.buffer);
      if (n == IdIndex::kNone) continue;
      const Program::Uses& uses = model_.UsesOf(n);
      readers.insert(uses.readers.begin(), uses.readers.end());
      at->second.is_output = at->second.is_output || uses.is_output;
    }
    for (const HeapGroup::Member& member : model_.groups()[g].members) {
      readers.erase(program_.buffers()[member.buffer].value.instruction);
    }
    at->second.readers.assign(readers.begin(), readers.end());
    return at->second;
  }

  int32_t PositionOf(InstructionNumber i) const { return std::max(0, program_.position(i)); }

  // The position after which all its operands exist.
  int32_t ReadyAt(InstructionNumber i) const {
    int32_t ready = 0;
    std::vector<InstructionNumber> todo = {i};
    std::set<InstructionNumber> seen = {i};
    while (!todo.empty()) {
      const InstructionNumber x = todo.back();
      todo.pop_back();
      for (int n = 0; n < program_.instructions()[x].operand_ids_size(); ++n) {
        const InstructionNumber operand = program_.Operand(x, n);
        if (operand == IdIndex::kNone || !seen.insert(operand).second) continue;
        switch (program_.op(operand)) {
          case Op::kTuple:
          case Op::kGetTupleElement:
          case Op::kBitcast:
          case Op::kBarrier:
            todo.push_back(operand);
            break;
          default:
            ready = std::max(ready, PositionOf(operand));
        }
      }
    }
    return ready;
  }

  static bool LivesAt(const HeapPiece& piece, Moment at) {
    return std::any_of(piece.intervals.begin(), piece.intervals.end(),
                       [at](const HeapInterval& i) { return i.begin <= at && at < i.end; });
  }

  // Whether the piece's readers after the peak may all run before it.
  bool CanMove(size_t p, Moment peak_at, Move* move) {
    const HeapPiece& piece = pieces_[p];
    const GroupReaders& group = ReadersOf(piece.group);
    if (group.is_output) return false;
    for (InstructionNumber reader : group.readers) {
      if (BeginOf(PositionOf(reader)) <= peak_at) continue;
      const Op op = program_.op(reader);
      if (!program_.IsInEntry(reader) || op == Op::kWhile || op == Op::kCall ||
          op == Op::kConditional || tried_.contains({piece.group, reader})) {
        return false;
      }
      const int32_t ready = ReadyAt(reader);
      if (BeginOf(ready) >= peak_at) return false;
      move->first_ready = move->late.empty() ? ready : std::min(move->first_ready, ready);
      move->last_ready = std::max(move->last_ready, ready);
      move->late.push_back(reader);
    }
    if (move->late.empty()) return false;
    std::set<int32_t> made;
    for (InstructionNumber reader : move->late) {
      const LeafRange result = program_.LeavesOf(reader);
      for (int32_t k = 0; k < result.count; ++k) {
        const int32_t g = model_.GroupOf(result.first + k);
        if (g >= 0 && g != piece.group) made.insert(g);
      }
    }
    int64_t cost = 0;
    for (int32_t g : made) {
      for (size_t q : pieces_of_group_[g]) {
        if (pieces_[q].intervals.empty()) continue;
        if (!LivesAt(pieces_[q], peak_at)) cost += pieces_[q].bytes;
        move->made.push_back(q);
      }
    }
    move->piece = p;
    move->gain = piece.bytes - cost;
    return move->gain > 0;
  }

  bool Improve() {
    const LivePeak peak = curve_.Peak();
    Move best;
    for (size_t p = 0; p < pieces_.size(); ++p) {
      const HeapPiece& piece = pieces_[p];
      if (piece.group < 0 || pieces_of_group_[piece.group].size() != 1 ||
          static_cast<double>(piece.bytes) < kLeastShare * static_cast<double>(peak.bytes) ||
          piece.bytes <= best.gain || !LivesAt(piece, peak.moment)) {
        continue;
      }
      Move move;
      if (CanMove(p, peak.moment, &move) && move.gain > best.gain) best = std::move(move);
    }
    if (best.gain <= 0) return false;
    Apply(best, peak);
    return true;
  }

  void Apply(const Move& move, const LivePeak& peak) {
    const int32_t group = pieces_[move.piece].group;
    for (InstructionNumber reader : move.late) tried_.insert({group, reader});
    std::vector<std::pair<size_t, std::vector<HeapInterval>>> before;
    auto change = [&](size_t p, std::vector<HeapInterval> intervals) {
      before.emplace_back(p, pieces_[p].intervals);
      curve_.Change(pieces_[p], -1);
      pieces_[p].intervals = std::move(intervals);
      curve_.Change(pieces_[p], 1);
    };
    Moment stop = EndOf(move.last_ready) + kMomentsOfStep / 2;
    for (InstructionNumber reader : ReadersOf(group).readers) {
      if (program_.position(reader) == IdIndex::kNone) continue;
      if (BeginOf(program_.position(reader)) <= peak.moment) {
        stop = std::max(stop, EndOf(program_.position(reader)));
      }
    }
    std::vector<HeapInterval> cut;
    for (const HeapInterval& at : pieces_[move.piece].intervals) {
      if (at.begin < stop) cut.push_back({at.begin, std::min(at.end, stop)});
    }
    change(move.piece, std::move(cut));
    for (size_t p : move.made) {
      std::vector<HeapInterval> earlier = pieces_[p].intervals;
      earlier.front().begin =
          std::min(earlier.front().begin, EndOf(move.first_ready) + kMomentsOfStep / 4);
      change(p, std::move(earlier));
    }
    if (curve_.Peak().bytes <= peak.bytes) return;
    for (auto it = before.rbegin(); it != before.rend(); ++it) {
      curve_.Change(pieces_[it->first], -1);
      pieces_[it->first].intervals = it->second;
      curve_.Change(pieces_[it->first], 1);
    }
  }

  const PlanModel& model_;
  const Program& program_;
  std::vector<HeapPiece>& pieces_;
  std::vector<std::vector<size_t>> pieces_of_group_;
  LiveCurve curve_;
  std::unordered_map<int32_t, GroupReaders> readers_;
  std::set<std::pair<int32_t, InstructionNumber>> tried_;
};

}  // namespace

bool Hoist(const PlanModel& model, PlanState* state) { return Hoister(model, state).Run(); }

}  // namespace oomdb::ingest
