#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/report_model.h"
#include "cli/report_values.h"
#include "schema/query.h"

namespace oomdb {
namespace {

// How many origins and events a report lists; all of them are in the database.
constexpr size_t kMaxLive = 6;
constexpr size_t kMaxBetween = 5;

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

// What several executions of a module left alive is one thing to a person.
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
  return out;
}

class RunReader {
 public:
  RunReader(Database& database, int64_t module_id) : database_(database), module_id_(module_id) {}

  std::optional<ReportRun> Read() {
    ReportRun run;
    std::map<std::optional<int64_t>, size_t> place;
    for (const Row& row :
         Ask("SELECT e.device_id, d.ordinal, d.kind, a.name, p.capacity_bytes, d.memory_bytes, "
             "a.peak_bytes, "
             "a.capture_peak_bytes, e.sequence, e.failed, e.in_use_at_start_bytes, e.wait_ns, "
             "e.wait_evidence, "
             "e.execution_id FROM executions e LEFT JOIN devices d ON d.device_id = e.device_id "
             "LEFT JOIN effective_capacity p ON p.device_id = e.device_id "
             "LEFT JOIN allocators a ON a.allocator_id = p.allocator_id "
             "WHERE e.module_id = :module ORDER BY d.ordinal, e.device_id, e.start_ns, "
             "e.execution_id",
             {{"module", module_id_}})) {
      const auto [found, is_new] = place.try_emplace(MaybeInteger(row[0]), run.devices.size());
      if (is_new) {
        ReportDevice device;
        device.device_id = MaybeInteger(row[0]);
        device.ordinal = MaybeInteger(row[1]);
        device.kind = Text(row[2]);
        device.allocator = Text(row[3]);
        device.capacity_bytes = MaybeInteger(row[4]);
        device.memory_bytes = MaybeInteger(row[5]);
        device.peak_bytes = MaybeInteger(row[6]);
        device.capture_peak_bytes = MaybeInteger(row[7]);
        run.devices.push_back(std::move(device));
      }
      ReportDevice& device = run.devices[found->second];
      ++device.execution_count;
      if (Integer(row[9]) != 0) {
        ++device.failed_count;
        device.failed_sequences.push_back(Integer(row[8]));
      }
      if (const auto in_use = MaybeInteger(row[10])) device.in_use_at_starts.push_back(*in_use);
      if (const auto wait = MaybeInteger(row[11]); wait && *wait > 0) {
        ++device.wait_count;
        if (*wait > device.longest_wait_ns) {
          device.longest_wait_ns = *wait;
          device.wait_evidence = Text(row[12]);
        }
      }
      device.last_execution_id = MaybeInteger(row[13]);
    }
    if (run.devices.empty()) return std::nullopt;
    for (size_t i = 0; i < run.devices.size(); ++i) {
      const auto worth = [](const ReportDevice& d) {
        return std::tuple(d.failed_count,
                          d.in_use_at_starts.empty() ? int64_t{0} : d.in_use_at_starts.back());
      };
      if (worth(run.devices[i]) > worth(run.devices[run.shown])) run.shown = i;
    }
    ReadLive(&run);
    ReadBetween(&run);
    return run;
  }

 private:
  std::vector<Row> Ask(const std::string& sql, const Parameters& parameters) {
    return Query(database_, sql, parameters).rows;
  }

  void ReadLive(ReportRun* run) {
    const ReportDevice& device = run->devices[run->shown];
    if (!device.last_execution_id) return;
    std::vector<ReportLiveGroup> groups;
    for (const Row& row : Ask("SELECT origin, SUM(bytes), SUM(count) FROM live_at_start WHERE "
                              "execution_id = :execution "
                              "GROUP BY origin ORDER BY origin",
                              {{"execution", *device.last_execution_id}})) {
      groups.push_back({Text(row[0]), Integer(row[1]), Integer(row[2])});
    }
    groups = UniteExecutions(groups);
    std::sort(groups.begin(), groups.end(), [](const ReportLiveGroup& a, const ReportLiveGroup& b) {
      return a.bytes != b.bytes ? a.bytes > b.bytes : a.origin < b.origin;
    });
    for (ReportLiveGroup& group : groups) {
      if (run->live.size() >= kMaxLive) {
        ++run->more_live_groups;
        run->more_live_bytes += group.bytes;
      } else {
        run->live.push_back(std::move(group));
      }
    }
  }

  void ReadBetween(ReportRun* run) {
    const ReportDevice& device = run->devices[run->shown];
    if (!device.device_id) return;
    for (const Row& row :
         Ask("SELECT event, count FROM launch_gap_events WHERE device_id = :device AND module_id = "
             ":module ORDER BY position",
             {{"device", *device.device_id}, {"module", module_id_}})) {
      if (run->between.size() >= kMaxBetween) break;
      run->between.push_back(Text(row[0]) +
                             (Integer(row[1]) > 1 ? fmt::format(" × {}", Integer(row[1])) : ""));
    }
  }

  Database& database_;
  const int64_t module_id_;
};

}  // namespace

std::optional<ReportRun> ReadReportRun(Database& database, const ReportPlan& plan) {
  return RunReader(database, plan.module_id).Read();
}

std::vector<ReportAllocator> ReadReportAllocators(Database& database, int64_t capture_id) {
  std::vector<ReportAllocator> allocators;
  for (const Row& row :
       Query(database,
             "SELECT allocator_id, name, capacity_bytes, capture_peak_bytes, in_use_last_bytes, "
             "allocation_count FROM allocators WHERE capture_id = :capture ORDER BY name, "
             "allocator_id",
             {{"capture", capture_id}})
           .rows) {
    ReportAllocator allocator{Text(row[1]),         MaybeInteger(row[2]), MaybeInteger(row[3]),
                              MaybeInteger(row[4]), Integer(row[5]),      {}};
    for (const Row& live :
         Query(database,
               "SELECT origin, SUM(bytes) AS total, COUNT(*) FROM allocations WHERE allocator_id = "
               ":allocator AND free_ns IS NULL GROUP BY origin ORDER BY total DESC, origin LIMIT 6",
               {{"allocator", Integer(row[0])}})
             .rows) {
      allocator.live.push_back({Text(live[0]), Integer(live[1]), Integer(live[2])});
    }
    allocators.push_back(std::move(allocator));
  }
  return allocators;
}

}  // namespace oomdb
