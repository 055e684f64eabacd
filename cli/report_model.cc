#include "cli/report_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "cli/nearest.h"
#include "schema/query.h"

namespace oomdb {
namespace {

// What explains a failure stands before what describes it.
constexpr auto kRuleOrder = std::to_array<std::string_view>(
    {"truncated_capture", "step_does_not_fit", "grows_per_execution", "other_arrays_take_room", "fragmentation",
     "no_donation", "capacity_below_memory", "forward_dominates", "backward_dominates", "workspace_dominates",
     "allocator_retry", "lost_events", "already_rematerialized"});

// How many origins and events a report lists; all of them are in the database.
constexpr int64_t kUsualTop = 10;
constexpr size_t kMaxLive = 6;
constexpr size_t kMaxBetween = 5;

int RuleRank(const std::string& rule) {
  const auto found = std::find(kRuleOrder.begin(), kRuleOrder.end(), rule);
  return static_cast<int>(found - kRuleOrder.begin());
}

int SeverityRank(const std::string& severity) {
  return severity == "error" ? 0 : severity == "warning" ? 1 : 2;
}

std::optional<int64_t> MaybeInteger(const Value& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return *number;
  if (const auto* real = std::get_if<double>(&value)) return static_cast<int64_t>(*real);
  return std::nullopt;
}
int64_t Integer(const Value& value) { return MaybeInteger(value).value_or(0); }
std::optional<bool> MaybeBool(const Value& value) {
  const auto number = MaybeInteger(value);
  return number ? std::optional<bool>(*number != 0) : std::nullopt;
}
std::string Text(const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? "" : *text;
}

// "outputs of jit_f execution 3" -> "outputs of jit_f execution", 3. Without a number at the end: 0.
std::pair<std::string, int64_t> SplitSequence(const std::string& origin) {
  const size_t at = origin.rfind(" execution ");
  if (at == std::string::npos) return {origin, 0};
  const std::string number = origin.substr(at + 11);
  if (number.empty() || number.size() > 15 || !std::all_of(number.begin(), number.end(), ::isdigit)) return {origin, 0};
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

class Reader {
 public:
  Reader(Database& database, const ReportScope& scope) : database_(database), scope_(scope) {}

  Report Read() {
    ReadCaptures();
    ReadFindings();
    ChooseCapture();
    ReadPlan();
    if (report_.plan) ReadRun();
    FindQuiet();
    report_.top_asked = scope_.top.has_value();
    return std::move(report_);
  }

 private:
  std::vector<Row> Ask(const std::string& sql, const Parameters& parameters = {}) {
    return Query(database_, sql, parameters).rows;
  }

  void ReadCaptures() {
    const std::vector<Row> rows = Ask(
        "SELECT c.capture_id, c.run, c.host, c.path, c.kind, c.status, c.format_note, c.jax_version, c.duration_ns, "
        "c.bytes, (SELECT COUNT(*) FROM devices d WHERE d.capture_id = c.capture_id), "
        "(SELECT MAX(d.kind) FROM devices d WHERE d.capture_id = c.capture_id), "
        "(SELECT COUNT(*) FROM modules m WHERE m.capture_id = c.capture_id), "
        "(SELECT COUNT(*) FROM executions e WHERE e.capture_id = c.capture_id), "
        "(SELECT COUNT(*) FROM executions e WHERE e.capture_id = c.capture_id AND e.failed = 1), "
        "(SELECT COUNT(*) FROM allocators a WHERE a.capture_id = c.capture_id AND a.device_id IS NOT NULL) "
        "FROM captures c WHERE (:run = '' OR c.run = :run) AND (:host = '' OR c.host = :host) "
        "ORDER BY c.run, c.host, c.path, c.capture_id",
        {{"run", scope_.run}, {"host", scope_.host}});
    for (const Row& row : rows) {
      ReportCapture c;
      c.capture_id = Integer(row[0]);
      c.run = Text(row[1]);
      c.host = Text(row[2]);
      c.path = Text(row[3]);
      c.kind = Text(row[4]);
      c.status = Text(row[5]);
      c.format_note = Text(row[6]);
      c.jax_version = Text(row[7]);
      c.duration_ns = MaybeInteger(row[8]);
      c.bytes = Integer(row[9]);
      c.device_count = Integer(row[10]);
      c.device_kind = Text(row[11]);
      c.module_count = Integer(row[12]);
      c.execution_count = Integer(row[13]);
      c.failed_count = Integer(row[14]);
      c.has_allocators = Integer(row[15]) > 0;
      report_.captures.push_back(std::move(c));
    }
    if (report_.captures.empty()) ThrowNoCapture();
    for (const Row& row : Ask("SELECT capture_id, severity, detail, count FROM ingest_issues WHERE severity <> 'info' "
                              "ORDER BY capture_id, severity, what, detail")) {
      for (ReportCapture& c : report_.captures) {
        if (c.capture_id != Integer(row[0])) continue;
        c.issues.push_back(Text(row[1]) + ": " + Text(row[2]) +
                           (Integer(row[3]) > 1 ? fmt::format(" (× {})", Integer(row[3])) : ""));
      }
    }
  }

  [[noreturn]] void ThrowNoCapture() {
    std::vector<std::string> names;
    const bool by_host = scope_.run.empty();
    for (const Row& row : Ask(by_host ? "SELECT DISTINCT host FROM captures" : "SELECT DISTINCT run FROM captures")) {
      names.push_back(Text(row[0]));
    }
    if (scope_.run.empty() && scope_.host.empty()) {
      throw Error("the database holds no capture: oomdb ingest --db FILE PATH stores some");
    }
    throw Error(fmt::format("no capture of {} {}{}", by_host ? "host" : "run", by_host ? scope_.host : scope_.run,
                            DidYouMean(by_host ? scope_.host : scope_.run, names)),
                ExitCode::kUsage);
  }

  ReportCapture* CaptureOf(int64_t capture_id) {
    for (ReportCapture& c : report_.captures) {
      if (c.capture_id == capture_id) return &c;
    }
    return nullptr;
  }

  void ReadFindings() {
    std::map<std::string, size_t> index;
    for (const Row& row : Ask("SELECT finding_id, capture_id, run, host, rule, severity, evidence, title, detail, device, "
                              "module_id, module_name, bytes, (SELECT r.title FROM rules r WHERE r.rule = f.rule) FROM findings f")) {
      ReportFinding f;
      f.finding_id = Text(row[0]);
      f.capture_id = Integer(row[1]);
      if (CaptureOf(f.capture_id) == nullptr) continue;
      f.run = Text(row[2]);
      f.host = Text(row[3]);
      f.rule = Text(row[4]);
      f.severity = Text(row[5]);
      f.evidence = Text(row[6]);
      f.title = Text(row[7]);
      f.detail = Text(row[8]);
      f.device = MaybeInteger(row[9]);
      f.module_id = MaybeInteger(row[10]);
      f.module_name = Text(row[11]);
      f.bytes = MaybeInteger(row[12]);
      f.rule_title = Text(row[13]);
      report_.findings.push_back(std::move(f));
    }
    std::sort(report_.findings.begin(), report_.findings.end(), [](const ReportFinding& a, const ReportFinding& b) {
      return std::tuple(SeverityRank(a.severity), RuleRank(a.rule), a.run, a.host, a.device.value_or(-1), a.module_name,
                        a.finding_id) < std::tuple(SeverityRank(b.severity), RuleRank(b.rule), b.run, b.host,
                                                   b.device.value_or(-1), b.module_name, b.finding_id);
    });
    if (report_.findings.empty()) return;
    for (size_t i = 0; i < report_.findings.size(); ++i) index[report_.findings[i].finding_id] = i;
    for (const Row& row :
         Ask("SELECT finding_id, kind, label, bytes, count FROM finding_items ORDER BY finding_id, position")) {
      const auto found = index.find(Text(row[0]));
      if (found == index.end()) continue;
      report_.findings[found->second].items.push_back(
          {Text(row[1]), Text(row[2]), MaybeInteger(row[3]), MaybeInteger(row[4])});
    }
    for (const Row& row : Ask("SELECT finding_id, fix, saving_bytes, needs_bytes, fits, cost, changes_results, evidence "
                              "FROM remedies ORDER BY finding_id, position")) {
      const auto found = index.find(Text(row[0]));
      if (found == index.end()) continue;
      report_.findings[found->second].remedies.push_back({Text(row[1]), MaybeInteger(row[2]), MaybeInteger(row[3]),
                                                          MaybeBool(row[4]), Text(row[5]), MaybeBool(row[6]),
                                                          Text(row[7])});
    }
  }

  // The capture with the worst finding; else the one with the most failed executions; else the first.
  void ChooseCapture() {
    for (const ReportFinding& f : report_.findings) {
      ReportCapture& c = *CaptureOf(f.capture_id);
      if (f.severity == "error") ++c.error_count;
      if (f.severity == "warning") ++c.warning_count;
      if (c.worst_title.empty() && f.severity != "info") c.worst_title = f.title;
    }
    for (size_t i = 0; i < report_.captures.size(); ++i) {
      const ReportCapture &c = report_.captures[i], &best = report_.captures[report_.shown];
      const auto worth = [](const ReportCapture& x) {
        return std::tuple(x.error_count, x.failed_count, x.warning_count);
      };
      if (worth(c) > worth(best)) report_.shown = i;
    }
    // Findings of the shown capture first, where severity is equal.
    const int64_t shown = report_.captures[report_.shown].capture_id;
    std::stable_sort(report_.findings.begin(), report_.findings.end(),
                     [&](const ReportFinding& a, const ReportFinding& b) {
                       return std::tuple(SeverityRank(a.severity), RuleRank(a.rule), a.capture_id != shown) <
                              std::tuple(SeverityRank(b.severity), RuleRank(b.rule), b.capture_id != shown);
                     });
  }

  static std::string LabelOf(const std::string& name, std::optional<int64_t> program_id) {
    return program_id ? fmt::format("{}({})", name, *program_id) : name;
  }

  // The module whose last execution launched nothing; else the largest that ran; else the largest plan.
  std::optional<int64_t> ChooseModule() {
    const int64_t capture = report_.captures[report_.shown].capture_id;
    const std::vector<Row> rows = Ask(
        "SELECT m.module_id, m.name, m.program_id, "
        "COALESCE((SELECT e.failed FROM executions e WHERE e.module_id = m.module_id "
        "ORDER BY e.start_ns DESC, e.execution_id DESC LIMIT 1), 0) AS last_failed, "
        "CASE WHEN m.execution_count > 0 THEN 1 ELSE 0 END AS ran "
        "FROM modules m WHERE m.capture_id = :capture "
        "ORDER BY last_failed DESC, ran DESC, m.plan_bytes DESC NULLS LAST, m.name, m.program_id, m.module_id",
        {{"capture", capture}});
    if (scope_.module.empty()) {
      return rows.empty() ? std::nullopt : std::optional<int64_t>(Integer(rows[0][0]));
    }
    std::vector<std::string> names;
    for (const Row& row : rows) {
      const std::string label = LabelOf(Text(row[1]), MaybeInteger(row[2]));
      if (label == scope_.module || Text(row[1]) == scope_.module) return Integer(row[0]);
      names.push_back(label);
    }
    throw Error(fmt::format("no module {} in this capture{}", scope_.module, DidYouMean(scope_.module, names)),
                ExitCode::kUsage);
  }

  void ReadPlan() {
    const std::optional<int64_t> module = ChooseModule();
    if (!module) return;
    const Parameters id = {{"module", *module}};
    const std::vector<Row> rows = Ask(
        "SELECT name, program_id, parameter_count, parameter_bytes, donated_parameter_count, donated_bytes, "
        "output_bytes, constant_bytes, temp_bytes, plan_bytes, peak_bytes, heap_peak_bytes, remat_instruction_count "
        "FROM modules WHERE module_id = :module",
        id);
    ReportPlan plan;
    const Row& row = rows.at(0);
    plan.module_id = *module;
    plan.name = Text(row[0]);
    plan.program_id = MaybeInteger(row[1]);
    plan.has_plan = MaybeInteger(row[9]).has_value();
    plan.parameter_count = Integer(row[2]);
    plan.parameter_bytes = Integer(row[3]);
    plan.donated_parameter_count = Integer(row[4]);
    plan.donated_bytes = Integer(row[5]);
    plan.output_bytes = Integer(row[6]);
    plan.constant_bytes = Integer(row[7]);
    plan.temp_bytes = Integer(row[8]);
    plan.plan_bytes = Integer(row[9]);
    plan.peak_bytes = Integer(row[10]);
    plan.heap_peak_bytes = MaybeInteger(row[11]);
    plan.remat_instruction_count = Integer(row[12]);
    for (const Row& role : Ask("SELECT role, SUM(bytes) FROM buffers WHERE module_id = :module AND class = 'temp' AND "
                               "memory_space = 0 AND at_peak = 1 GROUP BY role ORDER BY SUM(bytes) DESC, role",
                               id)) {
      plan.roles.push_back({Text(role[0]), Integer(role[1])});
    }
    for (const Row& space : Ask("SELECT space_name, memory_space, parameter_bytes + output_bytes + constant_bytes + "
                                "temp_bytes AS bytes FROM module_memory WHERE module_id = :module AND memory_space <> 0 "
                                "ORDER BY memory_space",
                                id)) {
      if (Integer(space[2]) > 0) plan.other_spaces.push_back({Text(space[0]), Integer(space[1]), Integer(space[2])});
    }
    ReadCapacity(&plan);
    ReadGroups(&plan);
    report_.plan = std::move(plan);
  }

  // Of the device it ran on with the least room; a module that never ran: of any.
  void ReadCapacity(ReportPlan* plan) {
    const std::vector<Row> rows = Ask(
        "SELECT p.capacity_bytes, p.capacity_source, p.capacity_evidence, p.memory_bytes FROM effective_capacity p "
        "WHERE p.capture_id = :capture AND p.capacity_bytes IS NOT NULL ORDER BY "
        "CASE WHEN EXISTS (SELECT 1 FROM executions e WHERE e.module_id = :module AND e.device_id = p.device_id) "
        "THEN 0 ELSE 1 END, p.capacity_bytes LIMIT 1",
        {{"capture", report_.captures[report_.shown].capture_id}, {"module", plan->module_id}});
    if (rows.empty()) return;
    plan->capacity_bytes = MaybeInteger(rows[0][0]);
    plan->capacity_source = Text(rows[0][1]);
    plan->capacity_evidence = Text(rows[0][2]);
    plan->memory_bytes = MaybeInteger(rows[0][3]);
  }

  // What is there at the peak: parameters, outputs and constants all the time, temps by the trace; without a trace, the temp
  // allocations.
  void ReadGroups(ReportPlan* plan) {
    const std::vector<Row> rows = Ask(
        "WITH parts AS ("
        "SELECT bytes, shape, role, CASE WHEN instruction LIKE '%.remat%' THEN 1 ELSE 0 END AS remat, op_name, "
        "source_file, source_line, function_name FROM buffers WHERE module_id = :module AND class = 'temp' AND "
        "memory_space = 0 AND at_peak = 1 "
        "UNION ALL SELECT bytes, shape, class, 0, NULL, NULL, NULL, NULL FROM plan_allocations WHERE module_id = "
        ":module AND memory_space = 0 AND (class IN ('parameter', 'constant') OR (class = 'temp' AND :traced = 0)) "
        "UNION ALL SELECT bytes, shape, 'output', 0, NULL, NULL, NULL, NULL FROM module_outputs WHERE module_id = "
        ":module AND memory_space = 0 AND aliased = 0) "
        "SELECT SUM(bytes) AS total, COUNT(*), shape, role, remat, op_name, source_file, source_line, function_name "
        "FROM parts WHERE bytes > 0 GROUP BY shape, role, remat, op_name, source_file, source_line, function_name "
        "ORDER BY total DESC, role, shape, op_name, source_file, source_line, remat",
        {{"module", plan->module_id}, {"traced", int64_t{plan->heap_peak_bytes.has_value()}}});
    for (const Row& row : rows) {
      if (static_cast<int64_t>(plan->groups.size()) >= scope_.top.value_or(kUsualTop)) {
        ++plan->more_groups;
        plan->more_bytes += Integer(row[0]);
        plan->more_buffers += Integer(row[1]);
        continue;
      }
      ReportGroup group;
      group.bytes = Integer(row[0]);
      group.count = Integer(row[1]);
      group.shape = Text(row[2]);
      group.role = Text(row[3]);
      group.rematerialized = Integer(row[4]) != 0;
      group.op_name = Text(row[5]);
      group.source_file = Text(row[6]);
      group.source_line = MaybeInteger(row[7]);
      group.function_name = Text(row[8]);
      plan->groups.push_back(std::move(group));
    }
  }

  void ReadRun() {
    ReportRun run;
    std::map<std::optional<int64_t>, size_t> place;
    for (const Row& row : Ask(
             "SELECT e.device_id, d.ordinal, d.kind, a.name, p.capacity_bytes, d.memory_bytes, a.peak_bytes, "
             "a.capture_peak_bytes, e.sequence, e.failed, e.in_use_at_start_bytes, e.wait_ns, e.wait_evidence, "
             "e.execution_id FROM executions e LEFT JOIN devices d ON d.device_id = e.device_id "
             "LEFT JOIN effective_capacity p ON p.device_id = e.device_id "
             "LEFT JOIN allocators a ON a.allocator_id = p.allocator_id "
             "WHERE e.module_id = :module ORDER BY d.ordinal, e.device_id, e.start_ns, e.execution_id",
             {{"module", report_.plan->module_id}})) {
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
    if (run.devices.empty()) return;
    for (size_t i = 0; i < run.devices.size(); ++i) {
      const auto worth = [](const ReportDevice& d) {
        return std::tuple(d.failed_count, d.in_use_at_starts.empty() ? int64_t{0} : d.in_use_at_starts.back());
      };
      if (worth(run.devices[i]) > worth(run.devices[run.shown])) run.shown = i;
    }
    ReadLive(&run);
    ReadBetween(&run);
    report_.run = std::move(run);
  }

  void ReadLive(ReportRun* run) {
    const ReportDevice& device = run->devices[run->shown];
    if (!device.last_execution_id) return;
    std::vector<ReportLiveGroup> groups;
    for (const Row& row : Ask("SELECT origin, SUM(bytes), SUM(count) FROM live_at_start WHERE execution_id = :execution "
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
    for (const Row& row : Ask("SELECT event, count FROM launch_gap_events WHERE device_id = :device AND module_id = "
                              ":module ORDER BY position",
                              {{"device", *device.device_id}, {"module", report_.plan->module_id}})) {
      if (run->between.size() >= kMaxBetween) break;
      run->between.push_back(Text(row[0]) + (Integer(row[1]) > 1 ? fmt::format(" × {}", Integer(row[1])) : ""));
    }
  }

  bool Found(std::string_view rule) const {
    const int64_t shown = report_.captures[report_.shown].capture_id;
    return std::any_of(report_.findings.begin(), report_.findings.end(), [&](const ReportFinding& f) {
      return f.rule == rule && f.capture_id == shown;
    });
  }

  // Only what the capture holds the evidence for.
  void FindQuiet() {
    const ReportCapture& capture = report_.captures[report_.shown];
    if (!report_.plan || !report_.plan->has_plan) return;
    const ReportPlan& plan = *report_.plan;
    const bool fits = plan.capacity_bytes && plan.plan_bytes <= *plan.capacity_bytes;
    if (fits) report_.quiet.push_back("the plan fits the capacity");
    if (plan.donated_parameter_count > 0 && !Found("no_donation")) {
      report_.quiet.push_back(fmt::format("donation complete ({} of {} parameters)", plan.donated_parameter_count,
                                          plan.parameter_count));
    }
    if (capture.status != "complete" || !report_.run) return;
    const ReportDevice& device = report_.run->devices[report_.run->shown];
    if (device.in_use_at_starts.size() >= 3 && !Found("grows_per_execution")) {
      report_.quiet.push_back(fmt::format("no growth over {} executions", device.in_use_at_starts.size()));
    }
    if (capture.has_allocators && device.wait_count == 0) report_.quiet.push_back("no waits for memory");
    if (device.failed_count > 0 && !Found("fragmentation")) report_.quiet.push_back("no fragmentation");
  }

  Database& database_;
  const ReportScope& scope_;
  Report report_;
};

}  // namespace

std::string ReportPlan::Label() const { return program_id ? fmt::format("{}({})", name, *program_id) : name; }

Report ReadReport(Database& database, const ReportScope& scope) { return Reader(database, scope).Read(); }

}  // namespace oomdb
