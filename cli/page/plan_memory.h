// What a plan's heap trace holds at every position of the program, each byte once.
#ifndef OOMDB_CLI_PAGE_PLAN_MEMORY_H_
#define OOMDB_CLI_PAGE_PLAN_MEMORY_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/report/model.h"
#include "schema/database.h"

namespace oomdb::cli::page {

// The roles of temps, in the order in which they are stacked.
inline constexpr std::array<std::string_view, 4> kRoles = {"forward", "backward", "workspace",
                                                           "other"};
// Its place in kRoles; an unknown role is other.
size_t RoleIndex(std::string_view role);

struct PlanBuffer {
  int64_t bytes = 0;
  size_t role = 0;
  bool at_peak = false;
  std::string shape, op_name, source_file, function_name, instruction;
  std::optional<int64_t> source_line, frame_id;

  std::string Place() const;  // "plans.py:17 layer"
  std::string What() const;   // The place, the operation, the role, whether it is a remat.
};

// A stretch of the program during which a buffer's row stands for memory: of buffers that share
// memory one counts, as in XLA's own replay.
struct PlanStretch {
  int64_t bytes = 0;
  int64_t from = 0, to = 0;  // Positions: from <= p < to.
  size_t buffer = 0;
};

struct PlanMemory {
  std::vector<PlanBuffer> buffers;  // Temps of device memory that the heap trace names.
  std::vector<PlanStretch> stretches;
  std::vector<std::array<int64_t, kRoles.size()>> by_role;  // At every position, bytes.
  std::vector<int64_t> temps;                               // Their sum.
  size_t peak = 0;  // The first position at which the temps are highest.
};

// std::nullopt for a plan without a heap trace.
std::optional<PlanMemory> ReadPlanMemory(schema::Database& database, const ReportPlan& plan);

}  // namespace oomdb::cli::page

#endif  // OOMDB_CLI_PAGE_PLAN_MEMORY_H_
