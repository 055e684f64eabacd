// Paths -> captures in a database: what `ingest` and `report` do with what they are given.
#ifndef OOMDB_CLI_INGEST_JOB_H_
#define OOMDB_CLI_INGEST_JOB_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "ingest/importers.h"
#include "ingest/plan/plan_cache.h"
#include "schema/capture_writer.h"
#include "schema/database.h"

namespace oomdb::cli {

// A path and what is known of it beyond what it says itself.
struct IngestItem {
  std::string path;
  std::optional<std::string> run;
  std::optional<std::string> host;
  std::map<std::string, std::string> labels;
  std::string origin;   // Where it is named, such as "runs.csv line 3".
  std::string problem;  // Not empty: nothing to read, only this to tell.
};

struct IngestRequest {
  // Files, folders (with all below them), or "-" for standard input.
  std::vector<std::string> paths;
  std::optional<std::string> run;   // --run; else from the path.
  std::optional<std::string> host;  // --host; else from the path, else as recorded.
  std::map<std::string, std::string> labels;
  std::vector<IngestItem> items;  // After the paths; what they say themselves wins.
  ingest::ImportOptions options;
  // That read; from 2 on, ahead of the one that stores. What is stored is the same.
  int threads = 1;
  ingest::ByteObserver standard_input;  // Sees what "-" reads, as it arrives.
};

// Hears of each file as it is done, in the order in which they are named.
class IngestObserver {
 public:
  virtual ~IngestObserver() = default;
  virtual void Stored(const std::string& path, const schema::CaptureSummary& summary) = 0;
  // `reason` names the path.
  virtual void Rejected(const std::string& path, const std::string& reason) = 0;
  // In a folder, and nothing that we read.
  virtual void PassedOver(const std::string& path, const std::string& reason) = 0;
  // How far it is: `bytes` of all files' bytes, as they lie there.
  virtual void Progress(int64_t /*files*/, int64_t /*all_files*/, int64_t /*bytes*/,
                        int64_t /*all_bytes*/) {}
};

// What is to be said of a log without a failure; empty for all other captures.
std::string NoOomFound(const schema::CaptureSummary& summary);

struct IngestTotals {
  int64_t stored = 0;         // Captures that are in the database now, truncated ones included...
  int64_t already_there = 0;  // ... and these among them were before.
  int64_t truncated = 0;
  int64_t damaged = 0;  // Stored, but a part of them was unreadable (an issue of severity error).
  int64_t rejected = 0;
  bool interrupted = false;  // What came before is kept.

  // kClean; kFailed: nothing is stored; kPartial: part was rejected, truncated or unreadable;
  // kInterrupted.
  ExitCode exit_code() const;
};

// Each capture is stored whole or not at all, in sorted order per item; small ones are committed
// together, and heard of then. Throws Error only for what concerns the database; a file that can't
// be read is rejected.
IngestTotals IngestPaths(schema::Database& database, const IngestRequest& request,
                         IngestObserver& observer, const std::atomic<bool>* stop = nullptr);

}  // namespace oomdb::cli

#endif  // OOMDB_CLI_INGEST_JOB_H_
