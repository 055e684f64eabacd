#include "schema/capture_tables.h"

namespace oomdb {

CaptureTables::CaptureTables(StatementCache& statements)
    : captures(statements, "captures",
               "capture_id, run, host, process_index, path, content_hash, bytes, kind, status, "
               "format_note, jax_version, started_unix_ns, duration_ns, ingested_unix_ns, "
               "ingester_version"),
      issues(statements, "ingest_issues", "capture_id, severity, what, detail, count"),
      devices(statements, "devices",
              "device_id, capture_id, ordinal, local_ordinal, kind, name, vendor, memory_bytes"),
      modules(statements, "stored_modules",
              "module_id, capture_id, plan_id, program_id, name, fingerprint, platform, "
              "execution_count"),
      allocators(
          statements, "allocators",
          "allocator_id, capture_id, device_id, name, capacity_bytes, peak_bytes, "
          "capture_peak_bytes, in_use_first_bytes, in_use_last_bytes, before_capture_bytes, "
          "allocation_count, deallocation_count, reconciliation_breaks, last_available_bytes, "
          "last_fragmentation"),
      executions(
          statements, "stored_executions",
          "execution_id, capture_id, device_id, module_id, module_name_id, sequence, start_ns, "
          "end_ns, launched, failed, in_use_at_start_bytes, peak_in_use_bytes, output_bytes, "
          "temp_bytes, wait_ns, wait_evidence, retry_count, failed_allocation_index, "
          "thread_id, launch_event_id"),
      allocations(statements, "stored_allocations",
                  "allocation_id, capture_id, allocator_id, address, requested_bytes, bytes, "
                  "alloc_ns, free_ns, in_use_after_bytes, fragmentation, execution_id, "
                  "module_id, allocation_index, purpose, origin_id, alloc_event_id, "
                  "free_event_id"),
      module_starts(statements, "stored_module_starts",
                    "capture_id, device_id, module_id, allocator_id, executions, "
                    "first_start_ns, last_start_ns, first_in_use_bytes, second_in_use_bytes, "
                    "last_in_use_bytes, rise_bytes, low_rise_bytes, median_bytes, "
                    "settled_median_bytes, survivor_bytes, own_output_bytes"),
      start_steps(statements, "stored_start_steps",
                  "capture_id, device_id, module_id, place, step_bytes, kept_bytes"),
      failed_live(statements, "stored_failed_live",
                  "capture_id, execution_id, origin_id, bytes, count"),
      events(statements, "stored_host_events",
             "event_id, capture_id, thread_id, name_id, start_ns, end_ns, parent_id, execution_id"),
      oom_events(
          statements, "oom_events",
          "oom_event_id, capture_id, line, kind, form, fatal, error_code, memory_space, device, "
          "allocator, module_name, requested_bytes, capacity_bytes, used_bytes, "
          "exceeded_bytes, total_bytes, reserved_bytes, program_bytes, arguments_bytes, "
          "temp_bytes, output_bytes, alias_bytes, constant_bytes, free_bytes, "
          "largest_free_bytes, fragmentation_bytes, tensor_core_bytes, "
          "sparse_core_bytes, repeat_count, message"),
      oom_buffers(statements, "oom_buffers",
                  "oom_event_id, position, bytes, unpadded_bytes, padding_bytes, shape, op_name, "
                  "source_file, source_line, label, allocation_type, plain_shape, dense_bytes, "
                  "tiled_bytes, count"),
      oom_chunks(statements, "oom_chunks",
                 "oom_event_id, position, region, address, bytes, in_use, op_name"),
      samples(statements, "profile_samples",
              "capture_id, kind, device, bytes, count, stack, source_file, source_line, "
              "function_name") {}

void CaptureTables::Flush() {
  for (BulkInsert* insert : {&captures, &issues, &devices, &modules, &allocators, &executions,
                             &allocations, &module_starts, &start_steps, &failed_live, &events,
                             &oom_events, &oom_buffers, &oom_chunks, &samples}) {
    insert->Flush();
  }
}

}  // namespace oomdb
