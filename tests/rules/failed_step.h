// A step that does not fit, with temps of the three roles.
#ifndef OOMDB_TESTS_RULES_FAILED_STEP_H_
#define OOMDB_TESTS_RULES_FAILED_STEP_H_

#include <cstdint>

#include "tests/rules/rule_database.h"
#include "tests/support/gpu_story.h"

namespace oomdb::queries {

struct RoleSizes {
  int64_t forward;
  int64_t backward;
  int64_t workspace;
};

// A step of 64 MiB of parameters and these temps, which a pool of 256 MiB can't hold.
inline RuleDatabase FailedStep(const RoleSizes& sizes) {
  HloBuilder hlo("jit_train_step");
  hlo.Parameter(64_MiB);
  if (sizes.forward > 0) hlo.Temp(Value(sizes.forward).Op("jit(f)/jvp()/dot_general"));
  if (sizes.backward > 0) hlo.Temp(Value(sizes.backward).Op("jit(f)/transpose(jvp())/mul"));
  if (sizes.workspace > 0) {
    hlo.Temp(Value(sizes.workspace).Shape(6, {sizes.workspace}).CustomCall("__cublas$gemm"));
  }
  GpuStory story;
  story.Pool(0, 256_MiB, {.in_use_before = 64_MiB}).Module(hlo, 1);
  story.FailStep("jit_train_step");
  RuleDatabase database;
  database.Ingest(story.Bytes());
  return database;
}

}  // namespace oomdb::queries

#endif  // OOMDB_TESTS_RULES_FAILED_STEP_H_
