#include "ingest/xplane/device_votes.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace oomdb::ingest {
namespace {

// What a kernel or a driver call names.
struct Ballot {
  std::string_view module;
  MaybeInt program_id;
  MaybeInt correlation_id;
  bool is_run = false;  // It carries a run id: a CPU thunk, no GPU work.
};

Ballot ReadBallot(const RawEvent& event, const PlaneIndex& plane) {
  Ballot ballot;
  ForEachStat(event.stats, [&](const RawStat& stat) {
    switch (plane.stat_keys.at(stat.metadata_id)) {
      case StatKey::kHloModule:
        ballot.module = TextOf(stat, plane);
        break;
      case StatKey::kProgramId:
        ballot.program_id = stat.number;
        break;
      case StatKey::kCorrelationId:
        ballot.correlation_id = stat.number;
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
  explicit Starts(const std::vector<ExecutionDraft>& executions) {
    for (size_t i = 0; i < executions.size(); ++i) {
      const ExecutionDraft& e = executions[i];
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

// Of a driver call, this many executions that began before it are looked at: one a device runs at a
// time.
constexpr int kMaxOverlapping = 64;
constexpr size_t kMaxCorrelations = 1 << 24;

struct Votes {
  std::map<int64_t, int64_t> programs;  // Program id -> driver calls or kernels.
  std::map<int64_t, int64_t> devices;
  bool launched = false;

  void Add(const Ballot& ballot) {
    if (ballot.program_id) ++programs[*ballot.program_id];
    if (!ballot.module.empty()) launched = true;
  }
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

class Poll {
 public:
  Poll(const Source& source, const SpaceIndex& space, const TimeBase& base,
       const HostTimeline& timeline, std::vector<ExecutionDraft>* executions)
      : window_(source),
        space_(space),
        base_(base),
        timeline_(timeline),
        executions_(*executions),
        starts_(*executions) {}

  void Run() {
    for (size_t i = 0; i < timeline_.lines.size(); ++i) AskHostLine(static_cast<int32_t>(i));
    std::sort(correlations_.begin(), correlations_.end());
    for (const PlaneIndex& plane : space_.planes) {
      if (plane.kind != PlaneIndex::Kind::kGpu) continue;
      for (const Extent& line : plane.lines) AskStream(plane, line);
    }
    TakeExactVotes();
    TakeLikelyVotes();
  }

 private:
  // Driver calls, and the thunks of a program, happen inside the execution's span; calls on
  // whatever thread.
  void AskHostLine(int32_t line_index) {
    const HostLine& line = timeline_.lines[line_index];
    if (!line.plane->has_launch_ids) return;
    WalkEvents(
        &window_, line.extent,
        [&](int64_t id) { return line.plane->roles.at(id) == EventRole::kUnknown; },
        [&](const RawEvent& event) {
          const Ballot ballot = ReadBallot(event, *line.plane);
          if (ballot.is_run || (ballot.module.empty() && !ballot.correlation_id)) return;
          const std::vector<int32_t> during =
              Overlapping(ballot.module, line_index, base_.SpanOf(line.head, event).start_ps);
          if (during.size() == 1) {
            exact_[during[0]].Add(ballot);
            if (ballot.correlation_id && correlations_.size() < kMaxCorrelations) {
              correlations_.emplace_back(*ballot.correlation_id, during[0]);
            }
          } else if (ballot.program_id) {
            // One module on several devices at a time: which program is known, which of them
            // launched is not.
            for (const int32_t index : during) ++exact_[index].programs[*ballot.program_id];
          }
        });
  }

  // The executions of the module (of any, if it is not named) that `time` lies in: the one of this
  // very thread, else all.
  std::vector<int32_t> Overlapping(std::string_view module, int32_t line, int64_t time) const {
    std::vector<int32_t> during;
    auto after =
        std::upper_bound(executions_.begin(), executions_.end(), time,
                         [](int64_t t, const ExecutionDraft& e) { return t < e.start_ps; });
    for (int looked_at = 0; after != executions_.begin() && looked_at < kMaxOverlapping;
         ++looked_at) {
      const ExecutionDraft& e = *--after;
      if (e.kind != DeviceKind::kGpu || time > e.end_ps) continue;
      if (!module.empty() && module != e.module_name) continue;
      const auto index = static_cast<int32_t>(after - executions_.begin());
      if (e.line == line) return {index};
      during.push_back(index);
    }
    return during;
  }

  // Kernels run after their execution began, usually before the next of the same module.
  void AskStream(const PlaneIndex& plane, const Extent& extent) {
    const LineHead head = ReadLineHead(&window_, extent);
    if (IsDerivedLine(head.name)) return;
    WalkEvents(
        &window_, extent, [](int64_t) { return true; },
        [&](const RawEvent& event) {
          const Ballot ballot = ReadBallot(event, plane);
          if (const int32_t index = Correlated(ballot); index >= 0) {
            exact_[index].Add(ballot);
            ++exact_[index].devices[plane.ordinal];
            return;
          }
          if (ballot.module.empty()) return;
          const int64_t time = base_.SpanOf(head, event).start_ps;
          int32_t index = starts_.Latest(ballot.module, plane.ordinal, time);
          if (index < 0) index = starts_.Latest(ballot.module, -1, time);
          if (index < 0) return;
          likely_[index].Add(ballot);
          ++likely_[index].devices[plane.ordinal];
        });
  }

  // The execution in which the kernel was launched; -1: unknown.
  int32_t Correlated(const Ballot& ballot) const {
    if (!ballot.correlation_id) return -1;
    const auto found = std::lower_bound(correlations_.begin(), correlations_.end(),
                                        std::pair<int64_t, int32_t>(*ballot.correlation_id, 0));
    return found == correlations_.end() || found->first != *ballot.correlation_id ? -1
                                                                                  : found->second;
  }

  void TakeExactVotes() {
    for (const auto& [index, votes] : exact_) {
      ExecutionDraft& e = executions_[index];
      if (e.device_ordinal < 0) e.device_ordinal = Winner(votes.devices).value_or(-1);
      if (!e.program_id) e.program_id = Winner(votes.programs);
      if (votes.launched) e.launched = true;
    }
  }

  // Kernels run late: one that starts after a failed execution may belong to the execution before
  // it. So they are evidence of a launch only where the recorder wrote no host evidence at all.
  void TakeLikelyVotes() {
    const bool host_tells =
        std::any_of(executions_.begin(), executions_.end(), [](const ExecutionDraft& e) {
          return e.kind == DeviceKind::kGpu && e.launched.value_or(false);
        });
    for (const auto& [index, votes] : likely_) {
      ExecutionDraft& e = executions_[index];
      if (e.device_ordinal < 0) e.device_ordinal = Winner(votes.devices).value_or(-1);
      if (!host_tells) e.launched = true;
      e.likely_program_id = Winner(votes.programs);
    }
  }

  Window window_;
  const SpaceIndex& space_;
  const TimeBase& base_;
  const HostTimeline& timeline_;
  std::vector<ExecutionDraft>& executions_;
  const Starts starts_;
  std::map<int32_t, Votes> exact_, likely_;                // By execution.
  std::vector<std::pair<int64_t, int32_t>> correlations_;  // Correlation id, execution.
};

}  // namespace

void TakeDeviceVotes(const Source& source, const SpaceIndex& space, const TimeBase& base,
                     const HostTimeline& timeline, std::vector<ExecutionDraft>* executions) {
  const bool any_gpu =
      std::any_of(executions->begin(), executions->end(),
                  [](const ExecutionDraft& e) { return e.kind == DeviceKind::kGpu; });
  if (any_gpu) Poll(source, space, base, timeline, executions).Run();
}

}  // namespace oomdb::ingest
