#include "ingest/plan/hlo_importer.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "ingest/plan/plan.h"
#include "tests/plan/text_proto.h"

namespace oomdb::ingest {
namespace {

// Keeps what a bare module yields; anything else is a failure.
class Kept : public FactSink {
 public:
  void Add(const CaptureFact& fact) override { captures.push_back(fact); }
  void Add(const IssueFact& fact) override { issues.push_back(fact); }
  void Add(const ModuleFact& fact) override { modules.push_back(fact); }
  void Add(const DeviceFact&) override { ADD_FAILURE(); }
  void Add(const AllocatorFact&) override { ADD_FAILURE(); }
  void Add(const ExecutionFact&) override { ADD_FAILURE(); }
  void Add(const AllocationFact&) override { ADD_FAILURE(); }
  void Add(const HostEventFact&) override { ADD_FAILURE(); }
  void Add(const GapCallFact&) override { ADD_FAILURE(); }
  void Add(const OomEventFact&) override { ADD_FAILURE(); }
  void Add(const OomBufferFact&) override { ADD_FAILURE(); }
  void Add(const OomChunkFact&) override { ADD_FAILURE(); }
  void Add(const ProfileSampleFact&) override { ADD_FAILURE(); }

  std::vector<CaptureFact> captures;
  std::vector<IssueFact> issues;
  std::vector<ModuleFact> modules;
};

Kept Import(const std::string& bytes, const std::string& path) {
  Kept kept;
  ImportHlo(*MemorySource(bytes, path), ImportOptions(), kept);
  return kept;
}

std::string Module(const std::string& more) {
  return FromText<proto::HloProto>(
             "hlo_module { name: 'jit_f' " + more +
             " computations { instructions { name: 'a' opcode: 'add' shape { element_type: 11 } "
             "} } } buffer_assignment { buffer_allocations { size: -1 } }")
      .SerializeAsString();
}

TEST(HloImporterTest, ClaimsByName) {
  EXPECT_TRUE(ClaimsHlo("module_0001.jit_f.sm_8.0_gpu_after_optimizations.hlo.pb"));
  EXPECT_TRUE(ClaimsHlo("jit_f(12).hlo_proto.pb"));
  EXPECT_TRUE(ClaimsHlo("jit_f(12).hlo_proto.pb.zst"));
  EXPECT_FALSE(ClaimsHlo("host.xplane.pb"));
  EXPECT_FALSE(ClaimsHlo("module_0001.jit_f-memory-usage-report.pb"));
  EXPECT_FALSE(ClaimsHlo("hlo.pb.txt"));
}

TEST(HloImporterTest, OneCaptureWithOneModule) {
  const std::string bytes = Module("id: 5");
  const Kept kept = Import(bytes, "run/jit_f(7).hlo_proto.pb");
  ASSERT_EQ(kept.captures.size(), 1u);
  EXPECT_EQ(kept.captures[0].kind, "hlo");
  EXPECT_FALSE(kept.captures[0].truncated);
  ASSERT_EQ(kept.modules.size(), 1u);
  EXPECT_EQ(kept.modules[0].program_id, 7);
  EXPECT_EQ(kept.modules[0].name, "jit_f");
  EXPECT_EQ(kept.modules[0].hlo_hash, HloHash(bytes));
  EXPECT_EQ(kept.modules[0].execution_count, 0);
  ASSERT_NE(kept.modules[0].plan, nullptr);
  EXPECT_EQ(kept.modules[0].plan->instruction_count, 1);
  ASSERT_EQ(kept.issues.size(), 1u);
  EXPECT_EQ(kept.issues[0].what, "plan_size_impossible");
}

TEST(HloImporterTest, TheProgramIdIsOfTheFileNameElseTheModules) {
  EXPECT_EQ(Import(Module("id: 5"), "jit_f.hlo.pb").modules[0].program_id, 5);
  EXPECT_EQ(Import(Module(""), "jit_f.hlo.pb").modules[0].program_id, std::nullopt);
  EXPECT_EQ(Import(Module("id: 5"), "jit_f(0).hlo_proto.pb.gz").modules[0].program_id, 0);
  EXPECT_EQ(ProgramIdOfName("jit_f(18446744073709551615)"), -1);
  EXPECT_EQ(ProgramIdOfName("jit_f(x)"), std::nullopt);
  EXPECT_EQ(ProgramIdOfName("jit_f()"), std::nullopt);
  EXPECT_EQ(ProgramIdOfName("jit_f(3"), std::nullopt);
  EXPECT_EQ(ProgramIdOfName("3)"), std::nullopt);
}

TEST(HloImporterTest, ThePlatformIsToldByTypeThenByFileName) {
  EXPECT_EQ(PlatformOf("TPU", "module.jit_f.gpu_after_optimizations.hlo.pb", "jit_f"), "tpu");
  EXPECT_EQ(PlatformOf("", "d/module_0001.jit_f.sm_8.0_gpu_after_optimizations.hlo.pb", "jit_f"),
            "gpu");
  EXPECT_EQ(PlatformOf("", "module_0000.jit_f.cl_933746096.after_optimizations.hlo.pb", "jit_f"),
            "tpu");
  EXPECT_EQ(PlatformOf("", "module_0001.jit_gpu.cpu_after_optimizations.hlo.pb", "jit_gpu"), "cpu");
  EXPECT_EQ(PlatformOf("", "module_0001.jit_cpu_step.gfx942_gpu_after.hlo.pb", "jit_cpu_step"),
            "gpu");
  EXPECT_EQ(PlatformOf("", "jit_f(3).hlo_proto.pb", "jit_f"), "");
}

TEST(HloImporterTest, ErrorsNameTheFile) {
  for (const std::string& content : {std::string(), std::string("garbage that is long enough")}) {
    try {
      Import(content, "broken.hlo.pb");
      ADD_FAILURE() << "accepted: " << content;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("broken.hlo.pb: "), std::string::npos);
    }
  }
}

TEST(HloImporterTest, HashesAreXxh3) {
  EXPECT_EQ(HloHash(""), "99aa06d3014798d86001c324468d497f");  // As published with XXH3-128.
  EXPECT_NE(HloHash("a"), HloHash("b"));
}

}  // namespace
}  // namespace oomdb::ingest
