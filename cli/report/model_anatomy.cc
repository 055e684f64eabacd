#include <fmt/format.h>

#include <algorithm>

#include "cli/report/model.h"
#include "schema/query.h"

namespace oomdb::cli {
namespace {

// The Python line, else the JAX operation, else the instruction.
std::string PlaceOf(const schema::Record& row, const char* file, const char* line,
                    const char* op_name, const char* instruction) {
  if (!row.IsNull(file)) {
    const std::string place = row.Text(file);
    return row.IsNull(line) ? place : fmt::format("{}:{}", place, row.Integer(line));
  }
  return row.Text(row.IsNull(op_name) ? instruction : op_name);
}

std::optional<bool> MaybeFlag(const schema::Record& row, const char* column) {
  if (row.IsNull(column)) return std::nullopt;
  return row.Flag(column);
}

void ReadKinds(schema::Database& database, ReportPlan* plan) {
  for (const schema::Record& row :
       schema::ReadView(database, "memory_anatomy", {{"module_id", plan->module_id}},
                        "memory_space, position")) {
    plan->anatomy.push_back({.memory_space = row.Integer("memory_space"),
                             .kind = row.Text("kind"),
                             .bytes = row.Integer("bytes"),
                             .percent = row.Integer("percent"),
                             .count = row.Integer("count"),
                             .largest_bytes = row.Integer("largest_bytes"),
                             .largest_name = row.Text("largest_name"),
                             .evidence = row.Text("evidence")});
  }
}

void ReadWaste(schema::Database& database, ReportPlan* plan) {
  for (const schema::Record& row :
       schema::ReadView(database, "waste", {{"module_id", plan->module_id}}, "position")) {
    ReportWaste waste;
    waste.kind = row.Text("kind");
    waste.label = row.Text("label");
    waste.bytes = row.Integer("bytes");
    waste.weight_bytes = row.Integer("weight_bytes");
    waste.count = row.Integer("count");
    waste.shape = row.Text("shape");
    waste.made_by = PlaceOf(row, "source_file", "source_line", "op_name", "instruction");
    waste.partner = PlaceOf(row, "reader_file", "reader_line", "reader_op_name", "partner");
    waste.idle_percent = row.MaybeInteger("idle_percent");
    waste.dimension = row.MaybeInteger("dimension");
    waste.padded_from = row.MaybeInteger("padded_from");
    waste.padded_to = row.MaybeInteger("padded_to");
    waste.evidence = row.Text("evidence");
    plan->waste.push_back(std::move(waste));
  }
}

void ReadNeighbours(schema::Database& database, ReportPlan* plan) {
  for (const bool is_first : {true, false}) {
    for (const schema::Record& row : schema::ReadView(
             database, "co_residency",
             {{is_first ? "first_module_id" : "second_module_id", plan->module_id}}, "position")) {
      plan->neighbours.push_back(
          {.label = row.Text("label"),
           .name = row.Text(is_first ? "second_module_name" : "first_module_name"),
           .needs_low_bytes = row.MaybeInteger("needs_low_bytes"),
           .needs_high_bytes = row.Integer("needs_high_bytes"),
           .capacity_bytes = row.MaybeInteger("capacity_bytes"),
           .shared = MaybeFlag(row, "shared"),
           .fits = MaybeFlag(row, "fits")});
    }
  }
  std::stable_sort(plan->neighbours.begin(), plan->neighbours.end(),
                   [](const ReportNeighbour& a, const ReportNeighbour& b) {
                     return a.needs_high_bytes > b.needs_high_bytes;
                   });
}

}  // namespace

void ReadReportAnatomy(schema::Database& database, ReportPlan* plan) {
  ReadKinds(database, plan);
  ReadWaste(database, plan);
  ReadNeighbours(database, plan);
}

}  // namespace oomdb::cli
