// A failure while its text is read: the facts, and what is needed to tell repeats from news.
#ifndef OOMDB_INGEST_LOG_OOM_EVENT_H_
#define OOMDB_INGEST_LOG_OOM_EVENT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/base/facts.h"

namespace oomdb::ingest {

// What a figure or a word in a text means: a column of oom_events, or of the one buffer named.
enum class Field : unsigned char {
  kNone,
  kSpace,
  kAllocator,
  kDevice,
  kModule,
  kRequested,
  kCapacity,
  kUsed,
  kExceeded,
  kTotal,
  kReserved,
  kProgram,
  kArguments,
  kTemp,
  kOutput,
  kAlias,
  kConstant,
  kFree,
  kLargestFree,
  kFragmentation,
  kTensorCore,
  kSparseCore,
  kShape,
  kLabel,
  kOpName,
  kTag,
};

// What may follow a line, and which other lines are the same failure in other words.
enum class Family : unsigned char {
  kOther,
  kTpuCompile,      // A report of the program's needs may follow.
  kRequest,         // An allocator's or a runtime's request that failed.
  kBackOff,         // A driver's attempts, each a tenth smaller.
  kUnverifiedPlan,  // After the rows of a memory usage report.
};

struct OomEvent {
  OomEventFact fact;
  Family family = Family::kOther;
  int64_t requested_slack = 0;  // How far the true request may be from the printed one.
  int64_t last_line = 0;
  int64_t last_bytes = 0;  // kBackOff: the attempt before.
  bool dropped = false;    // Another event says the same.
  std::vector<OomBufferFact> buffers;
  std::vector<OomChunkFact> chunks;

  // The column of a field that holds bytes; null for the others.
  MaybeInt* Bytes(Field field);
  // How many of its figures and names are.
  int64_t known();
  // Sets a field to what is printed; what can't be read as a size leaves it as it was.
  void Set(Field field, std::string_view text);
  // Takes from `other` what is unknown here. Its buffers and chunks too, where there are none.
  void Complete(OomEvent&& other);
};

// `text` as a size; std::nullopt when it is not one or stands for "unknown".
MaybeInt Bytes(std::string_view text);

// gpu or host, by an allocator's name; empty: unknown.
std::string SpaceOfAllocator(std::string_view allocator);
// The N of GPU_N_bfc and gpu_async_N.
MaybeInt OrdinalInAllocator(std::string_view allocator);
// As the database calls a memory space that a text names: HBM is hbm, SparseCore's ids have names.
std::string SpaceName(std::string_view printed);

// The parts of an operator's metadata (`op_name="…" source_file="…" source_line=3`), also without
// the closing quote of what was cut off.
void ReadOperator(std::string_view metadata, OomBufferFact* buffer);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_LOG_OOM_EVENT_H_
