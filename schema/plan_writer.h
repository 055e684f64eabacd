// Stores compiled plans, once per content of their HLO proto.
#ifndef OOMDB_SCHEMA_PLAN_WRITER_H_
#define OOMDB_SCHEMA_PLAN_WRITER_H_

#include <cstdint>
#include <set>
#include <string>

#include "ingest/plan/plan.h"
#include "ingest/plan/whatif/plan_changes.h"
#include "schema/bulk_insert.h"
#include "schema/string_table.h"

namespace oomdb::schema {

// Valid within one write transaction.
class PlanWriter {
 public:
  PlanWriter(StatementCache& statements, StringTable& strings);

  // The plan_id of the plan with this hash; writes it when it is new. An empty hash is never
  // shared: the plan is stored under a hash of its own place (`unhashed:<plan_id>`).
  // Of a plan that is there its replay may be missing: it is added then.
  int64_t Write(const std::string& hlo_hash, const ingest::Plan& plan);
  // What it would need with each remedy; written once for a plan.
  void WriteChanges(int64_t plan_id, const ingest::PlanChanges& changes);
  void Flush();

 private:
  void WriteTotals(int64_t plan_id, const std::string& hash, const ingest::Plan& plan);
  void WriteAllocations(int64_t plan_id, const ingest::Plan& plan);
  void WriteBuffers(int64_t plan_id, const ingest::Plan& plan);
  void WriteParts(int64_t plan_id, const ingest::Plan& plan);
  void WriteFrames(int64_t plan_id, const ingest::Plan& plan);
  void WriteReplay(int64_t plan_id, const ingest::Plan& plan);

  StringTable& strings_;
  SQLite::Statement& find_;
  SQLite::Statement& find_changes_;
  SQLite::Statement& add_replay_;
  SQLite::Statement& replayed_;
  int64_t next_plan_id_;
  BulkInsert plans_;
  BulkInsert memory_;
  BulkInsert allocations_;
  BulkInsert outputs_;
  BulkInsert buffers_;
  BulkInsert parts_;
  BulkInsert frames_;
  BulkInsert changes_;
  std::set<int64_t> with_changes_;  // Plans that have theirs.
};

}  // namespace oomdb::schema

#endif  // OOMDB_SCHEMA_PLAN_WRITER_H_
