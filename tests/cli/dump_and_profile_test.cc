// Folders that XLA dumped to, and device memory profiles, through the verbs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/program.h"
#include "tests/profile/pprof_builder.h"

namespace oomdb::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr char kText[] =
    "BufferAssignment:\n"
    "allocation 0: size 1048576, parameter 0, shape |f32[262144]| at ShapeIndex {}:\n"
    " value: <1 param @0> (size=1048576,offset=0): f32[262144]{0}\n";

using DumpAndProfileTest = ProgramTest;

TEST_F(DumpAndProfileTest, ADumpIsOneCaptureWhereverItLies) {
  Write("job/dump/module_0001.jit_f.gpu_after_optimizations-buffer-assignment.txt", kText);
  Write("job/dump/module_0002.jit_g.cl_7.after_optimizations-buffer-assignment.txt", kText);
  Write("job/dump/module_0002.jit_g.before_optimizations.hlo.pb", "never opened");
  const Outcome first = Oomdb("ingest --db oom.db job");
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.err, HasSubstr("xla_dump dump (2 modules)"));
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM captures"), "1");
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM captures WHERE kind = 'xla_dump' AND run = 'dump' AND host "
                "IS NULL AND path LIKE '%/job/dump'"),
            "1");
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM modules WHERE instruction_count IS NULL AND plan_bytes = "
                "1048576 AND platform IN ('gpu', 'tpu')"),
            "2");
  std::filesystem::rename(File("job/dump"), File("job/elsewhere"));
  const Outcome again = Oomdb("ingest --db oom.db -j 4 job/elsewhere");
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("1 already there"));
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM captures"), "1");
}

TEST_F(DumpAndProfileTest, ADumpOfEarlyStagesIsPassedOver) {
  Write("dump/module_0001.jit_f.cl_7.after_optimizations.hlo.pb", std::string("\n\0", 2));
  const Outcome outcome = Oomdb("ingest --db oom.db -v dump");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("no buffer assignment in it"));
}

TEST_F(DumpAndProfileTest, ACutPlanIsSaid) {
  Write("dump/module_0001.jit_f.cl_7.after_optimizations.hlo.pb", "");
  Write("dump/module_0001.jit_f.cl_7.after_optimizations-buffer-assignment.txt",
        "BufferAssignment:\nallocation 0: size 1048576, parameter 0, shape |f32[262144]| at "
        "ShapeIndex {}:\n value: <1 x @0> (size=1048576,offset=0): f32[262144]{0}\n");
  const Outcome outcome = Oomdb("ingest --db oom.db dump");
  EXPECT_EQ(outcome.exit_code, 4) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("cut, or not an HLO proto"));
  EXPECT_EQ(Ask("SELECT plan_bytes FROM modules"), "1048576");
}

TEST_F(DumpAndProfileTest, ATextThatEndsWithinALineIsNotWhole) {
  Write("plan-buffer-assignment.txt",
        "BufferAssignment:\nallocation 0: size 1048576, parameter 0, shape |f32[262144]| at "
        "ShapeIndex {}:\n value: <1 x @0> (size=10485");
  EXPECT_EQ(Oomdb("ingest --db oom.db plan-buffer-assignment.txt").exit_code, 4);
  EXPECT_EQ(Ask("SELECT status FROM captures"), "truncated");
  Write("empty-buffer-assignment.txt", "BufferAssignment:\n");
  EXPECT_EQ(Oomdb("ingest --db oom.db empty-buffer-assignment.txt").exit_code, 1);
}

TEST_F(DumpAndProfileTest, ATextIsJoinedWithTheOnlyPlanNamedBesideIt) {
  const std::string samples =
      std::string(OOMDB_SOURCE_DIR) + "/sample_dbs/captures/tpu_compile_oom";
  std::filesystem::create_directories(File("a"));
  std::filesystem::create_directories(File("b"));
  for (const auto& entry : std::filesystem::directory_iterator(samples)) {
    const std::string name = entry.path().filename().string();
    std::filesystem::copy(entry.path(), File((name == "error.txt" ? "a/" : "b/") + name));
  }
  for (const char* order : {"a b", "b a"}) {
    const Outcome outcome = Oomdb(std::string("report ") + order);
    EXPECT_THAT(outcome.out, HasSubstr("jit_step failed to compile")) << order;
    EXPECT_THAT(outcome.out, HasSubstr("matched by size")) << order;
  }
}

