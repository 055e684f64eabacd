// Which host events are stored, nested how.
#include <gtest/gtest.h>

#include "tests/support/gpu_story.h"
#include "tests/xplane/collected_facts.h"

namespace oomdb::ingest {
namespace {

constexpr int64_t kUnix = static_cast<int64_t>(GpuStory::kStartUnixNs);

HloBuilder StepModule() {
  HloBuilder hlo("jit_step");
  hlo.Parameter(4_MiB).Output(1_MiB);
  hlo.Temp(8_MiB);
  return hlo;
}

// Steps 1 to 3 with other work before, between and after them.
GpuStory ThreeSteps() {
  GpuStory story(GpuStory::Dialect::kNew);
  story.Pool(0, 1_GiB).Module(StepModule(), 7);
  story.Python("setup.py:1 long_ago");
  story.Step("jit_step", {.caller = "train.py:57 train_loop"});
  story.Python("train.py:60 early_gap");
  story.Step("jit_step", {.caller = "train.py:57 train_loop"});
  story.InPython("train.py:61 log_metrics", [&] { story.Python("builtins append"); });
  story.Step("jit_step", {.caller = "train.py:57 train_loop"});
  story.Python("train.py:99 afterwards");
  return story;
}

int64_t CountIssue(const CollectedFacts& facts, std::string_view what) {
  const IssueFact* issue = facts.Issue(what);
  return issue == nullptr ? 0 : issue->count;
}

void ExpectNested(const CollectedFacts& facts) {
  for (size_t i = 0; i < facts.events.size(); ++i) {
    const CollectedEvent& event = facts.events[i];
    if (!event.parent) continue;
    ASSERT_LT(*event.parent, static_cast<Index>(i)) << event.name;  // Enclosing before enclosed.
    const CollectedEvent& parent = facts.events[*event.parent];
    EXPECT_EQ(parent.thread, event.thread);
    EXPECT_LE(parent.start_ns, event.start_ns);
    EXPECT_GE(parent.end_ns, event.end_ns);
    if (parent.execution) {
      EXPECT_EQ(event.execution, parent.execution) << event.name;
    }
  }
}

TEST(HostEventsTest, WhatAMemoryQuestionNeeds) {
  const GpuStory story = ThreeSteps();
  const CollectedFacts facts = Import(story.Bytes());
  EXPECT_EQ(facts.CountEvents("MemoryAllocation"), 6);
  EXPECT_EQ(facts.CountEvents("PjitFunction(step)"), 3);
  EXPECT_EQ(facts.CountEvents("$train.py:57 train_loop"), 3);   // Around executions.
  EXPECT_EQ(facts.CountEvents("$train.py:61 log_metrics"), 1);  // Between the last two.
  EXPECT_EQ(facts.CountEvents("$builtins append"), 1);
  EXPECT_EQ(facts.CountEvents("$train.py:60 early_gap"), 0);
  EXPECT_EQ(facts.CountEvents("$setup.py:1 long_ago"), 0);
  EXPECT_EQ(facts.CountEvents("$train.py:99 afterwards"), 0);
  ExpectNested(facts);
  const Index append = facts.EventNumber("$builtins append");
  ASSERT_TRUE(facts.events[append].parent);
  EXPECT_EQ(facts.events[*facts.events[append].parent].name, "$train.py:61 log_metrics");
  const IssueFact* left_out = facts.Issue("events_left_out");
  ASSERT_NE(left_out, nullptr);
  EXPECT_EQ(
      left_out->count + static_cast<int64_t>(facts.events.size()),
      static_cast<int64_t>(Import(story.Bytes(), {.events = EventSelection::kAll}).events.size()));
}

TEST(HostEventsTest, EventsBelongToTheirExecution) {
  const CollectedFacts facts = Import(ThreeSteps().Bytes());
  int64_t of_an_execution = 0;
  for (const CollectedEvent& event : facts.events) {
    if (event.name == "$train.py:57 train_loop" || event.name == "PjitFunction(step)") {
      EXPECT_EQ(event.execution, std::nullopt);  // They enclose one.
    }
    if (!event.execution) continue;
    ++of_an_execution;
    const ExecutionFact& e = facts.executions.at(*event.execution);
    EXPECT_GE(event.start_ns, e.start_ns);
    EXPECT_LE(event.end_ns, e.end_ns);
  }
  EXPECT_GE(of_an_execution, 3 * 6);
}

TEST(HostEventsTest, AllAndNone) {
  const std::string bytes = ThreeSteps().Bytes();
  const CollectedFacts all = Import(bytes, {.events = EventSelection::kAll});
  EXPECT_EQ(all.CountEvents("$setup.py:1 long_ago"), 1);
  EXPECT_EQ(all.Issue("events_left_out"), nullptr);
  ExpectNested(all);
  const CollectedFacts none = Import(bytes, {.events = EventSelection::kNone});
  EXPECT_TRUE(none.events.empty());
  EXPECT_EQ(CountIssue(none, "events_left_out"), static_cast<int64_t>(all.events.size()));
  // Everything else is the same, but for the references.
  ASSERT_EQ(none.allocations.size(), all.allocations.size());
  for (size_t i = 0; i < none.allocations.size(); ++i) {
    EXPECT_EQ(none.allocations[i].origin, all.allocations[i].origin);
    EXPECT_EQ(none.allocations[i].alloc_event, std::nullopt);
    EXPECT_EQ(all.events.at(*all.allocations[i].alloc_event).start_ns, all.allocations[i].alloc_ns);
  }
  EXPECT_EQ(none.executions.at(2).launch_event, std::nullopt);
  EXPECT_EQ(all.events.at(*all.executions.at(2).launch_event).name, "PjitFunction(step)");
}

// A line whose events are not in the order of time is stored in that order all the same.
TEST(HostEventsTest, AnUnsortedLine) {
  CaptureBuilder capture;
  LineBuilder& line = capture.Plane("/host:CPU").Line("python");
  line.Event("$c.py:1 inner", 1200, 100)
      .Event("$b.py:1 later", 5000, 10)
      .Event("$a.py:1 outer", 1000, 900);
  line.Event("shard_args", 1250, 20);
  for (const EventSelection selection : {EventSelection::kAll, EventSelection::kMemory}) {
    const CollectedFacts facts = Import(capture.Bytes(), {.events = selection});
    ASSERT_EQ(facts.events.size(), selection == EventSelection::kAll ? 4u : 3u);
    EXPECT_EQ(facts.events[0].name, "$a.py:1 outer");
    EXPECT_EQ(facts.events[1].name, "$c.py:1 inner");
    EXPECT_EQ(facts.events[1].parent, 0);
    EXPECT_EQ(facts.events[2].name, "shard_args");
    EXPECT_EQ(facts.events[2].parent, 1);
    ExpectNested(facts);
  }
}

TEST(HostEventsTest, AGapTooLargeKeepsItsEndItsContainerCallsAndItsNames) {
  GpuStory story(GpuStory::Dialect::kNew);
  story.Pool(0, 1_GiB).Module(StepModule(), 7);
  story.Step("jit_step");
  story.Python("builtins append");
  story.Python("train.py:1 first_of_many");
  for (int i = 0; i < 5000; ++i) story.Python("train.py:2 one_of_many", 10);
  story.Python("train.py:3 last_of_many");
  story.Step("jit_step");
  const CollectedFacts facts = Import(story.Bytes());
  EXPECT_EQ(facts.CountEvents("$train.py:3 last_of_many"), 1);
  EXPECT_EQ(facts.CountEvents("$builtins append"), 1);
  EXPECT_EQ(facts.CountEvents("$train.py:1 first_of_many"), 1);
  EXPECT_LT(facts.CountEvents("$train.py:2 one_of_many"), 530);
  EXPECT_GT(facts.CountEvents("$train.py:2 one_of_many"), 500);
  EXPECT_GT(CountIssue(facts, "events_left_out"), 4000);
}

// Whatever a gap is full of, each of its names is there.
TEST(HostEventsTest, AGapFullOfContainerCallsKeepsItsNames) {
  GpuStory story(GpuStory::Dialect::kNew);
  story.Pool(0, 1_GiB).Module(StepModule(), 7);
  story.Step("jit_step");
  for (int i = 0; i < 600; ++i) story.Python("builtins update", 10);
  story.Python("builtins append");
  for (int name = 0; name < 600; ++name) {
    for (int i = 0; i < 3; ++i) story.Python("f.py:1 f" + std::to_string(name), 10);
  }
  for (int i = 0; i < 600; ++i) story.Python("train.py:2 one_of_many", 10);
  story.Step("jit_step");
  const CollectedFacts facts = Import(story.Bytes());
  EXPECT_EQ(facts.CountEvents("$builtins append"), 1);
  // Of the others as many as there is room for.
  EXPECT_EQ(facts.CountEvents("$f.py:1 f599"), 1);
  EXPECT_EQ(facts.CountEvents("$f.py:1 f560"), 1);
  EXPECT_EQ(facts.CountEvents("$f.py:1 f0"), 0);
}

TEST(HostEventsTest, ThreadsOfOneNameAreToldApart) {
  CaptureBuilder capture;
  proto::XPlane& plane = capture.Plane("/host:CPU").proto();
  capture.Plane("/host:CPU").Line("pool", 1000, 5).Event("shard_args", 2000, 1);
  *plane.add_lines() = plane.lines(0);
  plane.mutable_lines(1)->set_id(-6);
  *plane.add_lines() = plane.lines(0);
  plane.mutable_lines(2)->set_name("");
  const CollectedFacts facts = Import(capture.Bytes());
  ASSERT_EQ(facts.events.size(), 3u);
  EXPECT_EQ(facts.events[0].thread, "pool/5");
  EXPECT_EQ(facts.events[1].thread, "pool/-6");
  EXPECT_EQ(facts.events[2].thread, "5");
}

TEST(HostEventsTest, TimesAreUnixTimes) {
  for (const bool absolute : {false, true}) {
    CaptureBuilder capture;
    capture.ProfileStart(GpuStory::kStartUnixNs);
    const int64_t zero = absolute ? kUnix : 0;
    capture.Plane("/host:CPU").Line("python", zero + 1500).Event("shard_args", zero + 2500, 30);
    const CollectedFacts facts = Import(capture.Bytes());
    EXPECT_EQ(facts.capture().started_unix_ns, kUnix);
    EXPECT_EQ(facts.events.at(0).start_ns, kUnix + 2500);
    EXPECT_EQ(facts.events.at(0).end_ns, kUnix + 2530);
  }
}

TEST(HostEventsTest, LinesThatBeginAtZero) {
  CaptureBuilder capture;
  capture.ProfileStart(GpuStory::kStartUnixNs);
  capture.Plane("/host:CPU").Line("python", 0).Event("shard_args", 40, 30);
  capture.Plane("/host:CPU").Line("worker", 1000).Event("shard_args", 1010, 30);
  const CollectedFacts facts = Import(capture.Bytes());
  EXPECT_EQ(facts.events.at(0).start_ns, kUnix + 40);
  EXPECT_EQ(facts.events.at(1).start_ns, kUnix + 1010);
}

TEST(HostEventsTest, LongAndOddNamesAreVerbatim) {
  const std::string odd =
      "$größe 'quoted' \"twice\"; DROP TABLE x; -- \x1b[31m" + std::string(600, 'n');
  CaptureBuilder capture;
  capture.Plane("/host:CPU").Line("python ünï").Event(odd, 1000, 900).Event("shard_args", 1010, 1);
  const CollectedFacts facts = Import(capture.Bytes());
  EXPECT_EQ(facts.events.at(0).name, odd);
  EXPECT_EQ(facts.events.at(0).thread, "python ünï");
}

}  // namespace
}  // namespace oomdb::ingest
