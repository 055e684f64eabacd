// A folder that XLA dumped to: which files are chosen, and what makes two dumps the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "ingest/dump/dump.h"
#include "ingest/dump/text_importer.h"
#include "ingest/plan/plan.h"
#include "ingest/source/discover.h"
#include "tests/plan/text_proto.h"
#include "tests/source/temp_folder.h"

namespace oomdb::ingest {
namespace {

using testing::HasSubstr;

// Keeps what a dump yields.
class Kept : public FactSink {
 public:
  void Add(const CaptureFact& fact) override { capture = fact; }
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

  int Count(std::string_view what) const {
    int count = 0;
    for (const IssueFact& issue : issues) count += issue.what == what;
    return count;
  }

  CaptureFact capture;
  std::vector<IssueFact> issues;
  std::vector<ModuleFact> modules;
};

// `parameter_bytes` tells apart what was chosen; 0: no buffer assignment.
std::string Proto(int64_t parameter_bytes, const std::string& name = "jit_f") {
  proto::HloProto hlo = FromText<proto::HloProto>(
      "hlo_module { name: '" + name +
      "' computations { instructions { name: 'a' opcode: 'add' shape { element_type: 11 } } } }");
  if (parameter_bytes > 0) {
    auto& allocation = *hlo.mutable_buffer_assignment()->add_buffer_allocations();
    allocation.set_size(parameter_bytes);
    allocation.set_is_entry_computation_parameter(true);
  }
  return hlo.SerializeAsString();
}

std::string Text(int64_t parameter_bytes) {
  return "BufferAssignment:\nallocation 0: size " + std::to_string(parameter_bytes) +
         ", parameter 0, shape |f32[1]| at ShapeIndex {}:\n";
}

constexpr char kProto[] = "module_0001.jit_f.gpu_after_optimizations.hlo.pb";
constexpr char kAssignment[] = "module_0001.jit_f.gpu_after_optimizations-buffer-assignment.txt";
constexpr char kReport[] = "module_0001.jit_f.gpu_after_optimizations-memory-usage-report.txt";

class DumpTest : public testing::Test {
 protected:
  Dump Open() {
    std::vector<std::string> files = DiscoverFiles(folder_.Path("dump")).files;
    std::vector<DumpFolder> dumps = TakeDumpFolders(files);
    EXPECT_EQ(dumps.size(), 1u);
    return dumps.empty() ? Dump() : OpenDump(dumps[0]);
  }
  Kept Import() {
    Kept kept;
    ImportDump(Open(), {}, kept);
    EXPECT_EQ(kept.capture.kind, "xla_dump");
    return kept;
  }
  void Write(const std::string& name, const std::string& content) {
    folder_.Write("dump/" + name, content);
  }
  void Remove(const std::string& name) { std::filesystem::remove(folder_.Path("dump/" + name)); }

