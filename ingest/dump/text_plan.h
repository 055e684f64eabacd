// What XLA's two text forms of a plan share: how they print an allocation, shapes and sizes, and
// the sums that a Plan needs.
#ifndef OOMDB_INGEST_DUMP_TEXT_PLAN_H_
#define OOMDB_INGEST_DUMP_TEXT_PLAN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/plan/limits.h"
#include "ingest/plan/plan.h"

namespace oomdb::ingest {

// Takes what is there at the front of a text; leaves the text as it is where it is not there.
class TextCursor {
 public:
  explicit TextCursor(std::string_view text) : rest_(text) {}

  std::string_view rest() const { return rest_; }
  bool empty() const { return rest_.empty(); }
  bool Take(std::string_view word);
  // std::nullopt for none, and for one that is not an int64 (which is taken).
  std::optional<int64_t> TakeNumber();
  // Up to `end`, which is taken too; std::nullopt when it never comes.
  std::optional<std::string_view> TakeUntil(std::string_view end);
  void SkipSpaces();

 private:
  std::string_view rest_;
};

// The next line of `text`, without its end (\n or \r\n), at *position, which is moved behind it.
// False at the end.
bool NextLine(std::string_view text, size_t* position, std::string_view* line);

// `123`, `4.00GiB`, `512B`: bytes. Sets *rounded when digits are missing. std::nullopt: not a size,
// or more than an int64.
std::optional<int64_t> ParseSize(std::string_view text, bool* rounded);

// One line `allocation <n>: size <size>[, …]…:`, as both forms print it:
//   color <n> | parameter <n>, shape |<shape>| at ShapeIndex {…} | output shape is |<shape>| |
//   constant | thread-local | maybe-live-out | preallocated-temp
// What else newer compilers print is passed over. std::nullopt when it is not such a line, or a cut
// one. Sizes that can't be count as 0.
std::optional<PlanAllocation> ParseAllocation(std::string_view line, SizeGuard& guard,
                                              IssueLog& log, bool* rounded);

// Splits `f32[8,128]{1,0:T(8,128)}` into the buffer's shape, layout, dtype and unpadded bytes; a
// tuple keeps no layout.
void SetShape(std::string_view text, PlanBuffer* buffer);

// Fills all that is summed over the plan's allocations, which it orders: the spaces, the sums and
// the donated parameters (those that may be live out). The heap's peak is in neither text: it is
// known only where there are no temps.
void SumAllocations(IssueLog& log, Plan* plan);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_DUMP_TEXT_PLAN_H_
