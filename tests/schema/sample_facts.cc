#include "tests/schema/sample_facts.h"

#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <variant>

namespace oomdb::schema {

TestFolder::TestFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "oomdb-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = name;
}

TestFolder::~TestFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::shared_ptr<const ingest::Plan> SamplePlan() {
  auto plan = std::make_shared<ingest::Plan>();
  plan->module_name = "jit_step";
  plan->has_buffer_assignment = true;
  plan->instruction_count = 3;
  plan->parameter_count = 1;
  plan->parameter_bytes = 8;
  plan->temp_bytes = 32;
  plan->plan_bytes = 40;
  plan->heap_peak_bytes = 32;
  plan->peak_bytes = 40;
  ingest::PlanAllocation parameter;
  parameter.index = 0;
  parameter.allocation_class = ingest::AllocationClass::kParameter;
  parameter.bytes = 8;
  parameter.parameter_number = 0;
  parameter.parameter_shape_index = "{}";
  parameter.shape = "f32[2]";
  parameter.aliased_output = false;
  parameter.forward_read = true;
  ingest::PlanAllocation temp;
  temp.index = 1;
  temp.bytes = 32;
  plan->allocations = {parameter, temp};
  ingest::PlanOutput output;
  output.shape = "f32[2]";
  output.bytes = 8;
  output.role = ingest::Role::kOther;
  output.donor_is_read = true;
  plan->outputs = {output};
  ingest::PlanBuffer first;
  first.logical_buffer_id = 5;
  first.allocation_index = 0;
  first.allocation_class = ingest::AllocationClass::kParameter;
  first.bytes = 8;
  first.shape = "f32[2]";
  first.instruction = "p0";
  first.at_peak = false;
  ingest::PlanBuffer second;
  second.logical_buffer_id = 6;
  second.allocation_index = 1;
  second.allocation_class = ingest::AllocationClass::kTemp;
  second.role = ingest::Role::kForward;
  second.bytes = 32;
  second.shape = "f32[8]";
  second.instruction = "dot.1";
  second.op_name = "jit(step)/jvp()/dot_general";
  second.at_peak = true;
  second.line_via = "tanh.2";
  second.stack = ingest::Stack::kKept;
  second.repeat_count = 1;
  second.score_length = 8;
  second.vocabulary_length = 16;
  second.padded_dimension = 0;
  second.padded_from = 6;
  second.padded_to = 8;
  plan->buffers = {first, second};
  ingest::PlanPart weight;
  weight.allocation_class = ingest::AllocationClass::kParameter;
  weight.kind = ingest::MemoryKind::kWeights;
  weight.bytes = 8;
  weight.allocation_index = 0;
  weight.buffer = 0;
  weight.name = "params['w']";
  weight.shape = "f32[2]";
  ingest::PlanPart kept;
  kept.kind = ingest::MemoryKind::kActivations;
  kept.bytes = 32;
  kept.allocation_index = 1;
  kept.buffer = 1;
  kept.shape = "f32[8]";
  kept.copy_of = ingest::CopiedValue{"p0", "bf16"};
  kept.idle = ingest::IdleSpan{1, 2, "dot.3", "jit(step)/transpose(jvp())/dot", "train.py", 18};
  kept.hole_bytes = 4;
  kept.hole_end = "dot.3";
  plan->parts = {weight, kept};
  plan->schedule_length = 4;
  ingest::PlanFrame frame;
  frame.frame_id = 1;
  frame.source_file = "train.py";
  frame.source_line = 17;
  frame.function_name = "layer";
  plan->frames = {frame};
  plan->block = ingest::PlanBlock{"layer", "train.py", 31, "step"};
  ingest::PlanMemory space;
  space.space_name = "device memory";
  space.parameter_bytes = 8;
  space.temp_bytes = 32;
  space.heap_peak_bytes = 32;
  plan->spaces = {space};
  return plan;
}

