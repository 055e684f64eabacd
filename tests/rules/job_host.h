// A host of a job, for the rules that compare hosts.
#ifndef OOMDB_TESTS_RULES_JOB_HOST_H_
#define OOMDB_TESTS_RULES_JOB_HOST_H_

#include <fmt/format.h>

#include <string>

#include "tests/support/gpu_story.h"

namespace oomdb::queries {

struct HostOptions {
  int devices = 1;
  int steps = 8;
  int64_t limit_bytes = 4_GiB;
  int64_t in_use_before = 128_MiB;
  int leaking_devices = 0;  // The first so many keep the outputs of every step.
  int64_t wait_ns = 0;      // Of one step.
  int64_t temp_bytes = 100_MiB;
  const char* operation = "multiply";
  // Python's calls after each step: "train.py:61 log_metrics", and what that one calls.
  const char* calls = nullptr;
  const char* calls_inside = nullptr;
};

// A process that runs the step on all its devices and drops the outputs, but for those that leak.
inline std::string Host(int number, const HostOptions& options) {
  GpuStory story(GpuStory::Dialect::kNew, fmt::format("worker-{:02}", number));
  for (int device = 0; device < options.devices; ++device) {
    story.Pool(device, options.limit_bytes, {.in_use_before = options.in_use_before});
  }
  HloBuilder step("jit_step");
  step.Parameter(128_MiB).Output(32_MiB);
  step.Temp(Value(options.temp_bytes).Opcode(options.operation));
  story.Module(step, 7);
  for (int i = 0; i < options.steps; ++i) {
    for (int device = 0; device < options.devices; ++device) {
      const Execution done =
          story.Step("jit_step", {.device = device, .wait_ns = i == 2 ? options.wait_ns : 0});
      if (device >= options.leaking_devices) story.Free(done.outputs);
    }
    if (options.calls == nullptr) continue;
    story.InPython(options.calls, [&] {
      story.Python("train.py:70 norm");
      if (options.calls_inside != nullptr) story.Python(options.calls_inside);
    });
  }
  return story.Bytes();
}

}  // namespace oomdb::queries

#endif  // OOMDB_TESTS_RULES_JOB_HOST_H_
