#include "ingest/dump/assignment_text.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "ingest/dump/text_plan.h"
#include "ingest/dump/used_values.h"

namespace oomdb::ingest {
namespace {

constexpr std::string_view kHead = "BufferAssignment:";
constexpr std::string_view kValue = " value: <";

// The part of a value's line between the angle brackets: `8 param.1{0} (phi) @0`.
bool ReadValueName(std::string_view text, PlanBuffer* buffer) {
  TextCursor cursor(text);
  const std::optional<int64_t> id = cursor.TakeNumber();
  if (!id.has_value() || !cursor.Take(" ")) return false;
  buffer->logical_buffer_id = *id;
  std::string_view name = cursor.rest();
  const size_t at = name.rfind(" @");
  if (at == std::string_view::npos) return false;
  const std::optional<int64_t> color = TextCursor(name.substr(at + 2)).TakeNumber();
  if (!color.has_value()) return false;
  buffer->memory_space = *color;
  name = name.substr(0, at);
  constexpr std::string_view kPhi = " (phi)";  // Several values become one here: a loop's.
  if (name.ends_with(kPhi)) name.remove_suffix(kPhi.size());
  buffer->shape_index = "{}";
  if (const size_t brace = name.rfind('{');
      name.ends_with('}') && brace != std::string_view::npos) {
    buffer->shape_index = name.substr(brace);
    name = name.substr(0, brace);
  }
  buffer->instruction = name;
  return !name.empty();
}

std::optional<PlanBuffer> ReadValue(std::string_view line, SizeGuard& guard, IssueLog& log) {
  TextCursor cursor(line);
  PlanBuffer buffer;
  if (!cursor.Take(kValue)) return std::nullopt;
  const std::optional<std::string_view> name = cursor.TakeUntil("> (size=");
  if (!name.has_value() || !ReadValueName(*name, &buffer)) return std::nullopt;
  const std::optional<int64_t> bytes = cursor.TakeNumber();
  if (!cursor.Take(",offset=")) return std::nullopt;
  const std::optional<int64_t> offset = cursor.TakeNumber();
  if (!cursor.Take("): ")) return std::nullopt;
  buffer.bytes = guard.Admit(bytes.value_or(-1), log);
  if (offset.value_or(-1) >= 0) buffer.offset_bytes = offset;
  SetShape(cursor.rest(), &buffer);
  return buffer;
}

}  // namespace

bool IsAssignmentText(std::string_view text) { return text.starts_with(kHead); }

Plan ReadAssignmentText(std::string_view text) {
  Plan plan;
  plan.has_buffer_assignment = true;
  IssueLog log;
  SizeGuard allocation_sizes;
  SizeGuard buffer_sizes;
  bool rounded = false;
  bool in_allocation = false;
  size_t position = 0;
  std::string_view line;
  while (NextLine(text, &position, &line)) {
    if (line.starts_with("Used values:")) break;
    if (line.starts_with("allocation ")) {
      std::optional<PlanAllocation> allocation =
          ParseAllocation(line, allocation_sizes, log, &rounded);
      in_allocation = allocation.has_value();
      if (in_allocation) {
        plan.allocations.push_back(*std::move(allocation));
        continue;
      }
    } else if (line.starts_with(kValue)) {
      std::optional<PlanBuffer> buffer = ReadValue(line, buffer_sizes, log);
      if (buffer.has_value()) {
        if (in_allocation) {
          const PlanAllocation& allocation = plan.allocations.back();
          buffer->allocation_index = allocation.index;
          buffer->allocation_class = allocation.allocation_class;
          buffer->memory_space = allocation.memory_space;
        }
        plan.buffers.push_back(*std::move(buffer));
        continue;
      }
    } else {
      continue;
    }
    log.Warn("plan_text_line",
             "a line of the text is cut or of an unknown form: " + std::string(line.substr(0, 80)));
  }
  std::stable_sort(plan.buffers.begin(), plan.buffers.end(),
                   [](const PlanBuffer& a, const PlanBuffer& b) {
                     return a.logical_buffer_id < b.logical_buffer_id;
                   });
  if (position < text.size()) ReadUsedValues(text.substr(position), &plan);
  SumAllocations(log, &plan);
  plan.issues = log.Take();
  return plan;
}

}  // namespace oomdb::ingest
