#include <fmt/format.h>

#include "cli/nearest.h"
#include "cli/report_model.h"
#include "cli/report_values.h"
#include "schema/query.h"

namespace oomdb {
namespace {

// How many groups a report lists unless it is told; all of them are in the database.
constexpr int64_t kUsualTop = 10;

class PlanReader {
 public:
  PlanReader(Database& database, int64_t capture_id, const ReportScope& scope,
             std::optional<int64_t> preferred)
      : database_(database), capture_id_(capture_id), scope_(scope), preferred_(preferred) {}

  std::optional<ReportPlan> Read() {
    const std::optional<int64_t> module = ChooseModule();
    if (!module) return std::nullopt;
    const Parameters id = {{"module", *module}};
    const std::vector<Row> rows =
        Ask("SELECT name, program_id, parameter_count, parameter_bytes, donated_parameter_count, "
            "donated_bytes, "
            "output_bytes, constant_bytes, temp_bytes, plan_bytes, peak_bytes, heap_peak_bytes, "
            "remat_instruction_count "
            "FROM modules WHERE module_id = :module",
            id);
    ReportPlan plan;
    const Row& row = rows.at(0);
    plan.module_id = *module;
    plan.name = Text(row[0]);
    plan.program_id = MaybeInteger(row[1]);
    plan.has_plan = MaybeInteger(row[9]).has_value();
    plan.parameter_count = Integer(row[2]);
    plan.classes_known = MaybeInteger(row[3]).has_value();
    plan.parameter_bytes = Integer(row[3]);
    plan.donated_parameter_count = Integer(row[4]);
    plan.donated_bytes = Integer(row[5]);
    plan.output_bytes = Integer(row[6]);
    plan.constant_bytes = Integer(row[7]);
    plan.temp_bytes = Integer(row[8]);
    plan.plan_bytes = Integer(row[9]);
    plan.peak_bytes = Integer(row[10]);
    plan.heap_peak_bytes = MaybeInteger(row[11]);
    plan.remat_instruction_count = MaybeInteger(row[12]);
    for (const Row& role :
         Ask("SELECT role, SUM(bytes) FROM buffers WHERE module_id = :module AND class = 'temp' "
             "AND "
             "memory_space = 0 AND at_peak = 1 GROUP BY role ORDER BY SUM(bytes) DESC, role",
             id)) {
      plan.roles.push_back({Text(role[0]), Integer(role[1])});
    }
    for (const Row& space :
         Ask("SELECT space_name, memory_space, parameter_bytes + output_bytes + constant_bytes + "
             "temp_bytes AS bytes FROM module_memory WHERE module_id = :module AND memory_space <> "
             "0 "
             "ORDER BY memory_space",
             id)) {
      if (Integer(space[2]) > 0)
        plan.other_spaces.push_back({Text(space[0]), Integer(space[1]), Integer(space[2])});
    }
    ReadCapacity(&plan);
    ReadGroups(&plan);
    return plan;
  }

 private:
  std::vector<Row> Ask(const std::string& sql, const Parameters& parameters) {
    return Query(database_, sql, parameters).rows;
  }

  static std::string LabelOf(const std::string& name, std::optional<int64_t> program_id) {
    return program_id ? fmt::format("{}({})", name, *program_id) : name;
  }

  // The module whose last execution launched nothing; else the largest that ran; else the largest
  // plan.
  std::optional<int64_t> ChooseModule() {
    const std::vector<Row> rows =
        Ask("SELECT m.module_id, m.name, m.program_id, "
            "COALESCE((SELECT e.failed FROM executions e WHERE e.module_id = m.module_id "
            "ORDER BY e.start_ns DESC, e.execution_id DESC LIMIT 1), 0) AS last_failed, "
            "CASE WHEN m.execution_count > 0 THEN 1 ELSE 0 END AS ran "
            "FROM modules m WHERE m.capture_id = :capture "
            "ORDER BY last_failed DESC, ran DESC, m.plan_bytes DESC NULLS LAST, m.name, "
            "m.program_id, m.module_id",
            {{"capture", capture_id_}});
    if (scope_.module.empty()) {
      if (rows.empty()) return std::nullopt;
      const bool failed = Integer(rows[0][3]) != 0;
      return failed || !preferred_ ? Integer(rows[0][0]) : *preferred_;
    }
    std::vector<std::string> names;
    for (const Row& row : rows) {
      const std::string label = LabelOf(Text(row[1]), MaybeInteger(row[2]));
      if (label == scope_.module || Text(row[1]) == scope_.module) return Integer(row[0]);
      names.push_back(label);
    }
    throw Error(fmt::format("no module {} in this capture{}", scope_.module,
                            DidYouMean(scope_.module, names)),
                ExitCode::kUsage);
  }

