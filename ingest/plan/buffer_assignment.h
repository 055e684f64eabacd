// The compiler's buffer assignment: allocations by class and memory space, and the logical buffers
// in them.
#ifndef OOMDB_INGEST_PLAN_BUFFER_ASSIGNMENT_H_
#define OOMDB_INGEST_PLAN_BUFFER_ASSIGNMENT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ingest/plan/id_index.h"
#include "ingest/plan/instructions.h"
#include "ingest/plan/limits.h"
#include "ingest/plan/plan.h"
#include "ingest/plan/sharding.h"
#include "proto/hlo.pb.h"

namespace oomdb::ingest {

// The class of an allocation, the first that holds: parameter, constant, thread_local, output, else
// temp.
AllocationClass ClassOf(const proto::BufferAllocationProto& allocation);

// The name of a memory space: XLA's colors as its reports name them, and 5 as JAX uses it.
std::string SpaceName(int64_t memory_space);

// One logical buffer, resolved.
struct LogicalBuffer {
  int64_t id = 0;
  int64_t bytes = 0;
  int64_t memory_space = 0;  // Its allocation's, else its own color.
  ValueAt value;             // What defines it; instruction kNone when unknown.
  const proto::BufferAllocationProto* allocation = nullptr;
  MaybeInt offset_bytes;

  bool IsTemp() const {
    return allocation != nullptr && ClassOf(*allocation) == AllocationClass::kTemp;
  }
};

class BufferAssignment {
 public:
  static constexpr int32_t kNone = IdIndex::kNone;

  // `assignment` and `instructions` must outlive this.
  BufferAssignment(const proto::BufferAssignmentProto& assignment, const Instructions& instructions,
                   IssueLog& log);

  // Ascending index; of two with one index the first counts.
  const std::vector<const proto::BufferAllocationProto*>& allocations() const {
    return allocations_;
  }
  // In step with allocations(): their sizes, those that can't be as 0.
  const std::vector<int64_t>& allocation_bytes() const { return allocation_bytes_; }
  // Ascending id.
  const std::vector<LogicalBuffer>& buffers() const { return buffers_; }
  // Positions in buffers(), or kNone.
  int32_t FindBuffer(int64_t id) const { return buffer_ids_.Find(id); }
  int32_t FindBufferOf(const ValueAt& value) const;

 private:
  void ReadAllocations(const proto::BufferAssignmentProto& assignment, IssueLog& log);
  void ReadBuffers(const proto::BufferAssignmentProto& assignment, const Instructions& instructions,
                   IssueLog& log);
  void Assign(IssueLog& log);

  std::vector<const proto::BufferAllocationProto*> allocations_;
  std::vector<int64_t> allocation_bytes_;
  std::vector<LogicalBuffer> buffers_;
  IdIndex buffer_ids_;
  std::vector<int32_t> by_value_;  // Positions in buffers(), ordered by value.
};

// The distinct (parameter, index) pairs that the module's input-output alias table donates,
// ordered.
using DonatedParameters = std::vector<std::pair<int64_t, ShapeIndex>>;
DonatedParameters ReadDonated(const proto::HloModuleProto& module);

// From plan->allocations: the sums by class of every memory space and of the module (the default
// space), the number of parameters and the donated bytes. What the heap needs is not among them.
void SumByClass(Plan* plan);

// Fills the plan's allocations, its spaces (without heap peaks) and the sums over them.
void ReadAllocationFacts(const BufferAssignment& assignment, const Instructions& instructions,
                         const DonatedParameters& donated, ParameterShardings& shardings,
                         TextBudget& text, Plan* plan);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_BUFFER_ASSIGNMENT_H_