  const TempFolder folder_;
};

TEST_F(DumpTest, TheProtoIsBestThenTheTextThenTheReport) {
  Write(kProto, Proto(11));
  Write(kAssignment, Text(22));
  Write(kReport, "Memory Space: default (color=0)\nTotal bytes: 33 (33B)\n");
  Kept kept = Import();
  ASSERT_EQ(kept.modules.size(), 1u);
  EXPECT_EQ(kept.modules[0].plan->parameter_bytes, 11);
  EXPECT_EQ(kept.modules[0].platform, "gpu");
  EXPECT_EQ(kept.modules[0].program_id, 1);
  Remove(kProto);
  kept = Import();
  ASSERT_EQ(kept.modules.size(), 1u);
  EXPECT_EQ(kept.modules[0].plan->parameter_bytes, 22);
  EXPECT_EQ(kept.modules[0].name, "jit_f");
  EXPECT_EQ(kept.modules[0].platform, "gpu");
  EXPECT_EQ(kept.modules[0].program_id, 1);
  Remove(kAssignment);
  kept = Import();
  ASSERT_EQ(kept.modules.size(), 1u);
  EXPECT_EQ(kept.modules[0].plan->plan_bytes, 33);
}

TEST_F(DumpTest, AProtoWithoutBuffersIsPassedOver) {
  Write(kProto, Proto(0));
  Write("module_0001.jit_f.gpu_after_optimizations_after_buffer_assignment.hlo.pb", Proto(0));
  Write(kAssignment, Text(22));
  const Kept kept = Import();
  ASSERT_EQ(kept.modules.size(), 1u);
  EXPECT_EQ(kept.modules[0].plan->parameter_bytes, 22);
}

TEST_F(DumpTest, EveryModuleOnce) {
  Write(kProto, Proto(11));
  Write("module_0002.jit_g.gpu_after_optimizations.hlo.pb", Proto(12, "jit_g"));
  Write("module_0003.jit_g.gpu_after_optimizations-buffer-assignment.txt", Text(13));
  Write("module_0004.jit_h.before_optimizations.hlo.pb", Proto(0));
  const Kept kept = Import();
  ASSERT_EQ(kept.modules.size(), 3u);
  EXPECT_EQ(kept.modules[1].name, "jit_g");
  EXPECT_EQ(kept.modules[2].name, "jit_g");
  EXPECT_EQ(kept.modules[2].program_id, 3);
  EXPECT_EQ(kept.Count("compile_failed"), 0);
}

TEST_F(DumpTest, AFailedCompilationIsTold) {
  const std::string failed = "module_0001.jit_f.cl_7.oom_intermediate_module.hlo.pb";
  Write(failed, Proto(0));
  Kept kept = Import();
  ASSERT_EQ(kept.modules.size(), 1u);
  EXPECT_FALSE(kept.modules[0].plan->has_buffer_assignment);
  ASSERT_EQ(kept.Count("compile_failed"), 1);
  EXPECT_THAT(kept.issues[0].detail, HasSubstr("jit_f"));
  EXPECT_EQ(kept.issues[0].severity, "info");

  Write("module_0001.jit_f.cl_7.after_optimizations.hlo.pb", Proto(11));
  Write("17.peak_memory_tensors.txt", "1. Size: 8.00G");
  kept = Import();
  ASSERT_EQ(kept.modules.size(), 1u);
  EXPECT_EQ(kept.modules[0].plan->parameter_bytes, 11);
  EXPECT_EQ(kept.Count("compile_failed"), 1);
}

TEST_F(DumpTest, ADamagedFileGivesWayToTheNext) {
  std::string damaged = Proto(11);
  damaged[1] ^= 0x20;  // The module's length: what follows is no message.
  Write(kProto, damaged);
  Write(kAssignment, Text(22));
  Kept kept = Import();
  ASSERT_EQ(kept.modules.size(), 1u);
  EXPECT_EQ(kept.modules[0].plan->parameter_bytes, 22);
  Write(kAssignment, "no such text");
  Remove(kProto);
  kept = Import();
  EXPECT_TRUE(kept.modules.empty());
  ASSERT_EQ(kept.Count("dump_file_unreadable"), 1);
  EXPECT_EQ(kept.issues[0].severity, "error");
}

TEST_F(DumpTest, TheHashIsOfWhatWasChosen) {
  Write(kProto, Proto(11));
  const Dump first = Open();
  EXPECT_EQ(first.content_hash.size(), 32u);
  EXPECT_EQ(first.bytes, static_cast<int64_t>(Proto(11).size()));
  // What is not read doesn't count, nor does where the folder lies.
  Write("module_0001.jit_f.before_optimizations.txt", "HloModule");
  Write(kAssignment, Text(22));
  Write("error.txt", "RESOURCE_EXHAUSTED");
  EXPECT_EQ(Open().content_hash, first.content_hash);
  std::filesystem::rename(folder_.Path("dump"), folder_.Path("moved"));
  std::filesystem::create_directory(folder_.Path("dump"));
  std::filesystem::rename(folder_.Path("moved"), folder_.Path("dump/moved"));
  EXPECT_EQ(Open().content_hash, first.content_hash);
  // Another content, another module and a failure do.
  Write(std::string("moved/") + kProto, Proto(12));
  const Dump changed = Open();
  EXPECT_NE(changed.content_hash, first.content_hash);
  Write("moved/module_0002.jit_g.gpu_after_optimizations.hlo.pb", Proto(12, "jit_g"));
  const Dump added = Open();
  EXPECT_NE(added.content_hash, changed.content_hash);
  Write("moved/module_0001.jit_f.cl_7.oom_top_memory_consuming_instructions", "");
  EXPECT_NE(Open().content_hash, added.content_hash);
}

TEST_F(DumpTest, AFolderOfThousandsOpensOnlyWhatItChooses) {
  Write(kProto, Proto(11));
  for (int i = 0; i < 3000; ++i) {
    Write("module_0001.jit_f." + std::to_string(i) + ".before_pass.hlo.pb", "not a proto");
  }
  std::vector<std::string> files = DiscoverFiles(folder_.Path("dump")).files;
  const std::vector<DumpFolder> dumps = TakeDumpFolders(files);
  ASSERT_EQ(dumps.size(), 1u);
  EXPECT_EQ(dumps[0].files.size(), 1u);
  EXPECT_EQ(dumps[0].other_files, 3000u);
  EXPECT_TRUE(Open().issues.empty());
}

TEST(PlanTextTest, ATextNamedAloneIsADump) {
  EXPECT_TRUE(ClaimsPlanText("x-buffer-assignment.txt.xz"));
  EXPECT_TRUE(ClaimsPlanText("module_0001.jit_f.cl_7.after_optimizations-memory-usage-report.txt"));
  EXPECT_FALSE(ClaimsPlanText("x-buffer-assignment-values.txt"));
  Kept kept;
  ImportPlanText(*MemorySource(Text(7), "d/my-buffer-assignment.txt"), ImportOptions(), kept);
  EXPECT_EQ(kept.capture.kind, "xla_dump");
  ASSERT_EQ(kept.modules.size(), 1u);
  EXPECT_EQ(kept.modules[0].name, "my-buffer-assignment.txt");
  EXPECT_EQ(kept.modules[0].program_id, std::nullopt);
  EXPECT_EQ(kept.modules[0].plan->parameter_bytes, 7);
  EXPECT_THROW(ImportPlanText(*MemorySource("<html>"), ImportOptions(), kept), Error);
  EXPECT_THROW(ImportPlanText(*MemorySource(""), ImportOptions(), kept), Error);
}

}  // namespace
}  // namespace oomdb::ingest
