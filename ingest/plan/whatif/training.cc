#include "ingest/plan/whatif/training.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace oomdb::ingest {

Logits FindLogits(const PlanModel& model, const std::vector<BlockSpan>& blocks) {
  const Program& program = model.program();
  Logits logits;
  int64_t largest = -1;
  for (const HeapGroup& group : model.groups()) {
    for (const HeapGroup::Member& member : group.members) {
      const LogicalBuffer& buffer = program.buffers()[member.buffer];
      if (program.PassOfBuffer(member.buffer) != Pass::kForward ||
          !model.HasBatch(model.LeafOf(member.buffer)) || buffer.bytes <= largest) {
        continue;
      }
      if (!blocks.empty() && program.position(buffer.value.instruction) < blocks.back().end) {
        continue;
      }
      largest = buffer.bytes;
      logits.buffer = member.buffer;
    }
  }
  if (logits.buffer < 0) return logits;
  const LeafId n = model.LeafOf(logits.buffer);
  int64_t extent = 1;
  for (int32_t d = 0; d < program.leaf(n).rank(); ++d) {
    if (model.batch().symbol.IsInDimension(n, d) || program.leaf(n).extent(d) <= extent) continue;
    const Seed seed{n, d};
    Symbol symbol = model.graph().Spread(std::span(&seed, 1));
    const bool is_of_weight =
        std::any_of(model.trained().begin(), model.trained().end(),
                    [&](const StateLeaf* weight) { return symbol.IsIn(weight->leaf); });
    if (!is_of_weight) continue;
    extent = program.leaf(n).extent(d);
    logits.vocabulary = std::move(symbol);
  }
  return logits;
}

Scores FindScores(const PlanModel& model) {
  const Program& program = model.program();
  Scores scores;
  if (!model.batch().found()) return scores;
  std::vector<int32_t> order(model.groups().size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return model.groups()[a].bytes > model.groups()[b].bytes;
  });
  std::vector<LeafId> of_heap;
  for (const HeapGroup& group : model.groups()) {
    for (const HeapGroup::Member& member : group.members) {
      const LeafId n = model.LeafOf(member.buffer);
      if (model.HasBatch(n)) of_heap.push_back(n);
    }
  }
  std::set<int32_t> asked;  // Classes: of one class one answer suffices for one leaf.
  std::map<int32_t, Symbol> symbols;
  for (int32_t g : order) {
    for (const HeapGroup::Member& member : model.groups()[g].members) {
      const LeafId n = model.LeafOf(member.buffer);
      if (!model.HasBatch(n) || scores.extent_of.contains(n)) continue;
      const Leaf& leaf = program.leaf(n);
      std::map<int64_t, int> with_extent;
      for (int d = 0; d < leaf.rank(); ++d) ++with_extent[leaf.extent(d)];
      for (int32_t d = 0; d < leaf.rank(); ++d) {
        const bool is_batch = model.batch().symbol.IsInDimension(n, d);
        if ((is_batch && leaf.rank() > 2) || leaf.extent(d) < 2 ||
            with_extent[leaf.extent(d)] < 2) {
          continue;
        }
        constexpr size_t kMaxSymbols = 64;
        const int32_t c = model.graph().ClassOf(n, d);
        auto at = symbols.find(c);
        if (at == symbols.end()) {
          if (symbols.size() >= kMaxSymbols) continue;
          const Seed seed{n, d};
          at = symbols.emplace(c, model.graph().Spread(std::span(&seed, 1))).first;
        }
        const Symbol& symbol = at->second;
        if (symbol.FactorCount(n) < 2) continue;
        if (asked.insert(c).second) {
          for (LeafId q : of_heap) {
            if (symbol.FactorCount(q) >= 2) scores.extent_of.emplace(q, leaf.extent(d));
          }
          if (scores.sequence.empty()) scores.sequence = symbol;
          scores.extent = std::max(scores.extent, leaf.extent(d));
        }
        break;
      }
    }
  }
  return scores;
}

const std::vector<BlockSpan>& BlocksOf(const PlanModel& model) {
  std::optional<std::vector<BlockSpan>>& blocks = model.training_facts().blocks;
  if (!blocks) blocks = FindBlocks(model);
  return *blocks;
}

const Logits& LogitsOf(const PlanModel& model) {
  std::optional<Logits>& logits = model.training_facts().logits;
  if (!logits) logits = FindLogits(model, BlocksOf(model));
  return *logits;
}

const Scores& ScoresOf(const PlanModel& model) {
  std::optional<Scores>& scores = model.training_facts().scores;
  if (!scores) scores = FindScores(model);
  return *scores;
}

}  // namespace oomdb::ingest
