#include "ingest/plan/whatif/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ingest/plan/whatif/levers.h"

namespace oomdb::ingest {
namespace {

// How far the truth was from the range of programs that were really compiled with the change
// (docs/what-if.md): with the plan's own order of instructions, and with another one.
constexpr double kSameScheduleMargin = 0.02;
constexpr double kNewScheduleMargin = 0.05;
// Of what blocks compute again at the peak, so much may never be in memory.
constexpr double kFusedShare = 0.5;
// A bound says "fits" only with this much of the capacity to spare.
constexpr double kBoundSpare = 0.20;
// Beyond these the plan is not understood well enough.
constexpr double kMaxLostShare = 0.01;     // Of the heap: where the batch could not be followed.
constexpr double kMaxUnknownShare = 0.10;  // Of the peak: what unknown custom calls make.
constexpr double kMaxPackingError = 0.005;
constexpr int64_t kPackingTolerance = 16384;  // bytes

double BatchRatio(const PlanModel& model, const Change& change) {
  double ratio = change.batch_ratio.value_or(1);
  if (change.batch_size && model.batch().found()) {
    ratio = static_cast<double>(*change.batch_size) / static_cast<double>(model.batch().extent);
  }
  for (const std::optional<int64_t>& devices : {change.data_parallel, change.fsdp, change.zero1}) {
    if (devices) ratio /= static_cast<double>(*devices);
  }
  return ratio;
}

bool ChangesBatch(const Change& change) {
  return change.batch_ratio || change.batch_size || change.data_parallel || change.fsdp ||
         change.zero1;
}

bool NeedsBatch(const Change& change) {
  return ChangesBatch(change) || change.accumulate || change.chunk_loss || change.fused_attention ||
         change.bf16 || change.sequence_ratio;
}

// The levers, in the order in which they compose.
void Apply(const PlanModel& model, const Change& change, PlanState* state) {
  if (change.donate) Donate(model, state);
  if (change.fused_attention) FuseAttention(model, state);
  if (change.chunk_loss) ChunkLoss(model, *change.chunk_loss, state);
  if (change.bf16) UseBf16(model, state);
  if (change.offload_optimizer) OffloadOptimizer(model, state);
  if (change.sequence_ratio) ScaleSequence(model, *change.sequence_ratio, state);
  if (ChangesBatch(change)) {
    const double ratio = BatchRatio(model, change);
    if (model.batch().found()) {
      const double extent = static_cast<double>(model.batch().extent) * ratio;
      if (extent < 1 - 1e-6) {
        throw LeverUnknown(
            fmt::format("the batch of {} on a device can't be made {:.3g} times as "
                        "large: nothing would be left",
                        model.batch().extent, ratio));
      }
    }
    ScaleBatch(model, ratio, state);
  }
  if (change.fsdp) ShardFully(model, *change.fsdp, state);
  if (change.zero1) ShardOptimizer(model, *change.zero1, state);
  if (change.accumulate) Accumulate(model, *change.accumulate, state);
  if (change.offload_activations) {
    OffloadActivations(model, state);
  } else if (change.checkpoint) {
    Checkpoint(model, state);
  }
}

int64_t RematerializedCount(const Program& program) {
  int64_t count = 0;
  for (InstructionNumber i = 0; i < program.instructions().size(); ++i) {
    const Op op = program.op(i);
    count += program.rematerialized(i) && op != Op::kBitcast && op != Op::kGetTupleElement;
  }
  return count;
}

// The bytes live at the heap's peak of the groups that `is_such` of.
template <typename Such>
int64_t BytesAtPeak(const PlanModel& model, const Such& is_such, int64_t* peak_bytes) {
  const LivePeak peak = PeakOf(ItemsOf(model.groups()));
  *peak_bytes = peak.bytes;
  int64_t bytes = 0;
  for (const HeapGroup& group : model.groups()) {
    const bool lives = std::any_of(group.intervals.begin(), group.intervals.end(), [&](auto& at) {
      return at.begin <= peak.moment && peak.moment < at.end;
    });
    if (lives && is_such(group)) bytes += group.bytes;
  }
  return bytes;
}

bool IsMadeBy(const PlanModel& model, const HeapGroup& group, Op op) {
  const InstructionNumber i = model.program().buffers()[group.root].value.instruction;
  return i != IdIndex::kNone && model.program().op(i) == op;
}

// What in the plan is not understood, so that no number would be honest; empty: nothing.
std::string NotUnderstood(const PlanModel& model, const Change& change) {
  const Program& program = model.program();
  if (model.groups().empty()) {
    return "the plan has no record of its heap (heap simulator trace), so lifetimes are not known";
  }
  if (!program.has_schedule()) return "the module says no order of its instructions";
  if (!NeedsBatch(change)) return {};
  int64_t lost = 0;
  int64_t heap = 0;
  for (const HeapGroup& group : model.groups()) heap += group.bytes;
  for (LeafId n : model.batch().symbol.lost()) {
    const int32_t g = model.GroupOf(n);
    if (g >= 0 && !model.HasBatch(n)) lost += model.groups()[g].bytes;
  }
  if (static_cast<double>(lost) > kMaxLostShare * static_cast<double>(heap)) {
    return "the batch could not be followed through reshapes to a part of the heap";
  }
  int64_t peak = 0;
  const int64_t opaque = BytesAtPeak(
      model,
      [&](const HeapGroup& group) {
        if (!IsMadeBy(model, group, Op::kCustomCall)) return false;
        const InstructionNumber i = program.buffers()[group.root].value.instruction;
        return model.graph().unknown_calls().contains(
            program.instructions()[i].custom_call_target());
      },
      &peak);
  if (static_cast<double>(opaque) > kMaxUnknownShare * static_cast<double>(peak)) {
    return "custom calls whose dimensions are not known make more than 10 % of the heap's peak";
  }
  return {};
}

// Scratch memory of convolutions: another batch may choose another algorithm.
int64_t ConvolutionScratch(const PlanModel& model) {
  const Program& program = model.program();
  int64_t largest = 0;
  for (const HeapGroup& group : model.groups()) {
    const LogicalBuffer& buffer = program.buffers()[group.root];
    if (!IsMadeBy(model, group, Op::kCustomCall)) continue;
    if (!IsWorkspace(program.instructions(), buffer.value)) continue;
    const std::string& target =
        program.instructions()[buffer.value.instruction].custom_call_target();
    if (target.find("$conv") != std::string::npos) largest = std::max(largest, group.bytes);
  }
  return largest;
}

class Asker {
 public:
  Asker(const PlanModel& model, const Change& change) : model_(model), change_(change) {}

