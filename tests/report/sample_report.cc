#include "tests/report/sample_report.h"

namespace oomdb::cli {
namespace {

constexpr int64_t kMiB = 1 << 20;

ReportGroup Group(int64_t bytes, int64_t count, const char* shape, const char* role,
                  const char* op) {
  ReportGroup group;
  group.bytes = bytes;
  group.count = count;
  group.shape = shape;
  group.role = role;
  group.op_name = op;
  group.source_file = "/home/someone/train.py";
  group.source_line = 17;
  group.function_name = "layer";
  return group;
}

}  // namespace

Report HealthyReport() {
  Report report;
  ReportCapture capture;
  capture.capture_id = 1;
  capture.run = "run1";
  capture.host = "node-0";
  capture.path = "/logs/plugins/profile/run1/node-0.xplane.pb";
  capture.kind = "xplane";
  capture.status = "complete";
  capture.bytes = 1000;
  capture.device_count = 1;
  capture.device_kind = "gpu";
  capture.module_count = 1;
  capture.execution_count = 3;
  capture.has_allocators = true;
  report.captures.push_back(capture);

  ReportPlan plan;
  plan.module_id = 1;
  plan.name = "jit_step";
  plan.program_id = 7;
  plan.has_plan = true;
  plan.parameter_count = 10;
  plan.parameter_bytes = 100 * kMiB;
  plan.donated_parameter_count = 9;
  plan.donated_bytes = 90 * kMiB;
  plan.output_bytes = 4;
  plan.temp_bytes = 200 * kMiB;
  plan.heap_peak_bytes = 190 * kMiB;
  plan.plan_bytes = 300 * kMiB + 4;
  plan.peak_bytes = 290 * kMiB + 4;
  plan.capacity_bytes = 1000 * kMiB;
  plan.capacity_source = "pool";
  plan.capacity_evidence = "measured";
  plan.memory_bytes = 1333 * kMiB;
  plan.roles = {{"forward", 150 * kMiB}, {"backward", 40 * kMiB}};
  for (int i = 0; i < 8; ++i) {
    plan.groups.push_back(
        Group((100 - i) * kMiB, 2, "f32[8,1024,1024]", "forward", "jit(step)/jvp()/dot_general"));
  }
  report.plan = plan;

  ReportRun run;
  ReportDevice device;
  device.device_id = 1;
  device.ordinal = 0;
  device.kind = "gpu";
  device.allocator = "GPU_0_bfc";
  device.capacity_bytes = 1000 * kMiB;
  device.memory_bytes = 1333 * kMiB;
  device.peak_bytes = 400 * kMiB;
  device.capture_peak_bytes = 300 * kMiB;
  device.execution_count = 3;
  device.in_use_at_starts = {100 * kMiB, 100 * kMiB, 100 * kMiB};
  device.last_execution_id = 3;
  run.devices.push_back(device);
  run.live = {{"allocated before the capture began", 100 * kMiB, 1}};
  run.between = {{.event = "$train.py:61 log_metrics",
                  .caller = "",
                  .gaps = 2,
                  .all_gaps = 2,
                  .only_host = {}}};
  report.run = run;
  report.quiet = {"the plan fits the capacity", "no growth over 3 executions"};
  return report;
}

Report MisfitReport() {
  Report report = HealthyReport();
  report.captures[0].failed_count = 1;
  report.captures[0].error_count = 1;
  report.plan->capacity_bytes = 200 * kMiB;
  report.run->devices[0].failed_count = 1;
  report.run->devices[0].failed_sequences = {3};
  report.quiet.clear();
  ReportFinding finding;
  finding.finding_id = "step_does_not_fit:1:1:1";
  finding.capture_id = 1;
  finding.run = "run1";
  finding.host = "node-0";
  finding.rule = "step_does_not_fit";
  finding.rule_title = "The step itself does not fit";
  finding.severity = "error";
  finding.evidence = "measured";
  finding.title =
      "jit_step(7) does not fit: it needs 314572804 bytes, the pool holds 209715200 bytes";
  finding.detail = "At the heap peak of 199229440 bytes (inferred) forward leads.";
  finding.title_text = "jit_step(7) does not fit: it needs 300 MiB, the pool holds 200 MiB";
  finding.detail_text = "At the heap peak of 190 MiB (inferred) forward leads.";
  finding.brief_text = finding.detail_text;
  finding.device = 0;
  finding.module_id = 1;
  finding.module_name = "jit_step";
  finding.bytes = 314572804;
  finding.verdict = "too large";
  finding.incident_id = "device:run1:jit_step";
  finding.bytes_evidence = "read";
  finding.remedies = {
      {"jax.checkpoint on the block", 100 * kMiB, 200 * kMiB, true, std::nullopt,
       "about one more forward pass", false, "inferred"},
      {"half the sequence", 50 * kMiB, 250 * kMiB, false, std::nullopt, "", true, "inferred"}};
  report.findings.push_back(finding);
  return report;
}

}  // namespace oomdb::cli
