// The fuzz target of the importer of captures: whatever the bytes are, it ends with facts or with a
// clear refusal. tests/fuzz/CMakeLists.txt says how it is run.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "ingest/xplane/xplane_importer.h"

namespace {

// Takes everything, keeps nothing.
class NullSink : public oomdb::ingest::FactSink {
 public:
  void Add(const oomdb::ingest::CaptureFact&) override {}
  void Add(const oomdb::ingest::IssueFact&) override {}
  void Add(const oomdb::ingest::DeviceFact&) override {}
  void Add(const oomdb::ingest::ModuleFact&) override {}
  void Add(const oomdb::ingest::AllocatorFact&) override {}
  void Add(const oomdb::ingest::ExecutionFact&) override {}
  void Add(const oomdb::ingest::AllocationFact&) override {}
  void Add(const oomdb::ingest::HostEventFact&) override {}
  void Add(const oomdb::ingest::GapCallFact&) override {}
  void Add(const oomdb::ingest::OomEventFact&) override {}
  void Add(const oomdb::ingest::OomBufferFact&) override {}
  void Add(const oomdb::ingest::OomChunkFact&) override {}
  void Add(const oomdb::ingest::ProfileSampleFact&) override {}
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  oomdb::ingest::ImportOptions options;
  // Every selection, chosen by the bytes themselves so that a crash can be repeated.
  options.events = static_cast<oomdb::ingest::EventSelection>(size % 3);
  NullSink sink;
  try {
    oomdb::ingest::ImportXPlane(*oomdb::ingest::MemorySource(bytes), options, sink);
  } catch (const oomdb::Error&) {
    // A clear refusal.
  }
  return 0;
}
