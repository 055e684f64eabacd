#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <set>

#include "tests/rules/rule_database.h"
#include "tests/support/gpu_story.h"

namespace oomdb::queries {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// 128 MiB of parameters; every execution makes 96 MiB of outputs and 100 MiB of temps.
HloBuilder Step() {
  HloBuilder hlo("jit_step");
  hlo.Parameter(128_MiB).Output(96_MiB);
  hlo.Temp(100_MiB);
  return hlo;
}

HloBuilder EvalStep() {
  HloBuilder hlo("jit_eval");
  hlo.Parameter(128_MiB).Output(256);
  hlo.Temp(20_MiB);
  return hlo;
}

GpuStory Story(int64_t limit_bytes) {
  GpuStory story;
  story.Pool(0, limit_bytes, {.in_use_before = 128_MiB}).Module(Step(), 7).Module(EvalStep(), 8);
  return story;
}

std::vector<Finding> GrowthOf(const GpuStory& story,
                              const schema::SettingOverrides& settings = {}) {
  RuleDatabase database(settings);
  database.Ingest(story.Bytes());
  return database.Findings("grows_per_execution");
}

TEST(GrowsPerExecutionTest, KeptOutputsAreNamedWithTheirHolder) {
  GpuStory story = Story(4_GiB);
  for (int i = 0; i < 8; ++i) {
    story.Step("jit_step");
    story.Python("<unknown> append");
    story.Python("train.py:61 log_metrics");
  }
  RuleDatabase database;
  database.Ingest(story.Bytes());
  const std::vector<Finding> found = database.Findings("grows_per_execution");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "warning");
  EXPECT_EQ(found[0].module_name, "jit_step");
  EXPECT_EQ(found[0].bytes, 96_MiB);
  EXPECT_THAT(found[0].detail, HasSubstr("1.00 × its non-donated outputs"));
  EXPECT_THAT(found[0].detail, HasSubstr("outputs of jit_step execution 1, 2, 3, …, 7 still live"));
  EXPECT_THAT(found[0].detail, HasSubstr("$<unknown> append at train.py:61 log_metrics"));
  // (4 GiB - in use - temps - outputs) / growth, at the start of the eighth.
  EXPECT_THAT(found[0].detail, HasSubstr("run out after 32 more executions"));
  const std::vector<Item> items = database.Items(found[0]);
  ASSERT_FALSE(items.empty());
  EXPECT_EQ(items[0].kind, "holder");
  EXPECT_EQ(items[0].label, "$<unknown> append");
  const std::vector<Remedy> remedies = database.Remedies(found[0]);
  ASSERT_THAT(remedies, SizeIs(4));
  EXPECT_EQ(remedies[0].saving_bytes, 7 * 96_MiB);
  EXPECT_EQ(remedies[3].fits, 0);  // A larger pool only delays it.
}

// Of two lists the one that is appended to as often as memory rises, though the other one comes later
// and the last gap has nothing of it.
TEST(GrowsPerExecutionTest, WhoIsCalledAsOftenAsItRisesIsTheHolder) {
  GpuStory story = Story(4_GiB);
  for (int i = 0; i < 20; ++i) {
    const Execution done = story.Step("jit_step");
    const bool keeps = i % 3 == 0;
    if (!keeps) story.Free(done.outputs);
    if (keeps) story.InPython("eval.py:9 snapshot", [&] { story.Python("builtins append"); });
    story.InPython("train.py:61 log_metrics", [&] { story.Python("builtins append"); });
  }
  RuleDatabase database;
  database.Ingest(story.Bytes());
  const std::vector<Finding> found = database.Findings("grows_per_execution");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].detail,
              HasSubstr("called $builtins append at eval.py:9 snapshot (in 7 of 19 gaps)"));
  EXPECT_THAT(database.Remedies(found[0])[0].fix, HasSubstr("append at eval.py:9 snapshot"));
}

TEST(GrowsPerExecutionTest, AFailureForItIsAnError) {
  GpuStory story = Story(960_MiB);
  for (int i = 0; i < 7; ++i) story.Step("jit_step");
  story.FailStep("jit_step");
  const std::vector<Finding> found = GrowthOf(story);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "error");
  EXPECT_EQ(found[0].bytes, 96_MiB);
}

TEST(GrowsPerExecutionTest, FewExecutionsAreInfoAndTwoAreNothing) {
  GpuStory four = Story(4_GiB);
  for (int i = 0; i < 4; ++i) four.Step("jit_step");
  const std::vector<Finding> found = GrowthOf(four);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "info");

  GpuStory two = Story(4_GiB);
  for (int i = 0; i < 2; ++i) two.Step("jit_step");
  EXPECT_THAT(GrowthOf(two), IsEmpty());
}

