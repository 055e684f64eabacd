// A plan as large as one wants: an HloProto with a buffer assignment, for made captures and for the
// bench of the replay.
#ifndef OOMDB_BENCH_SYNTHETIC_PLAN_H_
#define OOMDB_BENCH_SYNTHETIC_PLAN_H_

#include <cstdint>
#include <string>

namespace oomdb {

struct SyntheticPlan {
  std::string hlo;  // The serialized HloProto.
  int64_t output_bytes = 0;
  int64_t temp_bytes = 0;
};

// A chain of `instructions` instructions over one parameter, each reading the two before it. Each
// but the last makes a temporary value that lives until its second reader has run; the last is the
// output.
SyntheticPlan MakePlan(const std::string& module_name, int64_t program_id, int instructions);

}  // namespace oomdb

#endif  // OOMDB_BENCH_SYNTHETIC_PLAN_H_
