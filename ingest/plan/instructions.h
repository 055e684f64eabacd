// An index over a module's computations and instructions: ids to dense numbers, operands, and the
// users that pass a value on unchanged. Points into the proto, which must outlive it.
#ifndef OOMDB_INGEST_PLAN_INSTRUCTIONS_H_
#define OOMDB_INGEST_PLAN_INSTRUCTIONS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/plan/id_index.h"
#include "ingest/plan/shape.h"
#include "proto/hlo.pb.h"

namespace oomdb::ingest {

// An instruction's place in the module, counted over all computations in stored order;
// IdIndex::kNone: none.
using InstructionNumber = int32_t;

// A value: what an instruction makes, at a place inside its result.
struct ValueAt {
  InstructionNumber instruction = IdIndex::kNone;
  ShapeIndex index;

  friend bool operator==(const ValueAt&, const ValueAt&) = default;
  friend auto operator<=>(const ValueAt&, const ValueAt&) = default;
};

class Instructions {
 public:
  static constexpr int32_t kNone = IdIndex::kNone;

  explicit Instructions(const proto::HloModuleProto& module);

  InstructionNumber size() const { return static_cast<InstructionNumber>(all_.size()); }
  const proto::HloInstructionProto& operator[](InstructionNumber i) const { return *all_[i]; }

  // By HloInstructionProto.id, anywhere in the module.
  InstructionNumber FindById(int64_t id) const { return ids_.Find(id); }
  // By name, as older compilers refer to them; kNone for an empty one. Builds its index at the first
  // call.
  InstructionNumber FindByName(std::string_view name) const;

  // The nth operand. Ids are looked up within the instruction's own computation: they are unique
  // there in every compiler, and in most of them in the whole module.
  InstructionNumber Operand(InstructionNumber i, int n) const;

  // Computations are numbered in stored order too; kNone where there is none.
  int32_t ComputationOf(InstructionNumber i) const { return computation_of_[i]; }
  int32_t computations() const { return static_cast<int32_t>(ranges_.size()); }
  int32_t FindComputation(int64_t id) const { return computation_ids_.Find(id); }
  // The nth computation that an instruction calls.
  int32_t Called(InstructionNumber i, int n) const;
  // A while loop's body, which the proto lists first.
  int32_t WhileBody(InstructionNumber i) const { return Called(i, 0); }
  InstructionNumber RootOf(int32_t computation) const;
  // The entry computation: by id, else by name, else the last one.
  int32_t entry() const { return entry_; }
  // First and one past the last instruction of a computation.
  std::pair<InstructionNumber, InstructionNumber> Range(int32_t computation) const {
    return ranges_[computation];
  }

  // The instructions that `value` flows into unchanged, users by ascending id: tuple (prepends its
  // operand's place), get-tuple-element (takes the first index, which must match), bitcast, while,
  // optimization-barrier. Each comes with the value's place in its result.
  std::vector<ValueAt> FlowsInto(const ValueAt& value) const;

 private:
  struct Edge {
    InstructionNumber operand;
    int64_t element;  // The tuple_index of a get-tuple-element; kNotElement for other users.
    int64_t user_id;
    InstructionNumber user;
    int32_t position;
  };
  static constexpr int64_t kNotElement = -1;

  void IndexFlow();
  std::span<const Edge> EdgesOf(InstructionNumber operand, int64_t element) const;

  const proto::HloModuleProto& module_;
  std::vector<const proto::HloInstructionProto*> all_;
  std::vector<int32_t> computation_of_;
  std::vector<std::pair<InstructionNumber, InstructionNumber>> ranges_;
  IdIndex ids_;
  IdIndex computation_ids_;
  int32_t entry_ = kNone;
  std::vector<Edge> flow_;  // By operand, element, user id, position.
  mutable std::vector<std::pair<std::string_view, InstructionNumber>> names_;
};

// The name has a `.remat` part, as XLA's rematerialization gives it: fusion.3.remat, add.remat2,
// copy.remat_compressed.
bool IsRematerialized(std::string_view instruction_name);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_INSTRUCTIONS_H_
