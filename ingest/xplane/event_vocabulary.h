// The names of events, lines and stats that mean something to oomdb, in all dialects: one table. No
// string is compared elsewhere. To support another build's name, add a row in event_vocabulary.cc.
#ifndef OOMDB_INGEST_XPLANE_EVENT_VOCABULARY_H_
#define OOMDB_INGEST_XPLANE_EVENT_VOCABULARY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace oomdb::ingest {

enum class EventRole : uint8_t {
  kUnknown,       // Not in the table.
  kPythonFrame,   // $file.py:12 function
  kAllocation,    // MemoryAllocation
  kDeallocation,  // MemoryDeallocation
  kExecute,       // An execution: the outermost of these on its thread.
  kExecuteInner,  // Part of an execution: enqueue, raw execute.
  kExecuteNamed,  // ...Execute (jit_f): names the module of what it encloses.
  kLaunch,        // Host evidence that the program was launched.
  kAllocating,    // A span in which an execution's buffers are allocated.
  kPrepare,       // Such a span that is repeated when memory is short.
  kRetry,         // The allocator waits for memory: its duration is the wait.
  kPoolGrowth,    // A driver allocation: the pool grew.
  kPjit,          // PjitFunction(f), PmapFunction(f): a call of a compiled function.
  kHostBuffer,    // A transfer from the host whose name says the shape.
  kTransfer,      // Other transfers, to a device and back.
  kCompile,       // Tracing, lowering, compiling.
  kThunkWait,     // The CPU client waits for a run to end.
};

enum class Client : uint8_t { kUnknown, kCpu, kGpu };

// What a name says.
struct EventMeaning {
  EventRole role = EventRole::kUnknown;
  Client client = Client::kUnknown;  // Of execution events: whose name it is.
  int32_t device_ordinal = -1;       // Of a "[N] " prefix.
  // The module a name carries, if any, as the compiler names it: jit_f for PjitFunction(f), Execute
  // (jit_f) and "jit_f:XLA GPU module".
  std::string module_name;
};
EventMeaning MeaningOf(std::string_view event_name);

enum class StatKey : uint8_t {
  kNone,
  kAllocatorName,
  kBytesReserved,
  kBytesAllocated,
  kBytesAvailable,
  kFragmentation,
  kPeakBytesInUse,
  kRequestedBytes,
  kAllocationBytes,
  kAddress,
  kIndexOnHost,
  kDeviceOrdinal,
  kRunId,
  kHloModule,
  kProgramId,
  kModuleName,
  kHloProto,
  kCorrelationId,
};
StatKey StatKeyOf(std::string_view stat_name);

// "jit_f(15)" -> name "jit_f", id 15. Without a number in brackets at the end: the whole name, no
// id. Program ids of TPUs are 64-bit fingerprints, printed unsigned: as everywhere, they are kept
// as the int64 of the same bits.
struct SplitName {
  std::string_view name;
  std::optional<int64_t> id;
};
SplitName SplitProgramId(std::string_view name);

// "GPU_3_bfc" -> kind gpu, ordinal 3. Host pools ("xla_gpu_host_bfc", "bfc_cpu_allocator_for_gpu")
// and names that carry no ordinal have no device.
struct AllocatorDevice {
  std::string_view kind;  // gpu, tpu; empty for a host pool.
  int64_t ordinal = -1;
};
AllocatorDevice DeviceOfAllocator(std::string_view allocator_name);

// A call by which a Python program keeps a value in a container: "$builtins append", "$<unknown>
// append".
bool IsContainerCall(std::string_view event_name);

// The line of a TPU plane with one event per execution.
inline constexpr std::string_view kTpuModuleLine = "XLA Modules";

// Lines of a device plane that XProf derives from others; their events are not read again.
bool IsDerivedLine(std::string_view line_name);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_XPLANE_EVENT_VOCABULARY_H_
