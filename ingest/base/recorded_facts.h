// The facts of one capture, kept in memory: so that reading can happen on one thread and storing on
// another.
#ifndef OOMDB_INGEST_BASE_RECORDED_FACTS_H_
#define OOMDB_INGEST_BASE_RECORDED_FACTS_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "ingest/base/facts.h"

namespace oomdb::ingest {

class RecordedFacts : public FactSink {
 public:
  // When one of them becomes true, the next fact throws Error with kInterrupted. They may be null.
  explicit RecordedFacts(const std::atomic<bool>* stop = nullptr,
                         const std::atomic<bool>* quit = nullptr)
      : stop_(stop), quit_(quit) {}

  void Add(const CaptureFact& fact) override;
  void Add(const IssueFact& fact) override;
  void Add(const DeviceFact& fact) override;
  void Add(const ModuleFact& fact) override;
  void Add(const AllocatorFact& fact) override;
  void Add(const ExecutionFact& fact) override;
  void Add(const AllocationFact& fact) override;
  void Add(const HostEventFact& fact) override;
  void Add(const GapCallFact& fact) override;
  void Add(const OomEventFact& fact) override;
  void Add(const OomBufferFact& fact) override;
  void Add(const OomChunkFact& fact) override;
  void Add(const ProfileSampleFact& fact) override;

  // Hands all of them to `sink` in the order in which they came, so that it does what it would have
  // done had it been there.
  void Replay(FactSink& sink) const;

 private:
  enum class Kind : uint8_t {
    kCapture,
    kIssue,
    kDevice,
    kModule,
    kAllocator,
    kExecution,
    kAllocation,
    kEvent,
    kGapCall,
    kOomEvent,
    kOomBuffer,
    kOomChunk,
    kSample
  };

  void Next(Kind kind);
  // A copy that lives as long as this.
  std::string_view Lasting(std::string_view text);

  const std::atomic<bool>* stop_;
  const std::atomic<bool>* quit_;
  // A list per kind, and the kinds in order: a variant per fact would make every event as large as
  // an execution.
  std::vector<Kind> order_;
  std::vector<CaptureFact> captures_;
  std::vector<IssueFact> issues_;
  std::vector<DeviceFact> devices_;
  std::vector<ModuleFact> modules_;
  std::vector<AllocatorFact> allocators_;
  std::vector<ExecutionFact> executions_;
  std::vector<AllocationFact> allocations_;
  std::vector<HostEventFact> events_;
  std::vector<GapCallFact> gap_calls_;
  std::vector<OomEventFact> oom_events_;
  std::vector<OomBufferFact> oom_buffers_;
  std::vector<OomChunkFact> oom_chunks_;
  std::vector<ProfileSampleFact> samples_;
  std::unordered_set<std::string> texts_;
};

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_BASE_RECORDED_FACTS_H_
