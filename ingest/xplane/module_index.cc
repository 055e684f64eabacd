#include "ingest/xplane/module_index.h"

#include <algorithm>

#include "base/error.h"
#include "ingest/plan/hlo_importer.h"

namespace oomdb::ingest {
namespace {

// The stat, else the number in the name, else the metadata id (old recorders).
int64_t ProgramIdOf(const ModuleMetadata& module, const SplitName& split) {
  return module.program_id.value_or(split.id.value_or(module.metadata_id));
}

// Modules by name and program id, so that ids in the database don't depend on the recorder's hash
// order.
bool IsEarlierModule(const ModuleMetadata* a, const ModuleMetadata* b) {
  const SplitName x = SplitProgramId(a->name), y = SplitProgramId(b->name);
  if (x.name != y.name) return x.name < y.name;
  const int64_t i = ProgramIdOf(*a, x), j = ProgramIdOf(*b, y);
  return i != j ? i < j : a->metadata_id < b->metadata_id;
}

}  // namespace

ModuleIndex::ModuleIndex(const Source& source, const std::deque<PlaneIndex>& planes,
                         const ImportOptions& options, CaptureIssues* issues) {
  std::vector<const ModuleMetadata*> found;
  for (const PlaneIndex& plane : planes) {
    for (const ModuleMetadata& module : plane.modules) found.push_back(&module);
  }
  std::sort(found.begin(), found.end(), IsEarlierModule);
  std::string bytes;
  for (const ModuleMetadata* metadata : found) {
    const SplitName split = SplitProgramId(metadata->name);
    ModuleFact fact;
    fact.name = std::string(split.name);
    fact.program_id = ProgramIdOf(*metadata, split);
    if (metadata->hlo && metadata->hlo->length > 0) {
      bytes.resize(metadata->hlo->length);
      source.ReadAt(metadata->hlo->position, std::span(bytes.data(), bytes.size()));
      try {
        fact.hlo_hash = HloHash(bytes);
        const int64_t replays = options.replay_min_bytes;
        fact.plan = options.plans != nullptr
                        ? options.plans->Read(fact.hlo_hash, bytes, replays)
                        : std::make_shared<const Plan>(ReadPlan(bytes, replays));
        for (const IssueFact& issue : fact.plan->issues) {
          issues->Add(issue.severity, issue.what, metadata->name + ": " + issue.detail,
                      issue.count);
        }
      } catch (const Error& error) {
        issues->Add("error", "unreadable_plan", metadata->name + ": " + error.what());
      }
    } else {
      issues->Add("warning", "module_without_plan",
                  metadata->name + " has no HLO proto in the capture: its plan is unknown");
    }
    Add(std::move(fact), metadata->hlo);
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
  if (program_id) {
    const auto found = by_program_.find({std::string(name), *program_id});
    if (found != by_program_.end()) return found->second;
  }
  ModuleFact fact;
  fact.name = std::string(name);
  fact.program_id = program_id;
  return Add(std::move(fact));
}

std::shared_ptr<const PlanChanges> ModuleIndex::ReadChanges(const Source& source, int32_t index,
                                                            std::string_view platform,
                                                            const ImportOptions& options,
                                                            CaptureIssues* issues) const {
  const ModuleFact& fact = modules_[index];
  if (fact.plan == nullptr || !hlos_[index]) return nullptr;
  std::string bytes(hlos_[index]->length, '\0');
  source.ReadAt(hlos_[index]->position, std::span(bytes.data(), bytes.size()));
  try {
    if (options.plans != nullptr) return options.plans->ReadChanges(fact.hlo_hash, bytes, platform);
    return std::make_shared<const PlanChanges>(ReadPlanChanges(bytes, platform));
  } catch (const Error& error) {
    issues->Add("warning", "plan_not_replayed", fact.name + ": " + error.what());
    return nullptr;
  }
}

int32_t ModuleIndex::Add(ModuleFact fact, std::optional<Extent> hlo) {
  const auto index = static_cast<int32_t>(modules_.size());
  requests_.push_back(fact.plan ? RunRequests(*fact.plan) : RunRequests());
  by_name_[fact.name].push_back(index);
  if (fact.program_id) by_program_.try_emplace({fact.name, *fact.program_id}, index);
  modules_.push_back(std::move(fact));
  hlos_.push_back(hlo);
  return index;
}

RunRequests::RunRequests(const Plan& plan) {
  for (const PlanAllocation& allocation : plan.allocations) {
    const bool made = allocation.allocation_class == AllocationClass::kOutput ||
                      allocation.allocation_class == AllocationClass::kTemp;
    if (!made || allocation.memory_space != 0 || allocation.bytes <= 0) continue;
    std::vector<size_t>& of_size = by_size_[allocation.bytes];
    nth_.push_back(of_size.size());
    of_size.push_back(all_.size());
    all_.push_back(&allocation);
  }
}

const PlanAllocation* RequestMatcher::Take(int64_t requested_bytes) {
  const auto found = requests_.by_size_.find(requested_bytes);
  if (found == requests_.by_size_.end()) return nullptr;
  Taken& taken = of_size_[requested_bytes];
  size_t nth = taken.next;
  if (!taken.returned.empty()) {
    nth = *taken.returned.begin();
    taken.returned.erase(taken.returned.begin());
  } else if (taken.next == found->second.size()) {
    return nullptr;
  } else {
    ++taken.next;
  }
  ++taken_;
  return requests_.all_[found->second[nth]];
}

void RequestMatcher::GiveBack(const PlanAllocation* allocation) {
  const std::vector<size_t>& same_size = requests_.by_size_.at(allocation->bytes);
  // In ascending order, as the allocations are in memory.
  const auto place =
      std::lower_bound(same_size.begin(), same_size.end(), allocation,
                       [&](size_t i, const PlanAllocation* a) { return requests_.all_[i] < a; });
  of_size_[allocation->bytes].returned.insert(static_cast<size_t>(place - same_size.begin()));
  --taken_;
}

const PlanAllocation* RequestMatcher::FirstUntaken() const {
  for (size_t i = 0; i < requests_.all_.size(); ++i) {  // Ends after as many steps as were taken.
    const auto of_size = of_size_.find(requests_.all_[i]->bytes);
    if (of_size == of_size_.end()) return requests_.all_[i];
    const size_t nth = requests_.nth_[i];
    if (nth >= of_size->second.next || of_size->second.returned.contains(nth))
      return requests_.all_[i];
  }
  return nullptr;
}

}  // namespace oomdb::ingest
