// A module's compile-time plan: what XLA's buffer assignment says, replayed and attributed.
//
// ReadPlan is a pure function of an HloProto, used alike by captures, dumps and bare .hlo.pb files.
// The meanings of the fields are those of the tables of the same names in schema/schema.sql; the
// rules (classes, replay, roles, fall-backs) stand above the functions that apply them.
#ifndef OOMDB_INGEST_PLAN_PLAN_H_
#define OOMDB_INGEST_PLAN_PLAN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/base/facts.h"

namespace oomdb::ingest {

enum class AllocationClass { kParameter, kConstant, kThreadLocal, kOutput, kTemp };
enum class Role { kWorkspace, kBackward, kForward, kOther };

std::string_view ToString(AllocationClass c);  // parameter, constant, thread_local, output, temp
std::string_view ToString(Role role);          // workspace, backward, forward, other

struct PlanAllocation {
  int64_t index = 0;
  int64_t memory_space = 0;
  AllocationClass allocation_class = AllocationClass::kTemp;
  int64_t bytes = 0;
  MaybeInt parameter_number;          // Parameters only.
  std::string parameter_shape_index;  // "{0,1}"; "{}" for the whole; empty when not a parameter.
  std::string shape;                  // Parameters only: without layout.
  std::string sharding;               // Parameters only: as XLA prints it; empty: not recorded.
  MaybeInt shard_count;  // The parts it is split into; 1: every partition holds the whole.
  std::optional<bool> aliased_output;  // Parameters only.
  bool is_tuple = false;
};

struct PlanOutput {
  int64_t position = 0;
  std::string shape;
  int64_t bytes = 0;
  bool aliased = false;
  std::optional<Role> role;
  std::string opcode;       // A fusion's root's opcode.
  std::string instruction;  // The instruction that makes it; empty: unknown.
  int64_t memory_space = 0;
};

struct PlanBuffer {
  int64_t logical_buffer_id = 0;
  MaybeInt allocation_index;
  int64_t memory_space = 0;
  std::optional<AllocationClass> allocation_class;
  std::optional<Role> role;  // Temps only.
  std::string role_via;      // The instruction whose name stack gave the role; empty: its own.
  int64_t bytes = 0;
  MaybeInt unpadded_bytes;
  MaybeInt offset_bytes;
  std::string dtype;
  std::string shape;
  std::string layout;
  std::string instruction;
  std::string shape_index;
  std::string opcode;
  std::string op_name;
  std::string source_file;
  MaybeInt source_line;
  std::string function_name;
  MaybeInt frame_id;
  MaybeInt first_live;
  MaybeInt last_live;
  std::optional<bool> at_peak;  // std::nullopt without a trace.
};

struct PlanFrame {
  int64_t frame_id = 0;  // 1-based.
  MaybeInt parent_frame_id;
  std::string source_file;
  MaybeInt source_line;
  std::string function_name;
};

struct PlanMemory {
  int64_t memory_space = 0;
  std::string space_name;
  int64_t parameter_bytes = 0;
  int64_t output_bytes = 0;
  int64_t constant_bytes = 0;
  int64_t temp_bytes = 0;
  int64_t thread_local_bytes = 0;
  MaybeInt heap_peak_bytes;
};

struct Plan {
  std::string module_name;      // HloModuleProto.name
  MaybeInt module_id;           // HloModuleProto.id, where present.
  std::string device_type;      // HloModuleProto.device_type; empty in older compilers.
  std::string shape_signature;  // Hash of the shapes of parameters and result; empty: no entry.
  MaybeInt num_partitions;      // Of the SPMD program; 1: not partitioned.
  MaybeInt replica_count;
  // False: compiled no further than that, or stripped; what is said of memory below is then not
  // known.
  bool has_buffer_assignment = false;
  // False: read from a text that says only the sum of them all. plan_bytes and peak_bytes are then
  // that sum; classes, parameters and spaces are unknown.
  bool classes_known = true;
  MaybeInt instruction_count;  // Not known from a text.
  MaybeInt remat_instruction_count;
  MaybeInt remat_compute_count;  // Without bitcasts and get-tuple-elements.
  int64_t parameter_count = 0;
  int64_t parameter_bytes = 0;
  int64_t donated_parameter_count = 0;
  int64_t donated_bytes = 0;
  int64_t output_bytes = 0;
  int64_t constant_bytes = 0;
  int64_t temp_bytes = 0;
  int64_t thread_local_bytes = 0;
  int64_t plan_bytes = 0;
  MaybeInt heap_peak_bytes;
  int64_t peak_bytes = 0;
  std::vector<PlanAllocation> allocations;  // Ascending index.
  std::vector<PlanOutput> outputs;
  std::vector<PlanBuffer> buffers;  // Ascending logical buffer id.
  std::vector<PlanFrame> frames;
  std::vector<PlanMemory> spaces;  // Ascending memory space.
  std::vector<IssueFact> issues;   // What was inconsistent; the plan is still usable.
};

// Reads serialized HloProto bytes. Throws Error when they are not an HloProto with a module.
// Hostile input costs at most time and memory linear in its size.
Plan ReadPlan(std::string_view hlo_proto_bytes);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_PLAN_H_
