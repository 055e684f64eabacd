// Uniting databases that were made on different hosts.
#ifndef OOMDB_SCHEMA_MERGE_H_
#define OOMDB_SCHEMA_MERGE_H_

#include <atomic>
#include <cstdint>

#include "schema/database.h"

namespace oomdb::schema {

struct MergeSummary {
  int64_t added = 0;          // Captures whose content was not in `out`.
  int64_t already_there = 0;  // Those whose content was.
  // Labels that a run has in both, with different texts: the lesser text stays.
  int64_t labels_differ = 0;
};

// Brings what `in` holds into `out`, in one transaction: captures by content hash, plans by the
// hash of their HLO proto, texts by themselves; ids are given anew. Settings stay those of `out`.
//
// Any order and any number of merges give the same rows but for ids and the time of the ingest, so
// what two databases say differently of one content is decided by what they say, never by who came
// first: path, run and host are those with the lesser path, and the rows are those of the newer
// oomdb, then those with more events (--events). Plans of one hash are taken to be equal.
//
// `in` is best one from OpenReadOnly, which refuses foreign and newer files and reads older ones.
// Throws Error: kFailed when `in` is damaged (nothing of it is kept then), kInterrupted on `stop`.
MergeSummary MergeDatabase(Database& out, Database& in, const std::atomic<bool>* stop = nullptr);

}  // namespace oomdb::schema

#endif  // OOMDB_SCHEMA_MERGE_H_
