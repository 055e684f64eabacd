// Writes one capture: all of it, or nothing.
#ifndef OOMDB_SCHEMA_CAPTURE_WRITER_H_
#define OOMDB_SCHEMA_CAPTURE_WRITER_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ingest/base/facts.h"
#include "schema/database.h"
#include "schema/write_group.h"

namespace oomdb::schema {

// What is known of a capture before its content is read.
struct CaptureSource {
  std::string path;          // As it is to be shown: absolute for files.
  std::string content_hash;  // XXH3-128 of the uncompressed bytes, hex.
  int64_t bytes = 0;         // Uncompressed.
  std::optional<std::string> run;
  // std::nullopt: the host name within the capture, if any.
  std::optional<std::string> host;
  std::string compression;  // "", "gzip" or "zstd": noted in format_note.
};

// A capture of the same content that is there already.
struct KnownCapture {
  int64_t capture_id = 0;
  std::optional<std::string> run;
  std::optional<std::string> host;
  std::string path;
};

// What was written, for the line after the ingest.
struct CaptureSummary {
  int64_t capture_id = 0;
  bool already_there =
      false;  // The same content had been ingested before; of what is below only the names then.
  // Of what was already there: whether it is named otherwise now, and what the names were.
  bool run_changed = false;
  bool host_changed = false;
  std::optional<std::string> previous_run;
  std::optional<std::string> previous_host;
  std::vector<std::string> other_runs;  // That hold the same content.
  bool truncated = false;
  std::string kind;
  std::optional<std::string> run;
  std::optional<std::string> host;
  int64_t devices = 0;
  int64_t modules = 0;
  int64_t executions = 0;
  int64_t allocations = 0;
  int64_t events = 0;
  int64_t oom_events = 0;  // All that an error log says ...
  int64_t fatal_oom_events = 0;
  int64_t advice_oom_events = 0;
  int64_t samples = 0;                    // Of a device memory profile.
  std::vector<ingest::IssueFact> issues;  // The first few of them.
  bool damaged = false;                   // An issue of severity error is among all of them.
  int64_t issue_count = 0;
};

class CaptureWriter : public ingest::FactSink {
 public:
  // Begins a transaction, waiting for other writers; with `group` it is that one's, and the capture
  // is on disk when the group is committed. When `stop` becomes true, the next fact throws Error
  // with kInterrupted. `database` and `group` must outlive this.
  CaptureWriter(Database& database, CaptureSource source, const std::atomic<bool>* stop = nullptr,
                WriteGroup* group = nullptr);
  // Undoes the capture unless Commit or CommitKnown was called.
  ~CaptureWriter() override;

  // The captures with this content, one for each of their runs, that are in the database or the
  // group; in the order in which they came. Asked within the transaction, so the answer holds.
  std::vector<KnownCapture> KnownCaptures() const;

  void Add(const ingest::CaptureFact& fact) override;
  void Add(const ingest::IssueFact& fact) override;
  void Add(const ingest::DeviceFact& fact) override;
  void Add(const ingest::ModuleFact& fact) override;
  void Add(const ingest::AllocatorFact& fact) override;
  void Add(const ingest::ExecutionFact& fact) override;
  void Add(const ingest::AllocationFact& fact) override;
  void Add(const ingest::HostEventFact& fact) override;
  void Add(const ingest::GapCallFact& fact) override;
  void Add(const ingest::OomEventFact& fact) override;
  void Add(const ingest::OomBufferFact& fact) override;
  void Add(const ingest::OomChunkFact& fact) override;
  void Add(const ingest::ProfileSampleFact& fact) override;

  // True when some module so far has a plan with a buffer assignment.
  bool has_plan() const { return has_plan_; }

  // `labels` are those of the capture's run. Throws Error when the facts are not of one whole
  // capture (no CaptureFact, a reference to a fact that never came): a fault of the importer.
  CaptureSummary Commit(const std::map<std::string, std::string>& labels);

  // For content that is there already: replaces `run` and `host` where given, and adds the labels.
  // The labels of a run that this was the last capture of go along to the new one.
  CaptureSummary CommitKnown(int64_t capture_id, const std::optional<std::string>& run,
                             const std::optional<std::string>& host,
                             const std::map<std::string, std::string>& labels);

 private:
  struct State;

  enum Kind { kDevice, kModule, kAllocator, kExecution, kAllocation, kEvent, kOomEvent, kKinds };
  // The row id of the `index`th fact of a kind; remembers the largest, for the check in Commit.
  int64_t Id(Kind kind, ingest::Index index);
  std::optional<int64_t> Id(Kind kind, const std::optional<ingest::Index>& index);
  int64_t NextId(Kind kind);
  void WriteLabels(const std::optional<std::string>& run,
                   const std::map<std::string, std::string>& labels);
  void MoveLabelsOfNoCapture(const std::string& from, const std::string& to);
  void WriteStarts();
  void WriteFailedLive();
  void Flush();
  void CheckReferences() const;

  std::unique_ptr<State> state_;
  CaptureSource source_;
  const std::atomic<bool>* stop_;
  std::optional<ingest::CaptureFact> capture_;
  CaptureSummary summary_;
  bool has_plan_ = false;
  std::array<int64_t, kKinds> base_ = {};
  std::array<int64_t, kKinds> count_ = {};
  std::array<int64_t, kKinds> largest_reference_;
};

}  // namespace oomdb::schema

#endif  // OOMDB_SCHEMA_CAPTURE_WRITER_H_
