#include "schema/plan_writer.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "base/error.h"
#include "schema/text.h"

namespace oomdb {
namespace {

// A buffer's public id is module_id * 2^24 + position (queries/facts/buffers.sql).
constexpr size_t kMaxBuffers = size_t{1} << 24;

SqlValue Flag(bool flag) { return SqlValue(int64_t{flag}); }

SqlValue Flag(const std::optional<bool>& flag) {
  return flag.has_value() ? Flag(*flag) : SqlValue();
}

template <typename Enum>
SqlValue Name(const std::optional<Enum>& e) {
  return e.has_value() ? SqlValue(std::string(ToString(*e))) : SqlValue();
}

}  // namespace

PlanWriter::PlanWriter(StatementCache& statements, StringTable& strings)
    : strings_(strings),
      find_(statements.Get("SELECT plan_id FROM stored_plans WHERE hlo_hash = ?")),
      next_plan_id_(statements.Number("SELECT COALESCE(MAX(plan_id), 0) + 1 FROM stored_plans")),
      plans_(statements, "stored_plans",
             "plan_id, hlo_hash, instruction_count, remat_instruction_count, "
             "remat_compute_count, parameter_count, parameter_bytes, donated_parameter_count, "
             "donated_bytes, output_bytes, constant_bytes, temp_bytes, thread_local_bytes, "
             "plan_bytes, heap_peak_bytes, peak_bytes, shape_signature, num_partitions, "
             "replica_count"),
      memory_(statements, "stored_module_memory",
              "plan_id, memory_space, space_name, parameter_bytes, output_bytes, constant_bytes, "
              "temp_bytes, thread_local_bytes, heap_peak_bytes"),
      allocations_(statements, "stored_plan_allocations",
                   "plan_id, allocation_index, memory_space, class, bytes, parameter_number, "
                   "parameter_shape_index, shape_id, aliased_output, is_tuple, sharding_id, "
                   "shard_count"),
      outputs_(statements, "stored_module_outputs",
               "plan_id, position, shape_id, bytes, aliased, role, opcode, instruction_id, "
               "memory_space"),
      buffers_(statements, "stored_buffers",
               "plan_id, position, logical_buffer_id, allocation_index, memory_space, class, "
               "role, role_via_id, bytes, unpadded_bytes, offset_bytes, dtype, shape_id, "
               "layout_id, instruction_id, shape_index, opcode, op_name_id, source_file_id, "
               "source_line, function_name_id, frame_id, first_live, last_live, at_peak"),
      frames_(statements, "stored_frames",
              "plan_id, frame_id, parent_frame_id, source_file_id, source_line, function_name_id") {
}

int64_t PlanWriter::Write(const std::string& hlo_hash, const Plan& plan) {
  if (!hlo_hash.empty()) {
    // A plan of this very capture may still wait in the batch.
    plans_.Flush();
    find_.bind(1, hlo_hash);
    std::optional<int64_t> known;
    if (find_.executeStep()) known = find_.getColumn(0).getInt64();
    find_.reset();
    if (known.has_value()) return *known;
  }
  if (plan.buffers.size() >= kMaxBuffers) {
    throw Error(fmt::format("module {}: {} buffers, at most {} can be stored", plan.module_name,
                            plan.buffers.size(), kMaxBuffers - 1));
  }
  const int64_t plan_id = next_plan_id_++;
  WriteTotals(plan_id, hlo_hash.empty() ? fmt::format("unhashed:{}", plan_id) : hlo_hash, plan);
  WriteAllocations(plan_id, plan);
  WriteBuffers(plan_id, plan);
  WriteFrames(plan_id, plan);
  return plan_id;
}

void PlanWriter::WriteTotals(int64_t plan_id, const std::string& hash, const Plan& plan) {
  // Without a buffer assignment (a module from before it) nothing of the memory is known: NULL,
  // never 0. Some texts give the sum of all allocations and no class of any.
  const bool classes_known = plan.has_buffer_assignment && plan.classes_known;
  const auto known = [](bool is_known, const MaybeInt& value) {
    return is_known ? SqlValue(value) : SqlValue();
  };
  plans_.Add({plan_id, hash, plan.instruction_count, plan.remat_instruction_count,
              plan.remat_compute_count, known(classes_known, plan.parameter_count),
              known(classes_known, plan.parameter_bytes),
              known(classes_known, plan.donated_parameter_count),
              known(classes_known, plan.donated_bytes), known(classes_known, plan.output_bytes),
              known(classes_known, plan.constant_bytes), known(classes_known, plan.temp_bytes),
              known(classes_known, plan.thread_local_bytes),
              known(plan.has_buffer_assignment, plan.plan_bytes),
              known(classes_known, plan.heap_peak_bytes),
              known(plan.has_buffer_assignment, plan.peak_bytes), TextOrNull(plan.shape_signature),
              plan.num_partitions, plan.replica_count});
  if (!classes_known) return;
  for (const PlanMemory& space : plan.spaces) {
    memory_.Add({plan_id, space.memory_space, CleanText(space.space_name), space.parameter_bytes,
                 space.output_bytes, space.constant_bytes, space.temp_bytes,
                 space.thread_local_bytes, space.heap_peak_bytes});
  }
}

void PlanWriter::WriteAllocations(int64_t plan_id, const Plan& plan) {
  for (const PlanAllocation& allocation : plan.allocations) {
    allocations_.Add({plan_id, allocation.index, allocation.memory_space,
                      std::string(ToString(allocation.allocation_class)), allocation.bytes,
                      allocation.parameter_number, TextOrNull(allocation.parameter_shape_index),
                      strings_.Intern(allocation.shape), Flag(allocation.aliased_output),
                      Flag(allocation.is_tuple), strings_.Intern(allocation.sharding),
                      allocation.shard_count});
  }
  for (const PlanOutput& output : plan.outputs) {
    // A leaf without a shape can't come from a valid proto; `?` keeps the leaves countable when it
    // does.
    outputs_.Add({plan_id, output.position,
                  strings_.Intern(output.shape.empty() ? "?" : output.shape), output.bytes,
                  Flag(output.aliased), Name(output.role), TextOrNull(output.opcode),
                  strings_.Intern(output.instruction), output.memory_space});
  }
}

void PlanWriter::WriteBuffers(int64_t plan_id, const Plan& plan) {
  int64_t position = 0;
  for (const PlanBuffer& buffer : plan.buffers) {
    buffers_.Add({plan_id,
                  position++,
                  buffer.logical_buffer_id,
                  buffer.allocation_index,
                  buffer.memory_space,
                  Name(buffer.allocation_class),
                  Name(buffer.role),
                  strings_.Intern(buffer.role_via),
                  buffer.bytes,
                  buffer.unpadded_bytes,
                  buffer.offset_bytes,
                  TextOrNull(buffer.dtype),
                  strings_.Intern(buffer.shape),
                  strings_.Intern(buffer.layout),
                  strings_.Intern(buffer.instruction),
                  TextOrNull(buffer.shape_index),
                  TextOrNull(buffer.opcode),
                  strings_.Intern(buffer.op_name),
                  strings_.Intern(buffer.source_file),
                  buffer.source_line,
                  strings_.Intern(buffer.function_name),
                  buffer.frame_id,
                  buffer.first_live,
                  buffer.last_live,
                  Flag(buffer.at_peak)});
  }
}

void PlanWriter::WriteFrames(int64_t plan_id, const Plan& plan) {
  for (const PlanFrame& frame : plan.frames) {
    frames_.Add({plan_id, frame.frame_id, frame.parent_frame_id, strings_.Intern(frame.source_file),
                 frame.source_line, strings_.Intern(frame.function_name)});
  }
}

void PlanWriter::Flush() {
  for (BulkInsert* insert : {&plans_, &memory_, &allocations_, &outputs_, &buffers_, &frames_})
    insert->Flush();
}

}  // namespace oomdb
