// What driver calls and kernels say of executions that the host events leave open.
#include <gtest/gtest.h>

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

// Modules that differ in nothing but their ids.
CaptureBuilder TwoEqualModules() {
  CaptureBuilder capture;
  capture.AddModule("jit_f", 3, StepModule("jit_f").Bytes());
  capture.AddModule("jit_f", 4, StepModule("jit_f").Bytes());
  capture.Plane("/device:GPU:0");
  return capture;
}

void AddExecution(LineBuilder& line, int64_t start_ns, int64_t duration_ns) {
  line.Event("PjitFunction(f)", start_ns, duration_ns);
  line.Event("PjRtStreamExecutorLoadedExecutable::ExecuteHelper", start_ns + 1, duration_ns - 2);
}

TEST(DeviceVotesTest, ADriverCallInsideTheSpanTellsTheModule) {
  CaptureBuilder capture = TwoEqualModules();
  AddExecution(capture.Plane("/host:CPU").Line("python"), 1000, 500);
  AddExecution(capture.Plane("/host:CPU").Line("python"), 2000, 500);
  LineBuilder& driver = capture.Plane("/host:CPU").Line("Host Threads/17");
  driver.Event("hipModuleLaunchKernel", 1100, 5,
               {Ref("hlo_module", "jit_f"), Int("program_id", 4)});
  driver.Event("hipModuleLaunchKernel", 2100, 5,
               {Text("hlo_module", "jit_f"), UInt("program_id", 3)});
  const CollectedFacts facts = Import(capture.Bytes());
  ASSERT_EQ(facts.executions.size(), 2u);
  EXPECT_EQ(facts.executions[0].module, 1);
  EXPECT_EQ(facts.executions[1].module, 0);
  EXPECT_EQ(facts.executions[0].launched, true);
  EXPECT_EQ(facts.executions[0].device, 0);  // The only one.
}

// Kernels run late, but their correlation ids lead to the call that launched them.
TEST(DeviceVotesTest, CorrelatedKernelsTellTheModuleHoweverLateTheyRun) {
  CaptureBuilder capture = TwoEqualModules();
  AddExecution(capture.Plane("/host:CPU").Line("python"), 1000, 500);
  AddExecution(capture.Plane("/host:CPU").Line("python"), 2000, 500);
  LineBuilder& driver = capture.Plane("/host:CPU").Line("Host Threads/17");
  driver.Event("cuLaunchKernel", 1100, 5, {Int("correlation_id", 71)});
  driver.Event("cuLaunchKernel", 2100, 5, {Int("correlation_id", 72)});
  LineBuilder& stream = capture.Plane("/device:GPU:0").Line("Stream #7(Kernel)");
  stream.Event("fusion", 9000, 5,
               {UInt("correlation_id", 71), Ref("hlo_module", "jit_f"), Int("program_id", 4)});
  stream.Event("fusion", 9100, 5,
               {UInt("correlation_id", 72), Ref("hlo_module", "jit_f"), Int("program_id", 3)});
  const CollectedFacts facts = Import(capture.Bytes());
  ASSERT_EQ(facts.executions.size(), 2u);
  EXPECT_EQ(facts.executions[0].module, 1);
  EXPECT_EQ(facts.executions[1].module, 0);
  EXPECT_EQ(facts.executions[0].launched, true);
}

TEST(DeviceVotesTest, KernelsAloneAreEvidenceWhenTheHostToldNothing) {
  CaptureBuilder capture = TwoEqualModules();
  AddExecution(capture.Plane("/host:CPU").Line("python"), 1000, 500);
  capture.Plane("/device:GPU:0")
      .Line("Stream #7(Kernel)")
      .Event("fusion", 1900, 5, {Ref("hlo_module", "jit_f"), Int("program_id", 4)});
  const CollectedFacts facts = Import(capture.Bytes());
  ASSERT_EQ(facts.executions.size(), 1u);
  EXPECT_EQ(facts.executions[0].launched, true);
  EXPECT_EQ(facts.executions[0].module, 1);
}

TEST(DeviceVotesTest, KernelsOfAProgramTheCaptureHasNoPlanOfAddAModule) {
  CaptureBuilder capture = TwoEqualModules();
  AddExecution(capture.Plane("/host:CPU").Line("python"), 1000, 500);
  capture.Plane("/device:GPU:0")
      .Line("Stream #7(Kernel)")
      .Event("fusion", 1900, 5, {Ref("hlo_module", "jit_f"), Int("program_id", 99)});
  const CollectedFacts facts = Import(capture.Bytes());
  ASSERT_EQ(facts.modules.size(), 3u);
  EXPECT_EQ(facts.modules[2].program_id, 99);
  EXPECT_FALSE(facts.modules[2].plan);
  EXPECT_EQ(facts.executions.at(0).module, 2);
}

// While one device waits for memory, driver calls of the same module on another are no launch of
// it.
TEST(DeviceVotesTest, AnotherDevicesDriverCallsLaunchNothingHere) {
  GpuStory story(GpuStory::Dialect::kNew);
  story.Pool(0, 1_GiB).Pool(1, 1_GiB, {.in_use_before = 600_MiB}).Module(StepModule(), 7);
  const Execution failed = story.FailStep("jit_step", {.device = 1});
  LineBuilder& worker = story.capture().Plane("/host:CPU").Line("py_xla_execute/other", 900, 99);
  const int64_t during = (failed.start_ns + failed.end_ns) / 2;
  worker.Event("CommonPjRtLoadedExecutable::Execute (jit_step)", during - 2, 100);
  worker.Event("CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice", during, 50);
  worker.Event("[0] PjRtStreamExecutorRawLoadedExecutable::Execute", during + 1, 48);
  worker.Event("[0] GpuExecutable::ExecuteThunks", during + 2, 40,
               {Text("module_name", "jit_step")});
  story.capture()
      .Plane("/host:CPU")
      .Line("Host Threads/3", 900, 3)
      .Event("hipModuleLaunchKernel", during + 10, 1,
             {Ref("hlo_module", "jit_step"), Int("program_id", 7)});
  const CollectedFacts facts = Import(story.Bytes());
  ASSERT_EQ(facts.executions.size(), 2u);
  EXPECT_EQ(facts.executions[0].device, 1);
  EXPECT_EQ(facts.executions[0].launched, false);
  EXPECT_EQ(facts.executions[1].launched, true);
}

}  // namespace
}  // namespace oomdb::ingest