TEST(GrowsPerExecutionTest, ALeakEverySecondStepIsFound) {
  GpuStory story = Story(4_GiB);
  for (int i = 0; i < 14; ++i) {
    const Execution done = story.Step("jit_step");
    if (i % 2 == 1) story.Free(done.outputs);
  }
  const std::vector<Finding> found = GrowthOf(story);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_NEAR(static_cast<double>(*found[0].bytes), 48.0 * 1_MiB, 10.0 * 1_MiB);
  EXPECT_THAT(found[0].detail, HasSubstr("outputs of jit_step execution 1, 3, 5, …, 13"));
}

// Steps of which the i-th keeps its outputs where `keeps` says so; a `flush` drops all kept before.
std::vector<Finding> GrowthWhere(int steps, const std::function<bool(int)>& keeps,
                                 const std::function<bool(int)>& flushes = nullptr) {
  GpuStory story = Story(16_GiB);
  std::vector<Handle> kept;
  for (int i = 0; i < steps; ++i) {
    if (flushes && flushes(i)) {
      story.Free(kept);
      kept.clear();
    }
    const Execution done = story.Step("jit_step");
    if (keeps(i)) {
      kept.insert(kept.end(), done.outputs.begin(), done.outputs.end());
    } else {
      story.Free(done.outputs);
    }
  }
  return GrowthOf(story);
}

TEST(GrowsPerExecutionTest, ALeakOfEveryThirdStepIsFound) {
  const std::vector<Finding> found = GrowthWhere(14, [](int i) { return i % 3 == 1; });
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "warning");
  EXPECT_EQ(found[0].bytes, 32_MiB);  // A third of the outputs.
  EXPECT_THAT(found[0].detail, HasSubstr("about every 3 executions"));
}

TEST(GrowsPerExecutionTest, ALeakThatBeginsLateIsFound) {
  const std::vector<Finding> found = GrowthWhere(18, [](int i) { return i >= 12; });
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "warning");
  EXPECT_EQ(found[0].bytes, 96_MiB);
  EXPECT_THAT(found[0].detail, HasSubstr("from execution 13 on"));
}

TEST(GrowsPerExecutionTest, ALeakOfIrregularStepsIsFound) {
  const std::set<int> steps = {0, 3, 4, 8, 9, 10, 15, 17};
  const std::vector<Finding> found = GrowthWhere(20, [&](int i) { return steps.contains(i); });
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "warning");
}

TEST(GrowsPerExecutionTest, TwoRisesAreOnlyMentioned) {
  const std::vector<Finding> found = GrowthWhere(10, [](int i) { return i == 3 || i == 7; });
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "info");
  EXPECT_THAT(found[0].detail, HasSubstr("It rose only twice"));
}

TEST(GrowsPerExecutionTest, QuietForACacheThatIsFull) {
  EXPECT_THAT(GrowthWhere(20, [](int i) { return i < 6; }), IsEmpty());
  EXPECT_THAT(GrowthWhere(12, [](int i) { return i == 2; }), IsEmpty());  // One jump.
}

TEST(GrowsPerExecutionTest, AFlushBeforeMayComeAgain) {
  const auto keeps_all = [](int) { return true; };
  // Once: the ramp at the end may be flushed too.
  const std::vector<Finding> found = GrowthWhere(16, keeps_all, [](int i) { return i == 9; });
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "info");
  EXPECT_THAT(found[0].detail, HasSubstr("may be flushed again"));
  // Time and again, cut in mid-ramp: a saw-tooth.
  EXPECT_THAT(GrowthWhere(28, keeps_all, [](int i) { return i % 8 == 7; }), IsEmpty());
}

TEST(GrowsPerExecutionTest, AnEvalStepDoesNotGetTheTrainStepsLeak) {
  GpuStory story = Story(4_GiB);
  for (int i = 0; i < 8; ++i) {
    story.Step("jit_step");
    for (int j = 0; j < 3; ++j) story.Step("jit_eval", {.free_outputs = true});
  }
  const std::vector<Finding> found = GrowthOf(story);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].module_name, "jit_step");
}

TEST(GrowsPerExecutionTest, LeakedTransfersAreNamed) {
  GpuStory story = Story(4_GiB);
  for (int i = 0; i < 8; ++i) {
    story.Transfer(0, 32_MiB, "f32[8,1024,1024]");
    story.Step("jit_step", {.free_outputs = true});
  }
  const std::vector<Finding> found = GrowthOf(story);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].bytes, 32_MiB);
  EXPECT_THAT(found[0].detail, HasSubstr("BufferFromHostBuffer(f32[8,1024,1024])"));
  EXPECT_THAT(found[0].detail, Not(HasSubstr("keeps the outputs of every execution")));
}

TEST(GrowsPerExecutionTest, OneFindingADevice) {
  GpuStory story;
  story.Pool(0, 4_GiB, {.in_use_before = 128_MiB});
  story.Pool(1, 4_GiB, {.in_use_before = 128_MiB});
  story.Module(Step(), 7);
  for (int i = 0; i < 6; ++i) {
    const std::vector<Execution> done = story.StepOnAll("jit_step");
    story.Free(done[1].outputs);  // Only the first device leaks.
  }
  const std::vector<Finding> found = GrowthOf(story);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].device, 0);
}

