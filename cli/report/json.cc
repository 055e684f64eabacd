#include "cli/json.h"

#include "cli/report/text.h"
#include "schema/migrations.h"
#include "schema/version.h"

namespace oomdb::cli {
namespace {

// A number with its evidence word; null when it is unknown.
Json Number(const std::optional<int64_t>& value, std::string_view evidence) {
  if (!value) return nullptr;
  return Json{{"value", *value}, {"evidence", evidence}};
}

Json ToJson(const ReportCapture& c) {
  return Json{{"run", OrNull(c.run)},
              {"host", OrNull(c.host)},
              {"path", c.path},
              {"kind", c.kind},
              {"status", c.status},
              {"format_note", OrNull(c.format_note)},
              {"jax_version", OrNull(c.jax_version)},
              {"bytes", c.bytes},
              {"duration_ns", Number(c.duration_ns, "measured")},
              {"devices", c.device_count},
              {"device_kind", OrNull(c.device_kind)},
              {"modules", c.module_count},
              {"executions", c.execution_count},
              {"failed_executions", c.failed_count},
              {"has_allocator_events", c.has_allocators},
              {"errors", c.error_count},
              {"warnings", c.warning_count},
              {"issues", c.issues}};
}

Json ToJson(const ReportFinding& f) {
  Json items = List(f.items, [&](const ReportItem& item) {
    return Json{{"kind", item.kind},
                {"label", item.label},
                {"bytes", Number(item.bytes, f.evidence)},
                {"count", OrNull(item.count)}};
  });
  Json remedies = List(f.remedies, [&](const ReportRemedy& remedy) {
    return Json{{"remedy", OrNull(remedy.remedy)},
                {"fix", remedy.fix},
                {"saving_bytes", Number(remedy.saving_bytes, remedy.evidence)},
                {"needs_bytes", Number(remedy.needs_bytes, remedy.evidence)},
                {"needs_low_bytes", OrNull(remedy.needs_low_bytes)},
                {"needs_high_bytes", OrNull(remedy.needs_high_bytes)},
                {"fits", OrNull(remedy.fits)},
                {"likely", OrNull(remedy.likely)},
                {"cost", OrNull(remedy.cost)},
                {"changes_results", OrNull(remedy.changes_results)}};
  });
  return Json{{"finding_id", f.finding_id},
              {"rule", f.rule},
              {"severity", f.severity},
              {"evidence", f.evidence},
              {"rule_title", OrNull(f.rule_title)},
              {"title", f.title},
              {"detail", f.detail},
              {"run", OrNull(f.run)},
              {"host", OrNull(f.host)},
              {"device", OrNull(f.device)},
              {"module_name", OrNull(f.module_name)},
              {"bytes", Number(f.bytes, f.bytes_evidence)},
              {"verdict", OrNull(f.verdict)},
              {"incident_id", OrNull(f.incident_id)},
              {"items", std::move(items)},
              {"remedies", std::move(remedies)}};
}

Json ToJson(const ReportPlan& p) {
  Json roles = List(p.roles, [&](const ReportRole& role) {
    return Json{{"role", role.role}, {"bytes", Number(role.bytes, "inferred")}};
  });
  Json groups = List(p.groups, [&](const ReportGroup& g) {
    return Json{{"bytes", Number(g.bytes, "read")},
                {"count", g.count},
                {"shape", OrNull(g.shape)},
                {"role", OrNull(g.role)},
                {"rematerialized", g.rematerialized},
                {"op_name", OrNull(g.op_name)},
                {"source_file", OrNull(g.source_file)},
                {"source_line", OrNull(g.source_line)},
                {"function_name", OrNull(g.function_name)},
                {"stack", g.stack}};
  });
  Json spaces = List(p.other_spaces, [&](const ReportSpace& space) {
    return Json{{"memory_space", space.memory_space},
                {"name", space.name},
                {"bytes", Number(space.bytes, "read")}};
  });
  Json json{{"module", p.Label()},
            {"name", p.name},
            {"program_id", OrNull(p.program_id)},
            {"has_plan", p.has_plan}};
  if (p.has_plan) {
    // Where only the total is known, nothing is said of its parts.
    if (p.classes_known) {
      json["parameter_count"] = p.parameter_count;
      json["donated_parameter_count"] = p.donated_parameter_count;
      json["parameter_bytes"] = Number(p.parameter_bytes, "read");
      json["donated_bytes"] = Number(p.donated_bytes, "read");
      json["output_bytes"] = Number(p.output_bytes, "read");
      json["constant_bytes"] = Number(p.constant_bytes, "read");
      json["temp_bytes"] = Number(p.temp_bytes, "read");
    }
    json["plan_bytes"] = Number(p.plan_bytes, "read");
    json["heap_peak_bytes"] = Number(p.heap_peak_bytes, "read");
    json["peak_bytes"] = Number(p.peak_bytes, "read");
    json["remat_instruction_count"] = OrNull(p.remat_instruction_count);
    json["remat_compute_count"] = OrNull(p.remat_compute_count);
  }
  json["capacity_bytes"] = Number(p.capacity_bytes, p.capacity_evidence);
  json["capacity_source"] = OrNull(p.capacity_source);
  json["device_memory_bytes"] = Number(p.memory_bytes, "read");
  json["roles_at_peak"] = std::move(roles);
  json["groups_at_peak"] = std::move(groups);
  json["other_memory_spaces"] = std::move(spaces);
  json["advice"] = List(p.advice, [](const ReportStep& step) {
    return Json{{"remedy", step.remedy},
                {"step", step.step},
                {"needs_bytes", Number(step.needs_bytes, "inferred")},
                {"spare_bytes", Number(step.spare_bytes, "inferred")},
                {"fits", OrNull(step.fits)},
                {"likely", OrNull(step.likely)}};
  });
  json["memory_anatomy"] = List(p.anatomy, [&](const ReportKind& kind) {
    return Json{{"memory_space", kind.memory_space},
                {"kind", kind.kind},
                {"bytes", Number(kind.bytes, kind.evidence)},
                {"count", kind.count},
                {"largest_bytes", Number(kind.largest_bytes, "read")},
                {"largest_name", OrNull(kind.largest_name)}};
  });
  json["waste"] = List(p.waste, [&](const ReportWaste& waste) {
    return Json{{"kind", waste.kind},
                {"label", waste.label},
                {"bytes", Number(waste.bytes, waste.evidence)},
                {"weight_bytes", Number(waste.weight_bytes, waste.evidence)},
                {"count", waste.count},
                {"shape", OrNull(waste.shape)},
                {"idle_percent", OrNull(waste.idle_percent)}};
  });
  json["co_residency"] = List(p.neighbours, [&](const ReportNeighbour& other) {
    return Json{{"module", other.name},
                {"label", other.label},
                {"needs_low_bytes", Number(other.needs_low_bytes, "inferred")},
                {"needs_high_bytes", Number(other.needs_high_bytes, "inferred")},
                {"shared", OrNull(other.shared)},
                {"fits", OrNull(other.fits)}};
  });
  return json;
}

Json ToJson(const std::vector<ReportLiveGroup>& groups) {
  Json live = List(groups, [&](const ReportLiveGroup& group) {
    return Json{{"origin", OrNull(group.origin)},
                {"bytes", Number(group.bytes, "measured")},
                {"count", group.count}};
  });
  return live;
}

Json ToJson(const ReportRun& run, const std::string& capacity_evidence) {
  Json devices = Json::array();
  for (const ReportDevice& d : run.devices) {
    devices.push_back(
        {{"device", OrNull(d.ordinal)},
         {"kind", OrNull(d.kind)},
         {"allocator", OrNull(d.allocator)},
         {"executions", d.execution_count},
         {"failed_executions", d.failed_count},
         {"failed_sequences", d.failed_sequences},
         {"capacity_bytes",
          Number(d.capacity_bytes, d.allocator.empty() ? capacity_evidence : "measured")},
         {"device_memory_bytes", Number(d.memory_bytes, "read")},
         {"peak_bytes", Number(d.peak_bytes, "measured")},
         {"capture_peak_bytes", Number(d.capture_peak_bytes, "measured")},
         {"in_use_at_starts", {{"values", d.in_use_at_starts}, {"evidence", "measured"}}},
         {"waits", d.wait_count},
         {"longest_wait_ns",
          d.wait_count > 0 ? Number(d.longest_wait_ns, d.wait_evidence) : Json(nullptr)}});
  }
  Json between = Json::array();
  for (const ReportGapCall& call : run.between) {
    between.push_back({{"event", call.event},
                       {"caller", OrNull(call.caller)},
                       {"gaps", call.gaps},
                       {"all_gaps", call.all_gaps},
                       {"only_host", OrNull(call.only_host)}});
  }
  return Json{{"devices", std::move(devices)},
              {"shown_device", OrNull(run.devices[run.shown].ordinal)},
              {"live_at_last_start", ToJson(run.live)},
              {"calls_between_executions", std::move(between)}};
}

Json ToJson(const ReportAllocator& a) {
  return Json{{"name", a.name},
              {"capacity_bytes", Number(a.capacity_bytes, "measured")},
              {"capture_peak_bytes", Number(a.capture_peak_bytes, "measured")},
              {"in_use_last_bytes", Number(a.in_use_last_bytes, "measured")},
              {"allocations", a.allocation_count},
              {"live_at_the_end", ToJson(a.live)}};
}

Json ToJson(const ReportErrorLog& log) {
  Json events = List(log.events, [&](const ReportErrorEvent& event) {
    return Json{
        {"line", OrNull(event.line)},           {"kind", event.kind},
        {"fatal", OrNull(event.fatal)},         {"memory_space", OrNull(event.memory_space)},
        {"allocator", OrNull(event.allocator)}, {"repeat_count", event.repeat_count},
        {"message", OrNull(event.message)}};
  });
  Json numbers = Json::object();
  for (const ReportErrorNumber& number : log.numbers)
    numbers[number.key] = Number(number.bytes, "read");
  Json buffers = List(log.buffers, [&](const ReportGroup& g) {
    return Json{{"bytes", Number(g.bytes, "read")},
                {"count", g.count},
                {"padding_bytes", Number(g.padding_bytes, "read")},
                {"shape", OrNull(g.shape)},
                {"op_name", OrNull(g.op_name)},
                {"source_file", OrNull(g.source_file)},
                {"source_line", OrNull(g.source_line)}};
  });
  return Json{{"path", log.path},
              {"failed", log.failed},
              {"main_event", log.main ? Json(*log.main) : Json(nullptr)},
              {"numbers", std::move(numbers)},
              {"buffers", std::move(buffers)},
              {"events", std::move(events)}};
}

Json ToJson(const ReportProfile& profile) {
  Json lines = List(profile.lines, [&](const ReportProfileLine& line) {
    return Json{{"kind", OrNull(line.kind)},
                {"device", OrNull(line.device)},
                {"source_file", OrNull(line.source_file)},
                {"source_line", OrNull(line.source_line)},
                {"function_name", OrNull(line.function_name)},
                {"bytes", Number(line.bytes, "measured")},
                {"count", line.count}};
  });
  return Json{{"path", profile.path},
              {"buffer_bytes", Number(profile.buffer_bytes, "measured")},
              {"buffers", profile.buffer_count},
              {"executables", profile.executable_count},
              {"executable_bytes", Number(profile.executable_bytes, "measured")},
              {"lines", std::move(lines)}};
}

}  // namespace

std::string ReportJson(const Report& report) {
  const ReportCapture& shown = report.captures[report.shown];
  const ReportVerdict verdict = VerdictOf(report);
  Json json{
      {"oomdb", {{"tool_version", schema::kVersion}, {"schema_version", schema::SchemaVersion()}}},
      {"verdict", verdict.words},
      {"headline", verdict.sentence},
      {"captures", List(report.captures, [](const ReportCapture& x) { return ToJson(x); })},
      {"findings", List(report.findings, [](const ReportFinding& x) { return ToJson(x); })},
      {"shown", {{"run", OrNull(shown.run)}, {"host", OrNull(shown.host)}, {"path", shown.path}}},
      {"plan", report.plan ? ToJson(*report.plan) : Json(nullptr)},
      {"run", report.run ? ToJson(*report.run, report.plan->capacity_evidence) : Json(nullptr)},
      {"error_texts", List(report.logs, [](const ReportErrorLog& x) { return ToJson(x); })},
      {"allocators", List(report.allocators, [](const ReportAllocator& x) { return ToJson(x); })},
      {"memory_profile", report.profile ? ToJson(*report.profile) : Json(nullptr)},
      {"quiet", report.quiet},
      {"cannot_tell", verdict.unknown},
      {"would_tell", verdict.tell}};
  return Dumped(json, 2) + "\n";
}

}  // namespace oomdb::cli
