#include "tests/support/gpu_story.h"

#include <stdexcept>
#include <utility>

namespace oomdb {
namespace {

// Timestamps of the lines as in recorded captures: small, and not all the same, so that whoever
// orders events by their offset alone gets it wrong.
constexpr int64_t kPythonLineNs = 1500;
constexpr int64_t kExecuteLineNs = 900;
constexpr int64_t kStreamLineNs = 911;
constexpr int64_t kEventGapNs = 500;
constexpr int64_t kOperationNs = 5000;
constexpr size_t kMostOperations = 12;  // Enough to be seen; a real step has thousands.
constexpr int64_t kDefaultWaitNs = 10'000'000'000;

std::string AllocatorName(int device) { return "GPU_" + std::to_string(device) + "_bfc"; }

// PjitFunction carries the function's name: that of the module without "jit_".
std::string FunctionName(const std::string& module_name) {
  return module_name.rfind("jit_", 0) == 0 ? module_name.substr(4) : module_name;
}

}  // namespace

GpuStory::GpuStory(Dialect dialect, std::string host_name)
    : dialect_(dialect), capture_(std::move(host_name)) {
  capture_.Plane("/host:metadata");
  capture_.Plane("/host:CPU");
  capture_.ProfileStart(kStartUnixNs);
}

GpuStory& GpuStory::Pool(int device, int64_t limit_bytes, const PoolOptions& options) {
  const int64_t base = 0x7f0000000000 + static_cast<int64_t>(device) * 0x10000000000;
  oomdb::Pool& pool = pools_.emplace(device, oomdb::Pool(base, limit_bytes)).first->second;
  if (options.in_use_before > 0 && !pool.Allocate(options.in_use_before)) {
    throw std::logic_error("more in use before the capture than the pool holds");
  }
  pool.RaisePeak(options.peak_before);
  const int64_t memory =
      options.memory_bytes > 0 ? options.memory_bytes : limit_bytes / 3 * 4 + limit_bytes % 3;
  capture_.Plane("/device:GPU:" + std::to_string(device))
      .Stats({Text("device_vendor", options.vendor), Int("clock_rate", 1410000),
              Int("core_count", 108), Int("memory_bandwidth", 1555200000000),
              Int("memory_size", memory), Int("compute_cap_major", 8),
              Int("compute_cap_minor", 0)});
  return *this;
}

GpuStory& GpuStory::Module(const HloBuilder& hlo, int64_t program_id) {
  capture_.AddModule(hlo.module_name(), program_id, hlo.Bytes(),
                     /*program_id_stat=*/dialect_ == Dialect::kNew);
  modules_.insert_or_assign(hlo.module_name(),
                            LoadedModule{hlo, program_id, hlo.op_instructions()});
  return *this;
}

GpuStory& GpuStory::WithoutDeviceTrace() {
  device_trace_ = false;
  return *this;
}

oomdb::Pool& GpuStory::PoolOf(int device) {
  const auto pool = pools_.find(device);
  if (pool == pools_.end()) {
    throw std::logic_error("no Pool for device " + std::to_string(device));
  }
  return pool->second;
}

LineBuilder& GpuStory::launching_thread() {
  return capture_.Plane("/host:CPU").Line("python", kPythonLineNs, 6300611701581713424);
}

LineBuilder& GpuStory::ExecutingThread(int device) {
  if (pools_.size() == 1) return launching_thread();
  const int64_t hash = 233202453396781343 + device;
  return capture_.Plane("/host:CPU")
      .Line("py_xla_execute/" + std::to_string(hash), kExecuteLineNs + 17 * device, hash);
}

void GpuStory::MemoryEvent(LineBuilder& thread, const char* name, int device, int64_t address,
                           const oomdb::Pool::Chunk& chunk) {
  const oomdb::Pool& pool = PoolOf(device);
  thread.Event(
      name, now_ns_, 0,
      {Ref("allocator_name", AllocatorName(device)), Int("bytes_reserved", 0),
       Int("bytes_allocated", pool.in_use_bytes()), Int("bytes_available", pool.available_bytes()),
       Real("fragmentation", pool.fragmentation()), Int("peak_bytes_in_use", pool.peak_bytes()),
       Int("requested_bytes", chunk.requested_bytes), Int("allocation_bytes", chunk.bytes),
       Int("addr", address), Int("id", 0), Int("data_type", 0)});
  now_ns_ += kEventGapNs;
}

Handle GpuStory::AllocateOn(LineBuilder& thread, int device, int64_t bytes) {
  const std::optional<int64_t> address = PoolOf(device).Allocate(bytes);
  if (!address) {
    throw std::logic_error("the pool of GPU " + std::to_string(device) + " has no room for " +
                           std::to_string(bytes) + " bytes");
  }
  MemoryEvent(thread, "MemoryAllocation", device, *address, {bytes, (bytes + 255) / 256 * 256});
  return {device, *address};
}

void GpuStory::FreeOn(LineBuilder& thread, const Handle& handle) {
  const oomdb::Pool::Chunk chunk = PoolOf(handle.device).Free(handle.address);
  MemoryEvent(thread, "MemoryDeallocation", handle.device, handle.address, chunk);
}

Handle GpuStory::Before(int device, int64_t bytes) {
  const std::optional<int64_t> address = PoolOf(device).Allocate(bytes);
  if (!address) throw std::logic_error("no room for what was there before the capture");
  return {device, *address};
}

Handle GpuStory::Transfer(int device, int64_t bytes, const std::string& shape) {
  Handle handle;
  InSpan("DevicePut", {}, [&] {
    InSpan("BufferFromHostBuffer(" + shape + ")", {},
           [&] { handle = AllocateOn(launching_thread(), device, bytes); });
  });
  return handle;
}

Handle GpuStory::Allocate(int device, int64_t bytes, const std::string& enclosing_event) {
  Handle handle;
  const auto allocate = [&] { handle = AllocateOn(launching_thread(), device, bytes); };
  if (enclosing_event.empty()) {
    allocate();
  } else {
    InSpan(enclosing_event, {}, allocate);
  }
  return handle;
}

void GpuStory::Free(const Handle& handle) { FreeOn(launching_thread(), handle); }

void GpuStory::Free(const std::vector<Handle>& handles) {
  for (const Handle& handle : handles) Free(handle);
}

void GpuStory::Python(const std::string& frame, int64_t duration_ns) {
  launching_thread().Event("$" + frame, now_ns_, duration_ns);
  now_ns_ += duration_ns + kEventGapNs;
}

void GpuStory::InPython(const std::string& frame, const std::function<void()>& body) {
  InSpan("$" + frame, {}, body);
}

void GpuStory::InSpan(const std::string& name, const std::vector<Stat>& stats,
                      const std::function<void()>& body) {
  LineBuilder& thread = launching_thread();
  const size_t span = thread.Begin(name, now_ns_, stats);
  now_ns_ += kEventGapNs;
  body();
  now_ns_ += kEventGapNs;
  thread.End(span, now_ns_);
  now_ns_ += kEventGapNs;
}

Execution GpuStory::Step(const std::string& module_name, const StepOptions& options) {
  return Run(module_name, options, /*must_fail=*/false);
}

std::vector<Execution> GpuStory::StepOnAll(const std::string& module_name, StepOptions options) {
  std::vector<Execution> executions;
  for (const auto& [device, pool] : pools_) {
    options.device = device;
    executions.push_back(Step(module_name, options));
  }
  return executions;
}

Execution GpuStory::FailStep(const std::string& module_name, StepOptions options) {
  if (options.wait_ns == 0) options.wait_ns = kDefaultWaitNs;
  return Run(module_name, options, /*must_fail=*/true);
}

void GpuStory::Wait(LineBuilder& thread, int64_t wait_ns, bool retry_event) {
  if (retry_event) thread.Event("AllocatorRetry::AllocateRaw", now_ns_, wait_ns);
  now_ns_ += wait_ns + kEventGapNs;
}

Execution GpuStory::Run(const std::string& module_name, const StepOptions& options,
                        bool must_fail) {
  const auto found = modules_.find(module_name);
  if (found == modules_.end()) throw std::logic_error("no Module " + module_name);
  const LoadedModule& module = found->second;
  oomdb::Pool& pool = PoolOf(options.device);
  LineBuilder& python = launching_thread();
  LineBuilder& thread = ExecutingThread(options.device);
  const bool is_new = dialect_ == Dialect::kNew;
  const std::string prefix = is_new ? "[" + std::to_string(options.device) + "] " : "";

  // The spans around an execution, in the order in which they open.
  std::vector<std::pair<LineBuilder*, size_t>> open;
  const auto begin = [&](LineBuilder& line, const std::string& name,
                         const std::vector<Stat>& stats = {}) {
    open.emplace_back(&line, line.Begin(name, now_ns_, stats));
    now_ns_ += 2 * kEventGapNs;
  };
  const auto end = [&] {
    now_ns_ += kEventGapNs;
    open.back().first->End(open.back().second, now_ns_);
    open.pop_back();
  };

  Execution execution;
  if (!options.caller.empty()) begin(python, "$" + options.caller);
  begin(python, "PjitFunction(" + FunctionName(module_name) + ")");
  const int64_t flow = ++flow_id_;
  if (is_new) {
    begin(python, "CommonPjRtLoadedExecutable::Execute (" + module_name + ")");
    execution.start_ns = now_ns_;
    begin(thread, "CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice");
    execution.in_use_at_start_bytes = pool.in_use_bytes();
    begin(thread, prefix + "PjRtStreamExecutorRawLoadedExecutable::Execute");
  } else {
    begin(python, "PjRtStreamExecutorLoadedExecutable::Execute", {Int("_pt", 5), Int("_p", flow)});
    execution.start_ns = now_ns_;
    begin(thread, "PjRtStreamExecutorLoadedExecutable::ExecuteHelper");
    execution.in_use_at_start_bytes = pool.in_use_bytes();
    begin(thread, "PjRtStreamExecutorLoadedExecutable::EnqueueExecution",
          {Int("_ct", 5), Int("_c", flow)});
  }
  const size_t helper_depth = open.size() - 1;  // Spans that close with or after the helper.

  begin(thread, "Build buffer allocations");
  std::vector<Handle> temps;
  bool failed = false;
  for (const HloBuilder::Request& request : module.hlo.Requests()) {
    const bool fits = pool.largest_free_bytes() >= (request.bytes + 255) / 256 * 256;
    if ((request.is_temp || !fits) && options.wait_ns > 0) {
      Wait(thread, options.wait_ns, options.retry_event);
    }
    if (!fits && must_fail) {
      failed = true;
      break;
    }
    const Handle handle = AllocateOn(thread, options.device, request.bytes);
    (request.is_temp ? temps : execution.outputs).push_back(handle);
  }
  if (must_fail && !failed) {
    throw std::logic_error(module_name + " fits: fill the pool before FailStep");
  }
  end();
  execution.peak_in_use_bytes = pool.in_use_bytes();
  if (failed) {
    for (const Handle& handle : execution.outputs) FreeOn(thread, handle);
    execution.outputs.clear();
  } else {
    Launch(thread, module, options.device, prefix);
    for (const Handle& handle : temps) FreeOn(thread, handle);
  }
  while (!open.empty()) {
    end();
    if (open.size() == helper_depth - 1) execution.end_ns = now_ns_;
  }
  if (options.free_outputs) {
    Free(execution.outputs);
    execution.outputs.clear();
  }
  now_ns_ += kEventGapNs;
  return execution;
}

void GpuStory::Launch(LineBuilder& thread, const LoadedModule& module, int device,
                      const std::string& prefix) {
  const std::string& name = module.hlo.module_name();
  const size_t thunks =
      thread.Begin(prefix + "GpuExecutable::ExecuteThunks", now_ns_, {Ref("module_name", name)});
  now_ns_ += kEventGapNs;
  const size_t span = thread.Begin(name + ":XLA GPU module", now_ns_);
  for (size_t i = 0; i < module.operations.size() && i < kMostOperations; ++i) {
    const std::string& operation = module.operations[i];
    thread.Event(operation, now_ns_, kOperationNs);
    if (device_trace_) {
      capture_.Plane("/device:GPU:" + std::to_string(device))
          .Line("Stream #16(Kernel)", kStreamLineNs, 16)
          .Event(operation, now_ns_ + 2 * kOperationNs, kOperationNs,
                 {Int("correlation_id", ++correlation_id_), Ref("tf_op", "XlaModule:"),
                  Ref("hlo_op", operation), Ref("hlo_module", name),
                  Int("program_id", module.program_id)});
    }
    now_ns_ += kOperationNs + kEventGapNs;
  }
  thread.End(span, now_ns_);
  now_ns_ += kEventGapNs;
  thread.End(thunks, now_ns_);
  now_ns_ += kEventGapNs;
}

}  // namespace oomdb