TEST(GrowsPerExecutionTest, QuietWhenTheLastOutputsReplaceTheOnesBefore) {
  GpuStory story = Story(4_GiB);
  std::vector<Handle> last;
  for (int i = 0; i < 10; ++i) {
    const Execution done = story.Step("jit_step");
    story.Free(last);
    last = done.outputs;
  }
  EXPECT_THAT(GrowthOf(story), IsEmpty());
}

TEST(GrowsPerExecutionTest, QuietForAPrefetchRing) {
  // While it fills, a ring can't be told from a leak: eight starts are enough.
  for (const int steps : {8, 14}) {
    GpuStory story = Story(4_GiB);
    std::deque<Handle> ring;
    for (int i = 0; i < steps; ++i) {
      ring.push_back(story.Transfer(0, 32_MiB, "f32[8,1024,1024]"));
      story.Step("jit_step", {.free_outputs = true});
      if (ring.size() > 4) {
        story.Free(ring.front());
        ring.pop_front();
      }
    }
    EXPECT_THAT(GrowthOf(story), IsEmpty()) << steps << " steps";
  }
}

TEST(GrowsPerExecutionTest, QuietForAlternatingSwings) {
  for (const int steps : {3, 4, 5, 6, 7, 12}) {
    GpuStory story = Story(4_GiB);
    std::optional<Handle> swing;
    for (int i = 0; i < steps; ++i) {
      if (swing.has_value()) {
        story.Free(*swing);
        swing.reset();
      } else {
        swing = story.Allocate(0, 8_MiB);
      }
      story.Step("jit_step", {.free_outputs = true});
    }
    EXPECT_THAT(GrowthOf(story), IsEmpty()) << steps << " steps";
  }
}

TEST(GrowsPerExecutionTest, QuietForAnOperationAtSeveralPlacesOfAnEagerStep) {
  // The same module runs four times a step, each time with more of the step's values alive.
  GpuStory story = Story(4_GiB);
  for (int step = 0; step < 3; ++step) {
    std::vector<Handle> values;
    for (int i = 0; i < 4; ++i) {
      story.Step("jit_eval", {.free_outputs = true});
      values.push_back(story.Allocate(0, (17 + 8 * i) * 1_MiB));
    }
    story.Free(values);
  }
  EXPECT_THAT(GrowthOf(story), IsEmpty());
}

TEST(GrowsPerExecutionTest, QuietForAWarmUp) {
  GpuStory story = Story(4_GiB);
  for (int i = 0; i < 8; ++i) {
    if (i < 2) story.Transfer(0, 64_MiB, "f32[16777216]");
    story.Step("jit_step", {.free_outputs = true});
  }
  EXPECT_THAT(GrowthOf(story), IsEmpty());
}

TEST(GrowsPerExecutionTest, TheSmallestGrowthIsASetting) {
  GpuStory story = Story(4_GiB);
  for (int i = 0; i < 8; ++i) story.Step("jit_step");
  EXPECT_THAT(GrowthOf(story, {{"growth_min_bytes", 97_MiB}}), IsEmpty());
  EXPECT_THAT(GrowthOf(story, {{"growth_min_bytes", 96_MiB}}), SizeIs(1));
}

TEST(GrowsPerExecutionTest, ATruncatedCaptureDoesNotSayWhatIsStillLive) {
  GpuStory story = Story(4_GiB);
  for (int i = 0; i < 8; ++i) story.Step("jit_step");
  RuleDatabase database;
  database.Ingest(story.Bytes());
  database.Execute("UPDATE captures SET status = 'truncated'");
  const std::vector<Finding> found = database.Findings("grows_per_execution");
  ASSERT_THAT(found, SizeIs(1));  // The totals were measured.
  EXPECT_THAT(found[0].detail, Not(HasSubstr("still live")));
  EXPECT_THAT(found[0].detail, Not(HasSubstr("Still live")));
}

TEST(GrowsPerExecutionTest, SeveralModulesOfOneNameAreKeptApart) {
  HloBuilder other("jit_step");
  other.Parameter(128_MiB).Output(8_MiB);
  GpuStory story;
  story.Pool(0, 4_GiB, {.in_use_before = 128_MiB}).Module(Step(), 7);
  for (int i = 0; i < 8; ++i) story.Step("jit_step");
  // A second capture in the same database must not join the first one's executions.
  GpuStory healthy;
  healthy.Pool(0, 4_GiB, {.in_use_before = 128_MiB}).Module(other, 9);
  for (int i = 0; i < 8; ++i) healthy.Step("jit_step", {.free_outputs = true});
  RuleDatabase database;
  database.Ingest(story.Bytes(), "leaking");
  database.Ingest(healthy.Bytes(), "healthy");
  EXPECT_THAT(database.Findings("grows_per_execution"), SizeIs(1));
  EXPECT_EQ(database.Integer("SELECT COUNT(*) FROM findings WHERE run = 'healthy'"), 0);
}

}  // namespace
}  // namespace oomdb::queries
