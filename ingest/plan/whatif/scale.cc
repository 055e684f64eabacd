// Levers that change the extent of a symbol: the batch, the sequence, accumulation.
#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <vector>

#include "ingest/plan/whatif/levers.h"
#include "ingest/plan/whatif/training.h"

namespace oomdb::ingest {
namespace {

// Of no program; thousands of such values can be summed up.
constexpr double kMaxBytes = 1LL << 50;

int64_t Times(int64_t bytes, double after, double before) {
  return static_cast<int64_t>(std::min(static_cast<double>(bytes) * after / before, kMaxBytes));
}

// How many times its bytes a buffer takes when the symbol's extent is `ratio` times what it is.
class Scaling {
 public:
  Scaling(const PlanModel& model, const Symbol& symbol, double ratio)
      : model_(model), symbol_(symbol), ratio_(ratio) {}

  int64_t BytesOf(int32_t buffer) {
    const int64_t bytes = model_.program().buffers()[buffer].bytes;
    const LeafId n = model_.LeafOf(buffer);
    if (!symbol_.IsIn(n)) return bytes;
    const proto::ShapeProto& shape = *model_.program().leaf(n).shape;
    const int64_t before = PaddedBytes(shape);
    if (before <= 0) return bytes;
    const double after = static_cast<double>(PaddedBytes(shape, symbol_.Scaled(n, ratio_)));
    return Times(bytes, after, static_cast<double>(before));
  }

 private:
  const PlanModel& model_;
  const Symbol& symbol_;
  const double ratio_;
};

// What is in the heap.
void ScaleHeap(const PlanModel& model, const Symbol& symbol, double ratio, PlanState* state) {
  Scaling scaling(model, symbol, ratio);
  const std::vector<LogicalBuffer>& buffers = model.program().buffers();
  for (HeapPiece& piece : state->pieces) {
    int64_t before = 0;
    int64_t after = -1;
    if (piece.group >= 0) {
      const HeapGroup& group = model.groups()[piece.group];
      before = buffers[group.root].bytes;
      // The largest of those that fill the group: smaller ones fit in.
      for (const HeapGroup::Member& member : group.members) {
        if (buffers[member.buffer].bytes == before) {
          after = std::max(after, scaling.BytesOf(member.buffer));
        }
      }
    } else if (piece.buffer >= 0) {
      before = buffers[piece.buffer].bytes;
      after = scaling.BytesOf(piece.buffer);
    }
    if (before <= 0 || after < 0 || after == before) continue;
    piece.bytes = Times(piece.bytes, static_cast<double>(after), static_cast<double>(before));
  }
}

// Parameters, outputs and constants.
void ScaleOthers(const PlanModel& model, const Symbol& symbol, double ratio, PlanState* state) {
  Scaling scaling(model, symbol, ratio);
  const std::vector<LogicalBuffer>& buffers = model.program().buffers();
  for (const proto::BufferAllocationProto* allocation :
       model.program().assignment().allocations()) {
    if (allocation->color() != 0 || allocation->assigned_size() == 0 ||
        state->gone_allocations.contains(allocation->index())) {
      continue;
    }
    int64_t before = 0;
    int64_t after = 0;
    for (const auto& assigned : allocation->assigned()) {
      const int32_t b = model.program().assignment().FindBuffer(assigned.logical_buffer_id());
      if (b == IdIndex::kNone) continue;
      const int64_t offset = std::max<int64_t>(0, assigned.offset());
      before = std::max(before, offset + buffers[b].bytes);
      after = std::max(after, offset + scaling.BytesOf(b));
    }
    switch (ClassOf(*allocation)) {
      case AllocationClass::kParameter:
        state->need.parameter_bytes += after - before;
        break;
      case AllocationClass::kOutput:
        state->need.output_bytes += after - before;
        break;
      case AllocationClass::kConstant:
        state->need.constant_bytes += after - before;
        break;
      default:
        break;
    }
  }
}

}  // namespace

void ScaleBatch(const PlanModel& model, double ratio, PlanState* state) {
  RequireBatch(model);
  ScaleHeap(model, model.batch().symbol, ratio, state);
  ScaleOthers(model, model.batch().symbol, ratio, state);
}

void ScaleSequence(const PlanModel& model, double ratio, PlanState* state) {
  const Scores& scores = ScoresOf(model);
  if (scores.empty()) {
    throw LeverUnknown("no sequence in the plan: no value has one symbol twice beside the batch");
  }
  ScaleHeap(model, scores.sequence, ratio, state);
  ScaleOthers(model, scores.sequence, ratio, state);
}

void Accumulate(const PlanModel& model, int64_t steps, PlanState* state) {
  RequireBatch(model);
  RequireWeights(model);
  // The step still takes the whole batch as its argument.
  ScaleHeap(model, model.batch().symbol, 1.0 / static_cast<double>(steps), state);
  state->new_schedule = true;
  // A gradient is added to its sum when it is made.
  for (int32_t g : model.gradients()) EndWhereMade(model, g, state);
  int64_t sums = 0;
  for (const StateLeaf* weight : model.trained()) {
    const proto::ShapeProto& shape = *model.program().leaf(weight->leaf).shape;
    sums += PaddedBytes(shape) * 4 / ElementBytes(shape);
  }
  state->Add("sums of the gradients", sums, {model.heap_begin(), model.heap_end()});
}

}  // namespace oomdb::ingest
