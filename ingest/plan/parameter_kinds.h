// What a program's parameters are: weights, optimizer state, the batch, a KV cache.
//
// In a program with a backward pass a weight is a float that the forward pass reads and that the
// step hands back (donated, or as a result of its shape that the forward pass did not make: the new
// weight, or its gradient). Optimizer state is handed back too, has a weight's shape, and the
// forward pass doesn't read it.
//
// In any program: integers that are not handed back are the batch. What a matrix product (without
// batch dimensions) reads beside a weight is the batch; beside the batch, or a value computed from
// it, it is a weight. (In a program without a backward pass, and without integers, any computed
// value will do.) What an update of a slice makes a result of is a KV cache, where there is no
// backward pass but weights.
//
// What is still open takes the kind of its relatives: the leaves of the nearest part of the
// argument's tree (params['layers'] of params['layers'][0]['bias']) that has known ones, where
// those agree. The rest is kOther.
#ifndef OOMDB_INGEST_PLAN_PARAMETER_KINDS_H_
#define OOMDB_INGEST_PLAN_PARAMETER_KINDS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ingest/plan/buffer_assignment.h"
#include "ingest/plan/instructions.h"
#include "ingest/plan/plan.h"
#include "ingest/plan/roles.h"
#include "ingest/plan/shape.h"

namespace oomdb::ingest {

using Dimensions = std::vector<int64_t>;
Dimensions DimensionsOf(const proto::ShapeProto& shape);

// A parameter's allocation.
struct ParameterLeaf {
  size_t allocation = 0;  // Into Plan::allocations.
  ValueAt value;
  const proto::ShapeProto* shape = nullptr;
  std::string name;           // JAX's; empty: the program gives none.
  bool forward_read = false;  // Where there is a backward pass: the forward pass reads it.
  MemoryKind kind = MemoryKind::kOther;
};

struct ParameterKinds {
  bool has_backward = false;
  std::vector<ParameterLeaf> leaves;   // Without the tables of tuples.
  std::map<ValueAt, size_t> of_value;  // Into leaves.
  std::set<Dimensions> weight_shapes;  // Of the weights, whatever their type.

  // Null: it is no parameter of the entry computation.
  const ParameterLeaf* Find(const ValueAt& value) const {
    const auto at = of_value.find(value);
    return at == of_value.end() ? nullptr : &leaves[at->second];
  }
  bool HasWeights() const { return !weight_shapes.empty(); }
};

// The plan's allocations and outputs must be known.
ParameterKinds ReadParameterKinds(const proto::HloModuleProto& module,
                                  const Instructions& instructions,
                                  const BufferAssignment& assignment, NameStacks& stacks,
                                  const Plan& plan);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_PARAMETER_KINDS_H_
