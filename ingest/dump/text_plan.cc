#include "ingest/dump/text_plan.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

#include "base/ascii.h"
#include "ingest/plan/buffer_assignment.h"
#include "ingest/plan/printed_shape.h"
#include "ingest/plan/shape.h"

namespace oomdb::ingest {
namespace {

// The elements of `(a[1,2], b[], …)`, of the outermost tuple only.
int64_t TupleSize(std::string_view shape) {
  int64_t elements = 0;
  int depth = 0;
  bool any = false;
  for (const char c : shape) {
    if (c == ')' || c == ']') --depth;
    if (c == ',' && depth == 1) ++elements;
    if (depth >= 1) any = true;
    if (c == '(' || c == '[') ++depth;
  }
  return shape == "()" || !any ? 0 : elements + 1;
}

void TakeAttribute(TextCursor& cursor, PlanAllocation& allocation, bool& live_out) {
  // The class is the first that holds; a parameter that may be live out is donated.
  auto becomes = [&allocation](AllocationClass c) {
    allocation.allocation_class = std::min(allocation.allocation_class, c);
  };
  if (cursor.Take("color ")) {
    allocation.memory_space = cursor.TakeNumber().value_or(0);
  } else if (cursor.Take("parameter ")) {
    becomes(AllocationClass::kParameter);
    allocation.parameter_number = cursor.TakeNumber();
    if (cursor.Take(", shape |")) allocation.shape = cursor.TakeUntil("|").value_or("");
    if (cursor.Take(" at ShapeIndex {")) {
      const std::optional<std::string_view> index = cursor.TakeUntil("}");
      if (index.has_value()) allocation.parameter_shape_index = "{" + std::string(*index) + "}";
    }
  } else if (cursor.Take("output shape is |")) {
    allocation.is_tuple = cursor.rest().starts_with('(');
    cursor.TakeUntil("|");
  } else if (cursor.Take("constant")) {
    becomes(AllocationClass::kConstant);
  } else if (cursor.Take("thread-local")) {
    becomes(AllocationClass::kThreadLocal);
  } else if (cursor.Take("maybe-live-out")) {
    becomes(AllocationClass::kOutput);
    live_out = true;
  }
}

}  // namespace

bool TextCursor::Take(std::string_view word) {
  if (!rest_.starts_with(word)) return false;
  rest_.remove_prefix(word.size());
  return true;
}

std::optional<int64_t> TextCursor::TakeNumber() {
  int64_t number = 0;
  const auto [stop, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
  rest_.remove_prefix(static_cast<size_t>(stop - rest_.data()));
  if (error != std::errc()) return std::nullopt;
  return number;
}

std::optional<std::string_view> TextCursor::TakeUntil(std::string_view end) {
  const size_t at = rest_.find(end);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view taken = rest_.substr(0, at);
  rest_.remove_prefix(at + end.size());
  return taken;
}

void TextCursor::SkipSpaces() {
  while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) rest_.remove_prefix(1);
}

bool NextLine(std::string_view text, size_t* position, std::string_view* line) {
  if (*position >= text.size()) return false;
  size_t end = text.find('\n', *position);
  if (end == std::string_view::npos) end = text.size();
  *line = text.substr(*position, end - *position);
  if (line->ends_with('\r')) line->remove_suffix(1);
  *position = end + 1;
  return true;
}

std::optional<int64_t> ParseSize(std::string_view text, bool* rounded) {
  int64_t whole = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, whole);
  if (error != std::errc()) return std::nullopt;
  std::string_view rest = text.substr(static_cast<size_t>(stop - text.data()));
  if (rest.empty() || rest == "B") return whole;
  double value = static_cast<double>(whole);
  if (rest.starts_with('.')) {
    size_t digits = 1;
    while (digits < rest.size() && IsDigit(rest[digits])) ++digits;
    double fraction = 0;
    for (size_t i = digits - 1; i > 0; --i) fraction = (fraction + (rest[i] - '0')) / 10;
    value += fraction;
    rest.remove_prefix(digits);
  }
  constexpr std::string_view kUnits = "KMGTPE";
  const size_t unit = rest.empty() ? std::string_view::npos : kUnits.find(rest.front());
  if (unit == std::string_view::npos || rest.substr(1) != "iB") return std::nullopt;
  value = std::ldexp(value, 10 * (static_cast<int>(unit) + 1));
  if (!(std::abs(value) < 0x1p62)) return std::nullopt;
  *rounded = true;
  return std::llround(value);
}

