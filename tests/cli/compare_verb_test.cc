// oomdb compare, and the rule run_regression, which sees the same from a label.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/program.h"
#include "tests/support/gpu_story.h"

namespace oomdb::cli {
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

TEST_F(CompareVerbTest, FailsOnARegression) {
  const Outcome risen = Oomdb("compare base added --fail-on regression");
  EXPECT_EQ(risen.exit_code, 3);
  EXPECT_THAT(risen.err, HasSubstr("failed: regression: jit_step peaks 96.0 MiB higher (read): 196 "
                                   "MiB, before 100 MiB"));
  EXPECT_THAT(risen.out, StartsWith("added peaks 96.0 MiB higher"));  // Told all the same.
  EXPECT_EQ(Oomdb("compare added base --fail-on regression").exit_code, 0);
  EXPECT_EQ(Oomdb("compare base renamed --fail-on regression").exit_code, 0);
  EXPECT_EQ(
      Oomdb("compare base added --fail-on regression --set regression_min_percent=97").exit_code,
      0);
}

TEST_F(CompareVerbTest, FailsOnFindingsThatBaseHasNot) {
  HloBuilder leaking("jit_step");
  leaking.Parameter(64_MiB).Output(4_MiB);
  GpuStory story;
  story.Pool(0, 1_GiB, {.in_use_before = 64_MiB}).Module(leaking, 7);
  for (int i = 0; i < 8; ++i) story.Step("jit_step");
  std::filesystem::create_directories(File("leaking"));
  Write("leaking/host.xplane.pb", story.Bytes());
  const Outcome outcome = Oomdb("compare base leaking --fail-on warning");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("failed: warning grows_per_execution: Every execution of "
                                     "jit_step leaves 4.00 MiB behind (measured)"));
  EXPECT_EQ(Oomdb("compare base leaking --fail-on error").exit_code, 0);
  EXPECT_EQ(Oomdb("compare leaking base --fail-on info").exit_code, 0);
  const Outcome wrong = Oomdb("compare base leaking --fail-on fatal");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("error, warning, info or regression expected"));
}

// Two modules of one name in each run: sizes alone would pair the wrong ones.
TEST_F(CompareVerbTest, PairsModulesByTheirShapes) {
  const auto write = [this](const std::string& run, int64_t first_temp, int64_t second_temp,
                            int64_t second_parameter) {
    HloBuilder first("jit_step"), second("jit_step");
    first.Parameter(64_MiB).Output(4_MiB).Temp(first_temp);
    second.Parameter(second_parameter).Output(4_MiB).Temp(second_temp);
    GpuStory story;
    story.Pool(0, 4_GiB, {.in_use_before = 64_MiB}).Module(first, 1).Module(second, 2);
    std::filesystem::create_directories(File(run));
    Write(run + "/host.xplane.pb", story.Bytes());
  };
  write("one", 32_MiB, 256_MiB, 8_MiB);
  write("two", 512_MiB, 256_MiB, 8_MiB);
  const Outcome outcome = Oomdb("compare one two --format csv");
  EXPECT_THAT(outcome.out, HasSubstr(",module,grew,104857600,608174080,"));
  EXPECT_THAT(outcome.out, HasSubstr(",module,same,281018368,281018368,"));
  EXPECT_THAT(outcome.out, Not(HasSubstr(",name\n")));
  // One of the two takes other arguments now: it is paired by name, which is said.
  write("three", 32_MiB, 1_GiB, 16_MiB);
  const Outcome doubted = Oomdb("compare one three");
  EXPECT_THAT(doubted.out, HasSubstr("paired by name only: the parameters or results of jit_step"));
  EXPECT_THAT(doubted.out, HasSubstr("grew, different shapes"));
  EXPECT_THAT(doubted.out, HasSubstr("and 1 module with the same peak"));
}

TEST_F(CompareVerbTest, TheSameIsNoDifference) {
  const Outcome files = Oomdb("compare base base/host.xplane.pb --fail-on regression");
  EXPECT_EQ(files.exit_code, 0) << files.err;
  EXPECT_THAT(files.out, StartsWith("no difference: host.xplane.pb holds the same as base (1 "
                                    "capture, byte for byte)\n"));
  for (const char* run : {"main1", "pr"})
    ASSERT_EQ(Oomdb(std::string("ingest --db oom.db base --run ") + run).exit_code, 0);
  const Outcome runs = Oomdb("compare main1 pr --db oom.db --fail-on info");
  EXPECT_EQ(runs.exit_code, 0) << runs.err;
  EXPECT_THAT(runs.out, AllOf(StartsWith("no difference: pr holds the same as main1"),
                              HasSubstr("\nno difference between the plans: it peaks as high, with "
                                        "the same buffers\n")));
  // A file that is named twice is read twice; a run of a database is one, and there is no other.
  const Outcome twice = Oomdb("compare base base");
  EXPECT_EQ(twice.exit_code, 0) << twice.err;
  EXPECT_THAT(twice.out,
              StartsWith("no difference: base (again) holds the same as base (1 capture"));
  const Outcome one_run = Oomdb("compare pr pr --db oom.db");
  EXPECT_EQ(one_run.exit_code, 2);
  EXPECT_THAT(one_run.err, HasSubstr("pr is one run"));
  // What differs is not called the same.
  EXPECT_THAT(Oomdb("compare base grown").out, Not(HasSubstr("no difference")));
}

TEST_F(CompareVerbTest, Mistakes) {
  EXPECT_EQ(Oomdb("compare base").exit_code, 2);
  EXPECT_THAT(Oomdb("compare base missing").err, HasSubstr("missing: no such file or folder"));
  ASSERT_EQ(Oomdb("ingest --db oom.db base --run main1").exit_code, 0);
  const Outcome unknown = Oomdb("compare main1 main2 --db oom.db");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("no capture of run main2; did you mean main1?"));
}

}  // namespace
}  // namespace oomdb::cli
