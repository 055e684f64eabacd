#include "ingest/plan/pack/heap_groups.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace oomdb::ingest {
namespace {

using proto::HeapSimulatorTrace;
using Event = HeapSimulatorTrace::Event;

// One trace, replayed into groups. Events that can't be are passed over: ReplayHeap counts them.
class Grouper {
 public:
  explicit Grouper(const BufferAssignment& assignment)
      : assignment_(assignment),
        link_(assignment.buffers().size(), IdIndex::kNone),
        group_(assignment.buffers().size(), -1),
        references_(assignment.buffers().size(), 0),
        taken_at_(assignment.buffers().size(), 0) {}

  std::vector<HeapGroup> Replay(const HeapSimulatorTrace& trace) {
    for (int n = 0; n < trace.events_size(); ++n) {
      const Event& event = trace.events(n);
      const int32_t b = assignment_.FindBuffer(event.buffer_id());
      if (b == IdIndex::kNone) continue;
      if (event.kind() == Event::ALLOC) {
        if (link_[b] == IdIndex::kNone && references_[b] == 0) Take(b, b, n);
      } else if (event.kind() == Event::SHARE_WITH) {
        const int32_t with = assignment_.FindBuffer(event.share_with_canonical_id());
        if (with == IdIndex::kNone) continue;
        const int32_t root = RootOf(with);
        if (root == b || link_[b] != IdIndex::kNone || references_[b] != 0) continue;
        link_[b] = root;
        Take(root, b, n);
      } else if (event.kind() == Event::FREE) {
        Give(RootOf(b), n);
      }
    }
    for (HeapGroup& group : groups_) {
      if (references_[group.root] > 0) {
        group.intervals.push_back({taken_at_[group.root], trace.events_size()});
      }
    }
    return std::move(groups_);
  }

 private:
  int32_t RootOf(int32_t b) {
    int32_t root = b;
    while (link_[root] != IdIndex::kNone) root = link_[root];
    while (link_[b] != IdIndex::kNone) b = std::exchange(link_[b], root);
    return root;
  }

  void Take(int32_t root, int32_t member, int n) {
    if (group_[root] < 0) {
      group_[root] = static_cast<int32_t>(groups_.size());
      groups_.emplace_back().root = root;
      groups_.back().bytes = assignment_.buffers()[root].bytes;
      if (member != root) groups_.back().members.push_back({root, n});
    }
    groups_[group_[root]].members.push_back({member, n});
    if (references_[root]++ == 0) taken_at_[root] = n;
  }

  void Give(int32_t root, int n) {
    if (references_[root] == 0) return;
    if (--references_[root] == 0) {
      groups_[group_[root]].intervals.push_back({taken_at_[root], n});
    }
  }

  const BufferAssignment& assignment_;
  std::vector<int32_t> link_;
  std::vector<int32_t> group_;
  std::vector<int32_t> references_;
  std::vector<int64_t> taken_at_;
  std::vector<HeapGroup> groups_;
};

bool IsOfDeviceHeap(const HeapSimulatorTrace& trace, const BufferAssignment& assignment) {
  for (const Event& event : trace.events()) {
    const int32_t b = assignment.FindBuffer(event.buffer_id());
    if (b == IdIndex::kNone || !assignment.buffers()[b].IsTemp()) continue;
    return assignment.buffers()[b].memory_space == 0;
  }
  return false;
}

}  // namespace

std::vector<PackItem> ItemsOf(const std::vector<HeapGroup>& groups) {
  std::vector<PackItem> items;
  items.reserve(groups.size());
  for (const HeapGroup& group : groups) items.push_back({group.bytes, group.intervals});
  return items;
}

HeapGroups ReadHeapGroups(const proto::BufferAssignmentProto& proto,
                          const BufferAssignment& assignment) {
  HeapGroups heap;
  int64_t largest = -1;
  for (const HeapSimulatorTrace& trace : proto.heap_simulator_traces()) {
    if (!IsOfDeviceHeap(trace, assignment)) continue;
    std::vector<HeapGroup> groups = Grouper(assignment).Replay(trace);
    const int64_t peak = PeakOf(ItemsOf(groups)).bytes;
    if (peak <= largest) continue;
    largest = peak;
    heap.groups = std::move(groups);
    heap.trace = &trace;
  }
  const proto::BufferAllocationProto* allocation = nullptr;
  for (const HeapGroup& group : heap.groups) {
    for (const HeapGroup::Member& member : group.members) {
      const LogicalBuffer& buffer = assignment.buffers()[member.buffer];
      if (!buffer.IsTemp()) continue;
      if (allocation == nullptr) allocation = buffer.allocation;
      if (buffer.allocation != allocation || !buffer.offset_bytes) continue;
      heap.stored_bytes = std::max(heap.stored_bytes, *buffer.offset_bytes + buffer.bytes);
    }
  }
  return heap;
}

HeapRules HeapRulesOf(std::string_view platform) {
  if (platform == "tpu") return {HeapOrder::kTime, 16384};
  if (platform == "gpu") return {HeapOrder::kGlobal, 128};
  return {HeapOrder::kGlobal, 64};
}

double PackingCheck::Error() const {
  if (stored_bytes == 0) return 0;
  auto error = [this](int64_t bytes) {
    return static_cast<double>(bytes - stored_bytes) / static_cast<double>(stored_bytes);
  };
  const double in_order = error(packed_bytes);
  const double fallback = error(globally_packed_bytes);
  return std::abs(fallback) < std::abs(in_order) ? fallback : in_order;
}

PackingCheck CheckPacking(const HeapGroups& heap, const HeapRules& rules) {
  const std::vector<PackItem> items = ItemsOf(heap.groups);
  PackingCheck check;
  check.stored_bytes = heap.stored_bytes;
  check.packed_bytes = Pack(rules.order, items, rules.alignment);
  check.globally_packed_bytes =
      rules.order == HeapOrder::kGlobal ? check.packed_bytes : PackGlobally(items, rules.alignment);
  return check;
}

}  // namespace oomdb::ingest
