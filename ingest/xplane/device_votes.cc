#include "ingest/xplane/device_votes.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace oomdb {
namespace {

// What a kernel or a driver call names.
struct Ballot {
  std::string_view module;
  MaybeInt program_id;
  bool is_run = false;  // It carries a run id: a CPU thunk, no GPU work.
};

Ballot ReadBallot(const RawEvent& event, const PlaneIndex& plane) {
  Ballot ballot;
  ForEachStat(event.body, [&](const RawStat& stat) {
    switch (plane.stat_keys.at(stat.metadata_id)) {
      case StatKey::kHloModule:
        ballot.module = stat.kind == RawStat::Kind::kReference
                            ? std::string_view(plane.stat_names.at(stat.number))
                            : stat.text;
        break;
      case StatKey::kProgramId:
        ballot.program_id = stat.number;
        break;
      case StatKey::kRunId:
        ballot.is_run = true;
        break;
      default:
        break;
    }
  });
  return ballot;
}

// The executions of a module by start: of one device, or of all (-1).
class Starts {
 public:
  explicit Starts(const std::vector<Execution>& executions) {
    for (size_t i = 0; i < executions.size(); ++i) {
      const Execution& e = executions[i];
      if (e.kind != DeviceKind::kGpu) continue;
      by_key_[{e.module_name, e.device_ordinal}].emplace_back(e.start_ps, static_cast<int32_t>(i));
    }
    for (auto& [key, starts] : by_key_) std::sort(starts.begin(), starts.end());
  }
  // The latest execution of the module on the device that had started by `time`; -1: none.
  int32_t Latest(std::string_view module, int64_t device, int64_t time) const {
    const auto found = by_key_.find(std::pair<std::string_view, int64_t>(module, device));
    if (found == by_key_.end()) return -1;
    auto after = std::upper_bound(found->second.begin(), found->second.end(),
                                  std::pair<int64_t, int32_t>(time, INT32_MAX));
    return after == found->second.begin() ? -1 : (after - 1)->second;
  }

 private:
  struct Less {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      const std::string_view x = a.first, y = b.first;
      return x != y ? x < y : a.second < b.second;
    }
  };
  std::map<std::pair<std::string, int64_t>, std::vector<std::pair<int64_t, int32_t>>, Less> by_key_;
};

// A driver call is looked for in this many executions that began before it: one a device runs at a time.
constexpr int kMaxOverlapping = 64;

struct Votes {
  std::map<int64_t, int64_t> programs;  // Program id -> driver calls or kernels.
  std::map<int64_t, int64_t> devices;
};

// The key with the most votes, the smallest of equals.
MaybeInt Winner(const std::map<int64_t, int64_t>& votes) {
  MaybeInt winner;
  int64_t most = 0;
  for (const auto& [key, count] : votes) {
    if (count > most) {
      winner = key;
      most = count;
    }
  }
  return winner;
}

bool IsOpen(const Execution& e, const ModuleIndex& modules) {
  return e.kind == DeviceKind::kGpu && !e.module_name.empty() &&
         (e.device_ordinal < 0 || !e.launched.has_value() || modules.Named(e.module_name).size() > 1);
}

}  // namespace

void TakeDeviceVotes(const Source& source, const SpaceIndex& space, const TimeBase& base,
                     const HostTimeline& timeline, const ModuleIndex& modules,
                     std::vector<Execution>* executions) {
  const bool any_open = std::any_of(executions->begin(), executions->end(),
                                    [&](const Execution& e) { return IsOpen(e, modules); });
  if (!any_open) return;
  std::unordered_map<int32_t, Votes> calls, kernels;
  const Starts starts(*executions);
  Window window(source);

  // Driver calls happen inside the execution's span, on whatever thread.
  for (const HostLine& line : timeline.lines) {
    WalkEvents(
        &window, line.extent,
        [&](int64_t id) { return line.plane->events.at(id).meaning.role == EventRole::kUnknown; },
        [&](const RawEvent& event) {
          const Ballot ballot = ReadBallot(event, *line.plane);
          if (ballot.module.empty() || ballot.is_run || !ballot.program_id) return;
          const int64_t time = base.Picoseconds(line.head.timestamp_ns, event.offset_ps);
          auto after = std::upper_bound(executions->begin(), executions->end(), time,
                                        [](int64_t t, const Execution& e) { return t < e.start_ps; });
          for (int looked_at = 0; after != executions->begin() && looked_at < kMaxOverlapping;
               ++looked_at) {
            const Execution& e = *--after;
            if (time <= e.end_ps && e.module_name == ballot.module) {
              ++calls[static_cast<int32_t>(after - executions->begin())].programs[*ballot.program_id];
            }
          }
        });
  }
  // Kernels run after their execution began, usually before the next of the same module.
  for (const PlaneIndex& plane : space.planes) {
    if (plane.kind != PlaneIndex::Kind::kGpu) continue;
    for (const Extent& extent : plane.lines) {
      const LineHead head = ReadLineHead(&window, extent);
      if (IsDerivedLine(head.name)) continue;
      WalkEvents(&window, extent, [](int64_t) { return true; },
                 [&](const RawEvent& event) {
                   const Ballot ballot = ReadBallot(event, plane);
                   if (ballot.module.empty()) return;
                   const int64_t time = base.Picoseconds(head.timestamp_ns, event.offset_ps);
                   int32_t index = starts.Latest(ballot.module, plane.ordinal, time);
                   if (index < 0) index = starts.Latest(ballot.module, -1, time);
                   if (index < 0) return;
                   Votes& votes = kernels[index];
                   ++votes.devices[plane.ordinal];
                   if (ballot.program_id) ++votes.programs[*ballot.program_id];
                 });
    }
  }
  // Kernels run late: one that starts after a failed execution may belong to the execution before it. So they are
  // evidence of a launch only where the recorder wrote no host evidence at all.
  const bool host_tells = std::any_of(executions->begin(), executions->end(), [](const Execution& e) {
    return e.kind == DeviceKind::kGpu && e.launched.value_or(false);
  });
  for (auto& [index, votes] : kernels) {
    Execution& e = (*executions)[index];
    if (e.device_ordinal < 0) e.device_ordinal = Winner(votes.devices).value_or(-1);
    if (!e.launched && !host_tells) e.launched = true;
    e.program_id = Winner(votes.programs);
  }
  for (auto& [index, votes] : calls) {  // Exact, unlike kernels: they win.
    Execution& e = (*executions)[index];
    e.program_id = Winner(votes.programs);
    e.launched = true;
  }
}

}  // namespace oomdb
