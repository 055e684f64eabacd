// One compiled program, ready for what-if questions: its heap as groups with lifetimes in the order
// of the program, the sums of the other classes, its batch, and its training state. Made once, read
// by every question.
#ifndef OOMDB_INGEST_PLAN_WHATIF_MODEL_H_
#define OOMDB_INGEST_PLAN_WHATIF_MODEL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ingest/plan/pack/heap_groups.h"
#include "ingest/plan/whatif/dimension_graph.h"
#include "ingest/plan/whatif/program.h"

namespace oomdb::ingest {

// A moment of the program: its position, and the events of the trace in it.
using Moment = int64_t;
inline constexpr Moment kMomentsOfStep = Moment{1} << 20;  // Between two events of a position.
inline constexpr Moment kMomentsOfPosition = kMomentsOfStep << 20;
inline constexpr Moment BeginOf(int64_t position) { return position * kMomentsOfPosition; }
inline constexpr Moment EndOf(int64_t position) { return BeginOf(position + 1) - kMomentsOfStep; }
inline constexpr int64_t PositionOf(Moment moment) { return moment / kMomentsOfPosition; }

// The device memory (space 0) that a program needs, bytes.
struct MemoryNeed {
  int64_t parameter_bytes = 0;
  int64_t output_bytes = 0;
  int64_t constant_bytes = 0;
  int64_t temp_bytes = 0;

  int64_t total() const { return parameter_bytes + output_bytes + constant_bytes + temp_bytes; }
};

// A parameter's leaf that a step hands back: a weight, a moment of the optimizer, a counter.
struct StateLeaf {
  LeafId leaf = 0;
  bool aliased = false;  // Donated: its result is written in its place.
  bool trained = false;  // Read by the forward pass: a weight.
  bool is_float = false;
  std::vector<InstructionNumber> pass_readers;  // Instructions of the two passes that read it.
  std::vector<InstructionNumber> readers;       // All that read it, through copies and casts.
};

// How the user names the batch; what is not given is found.
struct BatchHint {
  std::optional<int64_t> size;  // Its extent in this program.
  std::string argument;         // Part of the name of an argument that has it.
};

// The batch of the program.
struct Batch {
  Symbol symbol;
  int64_t extent = 0;    // As this device sees it; 0: not found.
  std::string argument;  // Where it was found.
  std::string why_not;   // When it was not.

  bool found() const { return extent > 0; }
};

struct TrainingFacts;

// Not to be asked by several threads at once: it remembers what questions found.
class PlanModel {
 public:
  // `hlo` must outlive this. `platform`: cpu, gpu, tpu; empty: the one whose heap fits best.
  PlanModel(const proto::HloProto& hlo, std::string_view platform, const BatchHint& hint = {});
  PlanModel(const PlanModel&) = delete;
  PlanModel& operator=(const PlanModel&) = delete;
  ~PlanModel();

  const Program& program() const { return program_; }
  const DimensionGraph& graph() const { return graph_; }
  const std::string& platform() const { return platform_; }
  const HeapRules& heap_rules() const { return rules_; }
  const PackingCheck& check() const { return check_; }
  const MemoryNeed& need() const { return need_; }
  // Temps that the heap does not explain (tables of tuples, second heaps): kept as they are.
  int64_t rest_bytes() const { return rest_bytes_; }

  // Intervals and members' events are moments.
  const std::vector<HeapGroup>& groups() const { return groups_; }
  const std::vector<std::vector<Moment>>& member_moments() const { return member_moments_; }
  // Which group a leaf's buffer is in, -1: none.
  int32_t GroupOf(LeafId n) const { return group_of_leaf_[n]; }
  // Of all events of the trace, in order.
  const std::vector<Moment>& trace_moments() const { return trace_moments_; }
  Moment heap_begin() const { return heap_begin_; }
  Moment heap_end() const { return heap_end_; }
  int32_t last_position() const { return program_.position_count(); }

  const Batch& batch() const { return batch_; }
  const std::vector<StateLeaf>& state() const { return state_; }
  // Weights: those of the state that the forward pass reads.
  const std::vector<const StateLeaf*>& trained() const { return trained_; }
  // Groups that hold the gradient of a weight: made by the backward pass, read outside of it.
  const std::vector<int32_t>& gradients() const { return gradients_; }
  // From the first to the last instruction of the two passes that reads it; none: nothing does.
  std::optional<HeapInterval> ReadSpanOf(const StateLeaf& leaf) const;
  // The moment at which a gradient's group is written by the backward pass.
  Moment GradientMadeAt(int32_t group) const;

  bool IsForward(InstructionNumber i) const { return program_.pass(i) == Pass::kForward; }
  // Of a buffer's value.
  LeafId LeafOf(int32_t buffer) const { return program_.LeafOfBuffer(buffer); }
  bool HasBatch(LeafId n) const { return n != IdIndex::kNone && batch_.symbol.IsIn(n); }
  // Program::UsesOf, remembered.
  const Program::Uses& UsesOf(LeafId n) const;
  TrainingFacts& training_facts() const { return *training_facts_; }
  // The entry's instructions that read a leaf, also through copies, casts and views.
  std::vector<InstructionNumber> ReadersThroughCopies(LeafId n) const;

 private:
  void ReadNeed();
  void ReadHeap();
  void ReadState();
  void DoubtBatch();
  void ReadGradients();

  Program program_;
  DimensionGraph graph_;
  std::string platform_;
  HeapRules rules_;
  PackingCheck check_;
  MemoryNeed need_;
  int64_t rest_bytes_ = 0;
  std::vector<HeapGroup> groups_;
  std::vector<std::vector<Moment>> member_moments_;
  std::vector<int32_t> group_of_leaf_;
  std::vector<Moment> trace_moments_;
  Moment heap_begin_ = 0;
  Moment heap_end_ = 1;
  Batch batch_;
  std::vector<StateLeaf> state_;
  std::vector<const StateLeaf*> trained_;
  std::vector<int32_t> gradients_;
  mutable std::unordered_map<LeafId, Program::Uses> uses_;
  const std::unique_ptr<TrainingFacts> training_facts_;
};

// The batch from one program: the leading dimension of an argument that is no state and whose symbol
// reaches no state.
Batch FindBatch(const DimensionGraph& graph, const std::vector<StateLeaf>& state,
                const BatchHint& hint);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_WHATIF_MODEL_H_
