#include "tests/support/gpu_story.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace oomdb {
namespace {

struct SeenEvent {
  std::string thread;
  std::string name;
  int64_t start_ns;
  int64_t end_ns;
  std::map<std::string, int64_t> stats;
};

// The host events of a capture, in the order of their absolute times, outer ones first.
std::vector<SeenEvent> HostEvents(const std::string& bytes) {
  proto::XSpace space;
  EXPECT_TRUE(space.ParseFromString(bytes));
  std::vector<SeenEvent> events;
  for (const proto::XPlane& plane : space.planes()) {
    if (plane.name() != "/host:CPU") continue;
    for (const proto::XLine& line : plane.lines()) {
      for (const proto::XEvent& event : line.events()) {
        SeenEvent seen{line.name(),
                       plane.event_metadata().at(event.metadata_id()).name(),
                       line.timestamp_ns() + event.offset_ps() / 1000,
                       0,
                       {}};
        seen.end_ns = seen.start_ns + event.duration_ps() / 1000;
        for (const proto::XStat& stat : event.stats()) {
          seen.stats[plane.stat_metadata().at(stat.metadata_id()).name()] = stat.int64_value();
        }
        events.push_back(std::move(seen));
      }
    }
  }
  std::stable_sort(events.begin(), events.end(), [](const SeenEvent& a, const SeenEvent& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
  });
  return events;
}

const SeenEvent* Find(const std::vector<SeenEvent>& events, const std::string& name) {
  for (const SeenEvent& event : events) {
    if (event.name == name) return &event;
  }
  return nullptr;
}

bool Inside(const SeenEvent& inner, const SeenEvent& outer) {
  return inner.start_ns >= outer.start_ns && inner.end_ns <= outer.end_ns;
}

HloBuilder StepModule() {
  HloBuilder hlo("jit_step");
  hlo.Parameter(128_MiB).Output(96_MiB);
  hlo.Temp(350_MiB);
  return hlo;
}

TEST(GpuStoryTest, LeakingStepsEndInAFailedOne) {
  GpuStory story(GpuStory::Dialect::kNew);
  story.Pool(0, 1_GiB, {.in_use_before = 128_MiB}).Module(StepModule(), 7);
  std::vector<Execution> steps;
  for (int i = 0; i < 5; ++i) steps.push_back(story.Step("jit_step"));
  EXPECT_EQ(steps[0].in_use_at_start_bytes, 128_MiB);
  EXPECT_EQ(steps[0].peak_in_use_bytes, (128 + 96 + 350) * 1_MiB);
  EXPECT_EQ(steps[4].in_use_at_start_bytes, (128 + 4 * 96) * 1_MiB);
  EXPECT_EQ(story.FailStep("jit_step").in_use_at_start_bytes, (128 + 5 * 96) * 1_MiB);
  EXPECT_THROW(story.Step("jit_step"), std::logic_error);
}

TEST(GpuStoryTest, FailedStepWaitsFreesAndLaunchesNothing) {
  for (const bool retry_event : {true, false}) {
    GpuStory story(GpuStory::Dialect::kNew);
    story.Pool(0, 512_MiB, {.in_use_before = 128_MiB}).Module(StepModule(), 7);
    const Execution failed = story.FailStep("jit_step", {.retry_event = retry_event});
    EXPECT_TRUE(failed.outputs.empty());
    EXPECT_EQ(story.pool(0).in_use_bytes(), 128_MiB);
    EXPECT_GT(failed.end_ns - failed.start_ns, 10_s);

    const std::vector<SeenEvent> events = HostEvents(story.Bytes());
    EXPECT_EQ(Find(events, "AllocatorRetry::AllocateRaw") != nullptr, retry_event);
    EXPECT_EQ(Find(events, "[0] GpuExecutable::ExecuteThunks"), nullptr);
    const SeenEvent* helper =
        Find(events, "CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice");
    ASSERT_NE(helper, nullptr);
    EXPECT_EQ(helper->start_ns, failed.start_ns);
    EXPECT_EQ(helper->end_ns, failed.end_ns);
    const SeenEvent* build = Find(events, "Build buffer allocations");
    ASSERT_NE(build, nullptr);
    EXPECT_TRUE(Inside(*build, *helper));
    EXPECT_GE(build->end_ns - build->start_ns, 10_s);
  }
}

TEST(GpuStoryTest, FailStepThatWouldFitIsAMistakeOfTheTest) {
  GpuStory story;
  story.Pool(0, 1_GiB).Module(StepModule(), 7);
  EXPECT_THROW(story.FailStep("jit_step"), std::logic_error);
}

TEST(GpuStoryTest, EachEventsTotalFollowsFromTheOneBefore) {
  GpuStory story(GpuStory::Dialect::kOld);
  story.Pool(0, 1_GiB, {.in_use_before = 10_MiB}).Pool(1, 1_GiB).Module(StepModule(), 7);
  const Handle early = story.Before(0, 5_MiB);
  story.Transfer(0, 100, "f32[25]");
  for (const Execution& execution : story.StepOnAll("jit_step")) story.Free(execution.outputs);
  story.Free(early);
  const std::vector<SeenEvent> events = HostEvents(story.Bytes());
  int64_t in_use = 15_MiB;
  int checked = 0;
  for (const SeenEvent& event : events) {
    const bool allocation = event.name == "MemoryAllocation";
    if (!allocation && event.name != "MemoryDeallocation") continue;
    const bool second_gpu = event.stats.at("addr") >= 0x7f0000000000 + 0x10000000000;
    if (second_gpu) continue;
    in_use += (allocation ? 1 : -1) * event.stats.at("allocation_bytes");
    EXPECT_EQ(event.stats.at("bytes_allocated"), in_use);
    EXPECT_EQ(event.stats.at("bytes_available"), 1_GiB - in_use);
    ++checked;
  }
  EXPECT_EQ(checked, 6);  // Transfer; output, temp; their frees; the early one.
  const SeenEvent* helper = Find(events, "PjRtStreamExecutorLoadedExecutable::ExecuteHelper");
  ASSERT_NE(helper, nullptr);
  EXPECT_EQ(helper->thread.rfind("py_xla_execute/", 0), 0u);
}

TEST(GpuStoryTest, SpansNestAsRecordersWriteThem) {
  GpuStory story(GpuStory::Dialect::kNew);
  story.Pool(0, 1_GiB).Module(StepModule(), 7);
  story.Step("jit_step", {.caller = "train.py:57 train_loop", .wait_ns = 3_s});
  const std::vector<SeenEvent> events = HostEvents(story.Bytes());
  const char* const kNested[] = {"$train.py:57 train_loop",
                                 "PjitFunction(step)",
                                 "CommonPjRtLoadedExecutable::Execute (jit_step)",
                                 "CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice",
                                 "[0] PjRtStreamExecutorRawLoadedExecutable::Execute",
                                 "[0] GpuExecutable::ExecuteThunks",
                                 "jit_step:XLA GPU module"};
  for (size_t i = 1; i < std::size(kNested); ++i) {
    const SeenEvent* outer = Find(events, kNested[i - 1]);
    const SeenEvent* inner = Find(events, kNested[i]);
    ASSERT_NE(outer, nullptr) << kNested[i - 1];
    ASSERT_NE(inner, nullptr) << kNested[i];
    EXPECT_TRUE(Inside(*inner, *outer)) << kNested[i];
  }
  const SeenEvent* wait = Find(events, "AllocatorRetry::AllocateRaw");
  ASSERT_NE(wait, nullptr);
  EXPECT_EQ(wait->end_ns - wait->start_ns, 3_s);
}

TEST(GpuStoryTest, KernelsNameTheirModuleUnlessTheDeviceWasNotTraced) {
  for (const bool traced : {true, false}) {
    GpuStory story;
    story.Pool(0, 1_GiB).Module(StepModule(), 7);
    if (!traced) story.WithoutDeviceTrace();
    story.Step("jit_step");
    proto::XSpace space;
    ASSERT_TRUE(space.ParseFromString(story.Bytes()));
    int kernels = 0;
    for (const proto::XPlane& plane : space.planes()) {
      if (plane.name() != "/device:GPU:0") continue;
      for (const proto::XLine& line : plane.lines()) kernels += line.events_size();
    }
    EXPECT_EQ(kernels, traced ? 2 : 0);  // The temp and the output.
  }
}

}  // namespace
}  // namespace oomdb
