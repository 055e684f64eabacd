// The groups of a heap: each value of the trace with all that takes over its memory (SHARE_WITH),
// which therefore have one place; and the check that packing them again gives the stored heap.
#ifndef OOMDB_INGEST_PLAN_PACK_HEAP_GROUPS_H_
#define OOMDB_INGEST_PLAN_PACK_HEAP_GROUPS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "ingest/plan/buffer_assignment.h"
#include "ingest/plan/pack/pack.h"
#include "proto/hlo.pb.h"

namespace oomdb::ingest {

struct HeapGroup {
  struct Member {
    int32_t buffer = 0;  // In BufferAssignment::buffers().
    int32_t event = 0;   // That makes it a member.
  };
  int32_t root = 0;  // The buffer whose size the group has.
  int64_t bytes = 0;
  std::vector<HeapInterval> intervals;  // In events of the trace.
  std::vector<Member> members;          // The root first.
};

struct HeapGroups {
  std::vector<HeapGroup> groups;  // In the order in which the trace allocates them.
  const proto::HeapSimulatorTrace* trace = nullptr;  // Null: the plan has none.
  // Where the trace's last buffer ends in its allocation: the stored size of this heap, bytes.
  int64_t stored_bytes = 0;
};

// Those of device memory (space 0): the trace with the largest peak when there are several.
HeapGroups ReadHeapGroups(const proto::BufferAssignmentProto& proto,
                          const BufferAssignment& assignment);

// How the heap of a platform ("cpu", "gpu", "tpu") is laid out.
struct HeapRules {
  HeapOrder order = HeapOrder::kGlobal;
  int64_t alignment = 64;  // bytes
};
HeapRules HeapRulesOf(std::string_view platform);

// The unchanged plan, packed again.
struct PackingCheck {
  int64_t stored_bytes = 0;
  int64_t packed_bytes = 0;
  // TPU: what the compiler falls back to for a program that does not fit; otherwise packed_bytes.
  int64_t globally_packed_bytes = 0;

  // The stored heap less what is computed, as a fraction of the stored one; the fallback counts
  // when it is closer. 0: no heap.
  double Error() const;
};
PackingCheck CheckPacking(const HeapGroups& heap, const HeapRules& rules);

// The groups as items; `groups` must outlive them.
std::vector<PackItem> ItemsOf(const std::vector<HeapGroup>& groups);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_PACK_HEAP_GROUPS_H_