CaptureSource SampleSource(const std::string& content_hash) {
  CaptureSource source;
  source.path = "/logs/plugins/profile/run1/host.xplane.pb";
  source.content_hash = content_hash;
  source.bytes = 1000;
  source.run = "run1";
  source.host = "host";
  return source;
}

void AddSampleFacts(ingest::FactSink& sink, const std::string& hlo_hash, int64_t allocations) {
  ingest::DeviceFact device;
  device.kind = "gpu";
  device.name = "/device:GPU:0";
  sink.Add(device);
  ingest::ModuleFact module;
  module.name = "jit_step";
  module.program_id = 7;
  module.hlo_hash = hlo_hash;
  module.platform = "gpu";
  module.target = "sm_8.0";
  module.execution_count = 1;
  module.plan = SamplePlan();
  sink.Add(module);
  ingest::AllocatorFact allocator;
  allocator.device = 0;
  allocator.name = "GPU_0_bfc";
  allocator.capacity_bytes = 64;
  sink.Add(allocator);
  ingest::ExecutionFact execution;
  execution.device = 0;
  execution.module = 0;
  execution.module_name = "jit_step";
  execution.sequence = 1;
  execution.start_ns = 1000;
  execution.end_ns = 2000;
  execution.launched = true;
  execution.launch_event = 0;  // Comes below: a fact may refer to one that is yet to come.
  sink.Add(execution);
  for (int64_t i = 0; i < allocations; ++i) {
    ingest::AllocationFact allocation;
    allocation.address = 4096 * i;
    allocation.bytes = 256;
    allocation.alloc_ns = 1000 + i;
    allocation.execution = 0;
    allocation.origin = "temp of jit_step execution 1";
    sink.Add(allocation);
  }
  ingest::HostEventFact event;
  event.thread = "python";
  event.name = "PjitFunction(step)";
  event.start_ns = 900;
  event.end_ns = 2100;
  sink.Add(event);
  ingest::GapCallFact call;
  call.thread = "python";
  call.name = "$builtins append";
  call.caller = "$train.py:61 log_metrics";
  call.gaps = 2;
  call.all_gaps = 3;
  call.calls = 4;
  call.last_start_ns = 950;
  sink.Add(call);
  ingest::OomEventFact oom;
  oom.line = 7;
  oom.kind = "bfc_request_failed";
  oom.form = "A2";
  oom.fatal = true;
  oom.requested_bytes = 4096;
  oom.device_free_bytes = 512;
  oom.device_bytes = 65536;
  oom.pool_bytes = 16384;
  oom.peak_bytes = 8192;
  oom.largest_request_bytes = 4096;
  oom.temp_unpadded_bytes = 128;
  sink.Add(oom);
  ingest::OomBufferFact buffer;
  buffer.position = 1;
  buffer.bytes = 4096;
  sink.Add(buffer);
  ingest::OomChunkFact chunk;
  chunk.position = 1;
  chunk.bytes = 256;
  sink.Add(chunk);
  sink.Add(ingest::ProfileSampleFact{"buffer", "gpu:0", 64, 1, "f (model.py:3)"});
  ingest::IssueFact issue;
  issue.severity = "info";
  issue.what = "events_left_out";
  issue.detail = "events that no memory question needs";
  issue.count = 12;
  sink.Add(issue);
  ingest::CaptureFact capture;
  capture.kind = "xplane";
  capture.own_host = "recorded-host";
  sink.Add(capture);
}

CaptureSummary WriteSample(Database& database, const std::string& content_hash,
                           const std::string& hlo_hash) {
  CaptureWriter writer(database, SampleSource(content_hash));
  AddSampleFacts(writer, hlo_hash);
  return writer.Commit({});
}

int64_t QueryInt(Database& database, const std::string& sql) {
  return std::get<int64_t>(Query(database, sql).rows.at(0).at(0));
}

std::string QueryText(Database& database, const std::string& sql) {
  return std::get<std::string>(Query(database, sql).rows.at(0).at(0));
}

}  // namespace oomdb::schema
