// What the time of an ingest goes into, for --explain-time. Costs next to nothing while nobody
// asks.
//
//   PhaseTimes times;              // From here on, on this thread.
//   { const InPhase reading(Phase::kRead); ... }
//   times.Seconds()
//
// A phase inside another is counted as the inner one only, so the phases and the rest add up to the
// whole.
#ifndef OOMDB_INGEST_BASE_PHASES_H_
#define OOMDB_INGEST_BASE_PHASES_H_

#include <array>
#include <chrono>
#include <cstddef>

namespace oomdb::ingest {

enum class Phase {
  kRead,    // Bytes of the capture: opening, decompressing, hashing, reading.
  kParse,   // Bytes to facts.
  kReplay,  // HLO protos to plans, their heap traces replayed.
  kWrite,   // Facts to rows and index entries, and the commit, which waits for the disk.
  kOther,   // None of these: opening the database, looking for files, talking.
};
inline constexpr size_t kPhases = 5;

class PhaseTimes {
 public:
  PhaseTimes() : at_(Clock::now()) { current_ = this; }
  ~PhaseTimes() { current_ = nullptr; }
  PhaseTimes(const PhaseTimes&) = delete;
  PhaseTimes& operator=(const PhaseTimes&) = delete;

  // Seconds up to now, by phase.
  std::array<double, kPhases> Seconds() {
    Switch(now_);
    std::array<double, kPhases> seconds;
    for (size_t i = 0; i < kPhases; ++i) {
      seconds[i] = std::chrono::duration<double>(spent_[i]).count();
    }
    return seconds;
  }

 private:
  friend class InPhase;
  using Clock = std::chrono::steady_clock;

  // Ends the phase at hand; that it was is returned.
  Phase Switch(Phase next) {
    const Clock::time_point time = Clock::now();
    spent_[static_cast<size_t>(now_)] += time - at_;
    at_ = time;
    const Phase before = now_;
    now_ = next;
    return before;
  }

  inline static thread_local PhaseTimes* current_ = nullptr;
  std::array<Clock::duration, kPhases> spent_{};
  Clock::time_point at_;
  Phase now_ = Phase::kOther;
};

// The thread is in this phase as long as this lives.
class InPhase {
 public:
  explicit InPhase(Phase phase) : times_(PhaseTimes::current_) {
    if (times_ != nullptr) before_ = times_->Switch(phase);
  }
  ~InPhase() {
    if (times_ != nullptr) times_->Switch(before_);
  }
  InPhase(const InPhase&) = delete;
  InPhase& operator=(const InPhase&) = delete;

 private:
  PhaseTimes* const times_;
  Phase before_ = Phase::kOther;
};

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_BASE_PHASES_H_
