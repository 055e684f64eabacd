// oomdb compare of runs that have error logs. The logs are those of real failures, with the
// figures and shapes of a made program.
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

std::string CompileFailure(const std::string& used, const std::string& exceeded, int batch,
                           const std::string& gigabytes) {
  std::string text = fmt::format(
      "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. "
      "Ran out of memory in memory space hbm. Used {}G of 15.75G hbm. Exceeded hbm capacity by "
      "{}G.\n\nTotal hbm usage >= {}G:\n    reserved        258.00M \n    program          {}G \n  "
      "  "
      "arguments            0B \n\n  Largest program allocations in hbm:\n\n",
      used, exceeded, used, used);
  for (int i = 1; i <= 4; ++i) {
    text += fmt::format(
        "  {}. Size: {}G\n     Operator: op_name=\"jit(loss)/jvp(layer{})/dot_general\" "
        "source_file=\"/app/model.py\" source_line=17\n     Shape: f32[{},4096,4096]{{2,1,0}}\n    "
        " "
        "Unpadded size: {}G\n     XLA label: fusion.{} = fusion(p), kind=kOutput\n     Allocation "
        "type: HLO temp\n     ==========================\n\n",
        i, gigabytes, i, batch, gigabytes, i);
  }
  return text;
}

constexpr char kRequest[] =
    "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Attempting to allocate 4.00G. That "
    "was not possible. There are 3.00G free.; (0x0x0_HBM0)\n";

class CompareFailuresTest : public ProgramTest {
 protected:
  CompareFailuresTest() {
    Write("before.log", CompileFailure("30.45", "14.70", 64, "4.00"));
    Write("after.log", CompileFailure("18.85", "3.10", 32, "2.00"));
    Write("running.log", kRequest);
    Write("fine.log", "step 100: loss 0.3\n");
  }

  std::string FirstLine(const std::string& arguments) {
    const std::string out = Oomdb("compare " + arguments).out;
    return out.substr(0, out.find('\n'));
  }
};

TEST_F(CompareFailuresTest, StillFailsByLess) {
  const Outcome outcome = Oomdb("compare before.log after.log");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              StartsWith("after.log still fails to compile: short by 3.10 GiB, was 14.7 GiB; 8.00 "
                         "GiB less: 4 × f32[64,4096,4096] → f32[32,4096,4096], model.py:17\n"));
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("needed    30.5 GiB    18.8 GiB   -11.6 GiB"),
                    HasSubstr("shrank  -8.00 GiB   4 × f32[64,4096,4096] → "
                              "f32[32,4096,4096]  …layer1)/dot_general, 3 more  model.py:17\n"),
                    Not(HasSubstr("module"))));
  EXPECT_EQ(
      FirstLine("after.log before.log"),
      "before.log still fails to compile: short by 14.7 GiB, was 3.10 GiB; 8.00 GiB more: 4 × "
      "f32[32,4096,4096] → f32[64,4096,4096], model.py:17");
}

TEST_F(CompareFailuresTest, OneOfTheTwoFails) {
  EXPECT_EQ(FirstLine("before.log fine.log"),
            "fine.log has no OOM in its log any more; before.log failed to compile, "
            "short by 14.7 GiB");
  EXPECT_EQ(FirstLine("fine.log before.log"),
            "before.log fails to compile: short by 14.7 GiB; the most is 16.0 GiB in 4 × "
            "f32[64,4096,4096], model.py:17; fine.log has no OOM in its log");
}

TEST_F(CompareFailuresTest, TwoStages) {
  EXPECT_EQ(FirstLine("before.log running.log"),
            "running.log compiles now, but fails while running: asked for 4.00 GiB with 3.00 GiB "
            "free; before.log failed "
            "to compile, short by 14.7 GiB");
  EXPECT_EQ(FirstLine("running.log before.log"),
            "before.log fails to compile now, so it gets less far: short by 14.7 GiB; running.log "
            "failed while running, asked for 4.00 GiB with 3.00 GiB free");
}

TEST_F(CompareFailuresTest, BothAlike) {
  Write("again.log", "step 0\n" + CompileFailure("30.45", "14.70", 64, "4.00"));
  const Outcome outcome = Oomdb("compare before.log again.log");
  EXPECT_THAT(outcome.out, StartsWith("both fail alike: again.log fails to compile as before.log "
                                      "does: short by 14.7 GiB\n"));
  EXPECT_THAT(outcome.out, HasSubstr("and 1 group of buffers unchanged"));
}

TEST_F(CompareFailuresTest, NeitherFails) {
  Write("too.log", "step 200: loss 0.2\n");
  const Outcome outcome = Oomdb("compare fine.log too.log");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out,
            "nothing to compare: fine.log has no OOM in its log and no plan, nor has too.log\n");
  EXPECT_THAT(Oomdb("compare fine.log logs").out,
              StartsWith("nothing to compare: fine.log has no OOM in its log and no plan, logs "));
}

// A text beside a capture stays a run of its own: each has been named.
TEST_F(CompareFailuresTest, ATextAndACapture) {
  std::filesystem::create_directories(File("capture"));
  HloBuilder hlo("jit_step");
  hlo.Parameter(64_MiB).Output(4_MiB).Temp(512_MiB);
  GpuStory story;
  story.Pool(0, 256_MiB, {.in_use_before = 64_MiB}).Module(hlo, 7);
  story.FailStep("jit_step");
  Write("capture/host.xplane.pb", story.Bytes());
  EXPECT_EQ(FirstLine("before.log capture"),
            "before.log failed to compile, short by 14.7 GiB; capture has no error log, but 1 "
            "execution in its capture failed");
  EXPECT_THAT(FirstLine("capture before.log"),
              AllOf(StartsWith("before.log fails to compile: short by 14.7 GiB"),
                    HasSubstr("capture has no error log, but 1 execution")));
}

