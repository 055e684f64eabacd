// oomdb compare of two runs of which one fails by its error log: what did not fit, before and now.
#ifndef OOMDB_CLI_COMPARE_FAILURES_H_
#define OOMDB_CLI_COMPARE_FAILURES_H_

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "render/table.h"
#include "schema/database.h"
#include "schema/query.h"

namespace oomdb::cli {

// The failure that counts of a run and stage: of its captures and hosts the one shortest of memory.
struct StageFailure {
  std::string host, module_name;
  std::optional<int64_t> needed_bytes, short_bytes, free_bytes;
  int64_t captures = 0;  // That fail in this stage.
};

// What the error logs of a run say.
struct RunFailures {
  std::string name;                            // As it is shown.
  bool has_log = false;                        // Whether it has an error log at all.
  int64_t failed_executions = 0;               // As its captures show them.
  std::map<std::string, StageFailure> stages;  // By stage: compile, run, host, chip.
  std::string main_stage;                      // What ended the program; empty: nothing failed.
};

// The failures of two runs by their error logs.
class FailureComparison {
 public:
  FailureComparison(schema::Database& database, const std::string& base,
                    const std::string& changed);

  // Whether one of them fails.
  bool any() const { return !base_.stages.empty() || !new_.stages.empty(); }
  // Those of the view failure_comparison, for machines.
  const schema::Rows& rows() const { return rows_; }

  // For people: a sentence, the figures and the `top` largest differences of buffers. Requires
  // any().
  void Write(std::ostream& out, size_t top, const render::TableOptions& look) const;

  // One line for each regression: `changed` fails where `base` did not, or fails to compile where
  // `base` compiled, or is short of more memory than the settings regression_min_bytes and
  // regression_min_percent allow.
  std::vector<std::string> Regressions(schema::Database& database) const;

 private:
  RunFailures base_, new_;
  schema::Rows rows_;
};

// Why, of two runs of which none fails and one at least has no plan: "nothing to compare: train.log
// has no OOM in its log and no plan, …".
std::string NothingToCompare(schema::Database& database, const std::string& base,
                             const std::string& changed);

}  // namespace oomdb::cli

#endif  // OOMDB_CLI_COMPARE_FAILURES_H_
