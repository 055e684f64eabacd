// A run on GPUs, told step by step: allocator, executions, transfers and Python frames become the
// events that a recorder would have written. The event forms are those of recorded MI300 and MI355
// captures and of the jax 0.10 builds.
//
//   GpuStory story(GpuStory::Dialect::kNew);
//   story.Pool(0, 1_GiB, {.in_use_before = 128_MiB});   // GPU 0, 128 MiB from before the capture
//   HloBuilder hlo("jit_step");
//   hlo.Parameter(128_MiB).Output(96_MiB);
//   hlo.Temp(Value(350_MiB).Op("jit(step)/jvp()/dot_general"));
//   story.Module(hlo, /*program_id=*/7);
//   std::vector<Handle> kept;
//   for (int step = 0; step < 5; ++step) {
//     story.InPython("data.py:41 next_batch", [&] { story.Transfer(0, 256_KiB, "s32[64,1024]"); });
//     const Execution done = story.Step("jit_step");    // keeps its outputs: nobody frees them
//     story.Python("train.py:61 log_metrics");          // who might hold them
//   }
//   story.FailStep("jit_step");                         // waits 10 s for its block, gives up
//   const std::string capture = story.Bytes();
//
// A story checks itself: Step throws std::logic_error when the pool has no room, FailStep when it
// has. Each call moves the clock (now_ns) on; times are those of the profiler's clock, whose zero
// is kStartUnixNs.
#ifndef OOMDB_TESTS_SUPPORT_GPU_STORY_H_
#define OOMDB_TESTS_SUPPORT_GPU_STORY_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/capture_builder.h"
#include "tests/support/hlo_builder.h"
#include "tests/support/pool.h"
#include "tests/support/sizes.h"

namespace oomdb {

// A live allocation of a story.
struct Handle {
  int device = 0;
  int64_t address = 0;
};

struct Execution {
  int64_t start_ns = 0;  // Of the outermost ExecuteHelper span.
  int64_t end_ns = 0;
  int64_t in_use_at_start_bytes = 0;
  int64_t peak_in_use_bytes = 0;
  std::vector<Handle> outputs;  // What it allocated and keeps, the tuple's table among them.
};

struct PoolOptions {
  int64_t in_use_before = 0;  // Live before the capture, never seen in an event.
  int64_t peak_before = 0;    // The allocator's lifetime peak, when it is higher.
  // The device plane's memory_size; 0: 4/3 of the limit (a fraction of 0.75).
  int64_t memory_bytes = 0;
  std::string vendor = "Nvidia";
};

struct StepOptions {
  int device = 0;
  bool free_outputs = false;  // As when the caller drops the result at once.
  std::string caller = {};    // A Python frame around it: "train.py:57 train_loop".
  int64_t wait_ns = 0;        // The allocator waited before the temp block, then it went well.
  bool retry_event = true;    // A wait shows as an AllocatorRetry event; else as a silent stretch.
};

class GpuStory {
 public:
  // kOld: PjRtStreamExecutorLoadedExecutable::Execute > ExecuteHelper > EnqueueExecution.
  // kNew: CommonPjRtLoadedExecutable::Execute (jit_f) > ExecuteHelperOnSingleDevice > "[N] …".
  enum class Dialect { kOld, kNew };
  static constexpr uint64_t kStartUnixNs = 1790000000000000000;

  explicit GpuStory(Dialect dialect = Dialect::kNew, std::string host_name = "gpu-node-0");

  // Before anything else: a GPU with its pool "GPU_N_bfc". With more than one, executions run on a
  // thread of their own each ("py_xla_execute/…"), as JAX does.
  GpuStory& Pool(int device, int64_t limit_bytes, const PoolOptions& options = {});
  GpuStory& Module(const HloBuilder& hlo, int64_t program_id);
  // No kernels: a capture without device tracing. Before the first step.
  GpuStory& WithoutDeviceTrace();

  // Something allocated before the capture that is freed in it.
  Handle Before(int device, int64_t bytes);
  // DevicePut > BufferFromHostBuffer(shape) > MemoryAllocation.
  Handle Transfer(int device, int64_t bytes, const std::string& shape);
  // One MemoryAllocation under an event that says nothing of an execution.
  Handle Allocate(int device, int64_t bytes, const std::string& enclosing_event = "");
  void Free(const Handle& handle);
  void Free(const std::vector<Handle>& handles);

  Execution Step(const std::string& module_name, const StepOptions& options = {});
  // Every pool runs it, each on its thread.
  std::vector<Execution> StepOnAll(const std::string& module_name, StepOptions options = {});
  // An execution whose allocation fails: the wait (10 s unless options.wait_ns says otherwise),
  // then what it had got is freed; nothing is launched.
  Execution FailStep(const std::string& module_name, StepOptions options = {});

  // A Python frame of the launching thread: "train.py:61 log_metrics". Frames show as
  // "$file.py:LINE fn".
  void Python(const std::string& frame, int64_t duration_ns = 8_us);
  void InPython(const std::string& frame, const std::function<void()>& body);
  // Any other span of the launching thread, such as "TfrtCpuExecutable" or a step's annotation.
  void InSpan(const std::string& name, const std::vector<Stat>& stats,
              const std::function<void()>& body);
  void Sleep(int64_t duration_ns) { now_ns_ += duration_ns; }

  int64_t now_ns() const { return now_ns_; }
  const oomdb::Pool& pool(int device) const { return pools_.at(device); }
  // For what a story has no word for.
  CaptureBuilder& capture() { return capture_; }
  LineBuilder& launching_thread();

  std::string Bytes() const { return capture_.Bytes(); }

 private:
  struct LoadedModule {
    HloBuilder hlo;
    int64_t program_id;
    std::vector<std::string> operations;
  };

  oomdb::Pool& PoolOf(int device);
  LineBuilder& ExecutingThread(int device);
  Handle AllocateOn(LineBuilder& thread, int device, int64_t bytes);
  void FreeOn(LineBuilder& thread, const Handle& handle);
  void MemoryEvent(LineBuilder& thread, const char* name, int device, int64_t address,
                   const oomdb::Pool::Chunk& chunk);
  Execution Run(const std::string& module_name, const StepOptions& options, bool must_fail);
  void Wait(LineBuilder& thread, int64_t wait_ns, bool retry_event);
  void Launch(LineBuilder& thread, const LoadedModule& module, int device,
              const std::string& prefix);

  const Dialect dialect_;
  CaptureBuilder capture_;
  std::map<int, oomdb::Pool> pools_;
  std::map<std::string, LoadedModule> modules_;
  bool device_trace_ = true;
  int64_t now_ns_ = 2000100;
  int64_t flow_id_ = 100;
  int64_t correlation_id_ = 100;
};

}  // namespace oomdb

#endif  // OOMDB_TESTS_SUPPORT_GPU_STORY_H_