  // Of the device it ran on with the least room; a module that never ran: of any.
  void ReadCapacity(ReportPlan* plan) {
    const std::vector<Row> rows =
        Ask("SELECT p.capacity_bytes, p.capacity_source, p.capacity_evidence, p.memory_bytes FROM "
            "effective_capacity p "
            "WHERE p.capture_id = :capture AND p.capacity_bytes IS NOT NULL ORDER BY "
            "CASE WHEN EXISTS (SELECT 1 FROM executions e WHERE e.module_id = :module AND "
            "e.device_id = p.device_id) "
            "THEN 0 ELSE 1 END, p.capacity_bytes LIMIT 1",
            {{"capture", capture_id_}, {"module", plan->module_id}});
    if (rows.empty()) return;
    plan->capacity_bytes = MaybeInteger(rows[0][0]);
    plan->capacity_source = Text(rows[0][1]);
    plan->capacity_evidence = Text(rows[0][2]);
    plan->memory_bytes = MaybeInteger(rows[0][3]);
  }

  // What is there at the peak: parameters, outputs and constants all the time, temps by the trace;
  // without a trace, the temp allocations.
  void ReadGroups(ReportPlan* plan) {
    const std::vector<Row> rows =
        Ask("WITH parts AS ("
            "SELECT bytes, shape, role, CASE WHEN instruction LIKE '%.remat%' THEN 1 ELSE 0 END AS "
            "remat, op_name, "
            "source_file, source_line, function_name FROM buffers WHERE module_id = :module AND "
            "class = 'temp' AND "
            "memory_space = 0 AND at_peak = 1 "
            "UNION ALL SELECT bytes, shape, class, 0, NULL, NULL, NULL, NULL FROM plan_allocations "
            "WHERE module_id = "
            ":module AND memory_space = 0 AND (class IN ('parameter', 'constant') OR (class = "
            "'temp' AND :traced = 0)) "
            "UNION ALL SELECT bytes, shape, 'output', 0, NULL, NULL, NULL, NULL FROM "
            "module_outputs WHERE module_id = "
            ":module AND memory_space = 0 AND aliased = 0) "
            "SELECT SUM(bytes) AS total, COUNT(*), shape, role, remat, op_name, source_file, "
            "source_line, function_name "
            "FROM parts WHERE bytes > 0 GROUP BY shape, role, remat, op_name, source_file, "
            "source_line, function_name "
            "ORDER BY total DESC, role, shape, op_name, source_file, source_line, remat",
            {{"module", plan->module_id}, {"traced", int64_t{plan->heap_peak_bytes.has_value()}}});
    for (const Row& row : rows) {
      if (static_cast<int64_t>(plan->groups.size()) >= scope_.top.value_or(kUsualTop)) {
        ++plan->more_groups;
        plan->more_bytes += Integer(row[0]);
        plan->more_buffers += Integer(row[1]);
        continue;
      }
      ReportGroup group;
      group.bytes = Integer(row[0]);
      group.count = Integer(row[1]);
      group.shape = Text(row[2]);
      group.role = Text(row[3]);
      group.rematerialized = Integer(row[4]) != 0;
      group.op_name = Text(row[5]);
      group.source_file = Text(row[6]);
      group.source_line = MaybeInteger(row[7]);
      group.function_name = Text(row[8]);
      plan->groups.push_back(std::move(group));
    }
  }

  Database& database_;
  const int64_t capture_id_;
  const ReportScope& scope_;
  const std::optional<int64_t> preferred_;
};

}  // namespace

std::string ReportPlan::Label() const {
  return program_id ? fmt::format("{}({})", name, *program_id) : name;
}

std::optional<ReportPlan> ReadReportPlan(Database& database, int64_t capture_id,
                                         const ReportScope& scope,
                                         std::optional<int64_t> preferred) {
  return PlanReader(database, capture_id, scope, preferred).Read();
}

}  // namespace oomdb