std::optional<PlanAllocation> ParseAllocation(std::string_view line, SizeGuard& guard,
                                              IssueLog& log, bool* rounded) {
  TextCursor cursor(line);
  if (!cursor.Take("allocation ")) return std::nullopt;
  PlanAllocation allocation;
  const std::optional<int64_t> index = cursor.TakeNumber();
  if (!index.has_value() || *index < 0 || !cursor.Take(": size ")) return std::nullopt;
  allocation.index = *index;
  const std::string_view size = cursor.rest().substr(0, cursor.rest().find_first_of(",:"));
  cursor.Take(size);
  const int64_t bytes = ParseSize(size, rounded).value_or(-1);

  bool live_out = false;
  while (cursor.Take(", ")) {
    const size_t before = cursor.rest().size();
    TakeAttribute(cursor, allocation, live_out);
    // An unknown attribute, or what is left of one.
    if (cursor.rest().size() == before || !(cursor.rest().starts_with(',') || cursor.rest() == ":"))
      cursor.Take(cursor.rest().substr(0, cursor.rest().find_first_of(",:")));
  }
  // What is cut off may be what its class follows from.
  if (cursor.rest() != ":") return std::nullopt;
  allocation.bytes = guard.Admit(bytes, log);
  if (allocation.allocation_class == AllocationClass::kParameter) {
    allocation.aliased_output = live_out;
    allocation.is_tuple = allocation.shape.starts_with('(');
  }
  return allocation;
}

void SetShape(std::string_view text, PlanBuffer* buffer) {
  buffer->shape = WithoutLayouts(text);
  if (text.starts_with('(')) {
    constexpr int64_t kPointerBytes = 8;
    buffer->dtype = DtypeName(kTuple);
    buffer->unpadded_bytes = kPointerBytes * TupleSize(buffer->shape);
    return;
  }
  if (const size_t brace = text.find('{'); brace != std::string_view::npos)
    buffer->layout = text.substr(brace);
  if (const std::optional<PrintedShape> shape = ParsePrintedShape(text)) {
    buffer->dtype = shape->dtype;
    buffer->unpadded_bytes = shape->DenseBytes();
  }
}

void SumAllocations(IssueLog& log, Plan* plan) {
  const auto by_index = [](const PlanAllocation& a, const PlanAllocation& b) {
    return a.index < b.index;
  };
  const auto same_index = [](const PlanAllocation& a, const PlanAllocation& b) {
    return a.index == b.index;
  };
  std::stable_sort(plan->allocations.begin(), plan->allocations.end(), by_index);
  const auto end = std::unique(plan->allocations.begin(), plan->allocations.end(), same_index);
  if (end != plan->allocations.end()) {
    log.Warn("plan_duplicate_id", "two buffer allocations have the same index; the first counts");
    plan->allocations.erase(end, plan->allocations.end());
  }
  SumByClass(plan);
  for (const PlanAllocation& allocation : plan->allocations)
    plan->donated_parameter_count += allocation.aliased_output == true;
  for (PlanMemory& space : plan->spaces) {
    if (space.temp_bytes == 0) space.heap_peak_bytes = 0;
    if (space.memory_space == 0) plan->heap_peak_bytes = space.heap_peak_bytes;
  }
  plan->peak_bytes = plan->plan_bytes;
}

}  // namespace oomdb::ingest
