#include "schema/capture_tables.h"

namespace oomdb::schema {

CaptureTables::CaptureTables(StatementCache& statements)
    : captures(statements, "captures"),
      issues(statements, "ingest_issues"),
      devices(statements, "devices"),
      modules(statements, "stored_modules"),
      allocators(statements, "allocators"),
      executions(statements, "stored_executions"),
      allocations(statements, "stored_allocations"),
      module_starts(statements, "stored_module_starts"),
      start_rises(statements, "stored_start_rises"),
      failed_live(statements, "stored_failed_live"),
      events(statements, "stored_host_events"),
      gap_calls(statements, "stored_gap_calls"),
      oom_events(statements, "oom_events"),
      oom_buffers(statements, "oom_buffers"),
      oom_chunks(statements, "oom_chunks"),
      samples(statements, "profile_samples") {}

void CaptureTables::Flush() {
  for (BulkInsert* insert : {&captures, &issues, &devices, &modules, &allocators, &executions,
                             &allocations, &module_starts, &start_rises, &failed_live, &events,
                             &gap_calls, &oom_events, &oom_buffers, &oom_chunks, &samples}) {
    insert->Flush();
  }
}

}  // namespace oomdb::schema
