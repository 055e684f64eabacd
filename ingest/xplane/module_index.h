// The modules of a capture: their plans, and how an execution finds its own.
#ifndef OOMDB_INGEST_XPLANE_MODULE_INDEX_H_
#define OOMDB_INGEST_XPLANE_MODULE_INDEX_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ingest/base/facts.h"
#include "ingest/plan/plan.h"
#include "ingest/xplane/space_index.h"

namespace oomdb {

class ModuleIndex {
 public:
  // Reads the plan of every module that /host:metadata holds. A proto that can't be read is an issue, and its module
  // a row without a plan.
  ModuleIndex(const Source& source, const SpaceIndex& space, std::vector<IssueFact>* issues);

  const std::vector<ModuleFact>& modules() const { return modules_; }
  ModuleFact& module(int32_t index) { return modules_[index]; }
  const ModuleFact& module(int32_t index) const { return modules_[index]; }

  // The modules of a name, in the order of their program ids. Several are normal.
  const std::vector<int32_t>& Named(std::string_view name) const;

  // The module of a name and program id; one without a plan is added when the capture holds none (a cached or
  // command-buffer-only program). Without a program id: the only one of the name, else -1; none: added.
  int32_t FindOrAdd(std::string_view name, MaybeInt program_id);

  // The allocations a run makes: outputs and temps of space 0 that are larger than nothing, ascending index. Empty
  // without a plan.
  const std::vector<const PlanAllocation*>& Candidates(int32_t index) const;

 private:
  int32_t Add(ModuleFact fact);

  std::vector<ModuleFact> modules_;
  std::vector<std::vector<const PlanAllocation*>> candidates_;
  std::map<std::string, std::vector<int32_t>, std::less<>> by_name_;
};

}  // namespace oomdb

#endif  // OOMDB_INGEST_XPLANE_MODULE_INDEX_H_
