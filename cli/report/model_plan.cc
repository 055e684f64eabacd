#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "cli/nearest.h"
#include "cli/report/model.h"
#include "render/words.h"
#include "schema/query.h"

namespace oomdb::cli {
namespace {

std::string LabelOf(const std::string& name, std::optional<int64_t> program_id) {
  return program_id ? fmt::format("{}({})", name, *program_id) : name;
}

class PlanReader {
 public:
  PlanReader(schema::Database& database, int64_t capture_id)
      : database_(database), id_(capture_id) {}

  std::optional<ReportPlan> Read(const ReportScope& scope, std::optional<int64_t> preferred) {
    const std::optional<schema::Record> module = ChooseModule(scope.module, preferred);
    if (!module) return std::nullopt;
    ReportPlan plan;
    plan.module_id = module->Integer("module_id");
    plan.name = module->Text("name");
    plan.program_id = module->MaybeInteger("program_id");
    plan.has_plan = !module->IsNull("plan_bytes");
    plan.parameter_count = module->Integer("parameter_count");
    plan.classes_known = !module->IsNull("parameter_bytes");
    plan.parameter_bytes = module->Integer("parameter_bytes");
    plan.donated_parameter_count = module->Integer("donated_parameter_count");
    plan.donated_bytes = module->Integer("donated_bytes");
    plan.output_bytes = module->Integer("output_bytes");
    plan.constant_bytes = module->Integer("constant_bytes");
    plan.temp_bytes = module->Integer("temp_bytes");
    plan.plan_bytes = module->Integer("plan_bytes");
    plan.peak_bytes = module->Integer("peak_bytes");
    plan.heap_peak_bytes = module->MaybeInteger("heap_peak_bytes");
    plan.remat_instruction_count = module->MaybeInteger("remat_instruction_count");
    plan.remat_compute_count = module->MaybeInteger("remat_compute_count");
    ReadSpaces(&plan);
    ReadCapacity(&plan);
    ReadGroups(&plan);
    ReadAdvice(&plan);
    ReadReportAnatomy(database_, &plan);
    return plan;
  }

 private:
  // The module whose last execution failed; else the preferred one, else the largest that
  // ran, else the largest plan.
  std::optional<schema::Record> ChooseModule(const std::string& named,
                                             std::optional<int64_t> preferred) {
    std::map<int64_t, bool> failed;
    for (const schema::Record& last :
         schema::ReadView(database_, "last_executions", {{"capture_id", id_}}))
      failed[last.Integer("module_id")] = last.Flag("failed");
    std::vector<schema::Record> modules =
        schema::ReadView(database_, "modules", {{"capture_id", id_}},
                         "plan_bytes DESC NULLS LAST, name, program_id, module_id");
    const auto worth = [&](const schema::Record& module) {
      return std::tuple(failed[module.Integer("module_id")], module.Integer("execution_count") > 0);
    };
    std::stable_sort(
        modules.begin(), modules.end(),
        [&](const schema::Record& a, const schema::Record& b) { return worth(a) > worth(b); });
    if (named.empty()) {
      if (modules.empty()) return std::nullopt;
      if (!preferred || failed[modules[0].Integer("module_id")]) return modules[0];
    }
    std::vector<std::string> names;
    for (const schema::Record& module : modules) {
      const std::string name = module.Text("name");
      const std::string label = LabelOf(name, module.MaybeInteger("program_id"));
      const bool chosen = named.empty() ? module.Integer("module_id") == *preferred
                                        : label == named || name == named;
      if (chosen) return module;
      names.push_back(label);
    }
    throw Error(fmt::format("no module {} in this capture{}", named, DidYouMean(named, names)),
                ExitCode::kUsage);
  }

  void ReadSpaces(ReportPlan* plan) {
    for (const schema::Record& row : schema::ReadView(
             database_, "module_memory", {{"module_id", plan->module_id}}, "memory_space")) {
      ReportSpace space{row.Text("space_name"), row.Integer("memory_space"),
                        row.Integer("parameter_bytes") + row.Integer("output_bytes") +
                            row.Integer("constant_bytes") + row.Integer("temp_bytes")};
      if (space.memory_space != 0 && space.bytes > 0) plan->other_spaces.push_back(space);
    }
  }

