#include "ingest/dump/usage_report.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "ingest/dump/text_plan.h"

namespace oomdb::ingest {
namespace {

constexpr std::string_view kOldHead = "Total bytes used: ";
constexpr std::string_view kNewHead = "Memory Space: ";

class Reader {
 public:
  Plan Read(std::string_view text) {
    plan_.has_buffer_assignment = true;
    size_t position = 0;
    std::string_view line;
    while (NextLine(text, &position, &line)) ReadLine(line);
    if (plan_.classes_known) {
      SumAllocations(log_, &plan_);
    } else {
      // Without the device's total, as in a text that is cut, no size is known.
      const auto device = totals_.find(0);
      plan_.has_buffer_assignment = device != totals_.end();
      if (device != totals_.end()) plan_.plan_bytes = plan_.peak_bytes = device->second;
      log_.Warn("plan_classes_unknown",
                "a memory-usage report says the sum of all allocations, not what they are for; "
                "the -buffer-assignment.txt beside it would");
    }
    if (rounded_) {
      log_.Warn("plan_sizes_rounded",
                "read from a memory-usage report, whose sizes are rounded to a few digits");
    }
    plan_.issues = log_.Take();
    return std::move(plan_);
  }

 private:
  void ReadLine(std::string_view line) {
    TextCursor cursor(line);
    if (cursor.Take(kNewHead)) {
      plan_.classes_known = false;
      allocation_.reset();
      if (cursor.TakeUntil("(color=").has_value()) memory_space_ = cursor.TakeNumber().value_or(0);
    } else if (cursor.Take("Total bytes: ")) {
      const int64_t total = cursor.TakeNumber().value_or(-1);
      const int64_t bytes = totals_guard_.Admit(total, log_);
      if (bytes == total) totals_[memory_space_] = bytes;
    } else if (line.starts_with("allocation ")) {
      // The head of its slots, after the list of all.
      bool ignored = false;
      SizeGuard guard;
      allocation_ = ParseAllocation(line, guard, log_, &ignored);
    } else {
      cursor.SkipSpaces();
      if (cursor.Take("The rest ")) {
        const int64_t missing = cursor.TakeNumber().value_or(1);
        log_.Warn("plan_report_cut", "a memory-usage report leaves out what is small: " +
                                         std::to_string(missing) + " entries, not counted here");
      } else {
        ReadRow(cursor);
      }
    }
  }

  // `<cumulative>(<n>%); <rest>; allocation …:` or `<cumulative>(<n>%); <size>; <offset>; <n>;
  // <shapes>`.
  void ReadRow(TextCursor cursor) {
    if (!cursor.TakeUntil("%);").has_value()) return;
    cursor.SkipSpaces();
    const std::optional<std::string_view> size = cursor.TakeUntil(";");
    if (!size.has_value()) return Odd(cursor.rest());
    cursor.SkipSpaces();
    if (cursor.rest().starts_with("allocation ")) {
      std::optional<PlanAllocation> allocation =
          ParseAllocation(cursor.rest(), allocations_guard_, log_, &rounded_);
      if (!allocation.has_value()) return Odd(cursor.rest());
      plan_.allocations.push_back(*std::move(allocation));
      return;
    }
    PlanBuffer slot;
    const std::optional<int64_t> offset = cursor.TakeNumber();
    if (!offset.has_value() || *offset < 0 || !cursor.Take(";")) return Odd(cursor.rest());
    cursor.SkipSpaces();
    if (!cursor.TakeNumber().has_value() || !cursor.Take("; ")) return Odd(cursor.rest());
    slot.logical_buffer_id = static_cast<int64_t>(plan_.buffers.size());
    slot.offset_bytes = offset;
    slot.bytes = slots_guard_.Admit(ParseSize(*size, &rounded_).value_or(-1), log_);
    slot.shape = cursor.rest();
    slot.memory_space = memory_space_;
    if (allocation_.has_value()) {
      slot.memory_space = allocation_->memory_space;
      slot.allocation_index = allocation_->index;
      slot.allocation_class = allocation_->allocation_class;
    }
    plan_.buffers.push_back(std::move(slot));
  }

  void Odd(std::string_view rest) {
    log_.Warn("plan_text_line", "a line of the text is cut or of an unknown form: … " +
                                    std::string(rest.substr(0, 80)));
  }

  Plan plan_;
  IssueLog log_;
  SizeGuard allocations_guard_;
  SizeGuard slots_guard_;
  SizeGuard totals_guard_;
  std::map<int64_t, int64_t> totals_;  // By memory space; the newer form's.
  int64_t memory_space_ = 0;
  std::optional<PlanAllocation> allocation_;  // Whose slots follow; the older form's.
  bool rounded_ = false;
};

}  // namespace

bool IsUsageReport(std::string_view text) {
  return text.starts_with(kOldHead) || text.starts_with(kNewHead);
}

Plan ReadUsageReport(std::string_view text) { return Reader().Read(text); }

}  // namespace oomdb::ingest
