// The tables that the rows of a capture go to. Their columns stand beside the values, in
// capture_writer.cc.
#ifndef OOMDB_SCHEMA_CAPTURE_TABLES_H_
#define OOMDB_SCHEMA_CAPTURE_TABLES_H_

#include "schema/bulk_insert.h"

namespace oomdb::schema {

// `statements` must outlive it; rows that were never flushed are lost.
struct CaptureTables {
  explicit CaptureTables(StatementCache& statements);
  void Flush();

  BulkInsert captures, issues, devices, modules, allocators, executions, allocations, module_starts,
      start_rises, failed_live, events, gap_calls, oom_events, oom_buffers, oom_chunks, samples;
};

}  // namespace oomdb::schema

#endif  // OOMDB_SCHEMA_CAPTURE_TABLES_H_
