// One failure is printed many times: by the runtime, in the exception, in its traceback, by every
// thread and worker. Here each becomes one event with a count.
#ifndef OOMDB_INGEST_LOG_EVENT_GROUPS_H_
#define OOMDB_INGEST_LOG_EVENT_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ingest/log/oom_event.h"

namespace oomdb::ingest {

class EventGroups {
 public:
  static constexpr size_t kMaxEvents = 10000;
  // How far apart two lines of one message may be.
  static constexpr int64_t kNearLines = 60;

  // Files an event that stands at `event.fact.line`: as a repeat of one before, as what completes
  // one, or as a new one. Its index; std::nullopt when there are too many.
  std::optional<size_t> Add(OomEvent&& event);
  // Once more, at this line.
  void Repeat(size_t index, int64_t line);

  OomEvent& operator[](size_t index) { return events_[index]; }
  size_t size() const { return events_.size(); }
  int64_t left_out() const { return left_out_; }

  // All events, without those whose figures another one has too.
  std::vector<OomEvent> Take();

 private:
  std::optional<size_t> FindRequest(const OomEvent& event) const;
  std::optional<size_t> FindBackOff(const OomEvent& event) const;
  // A report that stands before `event`, belongs to it and to no failure above.
  std::optional<size_t> FindReportBefore(const OomEvent& event) const;
  void DropTwins();

  std::vector<OomEvent> events_;
  std::unordered_map<std::string, size_t> by_figures_;
  std::deque<size_t> recent_requests_;
  int64_t left_out_ = 0;
};

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_LOG_EVENT_GROUPS_H_
