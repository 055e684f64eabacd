// The plan that a what-if is about: of the captures that were read, or of a database.
#ifndef OOMDB_CLI_WHATIF_CHOOSE_PLAN_H_
#define OOMDB_CLI_WHATIF_CHOOSE_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "schema/database.h"

namespace oomdb::cli {

// Which captures and modules; what is empty leaves the choice open.
struct PlanScope {
  std::string module;  // Its name, with or without the program id in parentheses.
  std::string run, host;
  std::string capture;  // Its id or path.
};

struct ChosenPlan {
  std::string module;  // Without the program id.
  std::string run, host;
  std::string platform;  // gpu, tpu, cpu; empty: not said.
  std::string replay;    // For ingest::ReadReplay.
  size_t plans = 0;      // That could be asked, with this one.
  // Of the device, as the view effective_capacity has it; bytes.
  std::optional<int64_t> capacity_bytes;
};

// Of the modules in scope the one whose plan is the largest. `file`: the database's, for the line
// that says how to fill it; empty for a throw-away one. Throws Error: kUsage when nothing is in
// scope, with the nearest names; kFailed when the plan's replay is not stored, and what to do.
ChosenPlan ChoosePlan(schema::Database& database, const PlanScope& scope, const std::string& file);

}  // namespace oomdb::cli

#endif  // OOMDB_CLI_WHATIF_CHOOSE_PLAN_H_
