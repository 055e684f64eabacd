#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/report/model.h"
#include "schema/query.h"

namespace oomdb::cli {
namespace {

// "outputs of jit_f execution 3" -> "outputs of jit_f execution", 3. Without a number at the end:
// 0.
std::pair<std::string, int64_t> SplitSequence(const std::string& origin) {
  const size_t at = origin.rfind(" execution ");
  if (at == std::string::npos) return {origin, 0};
  const std::string number = origin.substr(at + 11);
  if (number.empty() || number.size() > 15 || !std::all_of(number.begin(), number.end(), ::isdigit))
    return {origin, 0};
  return {origin.substr(0, at + 10), std::stoll(number)};
}

// "1–9, 12"
std::string Ranges(const std::vector<int64_t>& sorted) {
  std::string text;
  for (size_t i = 0; i < sorted.size();) {
    size_t end = i;
    while (end + 1 < sorted.size() && sorted[end + 1] == sorted[end] + 1) ++end;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", sorted[i]);
    if (end > i) text += fmt::format("–{}", sorted[end]);
    i = end + 1;
  }
  return text;
}

// What several executions of a module left alive is one thing to a person. Largest first.
std::vector<ReportLiveGroup> UniteExecutions(const std::vector<ReportLiveGroup>& groups) {
  std::map<std::string, std::pair<ReportLiveGroup, std::vector<int64_t>>> united;
  for (const ReportLiveGroup& group : groups) {
    const auto [name, sequence] = SplitSequence(group.origin);
    auto& [sum, sequences] = united[name];
    sum.origin = name;
    sum.bytes += group.bytes;
    sum.count += group.count;
    if (sequence > 0) sequences.push_back(sequence);
  }
  std::vector<ReportLiveGroup> out;
  for (auto& [name, entry] : united) {
    auto& [sum, sequences] = entry;
    std::sort(sequences.begin(), sequences.end());
    if (!sequences.empty()) sum.origin += (sequences.size() > 1 ? "s " : " ") + Ranges(sequences);
    out.push_back(std::move(sum));
  }
  std::sort(out.begin(), out.end(), [](const ReportLiveGroup& a, const ReportLiveGroup& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.origin < b.origin;
  });
  return out;
}

ReportLiveGroup LiveGroup(const schema::Record& row) {
  return {row.Text("origin"), row.Integer("bytes"), row.Integer("count")};
}

ReportDevice Device(const schema::Record& row) {
  return {.device_id = row.MaybeInteger("device_id"),
          .ordinal = row.MaybeInteger("device"),
          .kind = row.Text("device_kind"),
          .allocator = row.Text("allocator"),
          .capacity_bytes = row.MaybeInteger("capacity_bytes"),
          .memory_bytes = row.MaybeInteger("memory_bytes"),
          .peak_bytes = row.MaybeInteger("peak_bytes"),
          .capture_peak_bytes = row.MaybeInteger("capture_peak_bytes")};
}

void AddExecution(const schema::Record& row, ReportDevice* device) {
  ++device->execution_count;
  if (row.Flag("failed")) {
    ++device->failed_count;
    device->failed_sequences.push_back(row.Integer("sequence"));
  }
  if (const auto in_use = row.MaybeInteger("in_use_at_start_bytes"))
    device->in_use_at_starts.push_back(*in_use);
  if (const int64_t wait = row.Integer("wait_ns"); wait > 0) {
    ++device->wait_count;
    if (wait > device->longest_wait_ns) {
      device->longest_wait_ns = wait;
      device->wait_evidence = row.Text("wait_evidence");
    }
  }
  device->last_execution_id = row.Integer("execution_id");
}

// The device with the most failures, then with the most in use at its last start.
size_t ChooseDevice(const std::vector<ReportDevice>& devices) {
  const auto worth = [](const ReportDevice& d) {
    return std::tuple(d.failed_count,
                      d.in_use_at_starts.empty() ? int64_t{0} : d.in_use_at_starts.back());
  };
  const auto most = std::max_element(
      devices.begin(), devices.end(),
      [&](const ReportDevice& a, const ReportDevice& b) { return worth(a) < worth(b); });
  return static_cast<size_t>(most - devices.begin());
}

}  // namespace

std::optional<ReportRun> ReadReportRun(schema::Database& database, const ReportPlan& plan) {
  ReportRun run;
  for (const schema::Record& row :
       schema::ReadView(database, "module_runs", {{"module_id", plan.module_id}},
                        "device, device_id, start_ns, execution_id")) {
    if (run.devices.empty() || run.devices.back().device_id != row.MaybeInteger("device_id"))
      run.devices.push_back(Device(row));
    AddExecution(row, &run.devices.back());
  }
  if (run.devices.empty()) return std::nullopt;
  run.shown = ChooseDevice(run.devices);
  const ReportDevice& device = run.devices[run.shown];
  std::vector<ReportLiveGroup> live;
  for (const schema::Record& row :
       schema::ReadView(database, "live_at_start", {{"execution_id", *device.last_execution_id}}))
    live.push_back(LiveGroup(row));
  run.live = UniteExecutions(live);
  if (!device.device_id) return run;
  for (const schema::Record& row :
       schema::ReadView(database, "gap_calls", {{"module_id", plan.module_id}},
                        "container DESC, encloses, python DESC, last_start_ns DESC, event")) {
    run.between.push_back({.event = row.Text("event"),
                           .caller = row.IsNull("caller") ? "" : row.Text("caller"),
                           .gaps = row.Integer("gaps"),
                           .all_gaps = row.Integer("all_gaps"),
                           .only_host = row.MaybeFlag("only_host")});
  }
  return run;
}

std::vector<ReportAllocator> ReadReportAllocators(schema::Database& database, int64_t capture_id) {
  std::vector<ReportAllocator> allocators;
  std::map<int64_t, std::vector<ReportLiveGroup>> live;
  for (const schema::Record& row : schema::ReadView(
           database, "live_at_end", {{"capture_id", capture_id}}, "bytes DESC, origin")) {
    live[row.Integer("allocator_id")].push_back(LiveGroup(row));
  }
  for (const schema::Record& row : schema::ReadView(
           database, "allocators", {{"capture_id", capture_id}}, "name, allocator_id")) {
    allocators.push_back({.name = row.Text("name"),
                          .capacity_bytes = row.MaybeInteger("capacity_bytes"),
                          .capture_peak_bytes = row.MaybeInteger("capture_peak_bytes"),
                          .in_use_last_bytes = row.MaybeInteger("in_use_last_bytes"),
                          .allocation_count = row.Integer("allocation_count"),
                          .live = std::move(live[row.Integer("allocator_id")])});
  }
  return allocators;
}

}  // namespace oomdb::cli
