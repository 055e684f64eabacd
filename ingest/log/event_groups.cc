#include "ingest/log/event_groups.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "ingest/log/patterns.h"

namespace oomdb::ingest {
namespace {

constexpr size_t kRecentRequests = 64;

// A message without what the runtime, the exception and the thread put around it.
std::string_view Words(std::string_view message) {
  message = message.substr(0, message.find("; current tracing scope"));
  static const Pattern runtime(
      R"((?:Execution of replica \d+ failed: |.*' failed: |[A-Z_]+: |Internal: )+)");
  message.remove_prefix(runtime.StartsWith(message));
  while (message.ends_with('.')) message.remove_suffix(1);
  return message;
}

// What two prints of one failure have in common.
std::string Figures(OomEvent& event) {
  const OomEventFact& fact = event.fact;
  std::string key = fact.form + '|' + fact.memory_space + '|' + fact.allocator;
  for (int i = static_cast<int>(Field::kRequested); i <= static_cast<int>(Field::kSparseCore);
       ++i) {
    const MaybeInt* const bytes = event.Bytes(static_cast<Field>(i));
    key += '|';
    if (bytes->has_value()) key += std::to_string(**bytes);
  }
  // Failures without a figure differ by their words; but a process that was killed, or threw, is
  // reported in several.
  const bool host = fact.form == "C1" || fact.form == "C2";
  if (!host && !fact.requested_bytes && !fact.used_bytes && !fact.total_bytes)
    key += Words(fact.message);
  return key;
}

bool Differ(const std::string& a, const std::string& b) {
  return !a.empty() && !b.empty() && a != b;
}

bool SameRequest(const OomEvent& a, const OomEvent& b) {
  if (!a.fact.requested_bytes || !b.fact.requested_bytes) return false;
  if (Differ(a.fact.memory_space, b.fact.memory_space)) return false;
  if (Differ(a.fact.allocator, b.fact.allocator)) return false;
  if (a.fact.device && b.fact.device && a.fact.device != b.fact.device) return false;
  constexpr int64_t kRounding = 255;  // Allocators round up to 256.
  const int64_t slack = a.requested_slack + b.requested_slack + kRounding;
  return std::abs(*a.fact.requested_bytes - *b.fact.requested_bytes) <= slack;
}

bool IsReport(const OomEvent& event) {
  const std::string& form = event.fact.form;
  return form == "T2" || form == "T3" || form == "T4" || form == "V1" || form == "B1" ||
         form == "B2" || form == "A6" || form == "A8" || form == "D4";
}

}  // namespace

void EventGroups::Repeat(size_t index, int64_t line) {
  ++events_[index].fact.repeat_count;
  events_[index].last_line = line;
}

std::optional<size_t> EventGroups::FindRequest(const OomEvent& event) const {
  for (auto it = recent_requests_.rbegin(); it != recent_requests_.rend(); ++it) {
    if (SameRequest(events_[*it], event)) return *it;
  }
  return std::nullopt;
}

std::optional<size_t> EventGroups::FindBackOff(const OomEvent& event) const {
  const MaybeInt bytes = event.fact.requested_bytes;
  if (!bytes) return std::nullopt;
  for (auto it = recent_requests_.rbegin(); it != recent_requests_.rend(); ++it) {
    const OomEvent& before = events_[*it];
    if (before.family != Family::kBackOff || before.fact.form != event.fact.form ||
        before.fact.memory_space != event.fact.memory_space) {
      continue;
    }
    // Each attempt is 0.9 of the one before; or all of it begins again.
    const bool next = *bytes <= before.last_bytes && *bytes >= before.last_bytes / 20 * 17;
    if (next || bytes == before.fact.requested_bytes) return *it;
  }
  return std::nullopt;
}

std::optional<size_t> EventGroups::FindReportBefore(const OomEvent& event) const {
  if (events_.empty()) return std::nullopt;
  const size_t last = events_.size() - 1;
  const OomEvent& report = events_[last];
  if (event.fact.line.value_or(0) - report.last_line > kNearLines) return std::nullopt;
  const std::string& form = report.fact.form;
  if (event.family == Family::kUnverifiedPlan && form == "D4") return last;
  const bool dump = (form == "A6" || form == "A8") && !report.fact.fatal.has_value();
  if (event.family == Family::kRequest && dump && !report.fact.requested_bytes &&
      !Differ(event.fact.memory_space, report.fact.memory_space) &&
      !Differ(event.fact.allocator, report.fact.allocator)) {
    return last;
  }
  return std::nullopt;
}

std::optional<size_t> EventGroups::Add(OomEvent&& event) {
  const int64_t line = event.fact.line.value_or(0);
  event.last_line = std::max(event.last_line, line);
  std::string key = Figures(event);
  if (const auto known = by_figures_.find(key); known != by_figures_.end()) {
    Repeat(known->second, line);
    events_[known->second].Complete(std::move(event));
    return known->second;
  }
  std::optional<size_t> same;
  const bool report = IsReport(event);
  if (event.family == Family::kRequest && !report) same = FindRequest(event);
  if (event.family == Family::kBackOff) same = FindBackOff(event);
  if (same.has_value()) {
    Repeat(*same, line);
    // What a driver or an allocator only mentioned was not survived.
    if (OomEvent& told = events_[*same]; event.fact.fatal == true && told.fact.fatal != true) {
      told.family = event.family;
      told.fact.form = event.fact.form;
      told.fact.fatal = true;
      told.fact.message = event.fact.message;
    }
    events_[*same].last_bytes = event.fact.requested_bytes.value_or(0);
    events_[*same].Complete(std::move(event));
    return same;
  }
  if (const std::optional<size_t> before = report ? std::nullopt : FindReportBefore(event)) {
    OomEvent& taken = events_[*before];
    taken.family = event.family;
    taken.fact.form = event.fact.form;
    taken.fact.fatal = event.fact.fatal;
    taken.fact.message = event.fact.message;
    taken.Complete(std::move(event));
    by_figures_.emplace(std::move(key), *before);
    if (taken.family == Family::kRequest) recent_requests_.push_back(*before);
    return before;
  }
  if (events_.size() == kMaxEvents) {
    ++left_out_;
    return std::nullopt;
  }
  const size_t index = events_.size();
  event.last_bytes = event.fact.requested_bytes.value_or(0);
  const bool request =
      event.family == Family::kBackOff || (event.family == Family::kRequest && !report);
  events_.push_back(std::move(event));
  by_figures_.emplace(std::move(key), index);
  if (request) {
    recent_requests_.push_back(index);
    if (recent_requests_.size() > kRecentRequests) recent_requests_.pop_front();
  }
  return index;
}

// libtpu logs a report that the exception prints again.
void EventGroups::DropTwins() {
  std::unordered_map<std::string, size_t> reported;
  const auto totals = [](const OomEvent& event) {
    const OomEventFact& fact = event.fact;
    const auto text = [](MaybeInt bytes) { return bytes ? std::to_string(*bytes) : "?"; };
    return text(fact.total_bytes) + '|' + text(fact.program_bytes) + '|' + text(fact.temp_bytes);
  };
  for (size_t i = 0; i < events_.size(); ++i) {
    if (events_[i].fact.total_bytes && !IsReport(events_[i]))
      reported.emplace(totals(events_[i]), i);
  }
  for (OomEvent& event : events_) {
    if (!IsReport(event) || !event.fact.total_bytes) continue;
    const auto twin = reported.find(totals(event));
    if (twin == reported.end()) continue;
    event.dropped = true;
    events_[twin->second].fact.repeat_count += event.fact.repeat_count;
    events_[twin->second].Complete(std::move(event));
  }
}

std::vector<OomEvent> EventGroups::Take() {
  DropTwins();
  std::erase_if(events_, [](const OomEvent& event) { return event.dropped; });
  std::stable_sort(events_.begin(), events_.end(), [](const OomEvent& a, const OomEvent& b) {
    return a.fact.line.value_or(0) < b.fact.line.value_or(0);
  });
  return std::move(events_);
}

}  // namespace oomdb::ingest
