// Reports of several lines. Each kind has a reader that takes the lines that are its own; others
// may stand between them, since processes write into one log at once.
#ifndef OOMDB_INGEST_LOG_BLOCK_H_
#define OOMDB_INGEST_LOG_BLOCK_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "ingest/log/oom_event.h"

namespace oomdb::ingest {

// What one event may list; a text can't make us hold more.
inline constexpr size_t kMaxBuffersPerEvent = 10000;
inline constexpr size_t kMaxChunksPerEvent = 1000000;

class Block {
 public:
  virtual ~Block() = default;
  // Reads an unwrapped line; false, and nothing changed, when it is not of this report.
  virtual bool Take(std::string_view line) = 0;
  // What was read, to be filed as an event of its own or to complete the one before it.
  // std::nullopt when it says nothing.
  virtual std::optional<OomEvent> Finish() = 0;
};

struct BlockKind {
  std::string_view opener;  // A pattern of the lines that one can begin with, or go on with.
  std::unique_ptr<Block> (*make)();
  // Whether a report belongs to the failure that stands before it.
  bool (*belongs)(const OomEvent& failure, const OomEvent& report);
};

const BlockKind& TpuReportKind();       // T2, T3, T4, V1
const BlockKind& BufferReportKind();    // B1, B2
const BlockKind& AllocatorDumpKind();   // A3 to A9
const BlockKind& UsageRowsKind();       // D4
const BlockKind& CompiledStatsKind();   // K1
const BlockKind& AllocatorStatsKind();  // K3, K7
const BlockKind& PlanSizesKind();       // K5, K6

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_LOG_BLOCK_H_
