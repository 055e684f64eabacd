// oomdb compare --fail-on: what of a comparison is to fail a build.
#ifndef OOMDB_CLI_COMPARE_GATE_H_
#define OOMDB_CLI_COMPARE_GATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "schema/database.h"

namespace oomdb::cli {

// How much more memory is too much: the settings regression_min_bytes and regression_min_percent.
class RegressionLimits {
 public:
  explicit RegressionLimits(schema::Database& database);
  bool ArePassed(int64_t before, int64_t now) const;

 private:
  const int64_t min_bytes_, min_percent_;
};

// Throws Error (kUsage) when `fail_on` is none of error, warning, info, regression or empty.
void CheckCompareGate(const std::string& fail_on);

// One line for each thing that fails: with a severity the findings of `changed` of that severity
// or worse that `base` has not, or less severely (a finding is the same when rule and module name
// are); with regression every module whose peak rose by more than the settings regression_min_bytes
// and regression_min_percent allow. Empty: all is well, or nothing is asked. A severity
// materializes the rules.
std::vector<std::string> CompareGateFailures(schema::Database& database, const std::string& fail_on,
                                             const std::string& base, const std::string& changed);

}  // namespace oomdb::cli

#endif  // OOMDB_CLI_COMPARE_GATE_H_
