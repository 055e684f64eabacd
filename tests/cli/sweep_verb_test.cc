// oomdb sweep and the curve that it draws.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/sweep/fit.h"
#include "tests/cli/program.h"
#include "tests/support/gpu_story.h"

namespace oomdb::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(SweepFitTest, FindsTheTermsThatMadeThePoints) {
  const auto fit = FitSweep({{1, 13}, {2, 16}, {4, 22}});
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->terms, "constant + linear");
  EXPECT_NEAR(fit->constant, 10, 1e-9);
  EXPECT_NEAR(fit->linear, 3, 1e-9);
  EXPECT_NEAR(fit->residual, 0, 1e-9);
  const auto square = FitSweep({{64, 1e6 + 64 * 64}, {128, 1e6 + 128 * 128}, {256, 1e6 + 65536}});
  ASSERT_TRUE(square);
  EXPECT_EQ(square->terms, "constant + quadratic");
  EXPECT_NEAR(square->quadratic, 1, 1e-6);
  const auto both = FitSweep({{1, 16}, {2, 24}, {4, 46}, {8, 114}, {16, 346}});
  ASSERT_TRUE(both);
  EXPECT_EQ(both->terms, "constant + linear + quadratic");
  EXPECT_NEAR(both->linear, 5, 1e-6);
  EXPECT_NEAR(both->quadratic, 1, 1e-6);
}

TEST(SweepFitTest, ThreePointsAreNoProofOfThreeTerms) {
  const auto fit = FitSweep({{1, 10}, {2, 21}, {4, 45}});
  ASSERT_TRUE(fit);
  EXPECT_THAT(fit->terms, Not(HasSubstr("linear + quadratic")));
  EXPECT_GT(fit->residual, 0);
  EXPECT_FALSE(FitSweep({{1, 10}, {2, 20}}));
  EXPECT_FALSE(FitSweep({{1, 10}, {2, 20}, {2, 21}}));
}

TEST(SweepFitTest, CrossesTheLimitWhereTheCurveDoes) {
  SweepFit fit;
  fit.constant = 10;
  fit.linear = 3;
  EXPECT_NEAR(CrossesAbove(fit, 1, 40).value(), 10, 1e-6);
  EXPECT_FALSE(CrossesAbove(fit, 20, 40));  // Already past it.
  fit.linear = 0;
  EXPECT_FALSE(CrossesAbove(fit, 1, 40));
}

class SweepVerbTest : public ProgramTest {
 protected:
  // A run on a pool of 1 GiB; with `remat` XLA computes so many instructions again.
  void Point(int batch, int64_t plan_bytes, int remat = 0, const std::string& labels = "") {
    const std::string run = fmt::format("b{}{}", batch, labels.empty() ? "" : "x");
    std::filesystem::create_directories(File(run));
    HloBuilder step("jit_step");
    step.Parameter(64_MiB);
    step.Temp(plan_bytes - 64_MiB);
    for (int i = 0; i < remat; ++i) step.Temp(Value(256).Name(fmt::format("multiply.{}.remat", i)));
    GpuStory story;
    story.Pool(0, 1_GiB, {.in_use_before = 64_MiB, .memory_bytes = 1_GiB}).Module(step, 7);
    if (plan_bytes < 1_GiB) story.Step("jit_step", {.free_outputs = true});
    Write(run + "/host.xplane.pb", story.Bytes());
    ASSERT_EQ(Oomdb(fmt::format("ingest --db oom.db {} --run {} --label batch={} {}", run, run,
                                batch, labels))
                  .exit_code,
              0);
  }
};

TEST_F(SweepVerbTest, NamesTheLargestThatFitsAndWhereItWouldBreak) {
  Point(1, 200_MiB);
  Point(2, 300_MiB);
  Point(4, 500_MiB);
  Point(8, 700_MiB, 3);
  Point(16, 1500_MiB, 4);
  const Outcome outcome = Oomdb("sweep --db oom.db --label batch");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("batch=8 is the largest that fits, with 700 MiB of 1.00 GiB; "
                                      "batch=16 needs 1.46 GiB\n"));
  EXPECT_THAT(outcome.out, HasSubstr("3 instructions rematerialized: not in the fit"));
  EXPECT_THAT(outcome.out, HasSubstr("plan ≈ 100 MiB + 100 MiB × batch (inferred: constant + "
                                     "linear over 3 points, residual 0 %)"));
  EXPECT_THAT(outcome.out, HasSubstr("it passes 1.00 GiB at batch=9.24 (inferred); from there on"));
  EXPECT_THAT(outcome.out, HasSubstr("┤  1.00 GiB"));
  EXPECT_THAT(
      Oomdb("sweep --db oom.db --label batch --format csv").out,
      AllOf(HasSubstr("\nbatch,4,b4,jit_step,\"\",524288000,"),
            HasSubstr(",1,524288000,constant + linear,0"),
            HasSubstr("\nbatch,8,b8,jit_step,\"\",734003"), HasSubstr(",1,3,0,943718400,")));
}

TEST_F(SweepVerbTest, OtherLabelsMakeOtherCurves) {
  Point(1, 200_MiB, 0, "--label seq=64");
  Point(2, 300_MiB, 0, "--label seq=64");
  Point(4, 500_MiB, 0, "--label seq=64");
  Point(8, 210_MiB, 0, "--label seq=8");
  const Outcome outcome = Oomdb("sweep --db oom.db --label batch");
  EXPECT_THAT(outcome.out,
              StartsWith("3 points of jit_step fit, the largest, batch=4, with 500 MiB "
                         "of 1.00 GiB (with seq=64)\n"));
  EXPECT_THAT(outcome.out, HasSubstr("left out: 1 run with other labels"));
}

TEST_F(SweepVerbTest, Mistakes) {
  Point(1, 200_MiB);
  const Outcome label = Oomdb("sweep --db oom.db --label batsh");
  EXPECT_EQ(label.exit_code, 2);
  EXPECT_THAT(label.err, HasSubstr("did you mean batch?"));
  EXPECT_EQ(Oomdb("sweep --db oom.db").exit_code, 2);
  EXPECT_EQ(Oomdb("sweep --db oom.db --label batch --module jit_stepp").exit_code, 2);
  EXPECT_THAT(Oomdb("sweep --db oom.db --label batch").out,
              HasSubstr("no curve: it takes three points"));
}

}  // namespace
}  // namespace oomdb::cli
