#include "ingest/xplane/module_index.h"

#include <algorithm>

#include "ingest/base/error.h"
#include "ingest/plan/hlo_importer.h"

namespace oomdb {
namespace {

// Modules by name and program id, so that ids in the database don't depend on the recorder's hash order.
bool Earlier(const ModuleMetadata* a, const ModuleMetadata* b) {
  const SplitName x = SplitProgramId(a->name), y = SplitProgramId(b->name);
  if (x.name != y.name) return x.name < y.name;
  const int64_t i = a->program_id.value_or(x.id), j = b->program_id.value_or(y.id);
  return i != j ? i < j : a->metadata_id < b->metadata_id;
}

}  // namespace

ModuleIndex::ModuleIndex(const Source& source, const SpaceIndex& space, std::vector<IssueFact>* issues) {
  std::vector<const ModuleMetadata*> found;
  for (const PlaneIndex& plane : space.planes) {
    for (const ModuleMetadata& module : plane.modules) found.push_back(&module);
  }
  std::sort(found.begin(), found.end(), Earlier);
  std::string bytes;
  for (const ModuleMetadata* metadata : found) {
    const SplitName split = SplitProgramId(metadata->name);
    ModuleFact fact;
    fact.name = std::string(split.name);
    fact.program_id = metadata->program_id ? *metadata->program_id
                      : split.id >= 0      ? split.id
                                           : metadata->metadata_id;
    if (metadata->hlo && metadata->hlo->length > 0) {
      bytes.resize(metadata->hlo->length);
      source.ReadAt(metadata->hlo->position, std::span(bytes.data(), bytes.size()));
      try {
        fact.plan = std::make_shared<const Plan>(ReadPlan(bytes));
        fact.hlo_hash = HloHash(bytes);
        for (IssueFact issue : fact.plan->issues) {
          issue.detail = metadata->name + ": " + issue.detail;
          issues->push_back(std::move(issue));
        }
      } catch (const Error& error) {
        issues->push_back({"error", "unreadable_plan", metadata->name + ": " + error.what(), 1});
      }
    } else {
      issues->push_back({"warning", "module_without_plan",
                         metadata->name + " has no HLO proto in the capture: its plan is unknown", 1});
    }
    Add(std::move(fact));
  }
}

const std::vector<int32_t>& ModuleIndex::Named(std::string_view name) const {
  static const std::vector<int32_t> kNone;
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? kNone : found->second;
}

int32_t ModuleIndex::FindOrAdd(std::string_view name, MaybeInt program_id) {
  const std::vector<int32_t>& named = Named(name);
  if (!program_id && !named.empty()) return named.size() == 1 ? named[0] : -1;
  for (const int32_t index : named) {
    if (modules_[index].program_id == program_id) return index;
  }
  ModuleFact fact;
  fact.name = std::string(name);
  fact.program_id = program_id;
  return Add(std::move(fact));
}

const std::vector<const PlanAllocation*>& ModuleIndex::Candidates(int32_t index) const {
  return candidates_[index];
}

int32_t ModuleIndex::Add(ModuleFact fact) {
  const auto index = static_cast<int32_t>(modules_.size());
  std::vector<const PlanAllocation*> candidates;
  if (fact.plan) {
    for (const PlanAllocation& allocation : fact.plan->allocations) {
      const bool made = allocation.allocation_class == AllocationClass::kOutput ||
                        allocation.allocation_class == AllocationClass::kTemp;
      if (made && allocation.memory_space == 0 && allocation.bytes > 0) candidates.push_back(&allocation);
    }
  }
  by_name_[fact.name].push_back(index);
  modules_.push_back(std::move(fact));
  candidates_.push_back(std::move(candidates));
  return index;
}

}  // namespace oomdb
