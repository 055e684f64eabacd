#include "cli/page/heap.h"

#include <algorithm>
#include <set>

#include "schema/query.h"

namespace oomdb::cli::page {
namespace {

constexpr double kMargin = 0.03;   // Before the first event, where the state before it is seen.
constexpr double kCutShare = 0.2;  // Of the width, for one cut; less for several.
constexpr size_t kMaxCuts = 2;
constexpr size_t kFewMoments = 12;  // Cut once: cut twice, nothing is left of them.

// The allocator of the shown device; else the one of the capture that had most in use.
std::optional<schema::Record> ChooseAllocator(schema::Database& database, const Report& report) {
  int64_t capture = report.captures[report.shown].capture_id;
  std::optional<int64_t> device;
  if (report.run) device = report.run->devices[report.run->shown].device_id;
  std::vector<schema::Record> found;
  if (device) {
    found = schema::ReadView(database, "allocators", {{"device_id", *device}},
                             "capture_peak_bytes DESC NULLS LAST, allocator_id");
  }
  if (found.empty()) {
    found = schema::ReadView(database, "allocators", {{"capture_id", capture}},
                             "capture_peak_bytes DESC NULLS LAST, allocator_id");
  }
  if (found.empty()) return std::nullopt;
  return found.front();
}

}  // namespace

std::optional<Heap> ReadHeap(schema::Database& database, const Report& report) {
  const std::optional<schema::Record> allocator = ChooseAllocator(database, report);
  if (!allocator || allocator->Integer("allocation_count") == 0) return std::nullopt;
  Heap heap;
  heap.allocator = allocator->Text("name");
  heap.capacity_bytes = allocator->MaybeInteger("capacity_bytes");
  for (const schema::Record& row : schema::ReadView(
           database, "allocations", {{"allocator_id", allocator->Integer("allocator_id")}},
           "alloc_ns NULLS FIRST, allocation_id")) {
    heap.allocations.push_back({.bytes = row.Integer("bytes"),
                                .address = row.MaybeInteger("address"),
                                .from_ns = row.MaybeInteger("alloc_ns"),
                                .to_ns = row.MaybeInteger("free_ns"),
                                .execution_id = row.MaybeInteger("execution_id"),
                                .purpose = row.Text("purpose"),
                                .origin = row.Text("origin")});
  }
  const std::optional<int64_t> device = allocator->MaybeInteger("device_id");
  if (!device) return heap;
  for (const schema::Record& row : schema::ReadView(
           database, "executions", {{"device_id", *device}}, "start_ns, execution_id")) {
    if (row.IsNull("start_ns")) continue;
    heap.executions.push_back({.execution_id = row.Integer("execution_id"),
                               .sequence = row.Integer("sequence"),
                               .start_ns = row.Integer("start_ns"),
                               .end_ns = row.Integer("end_ns"),
                               .failed = row.Flag("failed"),
                               .in_use_at_start = row.MaybeInteger("in_use_at_start_bytes"),
                               .wait_ns = row.Integer("wait_ns"),
                               .module_name = row.Text("module_name")});
  }
  if (!report.plan) return heap;
  for (const schema::Record& row :
       schema::ReadView(database, "failed_executions",
                        {{"device_id", *device}, {"module_id", report.plan->module_id}}, "place")) {
    heap.failure = {row.Integer("execution_id"), row.MaybeInteger("failed_bytes"),
                    row.MaybeInteger("free_bytes"), row.MaybeInteger("largest_free_bytes")};
    break;
  }
  return heap;
}

TimeAxis::TimeAxis(const std::vector<int64_t>& moments) {
  int64_t left = moments.back() - moments.front();
  std::vector<size_t> by_gap;
  for (size_t i = 1; i < moments.size(); ++i) by_gap.push_back(i);
  std::stable_sort(by_gap.begin(), by_gap.end(), [&](size_t a, size_t b) {
    return moments[a] - moments[a - 1] > moments[b] - moments[b - 1];
  });
  std::set<size_t> cut;
  for (const size_t i : by_gap) {
    const int64_t gap = moments[i] - moments[i - 1];
    // Longer than all the rest, and there is a rest.
    if (cut.size() == (moments.size() < kFewMoments ? 1 : kMaxCuts) || gap * 2 <= left ||
        gap == left)
      break;
    cut.insert(i);
    left -= gap;
  }
  const double share =
      cut.empty() ? 0 : std::max(kCutShare / static_cast<double>(cut.size()), 0.08);
  const double rest = 1 - kMargin - share * static_cast<double>(cut.size());
  times_.push_back(moments.front());
  places_.push_back(kMargin);
  const auto stretch = [&](int64_t to) {
    if (to <= times_.back()) return;
    places_.push_back(places_.back() + (left > 0 ? rest * static_cast<double>(to - times_.back()) /
                                                       static_cast<double>(left)
                                                 : 0));
    times_.push_back(to);
  };
  for (const size_t i : cut) {
    stretch(moments[i - 1]);
    cuts_.push_back({places_.back() + share / 2, moments[i] - moments[i - 1]});
    places_.push_back(places_.back() + share);
    times_.push_back(moments[i]);
  }
  stretch(moments.back());
}

double TimeAxis::Place(int64_t time_ns) const {
  if (time_ns <= times_.front()) return time_ns == times_.front() ? places_.front() : 0;
  const auto after = std::upper_bound(times_.begin(), times_.end(), time_ns);
  if (after == times_.end()) return places_.back();
  const auto i = static_cast<size_t>(after - times_.begin());
  const double part =
      static_cast<double>(time_ns - times_[i - 1]) / static_cast<double>(times_[i] - times_[i - 1]);
  return places_[i - 1] + part * (places_[i] - places_[i - 1]);
}

}  // namespace oomdb::cli::page
