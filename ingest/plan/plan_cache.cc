#include "ingest/plan/plan_cache.h"

#include <utility>

namespace oomdb::ingest {

std::shared_ptr<const Plan> PlanCache::Read(const std::string& hlo_hash,
                                            std::string_view hlo_proto_bytes,
                                            int64_t replay_min_bytes) {
  if (std::shared_ptr<const Plan> known = Find(hlo_hash)) return known;
  // Two threads may read the same one at once: that costs less than to wait for one another.
  auto plan = std::make_shared<const Plan>(ReadPlan(hlo_proto_bytes, replay_min_bytes));
  Keep({hlo_hash, hlo_proto_bytes.size(), plan});
  return plan;
}

std::shared_ptr<const PlanChanges> PlanCache::ReadChanges(const std::string& hlo_hash,
                                                          std::string_view hlo_proto_bytes,
                                                          std::string_view platform) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = changes_.find(hlo_hash);
    if (found != changes_.end()) return found->second;
  }
  auto changes = std::make_shared<const PlanChanges>(ReadPlanChanges(hlo_proto_bytes, platform));
  const std::lock_guard lock(mutex_);
  return changes_.try_emplace(hlo_hash, std::move(changes)).first->second;
}

std::shared_ptr<const Plan> PlanCache::Find(const std::string& hlo_hash) {
  const std::lock_guard lock(mutex_);
  const auto found = by_hash_.find(hlo_hash);
  if (found == by_hash_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, found->second);
  return found->second->plan;
}

void PlanCache::Keep(Kept kept) {
  const std::lock_guard lock(mutex_);
  if (kept.bytes > max_bytes_ || by_hash_.count(kept.hlo_hash) > 0) return;
  bytes_ += kept.bytes;
  kept_.push_front(std::move(kept));
  by_hash_.emplace(kept_.front().hlo_hash, kept_.begin());
  while (bytes_ > max_bytes_) {
    bytes_ -= kept_.back().bytes;
    by_hash_.erase(kept_.back().hlo_hash);
    kept_.pop_back();
  }
}

}  // namespace oomdb::ingest
