// A plan of many instructions that behaves like a real one: copies of a small training step, run
// one inside the other.
#ifndef OOMDB_BENCH_DEEP_PLAN_H_
#define OOMDB_BENCH_DEEP_PLAN_H_

#include "proto/hlo.pb.h"

namespace oomdb {

// `copies` of `step` as one program. The first half of each runs before that of the next, the
// second half after it: what the first halves keep lives together, as in a deep network.
proto::HloProto DeepPlan(const proto::HloProto& step, int copies);

}  // namespace oomdb

#endif  // OOMDB_BENCH_DEEP_PLAN_H_
