// Executions in every dialect: what is one, whose it is, whether it was launched.
#include <gtest/gtest.h>

#include <cmath>

#include "ingest/plan/plan.h"
#include "tests/support/gpu_story.h"
#include "tests/xplane/collected_facts.h"

namespace oomdb::ingest {
namespace {

HloBuilder StepModule(const std::string& name = "jit_step", int64_t temp_bytes = 350_MiB) {
  HloBuilder hlo(name);
  hlo.Parameter(128_MiB).Output(96_MiB);
  hlo.Temp(Value(temp_bytes));
  return hlo;
}

class DialectTest : public testing::TestWithParam<GpuStory::Dialect> {};

INSTANTIATE_TEST_SUITE_P(Dialects, DialectTest,
                         testing::Values(GpuStory::Dialect::kOld, GpuStory::Dialect::kNew),
                         [](const auto& info) {
                           return info.param == GpuStory::Dialect::kOld ? "Old" : "New";
                         });

TEST_P(DialectTest, StepsAndTheOneThatFails) {
  GpuStory story(GetParam());
  story.Pool(0, 1_GiB, {.in_use_before = 128_MiB}).Module(StepModule(), 7);
  std::vector<Execution> told;
  for (int i = 0; i < 5; ++i)
    told.push_back(story.Step("jit_step", {.caller = "train.py:57 train_loop"}));
  told.push_back(story.FailStep("jit_step"));
  const CollectedFacts facts = Import(story.Bytes());

  ASSERT_EQ(facts.devices.size(), 1u);
  EXPECT_EQ(facts.devices[0].kind, "gpu");
  EXPECT_EQ(facts.devices[0].vendor, "Nvidia");
  ASSERT_EQ(facts.modules.size(), 1u);
  EXPECT_EQ(facts.modules[0].execution_count, 6);
  EXPECT_EQ(facts.modules[0].platform, "gpu");
  ASSERT_EQ(facts.executions.size(), 6u);
  for (int i = 0; i < 6; ++i) {
    const ExecutionFact& e = facts.executions[i];
    SCOPED_TRACE(i);
    EXPECT_EQ(e.device, 0);
    EXPECT_EQ(e.module, 0);
    EXPECT_EQ(e.module_name, "jit_step");
    EXPECT_EQ(e.sequence, i + 1);
    EXPECT_EQ(e.start_ns, static_cast<int64_t>(GpuStory::kStartUnixNs) + told[i].start_ns);
    EXPECT_EQ(e.end_ns, static_cast<int64_t>(GpuStory::kStartUnixNs) + told[i].end_ns);
    EXPECT_EQ(e.in_use_at_start_bytes, told[i].in_use_at_start_bytes);
    EXPECT_EQ(e.peak_in_use_bytes, told[i].peak_in_use_bytes);
    EXPECT_EQ(e.launched, i < 5);
    EXPECT_EQ(e.output_bytes, 96_MiB);  // The failed one had got it, too.
    EXPECT_EQ(e.temp_bytes, i < 5 ? 350_MiB : 0);
    EXPECT_EQ(e.thread, "python");
    ASSERT_TRUE(e.launch_event);
    EXPECT_EQ(facts.events[*e.launch_event].name, "PjitFunction(step)");
  }
  // Of the plan, the temp allocation is what it did not get.
  ASSERT_TRUE(facts.modules[0].plan);
  const MaybeInt failed = facts.executions[5].failed_allocation_index;
  ASSERT_TRUE(failed);
  for (const PlanAllocation& a : facts.modules[0].plan->allocations) {
    EXPECT_EQ(a.index == *failed, a.allocation_class == AllocationClass::kTemp);
  }
}

TEST_P(DialectTest, SeveralDevicesOnWorkerThreads) {
  GpuStory story(GetParam());
  for (int device = 0; device < 3; ++device) story.Pool(device, 1_GiB);
  story.Module(StepModule(), 7);
  story.StepOnAll("jit_step");
  story.StepOnAll("jit_step");
  const CollectedFacts facts = Import(story.Bytes());
  ASSERT_EQ(facts.executions.size(), 6u);
  for (int i = 0; i < 6; ++i) {
    const ExecutionFact& e = facts.executions[i];
    EXPECT_EQ(e.device, i % 3);
    EXPECT_EQ(e.sequence, i / 3 + 1);
    EXPECT_EQ(e.module_name, "jit_step");
    EXPECT_TRUE(e.thread.starts_with("py_xla_execute/"));
    ASSERT_TRUE(e.launch_event);  // On another thread.
    EXPECT_EQ(facts.events[*e.launch_event].name, "PjitFunction(step)");
  }
}

// A failed execution says no module name itself; the call that is open on another thread does.
TEST_P(DialectTest, AFailedExecutionOfAWorkerThreadHasItsNameAndDevice) {
  GpuStory story(GetParam());
  story.Pool(0, 1_GiB).Pool(1, 1_GiB, {.in_use_before = 600_MiB});
  story.Module(StepModule(), 7).Module(StepModule("jit_other", 10_MiB), 8);
  story.Step("jit_other", {.device = 1});
  story.FailStep("jit_step", {.device = 1});
  story.Step("jit_step", {.device = 0});
  const CollectedFacts facts = Import(story.Bytes());
  ASSERT_EQ(facts.executions.size(), 3u);
  EXPECT_EQ(facts.executions[1].module_name, "jit_step");
  EXPECT_EQ(facts.executions[1].device, 1);
  EXPECT_EQ(facts.executions[1].launched, false);
  EXPECT_EQ(facts.executions[2].launched, true);
}

TEST_P(DialectTest, NoDeviceTraceIsNoFailure) {
  GpuStory story(GetParam());
  story.Pool(0, 1_GiB).Module(StepModule(), 7).WithoutDeviceTrace();
  story.Step("jit_step");
  const CollectedFacts facts = Import(story.Bytes());
  ASSERT_EQ(facts.executions.size(), 1u);
  EXPECT_EQ(facts.executions[0].launched, true);
  EXPECT_EQ(facts.executions[0].failed_allocation_index, std::nullopt);
}

TEST_P(DialectTest, ATruncatedCaptureSaysNothingOfFailures) {
  GpuStory story(GetParam());
  story.Pool(0, 1_GiB, {.in_use_before = 600_MiB}).Module(StepModule(), 7);
  story.FailStep("jit_step");
  EXPECT_EQ(Import(story.Bytes()).executions.at(0).launched, false);
  story.capture().Plane("/device:GPU:1").Line("Stream #1").Event("cut", 1, 1);
  const CollectedFacts facts = Import(story.capture().TruncatedBytes());
  EXPECT_TRUE(facts.capture().truncated);
  ASSERT_EQ(facts.executions.size(), 1u);
  EXPECT_EQ(facts.executions[0].launched, std::nullopt);
  EXPECT_EQ(facts.executions[0].failed_allocation_index, std::nullopt);
}

// Of two modules of one name, the sizes tell which one ran.
TEST_P(DialectTest, ModulesOfOneNameAreToldApartBySize) {
  GpuStory story(GetParam());
  story.Pool(0, 2_GiB);
  for (const int64_t program_id : {5, 9, 12}) {
    story.Module(StepModule("jit_step", program_id * 10_MiB), program_id);
    story.WithoutDeviceTrace();
    story.Step("jit_step");
  }
  const CollectedFacts facts = Import(story.Bytes());
  ASSERT_EQ(facts.executions.size(), 3u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(facts.executions[i].module, i);
    EXPECT_EQ(facts.executions[i].sequence, 1);
    EXPECT_EQ(facts.modules[i].execution_count, 1);
  }
  EXPECT_EQ(facts.modules[1].program_id, 9);
}

TEST(ExecutionTest, WithoutAllocatorEventsNothingIsKnownToHaveFailed) {
  CaptureBuilder capture;
  capture.AddModule("jit_step", 7, StepModule().Bytes());
  capture.Plane("/host:CPU")
      .Line("python")
      .Event("PjRtStreamExecutorLoadedExecutable::ExecuteHelper", 1000, 500);
  const CollectedFacts facts = Import(capture.Bytes());
  ASSERT_EQ(facts.executions.size(), 1u);
  EXPECT_EQ(facts.executions[0].launched, std::nullopt);
  EXPECT_EQ(facts.executions[0].module_name, "");
}

TEST(ExecutionTest, AnUnnamedExecutionIsNamedByItsSizes) {
  GpuStory story(GpuStory::Dialect::kOld);
  story.Pool(0, 1_GiB).Module(StepModule(), 7).Module(StepModule("jit_other", 20_MiB), 8);
  story.Transfer(0, 1_MiB, "u8[1048576]");
  LineBuilder& worker = story.capture().Plane("/host:CPU").Line("worker", 900, 5);
  const size_t span = worker.Begin("PjRtStreamExecutorLoadedExecutable::ExecuteHelper", 50'000'000);
  const auto allocate = [&](int64_t at, int64_t requested, int64_t in_use) {
    worker.Event("MemoryAllocation", at, 0,
                 {Text("allocator_name", "GPU_0_bfc"), Int("bytes_allocated", in_use),
                  Int("bytes_available", 1_GiB - in_use), Int("requested_bytes", requested),
                  Int("allocation_bytes", requested), Int("addr", at)});
  };
  allocate(50'001'000, 96_MiB, 97_MiB);
  allocate(50'002'000, 20_MiB, 117_MiB);
  worker.End(span, 51'000'000);
  const CollectedFacts facts = Import(story.Bytes());
  ASSERT_EQ(facts.executions.size(), 1u);
  EXPECT_EQ(facts.executions[0].module_name, "jit_other");
  EXPECT_EQ(facts.executions[0].launched,
            std::nullopt);  // All was allocated, nothing else is known.
  EXPECT_EQ(facts.executions[0].temp_bytes, 20_MiB);
}

// CPU clients open the same spans as GPU clients; a CPU program's executions are its runs.
TEST(ExecutionTest, CpuRunsFromEventsOfAllThreads) {
  CaptureBuilder capture;
  LineBuilder& python = capture.Plane("/host:CPU").Line("python", 1000);
  python.Event("PjitFunction(f)", 2000, 900);
  python.Event("CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice", 2100, 100);
  const auto run = [](int64_t id) {
    return std::vector<Stat>{Int("run_id", id), Int("device_ordinal", 2),
                             Ref("hlo_module", "jit_f"), Int("program_id", 31)};
  };
  capture.Plane("/host:CPU").Line("tf_XLAEigen", 1500, 8).Event("dot.1", 3000, 50, run(-411228607));
  capture.Plane("/host:CPU")
      .Line("tf_XLAEigen/2", 1200, 9)
      .Event("add.2", 2900, 30, run(-411228607));
  capture.Plane("/host:CPU")
      .Line("tf_client", 1100, 10)
      .Event("ThunkExecutor::Execute (wait for completion)", 2950, 400,
             {Int("run_id", -411228607), Int("device_ordinal", 2)});
  // Nothing names the module of this one: it is none.
  capture.Plane("/host:CPU")
      .Line("tf_client", 1100, 10)
      .Event("ThunkExecutor::Execute (wait for completion)", 5000, 400,
             {Int("run_id", 6), Int("device_ordinal", 2)});
  capture.Plane("/host:CPU").Line("tf_XLAEigen", 1500, 8).Event("dot.1", 6000, 50, run(7));
  const CollectedFacts facts = Import(capture.Bytes());
  ASSERT_EQ(facts.executions.size(), 2u);
  EXPECT_EQ(facts.executions[0].start_ns, 2900);
  EXPECT_EQ(facts.executions[0].end_ns, 3350);
  EXPECT_EQ(facts.executions[0].launched, true);
  EXPECT_EQ(facts.executions[0].in_use_at_start_bytes, std::nullopt);
  EXPECT_EQ(facts.executions[1].sequence, 2);
  ASSERT_EQ(facts.devices.size(), 1u);
  EXPECT_EQ(facts.devices[0].kind, "cpu");
  EXPECT_EQ(facts.devices[0].ordinal, 2);
  EXPECT_EQ(facts.devices[0].local_ordinal, 0);
  EXPECT_EQ(facts.modules.at(0).program_id, 31);
  ASSERT_TRUE(facts.executions[0].launch_event);
  EXPECT_EQ(facts.events[*facts.executions[0].launch_event].name, "PjitFunction(f)");
}

TEST(ExecutionTest, AProgramThatUsesCpuAndGpu) {
  GpuStory story(GpuStory::Dialect::kNew);
  story.Pool(0, 1_GiB, {.in_use_before = 600_MiB}).Module(StepModule(), 7);
  // On the CPU: the same spans, a run, and nothing of a GPU.
  const int64_t now = story.now_ns();
  story.launching_thread().Event("PjitFunction(preprocess)", now, 900);
  story.launching_thread().Event("CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice",
                                 now + 100, 700);
  story.capture()
      .Plane("/host:CPU")
      .Line("tf_XLAEigen", 1500, 8)
      .Event("dot.1", now + 200, 50,
             {Int("run_id", 1), Int("device_ordinal", 0), Ref("hlo_module", "jit_preprocess"),
              Int("program_id", 2)});
  story.launching_thread().Event("TfrtCpuExecutable::ExecuteHelper", now + 1000, 10);
  story.Sleep(5000);
  story.FailStep("jit_step");
  const CollectedFacts facts = Import(story.Bytes());
  ASSERT_EQ(facts.executions.size(), 2u);
  EXPECT_EQ(facts.executions[0].module_name, "jit_preprocess");
  EXPECT_EQ(facts.devices.at(*facts.executions[0].device).kind, "cpu");
  EXPECT_EQ(facts.executions[1].module_name, "jit_step");
  EXPECT_EQ(facts.executions[1].launched, false);
  EXPECT_EQ(facts.devices.at(*facts.executions[1].device).kind, "gpu");
}

TEST(ExecutionTest, TpuRunsAreTheEventsOfTheModuleLine) {
  CaptureBuilder capture;
  // A fingerprint of 64 bits; the name prints it unsigned.
  constexpr uint64_t kFingerprint = 0xf234567890abcdef;
  const std::string name = "jit_step(" + std::to_string(kFingerprint) + ")";
  capture.Plane("/host:metadata").Module("jit_step", 1, StepModule().Bytes(), false);
  capture.Plane("/host:metadata").proto().mutable_event_metadata()->at(1).set_name(name);
  for (int device = 0; device < 2; ++device) {
    PlaneBuilder& plane = capture.Plane("/device:TPU:" + std::to_string(device));
    plane.Line("Steps", 2000, 1).Event("0", 3000, 100);
    plane.Line("XLA Modules", 2000, 2).Event(name, 3000, 90, {Int("run_id", 5)});
    plane.Line("XLA Modules", 2000, 2).Event(name, 4000, 90, {UInt("program_id", kFingerprint)});
    plane.Line("XLA Ops", 2000, 3).Event("fusion.1", 3000, 10);
  }
  capture.Plane("/device:TPU:0 SparseCore 0")
      .Line("XLA Modules", 2000, 2)
      .Event("jit_step(1)", 3000, 1);
  // The host's side of it.
  LineBuilder& python = capture.Plane("/host:CPU").Line("python", 1500);
  python.Event("PjitFunction(step)", 2000, 500);
  const size_t span = python.Begin("CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice", 2100);
  python.Event(
      "MemoryAllocation", 2150, 0,
      {Int("index_on_host", 1), Int("bytes_reserved", 1000), Int("bytes_allocated", 5000),
       Int("bytes_available", 94000), Int("requested_bytes", 5000), Int("allocation_bytes", 5000),
       Int("addr", 0), Real("fragmentation", std::nan(""))});
  python.End(span, 2200);
  const CollectedFacts facts = Import(capture.Bytes());

  ASSERT_EQ(facts.modules.size(), 1u);
  EXPECT_EQ(facts.modules[0].program_id, static_cast<int64_t>(kFingerprint));
  EXPECT_EQ(facts.modules[0].name, "jit_step");
  EXPECT_EQ(facts.modules[0].execution_count, 4);
  ASSERT_EQ(facts.devices.size(), 2u);
  EXPECT_EQ(facts.devices[1].kind, "tpu");
  ASSERT_EQ(facts.executions.size(), 4u);  // The host's span is none.
  for (const ExecutionFact& e : facts.executions) {
    EXPECT_EQ(e.module, 0);
    EXPECT_EQ(e.launched, true);
  }
  ASSERT_EQ(facts.allocators.size(), 1u);
  EXPECT_EQ(facts.allocators[0].name, "TPU_1");
  EXPECT_EQ(facts.allocators[0].device, 1);
  EXPECT_EQ(facts.allocators[0].capacity_bytes, 100000);  // With what the program reserves.
  EXPECT_EQ(facts.allocators[0].last_fragmentation, std::nullopt);
  EXPECT_EQ(facts.executions[1].in_use_at_start_bytes, 5000);
  EXPECT_EQ(facts.executions[0].in_use_at_start_bytes, std::nullopt);
}

TEST(ExecutionTest, DerivedModuleLinesOfGpusAreNotCountedAgain) {
  GpuStory story(GpuStory::Dialect::kNew);
  story.Pool(0, 1_GiB).Module(StepModule(), 7);
  story.Step("jit_step");
  story.capture()
      .Plane("/device:GPU:0")
      .Line("XLA Modules", 0, 0xdeadbeef)
      .Event("jit_step(7)", 5000, 90);
  EXPECT_EQ(Import(story.Bytes()).executions.size(), 1u);
}

TEST(ExecutionTest, NestedCallsLaunchOnceAndNameClosest) {
  CaptureBuilder capture;
  capture.Plane("/device:GPU:0");
  LineBuilder& python = capture.Plane("/host:CPU").Line("python");
  const size_t outer = python.Begin("PjitFunction(outer)", 1000);
  python.Event("PjitFunction(inner)", 1100, 500);
  python.Event("PjRtStreamExecutorLoadedExecutable::ExecuteHelper", 1200, 300);
  python.End(outer, 2000);
  const CollectedFacts facts = Import(capture.Bytes());
  ASSERT_EQ(facts.executions.size(), 1u);
  EXPECT_EQ(facts.executions[0].module_name, "jit_inner");
  EXPECT_EQ(facts.events.at(*facts.executions[0].launch_event).name, "PjitFunction(outer)");
}

}  // namespace
}  // namespace oomdb::ingest
