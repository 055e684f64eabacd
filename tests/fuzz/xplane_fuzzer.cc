// The fuzz target of the importer of captures: whatever the bytes are, it ends with facts or with a
// clear refusal. tests/fuzz/CMakeLists.txt says how it is run.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "ingest/xplane/xplane_importer.h"

namespace {

// Takes everything, keeps nothing.
class NullSink : public oomdb::FactSink {
 public:
  void Add(const oomdb::CaptureFact&) override {}
  void Add(const oomdb::IssueFact&) override {}
  void Add(const oomdb::DeviceFact&) override {}
  void Add(const oomdb::ModuleFact&) override {}
  void Add(const oomdb::AllocatorFact&) override {}
  void Add(const oomdb::ExecutionFact&) override {}
  void Add(const oomdb::AllocationFact&) override {}
  void Add(const oomdb::HostEventFact&) override {}
  void Add(const oomdb::OomEventFact&) override {}
  void Add(const oomdb::OomBufferFact&) override {}
  void Add(const oomdb::OomChunkFact&) override {}
  void Add(const oomdb::ProfileSampleFact&) override {}
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  oomdb::ImportOptions options;
  // Every selection, chosen by the bytes themselves so that a crash can be repeated.
  options.events = static_cast<oomdb::EventSelection>(size % 3);
  NullSink sink;
  try {
    oomdb::ImportXPlane(*oomdb::MemorySource(bytes), options, sink);
  } catch (const oomdb::Error&) {
    // A clear refusal.
  }
  return 0;
}