  // Of the device it ran on with the least room; a module that never ran: of any.
  void ReadCapacity(ReportPlan* plan) {
    const std::vector<schema::Record> devices = schema::ReadView(
        database_, "module_devices", {{"capture_id", id_}, {"module_id", plan->module_id}},
        "capacity_bytes NULLS LAST");
    if (devices.empty() || devices[0].IsNull("capacity_bytes")) return;
    plan->capacity_bytes = devices[0].MaybeInteger("capacity_bytes");
    plan->capacity_source = devices[0].Text("capacity_source");
    plan->capacity_evidence = devices[0].Text("capacity_evidence");
    plan->memory_bytes = devices[0].MaybeInteger("memory_bytes");
  }

  // Of one module's devices the first: they mostly have the same capacity.
  void ReadAdvice(ReportPlan* plan) {
    std::optional<int64_t> device;
    for (const schema::Record& row :
         schema::ReadView(database_, "advice", {{"module_id", plan->module_id}},
                          "device_id NULLS FIRST, position")) {
      if (!plan->advice.empty() && row.MaybeInteger("device_id") != device) break;
      device = row.MaybeInteger("device_id");
      plan->advice.push_back({.remedy = row.Text("remedy"),
                              .step = row.Text("step"),
                              .needs_bytes = row.MaybeInteger("needs_bytes"),
                              .spare_bytes = row.MaybeInteger("spare_bytes"),
                              .fits = row.MaybeFlag("fits"),
                              .likely = row.MaybeFlag("likely")});
    }
  }

  // The frames that call one another, innermost first, each as file:line function.
  class Stacks {
   public:
    explicit Stacks(const std::vector<schema::Record>& frames) {
      for (const schema::Record& row : frames) {
        frames_[row.Integer("frame_id")] = {
            row.MaybeInteger("parent_frame_id"),
            render::Place(row.Text("source_file"), row.MaybeInteger("source_line"),
                          row.Text("function_name"))};
      }
    }

    std::vector<std::string> Of(std::optional<int64_t> frame_id) const {
      std::vector<std::string> stack;
      // A stack has no more frames than there are, however the file links them.
      while (frame_id && stack.size() < frames_.size()) {
        const auto frame = frames_.find(*frame_id);
        if (frame == frames_.end()) break;
        stack.push_back(frame->second.place);
        frame_id = frame->second.parent;
      }
      return stack;
    }

   private:
    struct Frame {
      std::optional<int64_t> parent;
      std::string place;
    };
    std::map<int64_t, Frame> frames_;
  };

  void ReadGroups(ReportPlan* plan) {
    const Stacks stacks(schema::ReadView(database_, "frames", {{"module_id", plan->module_id}}));
    std::map<std::string, int64_t> roles;
    for (const schema::Record& row : schema::ReadView(
             database_, "peak_groups", {{"module_id", plan->module_id}},
             "bytes DESC, COALESCE(role, kind), shape, op_name, source_file, source_line, "
             "function_name, rematerialized")) {
      const bool has_role = !row.IsNull("role");
      plan->groups.push_back({.bytes = row.Integer("bytes"),
                              .count = row.Integer("count"),
                              .shape = row.Text("shape"),
                              .role = row.Text(has_role ? "role" : "kind"),
                              .rematerialized = row.Flag("rematerialized"),
                              .op_name = row.Text("op_name"),
                              .source_file = row.Text("source_file"),
                              .source_line = row.MaybeInteger("source_line"),
                              .function_name = row.Text("function_name"),
                              .stack = stacks.Of(row.MaybeInteger("frame_id"))});
      if (has_role) roles[row.Text("role")] += row.Integer("bytes");
    }
    for (const auto& [role, bytes] : roles) plan->roles.push_back({role, bytes});
    std::stable_sort(plan->roles.begin(), plan->roles.end(),
                     [](const ReportRole& a, const ReportRole& b) { return a.bytes > b.bytes; });
  }

  schema::Database& database_;
  const int64_t id_;
};

}  // namespace

std::string ReportPlan::Label() const { return LabelOf(name, program_id); }

std::optional<ReportPlan> ReadReportPlan(schema::Database& database, int64_t capture_id,
                                         const ReportScope& scope,
                                         std::optional<int64_t> preferred) {
  return PlanReader(database, capture_id).Read(scope, preferred);
}

}  // namespace oomdb::cli
