// A compiled program, indexed for what-if questions: its values as leaves with shapes, who reads
// them, in which order instructions run, and which pass of training they belong to.
#ifndef OOMDB_INGEST_PLAN_WHATIF_PROGRAM_H_
#define OOMDB_INGEST_PLAN_WHATIF_PROGRAM_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/plan/buffer_assignment.h"
#include "ingest/plan/instructions.h"
#include "ingest/plan/limits.h"
#include "ingest/plan/roles.h"
#include "ingest/plan/shape.h"
#include "proto/hlo.pb.h"

namespace oomdb::ingest {

// Opcodes that something here asks for.
enum class Op : uint8_t {
  kElementwise,  // And whatever else keeps the shapes of its operands.
  kNone,         // Links nothing: parameter-like sources.
  kParameter,
  kConstant,
  kTuple,
  kGetTupleElement,
  kBitcast,
  kBarrier,
  kWhile,
  kFusion,
  kCall,
  kAsyncStart,
  kConditional,
  kCustomCall,
  kCopy,
  kConvert,
  kTranspose,
  kReshape,
  kCopyStart,
  kCopyDone,
  kStartOrDone,  // Of any other asynchronous pair.
  kBroadcast,
  kDot,
  kConvolution,
  kReduce,
  kReduceWindow,
  kSelectAndScatter,
  kSort,
  kMap,
  kGather,
  kScatter,
  kSlice,  // slice, dynamic-slice, pad, reverse
  kCollective,
  kDynamicUpdateSlice,
  kConcatenate,
};

enum class Pass : uint8_t { kNeither, kForward, kBackward };

// A leaf: an array that an instruction makes, at a place in its result.
using LeafId = int32_t;

struct Leaf {
  InstructionNumber instruction = IdIndex::kNone;
  const proto::ShapeProto* shape = nullptr;
  int32_t first_dimension = 0;  // The number of its dimension 0 among those of all leaves.

  int rank() const { return shape->dimensions_size(); }
  int64_t extent(int d) const { return shape->dimensions(d); }
};

struct LeafRange {
  LeafId first = 0;
  int32_t count = 0;
};

class Program {
 public:
  static constexpr int32_t kNone = IdIndex::kNone;

  // `hlo` must outlive this.
  explicit Program(const proto::HloProto& hlo);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const proto::HloModuleProto& module() const { return hlo_.hlo_module(); }
  const proto::BufferAssignmentProto& assignment_proto() const { return hlo_.buffer_assignment(); }
  const Instructions& instructions() const { return instructions_; }
  const BufferAssignment& assignment() const { return assignment_; }
  const std::vector<LogicalBuffer>& buffers() const { return assignment_.buffers(); }

  Op op(InstructionNumber i) const { return ops_[i]; }
  // By its name stack (or that of what a fusion holds); what XLA rematerialized is of the backward
  // pass whatever its name stack says.
  Pass pass(InstructionNumber i) const { return passes_[i]; }
  // As pass, for a value: where its instruction has no name stack, that of what it flows into.
  Pass PassOfBuffer(int32_t buffer) const { return buffer_passes_[buffer]; }
  bool rematerialized(InstructionNumber i) const { return rematerialized_[i]; }

  // ---- values
  int32_t leaf_count() const { return static_cast<int32_t>(leaves_.size()); }
  int32_t dimension_count() const { return dimension_count_; }
  const Leaf& leaf(LeafId n) const { return leaves_[n]; }
  LeafRange LeavesOf(InstructionNumber i) const { return {first_leaf_[i], LeafCount(i)}; }
  // Those at and under a place of the result; none when there is no such place.
  LeafRange Under(InstructionNumber i, std::span<const int64_t> index) const;
  // Those of element k of a tuple.
  LeafRange Element(InstructionNumber i, int64_t k) const;
  // Which element of a tuple-shaped result the leaf belongs to; 0 for an array.
  int64_t ElementOf(LeafId n) const;
  // Its leaf where the result is an array, else kNone.
  LeafId Single(InstructionNumber i) const;
  // What a logical buffer holds: kNone for the table of a tuple.
  LeafId LeafOfBuffer(int32_t buffer) const { return buffer_leaves_[buffer]; }
  // The buffer that holds a leaf, kNone when none does.
  int32_t BufferOfLeaf(LeafId n) const { return leaf_buffers_[n]; }
  InstructionNumber Operand(InstructionNumber i, int n) const {
    return instructions_.Operand(i, n);
  }

