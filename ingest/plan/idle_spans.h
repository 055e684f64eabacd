// When what is live at the heap peak was last touched before it, and who reads it next: memory that
// is only waiting could be elsewhere meanwhile, or be computed again.
#ifndef OOMDB_INGEST_PLAN_IDLE_SPANS_H_
#define OOMDB_INGEST_PLAN_IDLE_SPANS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "ingest/plan/buffer_assignment.h"
#include "ingest/plan/heap_replay.h"
#include "ingest/plan/instructions.h"
#include "ingest/plan/limits.h"
#include "ingest/plan/roles.h"
#include "proto/hlo.pb.h"

namespace oomdb::ingest {

// In places of the entry computation's schedule: a loop is one of them.
struct EntrySpan {
  int64_t from = 0;  // The last that touches it up to the peak.
  int64_t to = 0;    // The next.
  InstructionNumber reader = IdIndex::kNone;
};

class IdleSpans {
 public:
  // All must outlive this.
  IdleSpans(const proto::HloModuleProto& module, const Instructions& instructions,
            const BufferAssignment& assignment, const HeapReplay& replay, NameStacks& stacks);

  // 0: the module has no schedule, and no spans are known.
  int64_t schedule_length() const { return static_cast<int64_t>(order_.size()); }

  // Of a temp that is live at the peak of the device memory. std::nullopt: nothing reads it after
  // the peak, or that is not known; then it isn't said to lie idle.
  std::optional<EntrySpan> Of(int32_t buffer);

 private:
  // The place of the entry's instruction that runs it; IdIndex::kNone: unknown.
  int32_t PlaceOf(InstructionNumber i) const;
  void FindPeak();

  const Instructions& instructions_;
  const BufferAssignment& assignment_;
  const HeapReplay& replay_;
  NameStacks& stacks_;
  std::vector<InstructionNumber> callers_;  // By computation.
  std::vector<InstructionNumber> order_;    // The entry's schedule.
  std::vector<int32_t> places_;             // By instruction, of the entry's.
  int32_t peak_ = IdIndex::kNone;
  int64_t steps_left_;
};

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_IDLE_SPANS_H_
