// A tiny capture made in code: what self-test reads, and tests of the command line too.
#ifndef OOMDB_CLI_SELF_TEST_CAPTURE_H_
#define OOMDB_CLI_SELF_TEST_CAPTURE_H_

#include <cstdint>
#include <string>

namespace oomdb::cli {

// What is true of the capture by construction. One GPU with a pool of 64 MiB; one module, jit_step
// (program 7), that needs 8 MiB of parameters, 4 MiB of outputs and 96 MiB of temps, called once:
// it got its output, not its temps.
struct SelfTestTruth {
  static constexpr int64_t kMiB = int64_t{1} << 20;
  static constexpr int64_t kCapacityBytes = 64 * kMiB;
  static constexpr int64_t kParameterBytes = 8 * kMiB;
  static constexpr int64_t kOutputBytes = 4 * kMiB;
  static constexpr int64_t kTempBytes = 96 * kMiB;
  static constexpr int64_t kPlanBytes = kParameterBytes + kOutputBytes + kTempBytes;
};

// The bytes of the .xplane.pb.
std::string SelfTestCapture();

}  // namespace oomdb::cli

#endif  // OOMDB_CLI_SELF_TEST_CAPTURE_H_