TEST_F(DumpAndProfileTest, AReportTellsWhoHoldsTheMemory) {
  const ingest::PprofBuilder::Frame keep{"keep", "/home/me/train.py", 42};
  ingest::PprofBuilder profile;
  profile.Sample("buffer", "cuda:0", 3, 3 << 20, {keep}).Sample("executable", "", 1, -1, {keep});
  Write("snap/memory.prof", profile.Build());
  const Outcome outcome = Oomdb("report snap");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(
      outcome.out,
      StartsWith("CAN'T TELL  more than what was held: 3.00 MiB live on the devices in 3 buffers"));
  EXPECT_THAT(outcome.out, HasSubstr("WHO HOLDS THE MEMORY, BY PYTHON LINE"));
  EXPECT_THAT(outcome.out, HasSubstr("train.py:42 keep"));
  EXPECT_THAT(outcome.out, HasSubstr("and 1 executable\n"));
  EXPECT_THAT(Oomdb("report --json - snap").out, HasSubstr("\"memory_profile\": {"));
}

TEST_F(DumpAndProfileTest, TwoProfilesAreComparedByLine) {
  const ingest::PprofBuilder::Frame keep{"keep", "/home/me/train.py", 42};
  const ingest::PprofBuilder::Frame load{"load", "/home/me/data.py", 7};
  ingest::PprofBuilder base;
  base.Sample("buffer", "d", 1, 1 << 20, {keep}).Sample("buffer", "d", 2, 2 << 20, {load});
  ingest::PprofBuilder grown;
  grown.Sample("buffer", "d", 5, 5 << 20, {keep}).Sample("buffer", "d", 2, 2 << 20, {load});
  Write("snaps/1.prof", base.Build());
  Write("snaps/2.prof", grown.Build());
  const Outcome outcome = Oomdb("compare snaps/1.prof snaps/2.prof");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("2.prof holds 4.00 MiB more than 1.prof (3.00 MiB → 7.00 "
                                      "MiB); 4.00 MiB more is train.py:42 keep\n"));
  EXPECT_THAT(outcome.out, HasSubstr("and 1 line unchanged\n"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("data.py")));

  EXPECT_EQ(Oomdb("ingest --db oom.db snaps").exit_code, 0);
  EXPECT_EQ(Ask("SELECT grown_bytes FROM profile_growth WHERE source_line = 42"), "4194304");
  EXPECT_EQ(Ask("SELECT grown_bytes FROM profile_growth WHERE source_line = 7"), "0");
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM profile_growth"), "2");
}

TEST_F(DumpAndProfileTest, OtherProfilersFilesArePassedOverInAFolder) {
  Write("snap/cprofile.prof", std::string("{\xda\x07marshal", 10));
  Write("snap/heap.pb.gz", ingest::PprofBuilder().Build());
  Write("snap/memory.prof", ingest::PprofBuilder().Sample("buffer", "d", 1, 8, {}).Build());
  const Outcome folder = Oomdb("ingest --db oom.db -v snap");
  EXPECT_EQ(folder.exit_code, 0) << folder.err;
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM captures"), "1");
  EXPECT_THAT(folder.err, HasSubstr("passed over"));
  EXPECT_EQ(Oomdb("ingest --db oom.db snap/heap.pb.gz").exit_code, 0);
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM captures"), "2");
  const Outcome named = Oomdb("ingest --db oom.db snap/cprofile.prof");
  EXPECT_EQ(named.exit_code, 1);
  EXPECT_THAT(named.err, HasSubstr("not a pprof profile of memory"));
}

}  // namespace
}  // namespace oomdb::cli
