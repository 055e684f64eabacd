#include "ingest/dump/used_values.h"

#include <algorithm>
#include <optional>
#include <string>

#include "ingest/dump/text_plan.h"
#include "ingest/plan/roles.h"

namespace oomdb::ingest {
namespace {

PlanBuffer* FindBuffer(Plan* plan, int64_t id) {
  const auto found = std::lower_bound(
      plan->buffers.begin(), plan->buffers.end(), id,
      [](const PlanBuffer& buffer, int64_t wanted) { return buffer.logical_buffer_id < wanted; });
  return found != plan->buffers.end() && found->logical_buffer_id == id ? &*found : nullptr;
}

// Takes a shape, which in a tuple has spaces, and the space behind it.
void TakeShape(TextCursor& cursor) {
  const std::string_view text = cursor.rest();
  int depth = 0;
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '(' || text[at] == '{') ++depth;
    if (text[at] == ')' || text[at] == '}') --depth;
    if (text[at] == ' ' && depth == 0) break;
  }
  cursor.Take(text.substr(0, std::min(at + 1, text.size())));
}

// What stands in quotes behind `key`, without the escapes; empty: it is not there.
std::string Quoted(std::string_view metadata, std::string_view key) {
  std::string content;
  const size_t begin = metadata.find(key);
  if (begin == std::string_view::npos) return content;
  for (size_t at = begin + key.size(); at < metadata.size() && metadata[at] != '"'; ++at) {
    if (metadata[at] == '\\' && at + 1 < metadata.size()) ++at;
    content += metadata[at];
  }
  return content;
}

void ReadInstruction(std::string_view line, PlanBuffer& buffer) {
  TextCursor cursor(line);
  if (!cursor.TakeUntil(" = ").has_value()) return;
  TakeShape(cursor);
  buffer.opcode = cursor.TakeUntil("(").value_or("");
  constexpr std::string_view kMetadata = "metadata={";
  const size_t at = cursor.rest().find(kMetadata);
  if (at != std::string_view::npos) {
    const std::string_view metadata = cursor.rest().substr(at + kMetadata.size());
    buffer.op_name = Quoted(metadata, "op_name=\"");
    buffer.source_file = Quoted(metadata, "source_file=\"");
    constexpr std::string_view kLine = "source_line=";
    if (const size_t number = metadata.find(kLine); number != std::string_view::npos)
      buffer.source_line = TextCursor(metadata.substr(number + kLine.size())).TakeNumber();
  }
  if (buffer.allocation_class != AllocationClass::kTemp) return;
  if (buffer.opcode == "custom-call" && (buffer.dtype == "s8" || buffer.dtype == "u8")) {
    buffer.role = Role::kWorkspace;
  } else if (buffer.op_name.find('/') != std::string::npos) {
    buffer.role = RoleOf(buffer.op_name);
  }
}

}  // namespace

void ReadUsedValues(std::string_view text, Plan* plan) {
  PlanBuffer* buffer = nullptr;
  size_t position = 0;
  std::string_view line;
  while (NextLine(text, &position, &line)) {
    TextCursor cursor(line);
    if (cursor.Take("<")) {
      const std::optional<int64_t> id = cursor.TakeNumber();
      buffer = id.has_value() ? FindBuffer(plan, *id) : nullptr;
    } else if (buffer != nullptr && cursor.Take(" from instruction: ")) {
      ReadInstruction(cursor.rest(), *buffer);
      buffer = nullptr;
    }
  }
}

}  // namespace oomdb::ingest
