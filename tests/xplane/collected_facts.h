// A sink that keeps every fact of one import, for tests to look at.
#ifndef OOMDB_TESTS_XPLANE_COLLECTED_FACTS_H_
#define OOMDB_TESTS_XPLANE_COLLECTED_FACTS_H_

#include <string>
#include <string_view>
#include <vector>

#include "ingest/xplane/xplane_importer.h"

namespace oomdb::ingest {

// A HostEventFact that owns its texts.
struct CollectedEvent {
  std::string thread;
  std::string name;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  std::optional<Index> parent;
  std::optional<Index> execution;
};

// A GapCallFact that owns its texts.
struct CollectedGapCall {
  Index module = 0;
  std::string thread, name, caller;
  int64_t gaps = 0, all_gaps = 0, calls = 0, depth = 0;
  bool encloses = false;
};

class CollectedFacts : public FactSink {
 public:
  void Add(const CaptureFact& fact) override { captures.push_back(fact); }
  void Add(const IssueFact& fact) override { issues.push_back(fact); }
  void Add(const DeviceFact& fact) override { devices.push_back(fact); }
  void Add(const ModuleFact& fact) override { modules.push_back(fact); }
  void Add(const AllocatorFact& fact) override { allocators.push_back(fact); }
  void Add(const ExecutionFact& fact) override { executions.push_back(fact); }
  void Add(const AllocationFact& fact) override { allocations.push_back(fact); }
  void Add(const OomEventFact& fact) override { oom_events.push_back(fact); }
  void Add(const OomBufferFact& fact) override { oom_buffers.push_back(fact); }
  void Add(const OomChunkFact& fact) override { oom_chunks.push_back(fact); }
  void Add(const ProfileSampleFact& fact) override { samples.push_back(fact); }
  void Add(const HostEventFact& fact) override {
    events.push_back({std::string(fact.thread), std::string(fact.name), fact.start_ns, fact.end_ns,
                      fact.parent, fact.execution});
  }

  void Add(const GapCallFact& fact) override {
    gap_calls.push_back({fact.module, std::string(fact.thread), std::string(fact.name),
                         std::string(fact.caller), fact.gaps, fact.all_gaps, fact.calls, fact.depth,
                         fact.encloses});
  }

  const CaptureFact& capture() const { return captures.at(0); }
  // The first issue of this key; null: none.
  const IssueFact* Issue(std::string_view what) const {
    for (const IssueFact& issue : issues) {
      if (issue.what == what) return &issue;
    }
    return nullptr;
  }
  // The number of the first event of this name; -1: it was not stored.
  Index EventNumber(std::string_view name) const {
    for (size_t i = 0; i < events.size(); ++i) {
      if (events[i].name == name) return static_cast<Index>(i);
    }
    return -1;
  }
  int64_t CountEvents(std::string_view name) const {
    int64_t count = 0;
    for (const CollectedEvent& event : events) count += event.name == name;
    return count;
  }

  std::vector<CaptureFact> captures;
  std::vector<IssueFact> issues;
  std::vector<OomEventFact> oom_events;
  std::vector<OomBufferFact> oom_buffers;
  std::vector<OomChunkFact> oom_chunks;
  std::vector<ProfileSampleFact> samples;
  std::vector<DeviceFact> devices;
  std::vector<ModuleFact> modules;
  std::vector<AllocatorFact> allocators;
  std::vector<ExecutionFact> executions;
  std::vector<AllocationFact> allocations;
  std::vector<CollectedEvent> events;
  std::vector<CollectedGapCall> gap_calls;
};

inline CollectedFacts Import(std::string_view bytes, const ImportOptions& options = {}) {
  CollectedFacts facts;
  ImportXPlane(*MemorySource(bytes, "capture.xplane.pb"), options, facts);
  return facts;
}

}  // namespace oomdb::ingest

#endif  // OOMDB_TESTS_XPLANE_COLLECTED_FACTS_H_
