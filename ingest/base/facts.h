// What an importer can say about a capture. The tables of schema/schema.sql have these fields; the
// meanings stand there and in the user's contract, so here only what differs.
//
// Facts of one capture refer to one another by index: the nth fact of a kind that was handed to the
// sink, from 0. Sizes are bytes, times Unix nanoseconds. What is unknown is std::nullopt.
#ifndef OOMDB_INGEST_BASE_FACTS_H_
#define OOMDB_INGEST_BASE_FACTS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace oomdb::ingest {

struct Plan;         // ingest/plan/plan.h
struct PlanChanges;  // ingest/plan/whatif/plan_changes.h

using Index = int64_t;
using MaybeInt = std::optional<int64_t>;

// What the content says of the capture as a whole. Path, run, hash and size are the job's.
struct CaptureFact {
  std::string kind;  // xplane, hlo, xla_dump, oom_log, device_memory_profile
  bool truncated = false;
  std::string format_note;  // Empty: nothing special.
  std::string own_host;     // The host name inside the capture; empty: none.
  std::string jax_version;
  MaybeInt process_index;
  MaybeInt started_unix_ns;
  MaybeInt duration_ns;
};

struct IssueFact {
  std::string severity;  // error, warning, info
  std::string what;      // A stable key, such as events_left_out.
  std::string detail;    // One line for people.
  int64_t count = 1;
};

struct DeviceFact {
  int64_t ordinal = 0;
  int64_t local_ordinal = 0;
  std::string kind;  // gpu, tpu, cpu
  std::string name;
  std::string vendor;
  MaybeInt memory_bytes;
};

struct ModuleFact {
  MaybeInt program_id;
  std::string name;      // Without the (N).
  std::string hlo_hash;  // XXH3-128 of the HLO proto's bytes, hex; empty without a plan.
  std::string platform;  // gpu, tpu, cpu; empty: unknown.
  std::string target;    // What it was compiled for, as in ingest/plan/target.h; empty: unknown.
  int64_t execution_count = 0;
  std::shared_ptr<const Plan> plan;  // Null when only its executions are known.
  // What it would need with each remedy; null: not asked (ImportOptions::WantsChanges).
  std::shared_ptr<const PlanChanges> changes;
};

struct AllocatorFact {
  std::optional<Index> device;
  std::string name;
  MaybeInt capacity_bytes;
  MaybeInt peak_bytes;
  MaybeInt capture_peak_bytes;
  MaybeInt in_use_first_bytes;
  MaybeInt in_use_last_bytes;
  MaybeInt before_capture_bytes;
  int64_t allocation_count = 0;
  int64_t deallocation_count = 0;
  int64_t reconciliation_breaks = 0;
  MaybeInt last_available_bytes;
  std::optional<double> last_fragmentation;
};

struct ExecutionFact {
  std::optional<Index> device;
  std::optional<Index> module;
  std::string module_name;  // Empty: unknown.
  int64_t sequence = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  std::optional<bool> launched;
  MaybeInt in_use_at_start_bytes;
  MaybeInt peak_in_use_bytes;
  MaybeInt output_bytes;
  MaybeInt temp_bytes;
  MaybeInt wait_ns;
  std::string wait_evidence;  // measured, inferred; empty: no wait.
  MaybeInt retry_count;
  MaybeInt failed_allocation_index;
  std::string thread;
  std::optional<Index> launch_event;  // Among the host events.
};

struct AllocationFact {
  Index allocator = 0;
  MaybeInt address;
  MaybeInt requested_bytes;
  int64_t bytes = 0;
  MaybeInt alloc_ns;
  MaybeInt free_ns;
  MaybeInt in_use_after_bytes;
  std::optional<double> fragmentation;
  std::optional<Index> execution;
  std::optional<Index> module;
  MaybeInt allocation_index;
  std::string purpose;  // output, temp, transfer, other; empty: unknown.
  std::string origin;   // Empty: unknown.
  std::optional<Index> alloc_event;
  std::optional<Index> free_event;
};

struct HostEventFact {
  std::string_view thread;  // Valid during the call only.
  std::string_view name;    // Valid during the call only.
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  std::optional<Index> parent;
  std::optional<Index> execution;
};

// What a thread called between the executions of a module that it launched.
struct GapCallFact {
  Index module = 0;
  std::string_view thread;  // Valid during the call only, as the names.
  std::string_view name;
  std::string_view caller;  // Of a name without a file: who called it; empty: unknown.
  int64_t gaps = 0;         // Gaps between two executions in which it was called.
  int64_t all_gaps = 0;     // Gaps that there are.
  int64_t calls = 0;
  int64_t depth = 0;      // Calls of the same gap that enclose it, at least.
  bool encloses = false;  // It always lasts into the next launch: it called the module.
  int64_t last_start_ns = 0;
};

