// The modules of a capture: their plans, and how an execution finds its own.
#ifndef OOMDB_INGEST_XPLANE_MODULE_INDEX_H_
#define OOMDB_INGEST_XPLANE_MODULE_INDEX_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/base/facts.h"
#include "ingest/base/importer.h"
#include "ingest/plan/plan.h"
#include "ingest/plan/plan_cache.h"
#include "ingest/xplane/space_index.h"

namespace oomdb::ingest {

// The allocations that a run of a module makes: outputs and temps of space 0 that are larger than
// nothing.
class RunRequests {
 public:
  RunRequests() = default;
  explicit RunRequests(const Plan& plan);
  size_t size() const { return all_.size(); }

 private:
  friend class RequestMatcher;
  std::vector<const PlanAllocation*> all_;          // Ascending index.
  std::vector<size_t> nth_;                         // Of each: how many of its size come before it.
  std::map<int64_t, std::vector<size_t>> by_size_;  // In all_.
};

// Tells which of the plan's allocations the requests of one execution are: each the first untaken
// one of its size.
class RequestMatcher {
 public:
  explicit RequestMatcher(const RunRequests& requests) : requests_(requests) {}
  // The one that a request of this size takes; null when none is left.
  const PlanAllocation* Take(int64_t requested_bytes);
  // What was taken is asked for again: an execution that is short of memory frees what it got and
  // starts anew.
  void GiveBack(const PlanAllocation* allocation);
  // The one of least index that none took; null when all are taken.
  const PlanAllocation* FirstUntaken() const;
  size_t taken() const { return taken_; }

 private:
  struct Taken {
    size_t next = 0;            // All before this one, of a size, are taken,
    std::set<size_t> returned;  // but these.
  };
  const RunRequests& requests_;
  std::map<int64_t, Taken> of_size_;
  size_t taken_ = 0;
};

class ModuleIndex {
 public:
  // Reads the plan of every module that /host:metadata holds. A proto that can't be read is an
  // issue, and its module a row without a plan. `plans` as in ImportOptions.
  ModuleIndex(const Source& source, const std::deque<PlaneIndex>& planes,
              const ImportOptions& options, CaptureIssues* issues);

  const std::vector<ModuleFact>& modules() const { return modules_; }
  ModuleFact& module(int32_t index) { return modules_[index]; }
  const ModuleFact& module(int32_t index) const { return modules_[index]; }

  // The modules of a name, in the order of their program ids. Several are normal.
  const std::vector<int32_t>& Named(std::string_view name) const;

  // The module of a name and program id; one without a plan is added when the capture holds none (a
  // cached or command-buffer-only program). Without a program id: the only one of the name, else
  // -1; none: added.
  int32_t FindOrAdd(std::string_view name, MaybeInt program_id);

  // What the module, compiled for `platform`, would need with each remedy. Null without a plan, and
  // where it can't be told: then that is an issue.
  std::shared_ptr<const PlanChanges> ReadChanges(const Source& source, int32_t index,
                                                 std::string_view platform,
                                                 const ImportOptions& options,
                                                 CaptureIssues* issues) const;

  // What a run of the module asks for. Empty without a plan.
  const RunRequests& Requests(int32_t index) const { return requests_[index]; }

 private:
  int32_t Add(ModuleFact fact, std::optional<Extent> hlo = std::nullopt);

  std::vector<ModuleFact> modules_;
  std::vector<std::optional<Extent>> hlos_;  // Where the proto of each stands.
  std::deque<RunRequests> requests_;
  std::map<std::string, std::vector<int32_t>, std::less<>> by_name_;
  std::map<std::pair<std::string, int64_t>, int32_t> by_program_;
};

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_XPLANE_MODULE_INDEX_H_
