// A module's compile-time plan: what XLA's buffer assignment says, replayed and attributed.
//
// ReadPlan is a pure function of an HloProto, used alike by captures, dumps and bare .hlo.pb files.
// The meanings of the fields are those of the tables of the same names in schema/schema.sql; the
// rules (classes, replay, roles, fall-backs) stand above the functions that apply them.
#ifndef OOMDB_INGEST_PLAN_PLAN_H_
#define OOMDB_INGEST_PLAN_PLAN_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/base/facts.h"

namespace oomdb::ingest {

enum class AllocationClass { kParameter, kConstant, kThreadLocal, kOutput, kTemp };
// A stack is what a loop fills, one slice a round. kKept: for the backward pass alone, so that
// recomputing the loop's body does without it; kCarried: its slices are the values that the loop
// carries from round to round, or other code reads them too.
enum class Stack { kKept, kCarried };
enum class Role { kWorkspace, kBackward, kForward, kOther };

// What memory is for. Inferred, but for constants and workspace; kOther: it can't be told.
enum class MemoryKind {
  kWeights,         // What is trained, or multiplied by; copies of it too.
  kOptimizerState,  // Handed back, of a weight's shape, and not read by the forward pass.
  kGradients,       // Of a weight's shape, made by the backward pass and read outside of it.
  kActivations,     // Of the forward pass; where there is a backward pass: kept for it.
  kBackward,        // What else the backward pass makes.
  kBatch,           // What a call is given to work on: data, labels, positions.
  kKvCache,         // Handed back with a slice updated, by a program without a backward pass.
  kCollectives,     // What collectives make: gathered weights, reduced gradients.
  kWorkspace,       // Scratch of library calls.
  kConstants,
  kResults,  // What is handed back and is none of the above.
  kOther,
};

std::string_view ToString(AllocationClass c);  // parameter, constant, thread_local, output, temp
std::string_view ToString(Stack stack);        // kept, carried
std::string_view ToString(Role role);          // workspace, backward, forward, other
std::string_view ToString(MemoryKind kind);    // weights, optimizer_state, …, other

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
  std::optional<bool> forward_read;    // Parameters only: the forward pass reads it.
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
  // The loop that fills it reads a parameter of its shape all the while, so that giving it that
  // parameter's memory needs a copy.
  bool donor_is_read = false;
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
  std::string line_via;  // The instruction whose line that is; empty: its own.
  MaybeInt frame_id;
  std::optional<Stack> stack;  // Temps only; nothing: it isn't one.
  // Temps at the peak only: how many of them have its shape, its role and, but for digits, its name
  // stack. Unrolled blocks have as many as there are blocks.
  MaybeInt repeat_count;
  MaybeInt score_length;       // S of attention scores [..., S, S].
  MaybeInt vocabulary_length;  // V of logits and their gradients [..., V].
  MaybeInt first_live;
  MaybeInt last_live;
  std::optional<bool> at_peak;  // std::nullopt without a trace.
  // The dimension whose padding to the tile costs most, its extent, and what it is padded to.
  MaybeInt padded_dimension, padded_from, padded_to;
};

// When a temp lies idle at the peak, in places of the entry computation's schedule.
struct IdleSpan {
  int64_t from = 0;  // The last that wrote or read it up to the peak.
  int64_t to = 0;    // The next that reads it.
  std::string reader;
  std::string reader_op_name;
  std::string reader_file;
  MaybeInt reader_line;
};

// What a temp repeats, unchanged but for type and layout, and that is there as well at the peak.
struct CopiedValue {
  std::string instruction;  // That makes it.
  std::string dtype;
};

// One thing that takes memory at the heap peak: an allocation of a parameter, an output or a
// constant, or a temp that is live. Those of a memory space add up to its classes with the heap peak
// for the temps; where there is no heap trace the temp allocations stand for it.
struct PlanPart {
  int64_t memory_space = 0;
  AllocationClass allocation_class = AllocationClass::kTemp;
  MemoryKind kind = MemoryKind::kOther;
  int64_t bytes = 0;
  MaybeInt allocation_index;
  MaybeInt buffer;    // Into Plan::buffers.
  std::string name;   // Of parameters: JAX's, as in params['w'].
  std::string shape;  // Without layout; empty: not said.
  std::optional<CopiedValue> copy_of;
  std::optional<IdleSpan> idle;
  // Temps: the free memory above it at the peak, and the instruction whose temp ends it; empty: the
  // end of the allocation.
  MaybeInt hole_bytes;
  std::string hole_end;
};

struct PlanFrame {
  int64_t frame_id = 0;  // 1-based.
  MaybeInt parent_frame_id;
  std::string source_file;
  MaybeInt source_line;
  std::string function_name;
};

// The function that makes most of what the backward pass keeps, again and again: where a checkpoint
// belongs.
struct PlanBlock {
  std::string function_name;  // Empty: no function of its own; the line is of the code itself.
  std::string source_file;    // Where it is called.
  MaybeInt source_line;
  std::string caller_name;
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
  std::optional<PlanBlock> block;
  MaybeInt schedule_length;        // Instructions of the entry computation's schedule.
  std::vector<PlanPart> parts;     // By memory space, class, and as the plan has them.
  std::vector<PlanMemory> spaces;  // Ascending memory space.
  std::vector<IssueFact> issues;   // What was inconsistent; the plan is still usable.
  // What a replay needs of the program (replay/replay_program.h); empty: it was not asked for.
  std::string replay;
};

// For ReadPlan: no plan comes with its replay.
inline constexpr int64_t kNoReplays = std::numeric_limits<int64_t>::max();

// Reads serialized HloProto bytes. Plans of at least `replay_min_bytes` come with their replay.
// Throws Error when they are not an HloProto with a module. Hostile input costs at most time and
// memory linear in its size.
Plan ReadPlan(std::string_view hlo_proto_bytes, int64_t replay_min_bytes = kNoReplays);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_PLAN_H_