// The error first, then what the plans say.
TEST_F(CompareFailuresTest, TextsBesidePlans) {
  for (const auto& [run, temp, text] :
       {std::tuple("base", 32_MiB, "before.log"), std::tuple("next", 96_MiB, "after.log")}) {
    std::filesystem::create_directories(File(run));
    HloBuilder hlo("jit_step");
    hlo.Parameter(64_MiB).Output(4_MiB).Temp(temp);
    GpuStory story;
    story.Pool(0, 1_GiB, {.in_use_before = 64_MiB}).Module(hlo, 7);
    story.Step("jit_step", {.free_outputs = true});
    Write(std::string(run) + "/host.xplane.pb", story.Bytes());
    Write(std::string(run) + "/train.log", Read(text));
  }
  const std::string out = Oomdb("compare base next").out;
  const size_t error = out.find("next still fails to compile: short by 3.10 GiB, was 14.7 GiB");
  const size_t plans = out.find("next peaks 64.0 MiB higher than base");
  EXPECT_EQ(error, 0u) << out;
  EXPECT_NE(plans, std::string::npos) << out;
  // Machines get what they always got where there are plans.
  EXPECT_THAT(Oomdb("compare base next --format csv").out,
              StartsWith("base_run,new_run,module_name,place,"));
}

TEST_F(CompareFailuresTest, RowsForMachines) {
  EXPECT_THAT(
      Oomdb("compare before.log after.log --format csv").out,
      AllOf(StartsWith("base_run,new_run,stage,kind,name,change,base_bytes,new_bytes,delta_bytes,"
                       "base_count,new_count,base_shape,new_shape,op_name,source_file,source_line,"
                       "label\n"),
            HasSubstr("\nbefore.log,after.log,compile,buffer,jit(loss)/jvp(layer1)/dot_general,"
                      "shrank,4294967296,2147483648,-2147483648,1,1,\"f32[64,4096,4096]\",\"f32[32,"
                      "4096,4096]\",jit(loss)/jvp(layer1)/dot_general,/app/model.py,17,")));
  EXPECT_THAT(Oomdb("compare before.log fine.log --format jsonl").out,
              HasSubstr("\"change\": \"went\", \"base_bytes\": 15784004813, \"new_bytes\": null, "
                        "\"delta_bytes\": null"));
}

TEST_F(CompareFailuresTest, RunsOfADatabaseAndTheirHosts) {
  ASSERT_EQ(Oomdb("ingest --db oom.db before.log --run old --host a").exit_code, 0);
  ASSERT_EQ(Oomdb("ingest --db oom.db after.log --run new --host a").exit_code, 0);
  Write("worse.log", CompileFailure("20.75", "5.00", 32, "2.00"));
  ASSERT_EQ(Oomdb("ingest --db oom.db worse.log --run new --host b").exit_code, 0);
  const Outcome outcome = Oomdb("compare old new --db oom.db");
  EXPECT_THAT(outcome.out,
              StartsWith("new still fails to compile: short by 5.00 GiB, was 14.7 GiB"));
  EXPECT_THAT(outcome.out, HasSubstr("\nnew: 2 failures (stage compile); the one that lacks the "
                                     "most memory counts, host b\n"));
}

TEST_F(CompareFailuresTest, FailsOnARegression) {
  const auto code = [this](const std::string& arguments) {
    return Oomdb("compare " + arguments).exit_code;
  };
  const Outcome more = Oomdb("compare after.log before.log --fail-on regression");
  EXPECT_EQ(more.exit_code, 3);
  EXPECT_THAT(more.err, HasSubstr("failed: regression: before.log is short by 14.7 GiB (stage "
                                  "compile, read), before 3.10 GiB"));
  EXPECT_EQ(code("after.log before.log --fail-on regression --set regression_min_percent=500"), 0);
  EXPECT_EQ(code("before.log after.log --fail-on regression"), 0);
  EXPECT_EQ(code("fine.log after.log --fail-on regression"), 3);
  EXPECT_EQ(code("before.log fine.log --fail-on regression"), 0);
  // Later is further.
  EXPECT_EQ(code("before.log running.log --fail-on regression"), 0);
  EXPECT_EQ(code("running.log before.log --fail-on regression"), 3);
}

TEST_F(CompareFailuresTest, FailsOnFindingsThatBaseHasNot) {
  const Outcome found = Oomdb("compare fine.log after.log --fail-on error");
  EXPECT_EQ(found.exit_code, 3);
  EXPECT_THAT(found.err, HasSubstr("failed: error compile_oom"));
  EXPECT_EQ(Oomdb("compare before.log after.log --fail-on error").exit_code, 0);
  EXPECT_EQ(Oomdb("compare before.log running.log --fail-on error").exit_code, 3);
}

TEST_F(CompareFailuresTest, TheSameTextTwiceAndAnEmptyOne) {
  Write("copy.log", Read("before.log"));
  Write("empty.log", "");
  EXPECT_THAT(Oomdb("compare before.log copy.log").err, HasSubstr("hold the same captures"));
  const Outcome empty = Oomdb("compare before.log empty.log");
  EXPECT_EQ(empty.exit_code, 1);
  EXPECT_THAT(empty.err, HasSubstr("empty.log: is empty"));
}

}  // namespace
}  // namespace oomdb::cli
