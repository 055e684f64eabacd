// What the log importer makes of a text.
#ifndef OOMDB_TESTS_LOG_READ_LOG_H_
#define OOMDB_TESTS_LOG_READ_LOG_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ingest/log/log_importer.h"

namespace oomdb::ingest {

// Keeps what a log yields; anything else is a failure.
class ReadLog : public FactSink {
 public:
  explicit ReadLog(const std::string& text) {
    ImportLog(*MemorySource(text, "train.log"), ImportOptions(), *this);
  }

  void Add(const CaptureFact& fact) override { captures.push_back(fact); }
  void Add(const IssueFact& fact) override { issues.push_back(fact); }
  void Add(const OomEventFact& fact) override { events.push_back(fact); }
  void Add(const OomBufferFact& fact) override { buffers.push_back(fact); }
  void Add(const OomChunkFact& fact) override { chunks.push_back(fact); }
  void Add(const DeviceFact&) override { ADD_FAILURE(); }
  void Add(const ModuleFact&) override { ADD_FAILURE(); }
  void Add(const AllocatorFact&) override { ADD_FAILURE(); }
  void Add(const ExecutionFact&) override { ADD_FAILURE(); }
  void Add(const AllocationFact&) override { ADD_FAILURE(); }
  void Add(const HostEventFact&) override { ADD_FAILURE(); }
  void Add(const GapCallFact&) override { ADD_FAILURE(); }
  void Add(const ProfileSampleFact&) override { ADD_FAILURE(); }

  // The only event; a default one, and a failure, when there is another number of them.
  OomEventFact only() const {
    EXPECT_EQ(events.size(), 1u);
    return events.size() == 1 ? events[0] : OomEventFact();
  }
  bool has_issue(const std::string& what) const {
    for (const IssueFact& issue : issues) {
      if (issue.what == what) return true;
    }
    return false;
  }

  std::vector<CaptureFact> captures;
  std::vector<IssueFact> issues;
  std::vector<OomEventFact> events;
  std::vector<OomBufferFact> buffers;
  std::vector<OomChunkFact> chunks;
};

inline constexpr int64_t kKi = int64_t{1} << 10;
inline constexpr int64_t kMi = int64_t{1} << 20;
inline constexpr int64_t kGi = int64_t{1} << 30;
inline constexpr int64_t kTi = int64_t{1} << 40;

}  // namespace oomdb::ingest

#endif  // OOMDB_TESTS_LOG_READ_LOG_H_
