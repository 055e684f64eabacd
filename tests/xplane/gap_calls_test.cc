// What is counted between the executions of a module.
#include <gtest/gtest.h>

#include "tests/support/gpu_story.h"
#include "tests/xplane/collected_facts.h"

namespace oomdb::ingest {
namespace {

GpuStory Story() {
  GpuStory story(GpuStory::Dialect::kNew);
  HloBuilder step("jit_step");
  step.Parameter(4_MiB).Output(1_MiB);
  HloBuilder metrics("jit_metrics");
  metrics.Parameter(4_MiB).Output(1_KiB);
  story.Pool(0, 1_GiB).Module(step, 7).Module(metrics, 8);
  return story;
}

// The one call of this name between executions of the module; fails when there is none, or several.
CollectedGapCall Call(const CollectedFacts& facts, std::string_view module, std::string_view name) {
  CollectedGapCall found;
  int count = 0;
  for (const CollectedGapCall& call : facts.gap_calls) {
    if (facts.modules.at(call.module).name != module || call.name != name) continue;
    found = call;
    ++count;
  }
  EXPECT_EQ(count, 1) << name << " between executions of " << module;
  return found;
}

TEST(GapCallsTest, InHowManyGapsOfAll) {
  GpuStory story = Story();
  story.InPython("train.py:9 setup", [&] { story.Python("builtins append"); });
  for (int step = 0; step < 6; ++step) {
    story.Step("jit_step", {.caller = "train.py:57 train_loop"});
    story.InPython("train.py:61 log_metrics", [&] {
      if (step % 2 == 0) story.Python("builtins append");
      if (step % 2 == 0) story.Python("builtins append");
    });
  }
  const CollectedFacts facts = Import(story.Bytes());
  const CollectedGapCall append = Call(facts, "jit_step", "$builtins append");
  EXPECT_EQ(append.caller, "$train.py:61 log_metrics");
  EXPECT_EQ(append.gaps, 3);  // Not what comes before the first step and behind the last one.
  EXPECT_EQ(append.all_gaps, 5);
  EXPECT_EQ(append.calls, 6);
  EXPECT_EQ(append.depth, 1);
  const CollectedGapCall log = Call(facts, "jit_step", "$train.py:61 log_metrics");
  EXPECT_EQ(log.caller, "");
  EXPECT_EQ(log.gaps, 5);
  EXPECT_EQ(log.depth, 0);
  EXPECT_FALSE(log.encloses);
  EXPECT_TRUE(Call(facts, "jit_step", "$train.py:57 train_loop").encloses);
}

// A module that is launched in the gap of another is no end of that gap, and what it calls itself
// is its own.
TEST(GapCallsTest, OtherModulesInTheGap) {
  GpuStory story = Story();
  for (int step = 0; step < 3; ++step) {
    story.Step("jit_step");
    story.Python("train.py:60 before");
    story.Step("jit_metrics");
    story.Python("train.py:62 behind");
  }
  const CollectedFacts facts = Import(story.Bytes());
  for (const char* name : {"$train.py:60 before", "$train.py:62 behind"}) {
    for (const char* module : {"jit_step", "jit_metrics"}) {
      const CollectedGapCall call = Call(facts, module, name);
      EXPECT_EQ(call.gaps, 2) << name;
      EXPECT_EQ(call.all_gaps, 2) << name;
    }
  }
  for (const CollectedGapCall& call : facts.gap_calls) {
    EXPECT_NE(call.name.substr(0, 12), "PjitFunction");
    EXPECT_NE(call.name, "MemoryAllocation");
  }
}

// Of a built-in that nothing with a file encloses, the nearest call is the caller.
TEST(GapCallsTest, TheNearestCallOfABuiltIn) {
  GpuStory story = Story();
  story.Step("jit_step");
  story.Python("far.py:1 before");
  story.Sleep(1'000'000);
  story.Python("builtins append");
  story.Python("near.py:2 behind");
  story.Step("jit_step");
  story.Python("builtins extend");
  story.Step("jit_step");
  const CollectedFacts facts = Import(story.Bytes());
  EXPECT_EQ(Call(facts, "jit_step", "$builtins append").caller, "$near.py:2 behind");
  EXPECT_EQ(Call(facts, "jit_step", "$builtins extend").caller, "");
}

TEST(GapCallsTest, AModuleThatRanOnceHasNoGap) {
  GpuStory story = Story();
  story.Step("jit_step");
  story.Python("train.py:60 before");
  story.Step("jit_metrics");
  EXPECT_TRUE(Import(story.Bytes()).gap_calls.empty());
}

// Two devices, one call: it launches both, and is one gap.
TEST(GapCallsTest, OneCallForSeveralDevices) {
  GpuStory story(GpuStory::Dialect::kNew);
  HloBuilder step("jit_step");
  step.Parameter(4_MiB).Output(1_MiB);
  story.Pool(0, 1_GiB).Pool(1, 1_GiB).Module(step, 7);
  for (int i = 0; i < 4; ++i) {
    story.StepOnAll("jit_step");
    story.Python("train.py:61 log_metrics");
  }
  const CollectedGapCall call = Call(Import(story.Bytes()), "jit_step", "$train.py:61 log_metrics");
  EXPECT_EQ(call.gaps, 3);
  EXPECT_EQ(call.all_gaps, 3);
}

// Of very many names those that the loop calls most directly are kept, and every container's.
TEST(GapCallsTest, AListThatIsTooLong) {
  GpuStory story = Story();
  story.Step("jit_step");
  story.InPython("train.py:61 log_metrics", [&] {
    for (int i = 0; i < 600; ++i) story.Python("deep.py:" + std::to_string(i + 1) + " inner");
    story.Python("builtins append");
  });
  story.Step("jit_step");
  const CollectedFacts facts = Import(story.Bytes());
  EXPECT_EQ(facts.gap_calls.size(), 512u);
  Call(facts, "jit_step", "$builtins append");
  Call(facts, "jit_step", "$train.py:61 log_metrics");
}

}  // namespace
}  // namespace oomdb::ingest
