// oomdb compare, and the rule run_regression, which sees the same from a label.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/program.h"
#include "tests/support/gpu_story.h"

namespace oomdb {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Value Scores(int64_t bytes, std::vector<int64_t> dimensions, const std::string& name) {
  return Value(bytes)
      .Shape(11, std::move(dimensions))
      .Op("jit(step)/jvp()/div")
      .At("model.py", 17, "layer")
      .Name(name);
}

class CompareVerbTest : public ProgramTest {
 protected:
  CompareVerbTest() {
    for (const char* folder : {"base", "renamed", "grown", "added"}) {
      std::filesystem::create_directories(File(folder));
    }
    HloBuilder base("jit_step");
    base.Parameter(64_MiB).Output(4_MiB);
    base.Temp(Scores(32_MiB, {8, 1024, 1024}, "fusion.1"));
    WriteRun("base", base);
    // The compiler numbered anew, a line above was added: nothing differs.
    HloBuilder renamed("jit_step");
    renamed.Parameter(64_MiB).Output(4_MiB);
    renamed.Temp(Scores(32_MiB, {8, 1024, 1024}, "fusion.77").At("model.py", 18, "layer"));
    WriteRun("renamed", renamed);
    HloBuilder grown("jit_step");
    grown.Parameter(64_MiB).Output(4_MiB);
    grown.Temp(Scores(64_MiB, {16, 1024, 1024}, "fusion.1"));
    WriteRun("grown", grown);
    HloBuilder added("jit_step");
    added.Parameter(64_MiB).Output(4_MiB);
    added.Temp(Scores(32_MiB, {8, 1024, 1024}, "fusion.2"));
    added.Temp(
        Value(96_MiB).Op("jit(step)/jvp()/softmax").At("model.py", 88, "f").Name("fusion.412"));
    WriteRun("added", added);
  }

  void WriteRun(const std::string& run, const HloBuilder& hlo) {
    GpuStory story;
    story.Pool(0, 1_GiB, {.in_use_before = 64_MiB}).Module(hlo, 7);
    story.Step("jit_step", {.free_outputs = true});
    Write(run + "/host.xplane.pb", story.Bytes());
  }
};

TEST_F(CompareVerbTest, SaysHowMuchAndWhatFirst) {
  const Outcome added = Oomdb("compare base added");
  EXPECT_EQ(added.exit_code, 0) << added.err;
  EXPECT_THAT(added.out, StartsWith("added peaks 96.0 MiB higher than base (100 MiB → 196 MiB in "
                                    "jit_step); 96.0 MiB more is fusion.412, new, model.py:88\n"));
  EXPECT_THAT(added.out, AllOf(HasSubstr("appeared  +96.0 MiB"), Not(HasSubstr("8,1024,1024"))));
  const Outcome less = Oomdb("compare added base");
  EXPECT_THAT(less.out, StartsWith("base peaks 96.0 MiB lower than added"));
  EXPECT_THAT(less.out, HasSubstr("96.0 MiB less is fusion.412, gone, model.py:88\n"));
  EXPECT_FALSE(Exists("oom.db"));
}

TEST_F(CompareVerbTest, ABufferOfAnotherShapeGrew) {
  const Outcome outcome = Oomdb("compare base grown");
  EXPECT_THAT(outcome.out, HasSubstr("32.0 MiB more is fusion.1, which grew, model.py:17\n"));
  EXPECT_THAT(outcome.out, HasSubstr("1 × f32[8,1024,1024]  1 × f32[16,1024,1024]  forward"));
}

TEST_F(CompareVerbTest, NewNamesAndMovedLinesAreNoDifference) {
  const Outcome outcome = Oomdb("compare base renamed");
  EXPECT_THAT(outcome.out, StartsWith("renamed peaks as high as base: 100 MiB → 100 MiB"));
  EXPECT_THAT(outcome.out, HasSubstr("both have the same buffers"));
}

TEST_F(CompareVerbTest, RunsOfADatabase) {
  ASSERT_EQ(Oomdb("ingest --db oom.db base --run main1").exit_code, 0);
  ASSERT_EQ(Oomdb("ingest --db oom.db added --run pr1 --label baseline=main1").exit_code, 0);
  ASSERT_EQ(Oomdb("ingest --db oom.db renamed --run pr2 --label baseline=main1").exit_code, 0);
  EXPECT_THAT(Oomdb("compare main1 pr1 --db oom.db").out,
              StartsWith("pr1 peaks 96.0 MiB higher than main1"));
  EXPECT_THAT(Oomdb("compare main1 pr1 --db oom.db --format csv").out,
              AllOf(StartsWith("base_run,new_run,module_name,place,kind,change,"),
                    HasSubstr("\nmain1,pr1,jit_step,1,module,grew,104857600,205520896,100663296,"),
                    HasSubstr("temp,appeared,,100663296,100663296,0,1,,")));
  // The parts add up to the whole.
  EXPECT_EQ(Ask("SELECT SUM(CASE kind WHEN 'module' THEN delta_bytes ELSE -delta_bytes END) FROM "
                "run_comparison WHERE base_run = 'main1'"),
            "0");
  EXPECT_EQ(Ask("SELECT title FROM run_regression"),
            "jit_step of pr1 peaks 100663296 bytes higher than in main1");
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM findings WHERE rule = 'run_regression'"), "1");
}

TEST_F(CompareVerbTest, Mistakes) {
  EXPECT_EQ(Oomdb("compare base base").exit_code, 2);
  EXPECT_EQ(Oomdb("compare base").exit_code, 2);
  EXPECT_THAT(Oomdb("compare base missing").err, HasSubstr("missing: no such file or folder"));
  EXPECT_THAT(Oomdb("compare base base/host.xplane.pb").err, HasSubstr("hold the same captures"));
  ASSERT_EQ(Oomdb("ingest --db oom.db base --run main1").exit_code, 0);
  const Outcome unknown = Oomdb("compare main1 main2 --db oom.db");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("no capture of run main2; did you mean main1?"));
}

}  // namespace
}  // namespace oomdb
