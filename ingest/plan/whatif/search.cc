#include "ingest/plan/whatif/search.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <tuple>
#include <utility>

namespace oomdb::ingest {
namespace {

constexpr int64_t kDonateCost = 1;
constexpr int64_t kFusedCost = 2;
constexpr int64_t kChunkCost = 3;
constexpr int64_t kCheckpointCost = 10;
constexpr int64_t kAccumulateCost = 20;
constexpr int64_t kChunks = 4;
constexpr int64_t kMaxSteps = 8;
// Further than that no prediction of the batch reaches.
constexpr int64_t kMaxBatch = int64_t{1} << 24;

// Whether a lever changes the plan at all.
bool Helps(const PlanModel& model, const Change& given, const Change& with) {
  const Answer before = Ask(model, given);
  const Answer after = Ask(model, with);
  return before.after && after.after && after.after->total() < before.after->total();
}

// The largest number in [low, high] of which `holds`, which holds for low and for all below it.
int64_t LargestOf(int64_t low, int64_t high, const std::function<bool(int64_t)>& holds) {
  while (low < high) {
    const int64_t middle = low + (high - low + 1) / 2;
    if (holds(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

}  // namespace

std::vector<Combination> FindCombinations(const PlanModel& model, const Change& given,
                                          int64_t capacity) {
  std::vector<Combination> candidates = {{given, {}, 0}};
  auto double_with = [&](int64_t cost, const std::function<void(Change*)>& set) {
    const size_t count = candidates.size();
    for (size_t i = 0; i < count; ++i) {
      Combination more = candidates[i];
      set(&more.change);
      more.cost += cost;
      candidates.push_back(std::move(more));
    }
  };
  auto offer = [&](bool already, int64_t cost, const std::function<void(Change*)>& set) {
    if (already) return;
    Change with = given;
    set(&with);
    if (Helps(model, given, with)) double_with(cost, set);
  };
  offer(given.donate, kDonateCost, [](Change* c) { c->donate = true; });
  offer(given.fused_attention, kFusedCost, [](Change* c) { c->fused_attention = true; });
  offer(given.chunk_loss.has_value(), kChunkCost, [](Change* c) { c->chunk_loss = kChunks; });
  offer(given.checkpoint || given.offload_activations, kCheckpointCost,
        [](Change* c) { c->checkpoint = true; });
  if (!given.accumulate && model.batch().found()) {
    const size_t count = candidates.size();
    for (int64_t steps = 2; steps <= kMaxSteps && steps <= model.batch().extent; steps *= 2) {
      for (size_t i = 0; i < count; ++i) {
        Combination more = candidates[i];
        more.change.accumulate = steps;
        more.cost += kAccumulateCost * (std::bit_width(static_cast<uint64_t>(steps)) - 1);
        candidates.push_back(std::move(more));
      }
    }
  }
  std::vector<Combination> found;
  for (Combination& candidate : candidates) {
    candidate.answer = Ask(model, candidate.change);
    if (!candidate.answer.after || candidate.answer.Fits(capacity) == false) continue;
    // Between the ends of the range it counts when the point fits.
    if (candidate.answer.Fits(capacity) != true && candidate.answer.after->total() > capacity) {
      continue;
    }
    found.push_back(std::move(candidate));
  }
  std::stable_sort(found.begin(), found.end(), [&](const Combination& a, const Combination& b) {
    return std::tuple(a.answer.Fits(capacity) != true, a.cost) <
           std::tuple(b.answer.Fits(capacity) != true, b.cost);
  });
  return found;
}

LargestBatch FindLargestBatch(const PlanModel& model, const Change& given, int64_t capacity) {
  LargestBatch largest;
  auto ask = [&](int64_t batch) {
    Change change = given;
    change.batch_ratio.reset();
    change.batch_size = batch;
    return Ask(model, change);
  };
  // Levers that split the batch need something to split.
  int64_t least = 1;
  for (const auto& parts : {given.accumulate, given.data_parallel, given.fsdp, given.zero1}) {
    least = std::max(least, parts.value_or(1));
  }
  const Answer smallest = ask(least);
  if (!smallest.after) {
    largest.why_unknown = smallest.why_unknown;
    return largest;
  }
  auto surely = [&](int64_t batch) { return ask(batch).Fits(capacity) == true; };
  auto maybe = [&](int64_t batch) { return ask(batch).Fits(capacity) != false; };
  auto bound = [&](const std::function<bool(int64_t)>& holds) {
    int64_t high = least;
    while (high < kMaxBatch && holds(high * 2)) high *= 2;
    return LargestOf(high, std::min(high * 2, kMaxBatch), holds);
  };
  if (surely(least)) largest.surely = bound(surely);
  if (smallest.is_bound) return largest;
  if (!maybe(least)) {
    largest.at_most = 0;
  } else {
    largest.at_most = std::max(bound(maybe), largest.surely.value_or(0));
  }
  return largest;
}

}  // namespace oomdb::ingest