  Answer Run() {
    answer_.before = model_.need();
    if (change_ == Change()) {
      answer_.after = model_.need();
      answer_.low_bytes = answer_.high_bytes = model_.need().total();
      return answer_;
    }
    answer_.why_unknown = NotUnderstood(model_, change_);
    if (!answer_.why_unknown.empty()) return answer_;
    try {
      PlanState state = StateOf(model_);
      Apply(model_, change_, &state);
      if (change_.donate && state.gone_allocations.empty()) {
        answer_.notes.push_back(
            "nothing is left to donate: no argument has the type, shape and "
            "layout of a result that is not donated to yet");
      }
      answer_.is_bound = change_.bf16 || change_.offload_activations || change_.offload_optimizer;
      SetRange(std::move(state));
      if (answer_.is_bound) return answer_;
      WidenForRematerialization();
      WidenForScratch();
    } catch (const LeverUnknown& unknown) {
      answer_ = Answer();
      answer_.before = model_.need();
      answer_.why_unknown = unknown.what();
    }
    return answer_;
  }

 private:
  void SetRange(PlanState state) {
    answer_.after = NeedOf(model_, state);
    const int64_t point = answer_.after->total();
    if (answer_.is_bound) {
      answer_.high_bytes = static_cast<int64_t>(static_cast<double>(point) / (1 - kBoundSpare));
      answer_.notes.push_back(
          "the compiler decides what it makes of this: only a bound, which says that the program "
          "fits when a fifth of the memory is to spare, and never that it doesn't");
      return;
    }
    double margin = state.new_schedule ? kNewScheduleMargin : kSameScheduleMargin;
    margin += PackingMargin();
    int64_t low = point;
    if (model_.heap_rules().order == HeapOrder::kTime) {
      low = std::min(low, NeedOf(model_, state, /*least=*/true).total());
    }
    low -= static_cast<int64_t>(kFusedShare * static_cast<double>(AgainAtPeak(state)));
    if (Hoist(model_, &state)) {
      low = std::min(low, NeedOf(model_, state, /*least=*/true).total());
    }
    answer_.low_bytes = static_cast<int64_t>(static_cast<double>(low) * (1 - margin));
    answer_.high_bytes = static_cast<int64_t>(static_cast<double>(point) * (1 + margin));
  }

