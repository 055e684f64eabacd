// The plans of one ingest job: the hosts of a run and the runs of a sweep mostly hold the same
// programs, and to read a plan anew takes longer than the rest of a small capture.
#ifndef OOMDB_INGEST_PLAN_PLAN_CACHE_H_
#define OOMDB_INGEST_PLAN_PLAN_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "ingest/plan/plan.h"
#include "ingest/plan/whatif/plan_changes.h"

namespace oomdb::ingest {

// May be used by several threads at once.
class PlanCache {
 public:
  // Keeps the plans that were asked for last, as long as the protos they were read from have no
  // more than `max_bytes` together: a plan takes about as much memory as its proto.
  explicit PlanCache(size_t max_bytes = size_t{16} << 20) : max_bytes_(max_bytes) {}

  // The plan of `hlo_proto_bytes`, whose hash is `hlo_hash`; read only when it isn't kept.
  // `replay_min_bytes` is the same in all calls. Throws as ReadPlan does.
  std::shared_ptr<const Plan> Read(const std::string& hlo_hash, std::string_view hlo_proto_bytes,
                                   int64_t replay_min_bytes = kNoReplays);

  // What it would need with each remedy; computed once. Throws as ReadPlanChanges does.
  std::shared_ptr<const PlanChanges> ReadChanges(const std::string& hlo_hash,
                                                 std::string_view hlo_proto_bytes,
                                                 std::string_view platform);

 private:
  struct Kept {
    std::string hlo_hash;
    size_t bytes;
    std::shared_ptr<const Plan> plan;
  };
  std::shared_ptr<const Plan> Find(const std::string& hlo_hash);
  void Keep(Kept kept);

  const size_t max_bytes_;
  std::mutex mutex_;      // Of what follows.
  std::list<Kept> kept_;  // The one that was asked for last comes first.
  std::map<std::string, std::list<Kept>::iterator> by_hash_;
  size_t bytes_ = 0;
  // A few KiB each.
  std::map<std::string, std::shared_ptr<const PlanChanges>> changes_;
};

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_PLAN_CACHE_H_