// One failure, or piece of advice, in an error log; repeats of it are one.
struct OomEventFact {
  MaybeInt line;     // In the log, from 1: where it stands first.
  std::string kind;  // Which message it is, such as bfc_request_failed (ingest/log/kinds.h).
  std::string form;  // How it is printed: the form's code, such as T1, G3, A2.
  std::optional<bool> fatal;
  std::string error_code;  // E1000, else the status when it is not RESOURCE_EXHAUSTED; empty: none.
  std::string memory_space;  // hbm, gpu, host, vmem, smem, gpu_shared, …; empty: unknown.
  MaybeInt device;
  std::string allocator;
  std::string module_name;  // Empty: unknown.
  MaybeInt requested_bytes;
  MaybeInt capacity_bytes;
  MaybeInt used_bytes;
  MaybeInt exceeded_bytes;
  MaybeInt total_bytes;
  MaybeInt reserved_bytes;
  MaybeInt program_bytes;
  MaybeInt arguments_bytes;
  MaybeInt temp_bytes;
  MaybeInt output_bytes;
  MaybeInt alias_bytes;
  MaybeInt constant_bytes;
  MaybeInt free_bytes;
  MaybeInt largest_free_bytes;
  MaybeInt fragmentation_bytes;
  MaybeInt tensor_core_bytes;
  MaybeInt sparse_core_bytes;
  MaybeInt device_free_bytes;  // Outside the allocator's pool.
  MaybeInt device_bytes;       // The device's memory as a whole.
  MaybeInt pool_bytes;         // What the allocator's pool holds, in use or free.
  MaybeInt peak_bytes;         // Most that was ever in use.
  MaybeInt largest_request_bytes;
  MaybeInt temp_unpadded_bytes;  // The temps without the padding of the tiles.
  int64_t repeat_count = 1;      // How often the log prints it.
  std::string rank_name;         // The pod, host or rank whose line it is; empty: none is named.
  MaybeInt rank_count;           // How many of them print it.
  std::string message;           // The line, without what wraps it.
};

// A buffer that an error log lists.
struct OomBufferFact {
  Index event = 0;
  int64_t position = 0;  // From 1, in the order of the text.
  MaybeInt bytes;
  MaybeInt unpadded_bytes;
  MaybeInt padding_bytes;
  std::string shape;  // With its layout, where the text prints it.
  std::string op_name;
  std::string source_file;
  MaybeInt source_line;
  std::string label;
  std::string allocation_type;
  // From its shape: without the layout; elements × element size; with the padding of its tiles,
  // where the layout prints them.
  std::string plain_shape;
  MaybeInt dense_bytes;
  MaybeInt tiled_bytes;
  int64_t count = 1;  // Buffers like this one, side by side.
};

// A chunk of an allocator's pool, from its dump in a log.
struct OomChunkFact {
  Index event = 0;
  int64_t position = 0;  // From 1, in the order of the text.
  int64_t region = 0;    // From 1; chunks of two regions never join.
  MaybeInt address;
  int64_t bytes = 0;
  bool in_use = false;
  std::string op_name;  // Who holds it; empty: unknown.
};

// What one stack holds, by a device memory profile.
struct ProfileSampleFact {
  std::string kind;    // buffer, executable
  std::string device;  // Empty: none.
  MaybeInt bytes;
  MaybeInt count;
  std::string stack;  // One frame a line, innermost first: function (file:line).
  // The innermost frame outside installed packages; empty: none is.
  std::string source_file;
  MaybeInt source_line;
  std::string function_name;
};

// Takes the facts of one capture. Indices count the calls per kind; a fact may refer to one that is
// yet to come. Executions come before allocations. An implementation may throw oomdb::Error;
// importers let it pass.
class FactSink {
 public:
  virtual ~FactSink() = default;
  virtual void Add(const CaptureFact& fact) = 0;  // Exactly once.
  virtual void Add(const IssueFact& fact) = 0;
  virtual void Add(const DeviceFact& fact) = 0;
  virtual void Add(const ModuleFact& fact) = 0;
  virtual void Add(const AllocatorFact& fact) = 0;
  virtual void Add(const ExecutionFact& fact) = 0;
  virtual void Add(const AllocationFact& fact) = 0;
  virtual void Add(const HostEventFact& fact) = 0;
  virtual void Add(const GapCallFact& fact) = 0;
  virtual void Add(const OomEventFact& fact) = 0;
  virtual void Add(const OomBufferFact& fact) = 0;
  virtual void Add(const OomChunkFact& fact) = 0;
  virtual void Add(const ProfileSampleFact& fact) = 0;
};

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_BASE_FACTS_H_
