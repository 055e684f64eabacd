#include "cli/page/need_parts.h"

#include <algorithm>

#include "cli/page/plan_memory.h"
#include "render/words.h"

namespace oomdb::cli::page {
namespace {

void Add(const std::string& name, const std::string& css, int64_t bytes, Need* need) {
  if (bytes > 0) need->parts.push_back({name, css, bytes});
}

// The compiler's own words, where no plan is at hand.
std::optional<Need> FromLog(const ReportErrorLog& log) {
  Need need;
  for (const ReportErrorNumber& number : log.numbers) {
    if (number.key == "needed_bytes") need.bytes = number.bytes;
    if (number.key == "capacity_bytes") need.capacity = number.bytes;
  }
  // A request that is smaller than the pool is no need of a program.
  if (need.bytes <= 0 || (need.capacity && need.bytes <= *need.capacity)) return std::nullopt;
  constexpr size_t kNamed = 4;
  const size_t named = std::min(log.buffers.size(), kNamed);
  int64_t listed = 0;
  // Those of a nonsense log are more than there can be.
  const bool within =
      std::all_of(log.buffers.begin(), log.buffers.begin() + static_cast<std::ptrdiff_t>(named),
                  [&](const ReportGroup& g) {
                    const bool fits = g.bytes <= need.bytes - listed;
                    if (fits) listed += g.bytes;
                    return fits;
                  });
  if (!within) listed = 0;
  for (size_t i = 0; listed > 0 && i < named; ++i) {
    const ReportGroup& g = log.buffers[i];
    Add(render::CountOf(g.count, g.shape), i % 2 == 0 ? "forward" : "backward", g.bytes, &need);
  }
  Add(listed > 0 ? "everything else" : "what it needs", "other", need.bytes - listed, &need);
  return need;
}

}  // namespace

std::optional<Need> NeedOfPlan(const ReportPlan& plan) {
  Need need;
  need.bytes = plan.plan_bytes;
  need.capacity = plan.capacity_bytes;
  need.memory = plan.memory_bytes;
  if (need.bytes <= 0) return std::nullopt;
  if (!plan.classes_known) {
    Add("the program", "other", need.bytes, &need);
    return need;
  }
  Add("parameters", "parameter", plan.parameter_bytes, &need);
  Add("outputs", "output", plan.output_bytes, &need);
  Add("constants", "constant", plan.constant_bytes, &need);
  int64_t temps = plan.temp_bytes;
  for (const ReportRole& role : plan.roles) {
    Add(role.role, std::string(kRoles[RoleIndex(role.role)]), role.bytes, &need);
    temps -= role.bytes;
  }
  Add(plan.roles.empty() ? "temps" : "packing of the temps",
      plan.roles.empty() ? "other" : "packing", temps, &need);
  return need;
}

std::optional<Need> NeedOf(const Context& context) {
  const Report& report = context.report;
  std::optional<Need> need;
  if (report.plan && report.plan->has_plan) {
    need = NeedOfPlan(*report.plan);
  } else {
    for (const ReportErrorLog& log : report.logs) {
      if (!need && log.failed && log.main) need = FromLog(log);
    }
  }
  if (!need || !context.IsFirst("need") || context.verdict.finding == nullptr) return need;
  for (const ReportRemedy& remedy : context.verdict.finding->remedies) {
    if (remedy.needs_bytes && *remedy.needs_bytes <= need->bytes) need->remedies.push_back(&remedy);
  }
  return need;
}

}  // namespace oomdb::cli::page
