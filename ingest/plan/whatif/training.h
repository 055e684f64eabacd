// What a training program is made of: its blocks (layers), its logits, its attention scores.
#ifndef OOMDB_INGEST_PLAN_WHATIF_TRAINING_H_
#define OOMDB_INGEST_PLAN_WHATIF_TRAINING_H_

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ingest/plan/whatif/model.h"

namespace oomdb::ingest {

// One repetition of the program's block in its forward pass: positions, `end` one past the last.
struct BlockSpan {
  int32_t begin = 0;
  int32_t end = 0;
};

// The blocks of a program whose layers are written out one after the other, in order. By the
// parameters' names, which differ in one number (params['blocks'][3]['wq']); else by how often
// instructions repeat. Empty: no two alike were found.
std::vector<BlockSpan> FindBlocks(const PlanModel& model);
// As that, remembered by the model.
const std::vector<BlockSpan>& BlocksOf(const PlanModel& model);

// What the loss is taken of: the largest value of the forward pass after the last block that
// carries the batch, and the symbol of its vocabulary.
struct Logits {
  int32_t buffer = -1;  // -1: not found.
  Symbol vocabulary;    // Empty: no dimension of it is one of a weight.
};
Logits FindLogits(const PlanModel& model, const std::vector<BlockSpan>& blocks);
const Logits& LogitsOf(const PlanModel& model);

// Values of the heap that carry one symbol twice beside the batch: scores of attention, by leaf, with the
// symbol's extent there (how many times smaller they are without it).
struct Scores {
  std::unordered_map<LeafId, int64_t> extent_of;
  int64_t extent = 0;  // The largest.
  Symbol sequence;     // That of the largest score.
  bool empty() const { return extent_of.empty(); }
};
Scores FindScores(const PlanModel& model);
const Scores& ScoresOf(const PlanModel& model);

// What was found, so that several questions to one model find it once.
struct TrainingFacts {
  std::optional<std::vector<BlockSpan>> blocks;
  std::optional<Logits> logits;
  std::optional<Scores> scores;
};

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_WHATIF_TRAINING_H_
