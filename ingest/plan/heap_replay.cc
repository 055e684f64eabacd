#include "ingest/plan/heap_replay.h"

#include <optional>

namespace oomdb::ingest {
namespace {

using proto::HeapSimulatorTrace;
using Event = proto::HeapSimulatorTrace::Event;

// What one trace says.
struct TraceResult {
  struct Buffer {
    int32_t buffer;
    Lifetime lifetime;
  };
  int64_t peak_bytes = 0;
  std::vector<Buffer> buffers;
};

// Replays traces one by one over the buffers of one assignment. The per-buffer state is allocated
// once and reset only where a trace touched it, so that many traces cost no more than their events.
class Replayer {
 public:
  Replayer(const BufferAssignment& assignment, IssueLog& log)
      : buffers_(assignment.buffers()),
        assignment_(assignment),
        log_(log),
        state_(buffers_.size()),
        place_(buffers_.size()) {}

  // The memory space of the temp allocation that owns the trace's buffers; none when no buffer is a
  // temp.
  std::optional<int64_t> SpaceOf(const HeapSimulatorTrace& trace) const {
    for (const Event& event : trace.events()) {
      const int32_t b = assignment_.FindBuffer(event.buffer_id());
      if (b != IdIndex::kNone && buffers_[b].IsTemp()) return buffers_[b].memory_space;
    }
    return std::nullopt;
  }

  TraceResult Replay(const HeapSimulatorTrace& trace, int64_t memory_space) {
    space_ = memory_space;
    live_bytes_ = 0;
    TraceResult result;
    int64_t peak_position = -1;
    for (int n = 0; n < trace.events_size(); ++n) {
      Apply(trace.events(n), n);
      if (live_bytes_ > result.peak_bytes) {
        result.peak_bytes = live_bytes_;
        peak_position = n;
      }
    }
    Finish(trace.events_size() - 1, peak_position, &result);
    return result;
  }

 private:
  struct State {
    int32_t link =
        IdIndex::kNone;  // What it shares memory with; set once, and shortened towards the root.
    int64_t references = 0;
    bool touched = false;
    bool live = false;  // Roots: the memory is taken.
    int32_t shown_as =
        IdIndex::kNone;    // Roots, while live: the buffer whose row stands for the memory.
    int64_t taken_at = 0;  // Roots, while live.
    MaybeInt first_live;
    MaybeInt last_live;
  };
  // A stretch during which memory was taken.
  struct Stretch {
    int32_t shown_as;
    int64_t begin;
    int64_t end;  // The event that gives it back, or one past the last.
  };

  // Only temps of the space count: the other classes hold their memory all along.
  bool Counts(int32_t b) const {
    return buffers_[b].IsTemp() && buffers_[b].memory_space == space_;
  }

  State& Touch(int32_t b) {
    if (!state_[b].touched) {
      state_[b].touched = true;
      touched_.push_back(b);
    }
    return state_[b];
  }

  int32_t RootOf(int32_t b) {
    int32_t root = b;
    while (state_[root].link != IdIndex::kNone) root = state_[root].link;
    while (state_[b].link != IdIndex::kNone) {
      const int32_t next = state_[b].link;
      state_[b].link = root;
      b = next;
    }
    return root;
  }

  void Inconsistent(std::string_view detail) { log_.Warn("heap_trace_inconsistent", detail); }

  void Apply(const Event& event, int64_t n) {
    const int32_t b = assignment_.FindBuffer(event.buffer_id());
    if (b == IdIndex::kNone || !Counts(b)) {
      Inconsistent("a heap trace moves a buffer that is not a temp of its memory space");
      return;
    }
    switch (event.kind()) {
      case Event::ALLOC:
        Alloc(b, n);
        break;
      case Event::FREE:
        Free(b, n);
        break;
      case Event::SHARE_WITH:
        Share(b, assignment_.FindBuffer(event.share_with_canonical_id()), n);
        break;
      default:
        Inconsistent("a heap trace has an event of an unknown kind");
    }
  }

  void Alloc(int32_t b, int64_t n) {
    Touch(b);
    const int32_t root = RootOf(b);
    Touch(root);
    ++state_[root].references;
    if (state_[root].live) {
      Inconsistent("a heap trace allocates a buffer that is live");
      return;
    }
    Take(root, root, n);
  }

  void Free(int32_t b, int64_t n) {
    Touch(b);
    const int32_t root = RootOf(b);
    State& state = state_[root];
    if (state.references <= 0) {
      Inconsistent("a heap trace frees a buffer that is not live");
      return;
    }
    --state.references;
    if (state.references == 0) {
      GiveBack(root, n);
    }
    if (b != root && !(state.live && state.shown_as == b)) state_[b].last_live = n;
  }

