// Small captures with something of everything, for what is done to bytes: cutting, flipping,
// splicing.
#ifndef OOMDB_TESTS_XPLANE_SAMPLE_CAPTURES_H_
#define OOMDB_TESTS_XPLANE_SAMPLE_CAPTURES_H_

#include <string>
#include <vector>

#include "tests/support/gpu_story.h"

namespace oomdb::ingest {

inline std::string SampleGpuCapture(GpuStory::Dialect dialect) {
  HloBuilder hlo("jit_step");
  hlo.Parameter(128_MiB).DonatedParameter(8_MiB).Output(96_MiB);
  hlo.Temp(Value(350_MiB).Op("jit(step)/jvp()/dot").At("model.py", 17, "layer"));
  GpuStory story(dialect);
  story.Pool(0, 1_GiB, {.in_use_before = 128_MiB}).Pool(1, 1_GiB).Module(hlo, 7).Module(hlo, 8);
  story.InPython("data.py:41 next_batch", [&] { story.Transfer(0, 256_KiB, "s32[64,1024]"); });
  for (int i = 0; i < 5; ++i) {
    story.Step("jit_step", {.caller = "train.py:57 train_loop"});
    story.Python("builtins append");
  }
  story.FailStep("jit_step", {.retry_event = dialect == GpuStory::Dialect::kOld});
  story.Step("jit_step", {.device = 1});
  return story.Bytes();
}

inline std::string SampleHostCapture() {
  CaptureBuilder capture("vm");
  HloBuilder hlo("jit_f");
  hlo.Parameter(4_KiB).Output(4_KiB);
  capture.AddModule("jit_f", 31, hlo.Bytes(), true);
  PlaneBuilder& host = capture.Plane("/host:CPU");
  host.Line("python", 1000).Event("PjitFunction(f)", 2000, 900);
  for (int run = 0; run < 3; ++run) {
    host.Line("tf_XLAEigen", 1500, -8)
        .Event("dot.1", 3000 + 100 * run, 50,
               {Int("run_id", -run), Int("device_ordinal", 0), Ref("hlo_module", "jit_f"),
                Int("program_id", 31)});
  }
  host.Line("python", 1000)
      .Event("MemoryAllocation", 5000, 0,
             {Int("index_on_host", 0), Int("bytes_allocated", 5000), Int("bytes_available", 94000),
              Int("requested_bytes", 5000), Int("allocation_bytes", 5000), Int("addr", 1)});
  capture.Plane("/device:TPU:0")
      .Line("XLA Modules", 2000)
      .Event("jit_f(31)", 3000, 90, {Int("run_id", 5)});
  capture.ProfileStart(GpuStory::kStartUnixNs);
  capture.Warning("a warning");
  return capture.Bytes();
}

inline std::vector<std::string> SampleCaptures() {
  return {SampleGpuCapture(GpuStory::Dialect::kOld), SampleGpuCapture(GpuStory::Dialect::kNew),
          SampleHostCapture()};
}

}  // namespace oomdb::ingest

#endif  // OOMDB_TESTS_XPLANE_SAMPLE_CAPTURES_H_
