// Reads captures ahead of the one that is being stored.
#ifndef OOMDB_CLI_INGEST_CAPTURE_READER_H_
#define OOMDB_CLI_INGEST_CAPTURE_READER_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cli/ingest/tasks.h"
#include "ingest/base/recorded_facts.h"
#include "ingest/dump/dump.h"
#include "ingest/importers.h"
#include "ingest/source/source.h"

namespace oomdb::cli {

// One file or dump, opened, and as far as it was read ahead.
struct ReadCapture {
  const ingest::Importer* importer = nullptr;  // Null: its name claims no format.
  std::unique_ptr<ingest::Source> source;      // Null when nothing claims it, or with an error.
  std::optional<ingest::Dump> dump;            // Instead of a file and its importer.
  std::string content_hash;
  std::unique_ptr<ingest::RecordedFacts> facts;  // Null: it is to be imported when it is stored.
  std::exception_ptr error;                      // Why it could not be opened or read.

  bool opened() const { return source != nullptr || dump.has_value(); }
  // Uncompressed; of what was opened only, as is all below.
  int64_t bytes() const;
  const std::string& compression() const;
  // Hands the facts on with `with`, unless they were read ahead.
  void HandOver(const ingest::Importer* with, const ingest::ImportOptions& options,
                ingest::FactSink& sink) const;
};

class CaptureReader {
 public:
  // With one thread, Take reads nothing ahead and starts no thread. With more, `threads` of them
  // import into memory while the caller stores, at most kMaxBytes of files (or one) at a time.
  // What is larger, `known` by its content, or standard input, is only opened. `standard_input`
  // sees what comes from there. All references must outlive this.
  CaptureReader(const std::vector<IngestTask>& tasks, const ingest::ImportOptions& options,
                int threads, std::set<std::string> known, const std::atomic<bool>* stop,
                ingest::ByteObserver standard_input = {});
  // Ends what is being read.
  ~CaptureReader();
  CaptureReader(const CaptureReader&) = delete;
  CaptureReader& operator=(const CaptureReader&) = delete;

  // The task's file. To be called for every task, in order; the one before is done with then.
  ReadCapture Take(size_t task);

 private:
  // Facts can take several times the bytes that say them.
  static constexpr int64_t kMaxBytes = int64_t{128} << 20;
  // Opened files per thread, so that many small ones don't use up the descriptors.
  static constexpr size_t kMaxFilesPerThread = 8;

  ReadCapture Open(const IngestTask& task) const;
  ReadCapture ReadAhead(const IngestTask& task) const;
  bool HasRoom() const;
  void Work();

  const std::vector<IngestTask>& tasks_;
  const ingest::ImportOptions& options_;
  const std::set<std::string> known_;
  const std::atomic<bool>* const stop_;
  const ingest::ByteObserver standard_input_;
  std::atomic<bool> quit_ = false;

  std::mutex mutex_;  // Of what follows.
  std::condition_variable room_;
  std::condition_variable ready_;
  size_t next_ = 0;
  size_t taken_ = 0;  // Tasks before it are done with.
  int64_t bytes_ahead_ = 0;
  std::map<size_t, ReadCapture> read_;
  std::vector<std::thread> threads_;
};

}  // namespace oomdb::cli

#endif  // OOMDB_CLI_INGEST_CAPTURE_READER_H_