  void Share(int32_t b, int32_t with, int64_t n) {
    if (with == IdIndex::kNone || !Counts(with)) {
      Inconsistent(
          "a heap trace shares memory with a buffer that is not a temp of its memory space");
      return;
    }
    State& sharer = Touch(b);
    const int32_t root = RootOf(with);
    if (sharer.link != IdIndex::kNone || sharer.references != 0 || root == b) {
      Inconsistent("a heap trace makes a buffer share memory that is live, shared or its own");
      return;
    }
    sharer.link = root;
    State& state = Touch(root);
    ++state.references;
    if (state.live) {
      if (!sharer.first_live) sharer.first_live = n;
      return;
    }
    // The reviving buffer's row stands for the memory, as long as it has the same size: the rows at
    // the peak must sum up to the peak.
    Take(root, buffers_[b].bytes == buffers_[root].bytes ? b : root, n);
    if (!sharer.first_live) sharer.first_live = n;
  }

  void Take(int32_t root, int32_t shown_as, int64_t n) {
    State& state = state_[root];
    state.live = true;
    state.shown_as = shown_as;
    state.taken_at = n;
    live_bytes_ += buffers_[root].bytes;
    if (!state_[shown_as].first_live) state_[shown_as].first_live = n;
  }

  void GiveBack(int32_t root, int64_t n) {
    State& state = state_[root];
    state.live = false;
    live_bytes_ -= buffers_[root].bytes;
    state_[state.shown_as].last_live = n;
    stretches_.push_back({state.shown_as, state.taken_at, n});
  }

  // Ends what is still live, marks what was live at the peak, and clears the state.
  void Finish(int64_t last_event, int64_t peak_position, TraceResult* result) {
    for (int32_t b : touched_) {
      if (!state_[b].live) continue;
      stretches_.push_back({state_[b].shown_as, state_[b].taken_at, last_event + 1});
      state_[state_[b].shown_as].last_live = last_event;
    }
    for (const Stretch& stretch : stretches_) {
      if (peak_position >= stretch.begin && peak_position < stretch.end) {
        peak_buffers_.push_back(stretch.shown_as);
      }
    }
    for (int32_t b : touched_) {
      State& state = state_[b];
      if (state.first_live && !state.last_live) state.last_live = last_event;
      result->buffers.push_back({b, {state.first_live, state.last_live, false}});
      place_[b] = result->buffers.size() - 1;
    }
    for (int32_t b : peak_buffers_) {
      result->buffers[place_[b]].lifetime.at_peak = true;
    }
    for (int32_t b : touched_) state_[b] = State();
    touched_.clear();
    stretches_.clear();
    peak_buffers_.clear();
  }

  const std::vector<LogicalBuffer>& buffers_;
  const BufferAssignment& assignment_;
  IssueLog& log_;
  std::vector<State> state_;
  std::vector<size_t> place_;  // In the result, for the buffers it touched.
  std::vector<int32_t> touched_;
  std::vector<Stretch> stretches_;
  std::vector<int32_t> peak_buffers_;
  int64_t space_ = 0;
  int64_t live_bytes_ = 0;
};

}  // namespace

HeapReplay ReplayHeap(const proto::BufferAssignmentProto& proto, const BufferAssignment& assignment,
                      IssueLog& log) {
  HeapReplay replay;
  replay.lifetimes.resize(assignment.buffers().size());
  replay.sharers.resize(assignment.buffers().size());
  Replayer replayer(assignment, log);
  std::map<int64_t, std::vector<TraceResult>> by_space;
  for (const HeapSimulatorTrace& trace : proto.heap_simulator_traces()) {
    for (const Event& event : trace.events()) {
      if (event.kind() != Event::SHARE_WITH) continue;
      const int32_t b = assignment.FindBuffer(event.buffer_id());
      const int32_t with = assignment.FindBuffer(event.share_with_canonical_id());
      if (b != IdIndex::kNone && with != IdIndex::kNone) replay.sharers[with].push_back(b);
    }
    const std::optional<int64_t> space = replayer.SpaceOf(trace);
    if (space) {
      by_space[*space].push_back(replayer.Replay(trace, *space));
    } else if (trace.events_size() > 0) {
      log.Warn("heap_trace_without_temp", "a heap trace moves no temp buffer; it is passed over");
    }
  }
  for (const auto& [space, results] : by_space) {
    size_t largest = 0;
    for (size_t i = 1; i < results.size(); ++i) {
      if (results[i].peak_bytes > results[largest].peak_bytes) largest = i;
    }
    replay.peak_bytes[space] = results[largest].peak_bytes;
    for (const auto& [b, lifetime] : results[largest].buffers) replay.lifetimes[b] = lifetime;
    // A trace can be stored once for each of several allocations: the one with the peak goes first.
    for (size_t i = 0; i < results.size(); ++i) {
      if (i == largest) continue;
      for (const auto& [b, lifetime] : results[i].buffers) {
        if (replay.lifetimes[b].first_live) continue;
        replay.lifetimes[b] = {lifetime.first_live, lifetime.last_live, false};
      }
    }
  }
  return replay;
}

}  // namespace oomdb::ingest
