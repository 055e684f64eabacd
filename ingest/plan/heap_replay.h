// The heap simulator traces, replayed: how many bytes of a memory space are live at once, which
// buffers those are, and when each lives.
//
// ALLOC adds a buffer's bytes, FREE takes them away at the last reference. SHARE_WITH makes a
// buffer another name of the root of a chain: it adds a reference to the root and revives it,
// adding its bytes again, when it had been freed. FREE of a sharer counts at its root.
//
// A trace belongs to the temp allocation that owns its buffers: its own index field is often stale.
// One temp allocation can have several traces and a space several temp allocations; the heap peak
// of a space is that of the trace where it is largest.
#ifndef OOMDB_INGEST_PLAN_HEAP_REPLAY_H_
#define OOMDB_INGEST_PLAN_HEAP_REPLAY_H_

#include <cstdint>
#include <map>
#include <vector>

#include "ingest/plan/buffer_assignment.h"
#include "ingest/plan/limits.h"
#include "ingest/plan/plan.h"
#include "proto/hlo.pb.h"

namespace oomdb::ingest {

// When a buffer lives, in event positions of its trace: its memory is taken by event `first_live`
// and given back by event `last_live`; the trace's last event when it never is. A buffer that
// shares another's memory without reviving it: from its SHARE_WITH to its own FREE.
struct Lifetime {
  MaybeInt first_live;
  MaybeInt last_live;
  bool at_peak = false;
};

struct HeapReplay {
  std::map<int64_t, int64_t> peak_bytes;  // By memory space; a space without a trace has none.
  std::vector<Lifetime> lifetimes;        // In step with BufferAssignment::buffers().
  // By buffer: the buffers that take over its memory directly (SHARE_WITH), in trace order.
  std::vector<std::vector<int32_t>> sharers;
};

// Linear in the traces (but for the look-up of ids). Inconsistent events are passed over and
// counted.
HeapReplay ReplayHeap(const proto::BufferAssignmentProto& proto, const BufferAssignment& assignment,
                      IssueLog& log);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_HEAP_REPLAY_H_
