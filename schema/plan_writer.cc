#include "schema/plan_writer.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "base/error.h"
#include "schema/text.h"

namespace oomdb::schema {
namespace {

// A buffer's public id is module_id * 2^24 + position (queries/facts/buffers.sql).
constexpr size_t kMaxBuffers = size_t{1} << 24;

SqlValue Flag(bool flag) { return SqlValue(int64_t{flag}); }

SqlValue Flag(const std::optional<bool>& flag) {
  return flag.has_value() ? Flag(*flag) : SqlValue();
}

template <typename Enum>
SqlValue Name(const std::optional<Enum>& e) {
  return e.has_value() ? SqlValue(std::string(ingest::ToString(*e))) : SqlValue();
}

}  // namespace

PlanWriter::PlanWriter(StatementCache& statements, StringTable& strings)
    : strings_(strings),
      find_(statements.Get("SELECT plan_id FROM stored_plans WHERE hlo_hash = ?")),
      find_changes_(statements.Get("SELECT 1 FROM stored_plan_changes WHERE plan_id = ?")),
      add_replay_(statements.Get(
          "INSERT INTO stored_replays (plan_id, program) VALUES (?, ?) ON CONFLICT DO NOTHING")),
      replayed_(statements.Get("UPDATE stored_plans SET replayed = 1 WHERE plan_id = ?")),
      next_plan_id_(statements.Number("SELECT COALESCE(MAX(plan_id), 0) + 1 FROM stored_plans")),
      plans_(statements, "stored_plans"),
      memory_(statements, "stored_module_memory"),
      allocations_(statements, "stored_plan_allocations"),
      outputs_(statements, "stored_module_outputs"),
      buffers_(statements, "stored_buffers"),
      parts_(statements, "stored_plan_parts"),
      frames_(statements, "stored_frames"),
      changes_(statements, "stored_plan_changes") {}

int64_t PlanWriter::Write(const std::string& hlo_hash, const ingest::Plan& plan) {
  if (!hlo_hash.empty()) {
    // A plan of this very capture may still wait in the batch.
    plans_.Flush();
    find_.bind(1, hlo_hash);
    std::optional<int64_t> known;
    if (find_.executeStep()) known = find_.getColumn(0).getInt64();
    find_.reset();
    if (known.has_value()) {
      WriteReplay(*known, plan);
      return *known;
    }
  }
  if (plan.buffers.size() >= kMaxBuffers) {
    throw Error(fmt::format("module {}: {} buffers, at most {} can be stored", plan.module_name,
                            plan.buffers.size(), kMaxBuffers - 1));
  }
  const int64_t plan_id = next_plan_id_++;
  WriteTotals(plan_id, hlo_hash.empty() ? fmt::format("unhashed:{}", plan_id) : hlo_hash, plan);
  WriteAllocations(plan_id, plan);
  WriteBuffers(plan_id, plan);
  WriteParts(plan_id, plan);
  WriteFrames(plan_id, plan);
  WriteReplay(plan_id, plan);
  return plan_id;
}

void PlanWriter::WriteChanges(int64_t plan_id, const ingest::PlanChanges& changes) {
  if (!with_changes_.insert(plan_id).second) return;
  find_changes_.bind(1, plan_id);
  const bool known = find_changes_.executeStep();
  find_changes_.reset();
  if (known || !changes.replayed) return;
  plans_.Flush();
  replayed_.bind(1, plan_id);
  replayed_.exec();
  replayed_.reset();
  for (const ingest::PlanChange& change : changes.changes) {
    changes_.Add({
        {"plan_id", plan_id},
        {"remedy", change.remedy},
        {"micro_batches", change.micro_batches},
        {"chunks", change.chunks},
        {"devices", change.devices},
        {"needs_bytes", change.needs_bytes},
        {"low_bytes", change.low_bytes},
        {"high_bytes", change.high_bytes},
    });
  }
}

void PlanWriter::WriteReplay(int64_t plan_id, const ingest::Plan& plan) {
  if (plan.replay.empty()) return;
  plans_.Flush();
  add_replay_.bind(1, plan_id);
  add_replay_.bindNoCopy(2, plan.replay.data(), static_cast<int>(plan.replay.size()));
  add_replay_.exec();
  add_replay_.reset();
}

void PlanWriter::WriteTotals(int64_t plan_id, const std::string& hash, const ingest::Plan& plan) {
  // Without a buffer assignment (a module from before it) nothing of the memory is known: NULL,
  // never 0. Some texts give the sum of all allocations and no class of any.
  const bool classes_known = plan.has_buffer_assignment && plan.classes_known;
  const auto known = [](bool is_known, const ingest::MaybeInt& value) {
    return is_known ? SqlValue(value) : SqlValue();
  };
  plans_.Add({
      {"plan_id", plan_id},
      {"hlo_hash", hash},
      {"instruction_count", plan.instruction_count},
      {"remat_instruction_count", plan.remat_instruction_count},
      {"remat_compute_count", plan.remat_compute_count},
      {"parameter_count", known(classes_known, plan.parameter_count)},
      {"parameter_bytes", known(classes_known, plan.parameter_bytes)},
      {"donated_parameter_count", known(classes_known, plan.donated_parameter_count)},
      {"donated_bytes", known(classes_known, plan.donated_bytes)},
      {"output_bytes", known(classes_known, plan.output_bytes)},
      {"constant_bytes", known(classes_known, plan.constant_bytes)},
      {"temp_bytes", known(classes_known, plan.temp_bytes)},
      {"thread_local_bytes", known(classes_known, plan.thread_local_bytes)},
      {"plan_bytes", known(plan.has_buffer_assignment, plan.plan_bytes)},
      {"heap_peak_bytes", known(classes_known, plan.heap_peak_bytes)},
      {"peak_bytes", known(plan.has_buffer_assignment, plan.peak_bytes)},
      {"shape_signature", TextOrNull(plan.shape_signature)},
      {"num_partitions", plan.num_partitions},
      {"replica_count", plan.replica_count},
      {"block_function_id", plan.block ? strings_.Intern(plan.block->function_name) : SqlValue()},
      {"block_file_id", plan.block ? strings_.Intern(plan.block->source_file) : SqlValue()},
      {"block_line", plan.block ? SqlValue(plan.block->source_line) : SqlValue()},
      {"block_caller_id", plan.block ? strings_.Intern(plan.block->caller_name) : SqlValue()},
      {"schedule_length", plan.schedule_length},
  });
  if (!classes_known) return;
  for (const ingest::PlanMemory& space : plan.spaces) {
    memory_.Add({
        {"plan_id", plan_id},
        {"memory_space", space.memory_space},
        {"space_name", CleanText(space.space_name)},
        {"parameter_bytes", space.parameter_bytes},
        {"output_bytes", space.output_bytes},
        {"constant_bytes", space.constant_bytes},
        {"temp_bytes", space.temp_bytes},
        {"thread_local_bytes", space.thread_local_bytes},
        {"heap_peak_bytes", space.heap_peak_bytes},
    });
  }
}

void PlanWriter::WriteAllocations(int64_t plan_id, const ingest::Plan& plan) {
  for (const ingest::PlanAllocation& allocation : plan.allocations) {
    allocations_.Add({
        {"plan_id", plan_id},
        {"allocation_index", allocation.index},
        {"memory_space", allocation.memory_space},
        {"class", std::string(ingest::ToString(allocation.allocation_class))},
        {"bytes", allocation.bytes},
        {"parameter_number", allocation.parameter_number},
        {"parameter_shape_index", TextOrNull(allocation.parameter_shape_index)},
        {"shape_id", strings_.Intern(allocation.shape)},
        {"aliased_output", Flag(allocation.aliased_output)},
        {"is_tuple", Flag(allocation.is_tuple)},
        {"sharding_id", strings_.Intern(allocation.sharding)},
        {"shard_count", allocation.shard_count},
        {"forward_read", Flag(allocation.forward_read)},
    });
  }
  for (const ingest::PlanOutput& output : plan.outputs) {
    // A leaf without a shape can't come from a valid proto; `?` keeps the leaves countable when it
    // does.
    outputs_.Add({
        {"plan_id", plan_id},
        {"position", output.position},
        {"shape_id", strings_.Intern(output.shape.empty() ? "?" : output.shape)},
        {"bytes", output.bytes},
        {"aliased", Flag(output.aliased)},
        {"role", Name(output.role)},
        {"opcode", TextOrNull(output.opcode)},
        {"instruction_id", strings_.Intern(output.instruction)},
        {"memory_space", output.memory_space},
        {"donor_is_read", Flag(output.donor_is_read)},
    });
  }
}

void PlanWriter::WriteBuffers(int64_t plan_id, const ingest::Plan& plan) {
  int64_t position = 0;
  for (const ingest::PlanBuffer& buffer : plan.buffers) {
    buffers_.Add({
        {"plan_id", plan_id},
        {"position", position++},
        {"logical_buffer_id", buffer.logical_buffer_id},
        {"allocation_index", buffer.allocation_index},
        {"memory_space", buffer.memory_space},
        {"class", Name(buffer.allocation_class)},
        {"role", Name(buffer.role)},
        {"role_via_id", strings_.Intern(buffer.role_via)},
        {"bytes", buffer.bytes},
        {"unpadded_bytes", buffer.unpadded_bytes},
        {"offset_bytes", buffer.offset_bytes},
        {"dtype", TextOrNull(buffer.dtype)},
        {"shape_id", strings_.Intern(buffer.shape)},
        {"layout_id", strings_.Intern(buffer.layout)},
        {"instruction_id", strings_.Intern(buffer.instruction)},
        {"shape_index", TextOrNull(buffer.shape_index)},
        {"opcode", TextOrNull(buffer.opcode)},
        {"op_name_id", strings_.Intern(buffer.op_name)},
        {"source_file_id", strings_.Intern(buffer.source_file)},
        {"source_line", buffer.source_line},
        {"function_name_id", strings_.Intern(buffer.function_name)},
        {"frame_id", buffer.frame_id},
        {"first_live", buffer.first_live},
        {"last_live", buffer.last_live},
        {"at_peak", Flag(buffer.at_peak)},
        {"line_via_id", strings_.Intern(buffer.line_via)},
        {"stack", Name(buffer.stack)},
        {"repeat_count", buffer.repeat_count},
        {"score_length", buffer.score_length},
        {"vocabulary_length", buffer.vocabulary_length},
        {"padded_dimension", buffer.padded_dimension},
        {"padded_from", buffer.padded_from},
        {"padded_to", buffer.padded_to},
    });
  }
}

void PlanWriter::WriteParts(int64_t plan_id, const ingest::Plan& plan) {
  int64_t place = 0;
  for (const ingest::PlanPart& part : plan.parts) {
    const ingest::CopiedValue* copied = part.copy_of ? &*part.copy_of : nullptr;
    const ingest::IdleSpan* idle = part.idle ? &*part.idle : nullptr;
    parts_.Add({
        {"plan_id", plan_id},
        {"place", place++},
        {"memory_space", part.memory_space},
        {"class", std::string(ingest::ToString(part.allocation_class))},
        {"kind", std::string(ingest::ToString(part.kind))},
        {"bytes", part.bytes},
        {"allocation_index", part.allocation_index},
        {"buffer_position", part.buffer},
        {"name_id", strings_.Intern(part.name)},
        {"shape_id", strings_.Intern(part.shape)},
        {"copy_of_id", copied ? strings_.Intern(copied->instruction) : SqlValue()},
        {"copied_dtype", copied ? TextOrNull(copied->dtype) : SqlValue()},
        {"idle_from", idle ? SqlValue(idle->from) : SqlValue()},
        {"idle_to", idle ? SqlValue(idle->to) : SqlValue()},
        {"reader_id", idle ? strings_.Intern(idle->reader) : SqlValue()},
        {"reader_op_name_id", idle ? strings_.Intern(idle->reader_op_name) : SqlValue()},
        {"reader_file_id", idle ? strings_.Intern(idle->reader_file) : SqlValue()},
        {"reader_line", idle ? SqlValue(idle->reader_line) : SqlValue()},
        {"hole_bytes", part.hole_bytes},
        {"hole_end_id", strings_.Intern(part.hole_end)},
    });
  }
}

void PlanWriter::WriteFrames(int64_t plan_id, const ingest::Plan& plan) {
  for (const ingest::PlanFrame& frame : plan.frames) {
    frames_.Add({
        {"plan_id", plan_id},
        {"frame_id", frame.frame_id},
        {"parent_frame_id", frame.parent_frame_id},
        {"source_file_id", strings_.Intern(frame.source_file)},
        {"source_line", frame.source_line},
        {"function_name_id", strings_.Intern(frame.function_name)},
    });
  }
}

void PlanWriter::Flush() {
  for (BulkInsert* insert :
       {&plans_, &memory_, &allocations_, &outputs_, &buffers_, &parts_, &frames_, &changes_})
    insert->Flush();
}

}  // namespace oomdb::schema