  // What lives at the peak because it is computed again. It is compiled anew: of the values between
  // those that the backward pass reads, a compiler may fuse some away that this plan has in memory.
  int64_t AgainAtPeak(const PlanState& state) const {
    int64_t bytes = 0;
    for (const HeapPiece* piece : PiecesAtPeak(model_, state)) {
      if (piece->what == kComputedAgain) bytes += piece->bytes;
    }
    return bytes;
  }

  // How far the unchanged plan, packed again, is from its heap.
  double PackingMargin() {
    const PackingCheck& check = model_.check();
    const double error = std::abs(check.Error());
    if (error * static_cast<double>(check.stored_bytes) <= kPackingTolerance) return 0;
    if (error > kMaxPackingError) {
      answer_.notes.push_back(fmt::format(
          "packing the unchanged plan again gives a heap that is {:.1f} % off: so may this be",
          100 * check.Error()));
    }
    return error;
  }

  // XLA rematerialized in this plan: a smaller program would not be, a larger one more.
  void WidenForRematerialization() {
    if (change_.checkpoint) return;
    const int64_t count = RematerializedCount(model_.program());
    if (count == 0) return;
    PlanState state = StateOf(model_);
    UndoRematerialization(model_, &state);
    Apply(model_, change_, &state);
    const double margin = state.new_schedule ? kNewScheduleMargin : kSameScheduleMargin;
    const int64_t undone = NeedOf(model_, state).total();
    const auto high = static_cast<int64_t>(static_cast<double>(undone) * (1 + margin));
    if (high <= *answer_.high_bytes) return;
    answer_.only_range = true;
    answer_.high_bytes = high;
    answer_.notes.push_back(fmt::format(
        "XLA rematerialized {} instructions to make this plan fit; a changed program may be "
        "compiled without that, and need up to {} bytes",
        count, undone));
  }

  void WidenForScratch() {
    if (!ChangesBatch(change_) && !change_.accumulate) return;
    const int64_t scratch = ConvolutionScratch(model_);
    if (static_cast<double>(scratch) < 0.01 * static_cast<double>(model_.need().total())) return;
    const double ratio =
        BatchRatio(model_, change_) / static_cast<double>(change_.accumulate.value_or(1));
    answer_.low_bytes = *answer_.low_bytes - scratch;
    answer_.high_bytes = *answer_.high_bytes +
                         static_cast<int64_t>(static_cast<double>(scratch) * std::max(1.0, ratio));
    answer_.notes.push_back(
        "convolutions take scratch memory, which depends on the algorithm that is chosen for the "
        "new batch: the range holds it once more and not at all");
  }

  const PlanModel& model_;
  const Change& change_;
  Answer answer_;
};

}  // namespace

std::optional<bool> Answer::Fits(int64_t capacity) const {
  if (high_bytes && *high_bytes <= capacity) return true;
  if (low_bytes && *low_bytes > capacity) return false;
  return std::nullopt;
}

Answer Ask(const PlanModel& model, const Change& change) { return Asker(model, change).Run(); }

void Describe(const PlanModel& model, const Change& change, Answer* answer) {
  constexpr size_t kLargest = 10;
  constexpr size_t kParts = 60;
  if (model.groups().empty()) return;
  answer->curve_before = LiveCurveOf(model, StateOf(model), kParts);
  if (!answer->after) return;
  PlanState state = StateOf(model);
  Apply(model, change, &state);
  answer->curve_after = LiveCurveOf(model, state, kParts);
  for (const HeapPiece* piece : PiecesAtPeak(model, state)) {
    if (answer->largest.size() == kLargest) break;
    AtPeak& item = answer->largest.emplace_back();
    item.bytes = piece->bytes;
    item.what = piece->what;
    const int32_t buffer = piece->group >= 0 ? model.groups()[piece->group].root : piece->buffer;
    if (buffer < 0) continue;
    const ValueAt& value = model.program().buffers()[buffer].value;
    if (value.instruction == IdIndex::kNone) continue;
    const proto::HloInstructionProto& instruction =
        model.program().instructions()[value.instruction];
    item.instruction = instruction.name();
    item.op_name = instruction.metadata().op_name();
    const LeafId n = model.LeafOf(buffer);
    if (n != IdIndex::kNone) item.shape = PrintShape(*model.program().leaf(n).shape);
  }
}

}  // namespace oomdb::ingest
