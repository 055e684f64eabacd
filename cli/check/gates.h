// What a build may be failed for: limits, and how captures stand to them.
#ifndef OOMDB_CLI_CHECK_GATES_H_
#define OOMDB_CLI_CHECK_GATES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/database.h"

namespace oomdb::cli {

struct GateLimits {
  std::string run;                          // Only this run; empty: all, but the baseline.
  std::optional<int64_t> budget_bytes;      // For every module's plan.
  std::optional<int64_t> max_growth_bytes;  // Per execution, on any device.
  std::string baseline;                     // The run to compare with; empty: none.
  double max_regression_percent = 0;        // Of a module's peak over the baseline's.
  std::string fail_on;                      // error or warning; empty: findings don't count.
};

// One thing that was looked at.
struct GateCase {
  std::string gate;     // The option that asks for it, without the dashes.
  std::string name;     // What: a module and its run, a device, a rule.
  std::string failure;  // One sentence: found, limit, how the number is known; empty: all is well.
};

struct GateReport {
  std::vector<GateCase> cases;  // By gate, then by run and name.
  // A gate that found nothing to look at, and why: no pass, or a capture without the numbers would
  // be the best of all.
  std::vector<GateCase> unchecked;

  int64_t failures() const;
};

// "2%", "0.5 %", "2". Throws Error (kUsage), naming `what`, for anything else or below 0.
double ParsePercent(std::string_view text, std::string_view what);

// Settings under which growth up to the limit is seen at all.
schema::SettingOverrides GateSettings(const GateLimits& limits);

// Throws Error for a run or baseline that is not there (nearest names offered).
GateReport RunGates(schema::Database& database, const GateLimits& limits);

// JUnit XML: a testcase per case and per gate that could not be checked.
std::string JUnitXml(const GateReport& report);

}  // namespace oomdb::cli

#endif  // OOMDB_CLI_CHECK_GATES_H_