  struct User {
    InstructionNumber instruction;
    int32_t operand;
  };
  std::span<const User> Users(InstructionNumber i) const;

  // Where a leaf is passed on unchanged: through tuples, their elements, bitcasts, barriers, and
  // from a loop's start to its end.
  void FlowsInto(LeafId n, std::vector<LeafId>* into) const;
  struct Uses {
    std::vector<InstructionNumber> readers;  // Loops that carry it among them.
    bool is_output = false;                  // It reaches the result of the program.
  };
  Uses UsesOf(LeafId n) const;
  // The leaf that was made, of which `n` is a view.
  LeafId Source(LeafId n) const;

  // ---- order
  // False: the module says no order, and nothing that asks for positions can be told.
  bool has_schedule() const { return has_schedule_; }
  // When an instruction runs, counted from the start of the program; a loop's condition and body
  // before the loop itself. kNone: it is part of a fusion, or never runs.
  int32_t position(InstructionNumber i) const { return positions_[i]; }
  InstructionNumber InstructionAt(int32_t position) const { return by_position_[position]; }
  int32_t position_count() const { return static_cast<int32_t>(by_position_.size()); }
  bool IsInEntry(InstructionNumber i) const {
    return instructions_.ComputationOf(i) == instructions_.entry();
  }
  bool IsEntryRoot(LeafId n) const;
  // Of the entry computation, in stored order.
  std::span<const InstructionNumber> parameters() const { return parameters_; }

  struct Span {
    int32_t first = -1, last = -1;  // Positions.
  };
  Span SpanOf(int32_t computation) const;

 private:
  int32_t LeafCount(InstructionNumber i) const { return first_leaf_[i + 1] - first_leaf_[i]; }
  void ReadLeaves();
  void ReadUsers();
  void ReadPasses();
  void ReadOrder();
  void Schedule(int32_t computation, int depth, std::vector<bool>* seen);
  void ReadBuffers();

  const proto::HloProto& hlo_;
  IssueLog issues_;
  Instructions instructions_;
  BufferAssignment assignment_;
  std::vector<Op> ops_;
  std::vector<Pass> passes_;
  std::vector<bool> rematerialized_;
  std::vector<Leaf> leaves_;
  std::vector<LeafId> first_leaf_;  // By instruction, and one past the last.
  int32_t dimension_count_ = 0;
  std::vector<int32_t> first_element_;  // By instruction, into element_leaf_.
  std::vector<LeafId> element_leaf_;    // The first leaf of each element of tuple-shaped results.
  std::vector<int32_t> first_user_;
  std::vector<User> users_;  // Of one instruction: elements by their number, then the others.
  std::vector<int32_t> element_users_;  // By instruction: how many of its users are elements.
  bool has_schedule_ = false;
  std::vector<int32_t> positions_;
  std::vector<InstructionNumber> by_position_;
  std::vector<InstructionNumber> parameters_;
  std::vector<LeafId> buffer_leaves_;
  std::vector<int32_t> leaf_buffers_;
  std::vector<Pass> buffer_passes_;
};

// Bytes of an array with these dimensions in the layout of `shape`: the first tile's padding
// included. Stays below 2^62.
int64_t PaddedBytes(const proto::ShapeProto& shape, std::span<const int64_t> dimensions);
int64_t PaddedBytes(const proto::ShapeProto& shape);
// Of one element, rounded up to a byte; 4 for a type that is not known.
int64_t ElementBytes(const proto::ShapeProto& shape);
// The dimensions from the one that varies fastest on.
std::vector<int32_t> MinorToMajor(const proto::ShapeProto& shape);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_WHATIF_PROGRAM_H_
