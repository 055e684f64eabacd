// How the entry computation's parameters are spread over the partitions of an SPMD program.
#ifndef OOMDB_INGEST_PLAN_SHARDING_H_
#define OOMDB_INGEST_PLAN_SHARDING_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ingest/base/facts.h"
#include "ingest/plan/instructions.h"
#include "ingest/plan/shape.h"
#include "proto/hlo.pb.h"

namespace oomdb::ingest {

struct Sharding {
  // As XLA prints it, without metadata: "{replicated}", "{devices=[8,1]<=[8]}",
  // "{devices=[2,1,4]<=[8] last_tile_dim_replicate}", "{maximal device=0}"; empty: not recorded.
  std::string text;
  // Into how many parts the value is split: 1 when every partition holds the whole.
  // std::nullopt: the sharding doesn't say it (one device holds it, manual, unknown, damaged).
  MaybeInt parts;
};

// Of an array; of a tuple's sharding its elements are asked for one by one.
Sharding ReadSharding(const proto::OpSharding& sharding);

// The shardings of the entry's parameters: the instruction's own, else what the SPMD partitioner
// left in the module (older compilers clear the instructions'). Points into the module.
class ParameterShardings {
 public:
  ParameterShardings(const proto::HloModuleProto& module, const Instructions& instructions);

  // Of the element at `index` of a parameter; empty when none is recorded. The reference is good
  // until the next call.
  const Sharding& Of(int64_t parameter, const ShapeIndex& index);

 private:
  struct Parameter {
    const proto::OpSharding* sharding = nullptr;
    const proto::ShapeProto* shape = nullptr;
    std::vector<ShapeIndex> leaves;  // Of a tuple's sharding: whose elements follow this order.
  };

  std::map<int64_t, Parameter> parameters_;
  std::map<const proto::OpSharding*, Sharding> read_;  // Many elements can share one.
};

// The shapes of the entry's parameters, in order, and of its result, without layouts: equal for
// the same function on arguments of the same shapes, however it was compiled. Empty without an
// entry.
std::string ShapeSignatureText(const Instructions& instructions);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_SHARDING_H_
