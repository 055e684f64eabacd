// What serving engines and training programs log of a device's memory on their way: it tells what
// a failure that comes later found.
#ifndef OOMDB_INGEST_LOG_ENGINE_MEMORY_H_
#define OOMDB_INGEST_LOG_ENGINE_MEMORY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/base/facts.h"

namespace oomdb::ingest {

// Stands in every such line, and in hardly any other: a pattern.
inline constexpr std::string_view kEngineMemoryLines =
    R"(\bhbm=\[\(|total_hbm_limit_gb=|Using \(GB\) [0-9])";

struct EngineMemory {
  std::string form;  // K8: of a serving engine; K9: of a training program.
  bool host = false;
  MaybeInt used;
  MaybeInt capacity;
  MaybeInt device;
  int64_t line = 0;
  std::string message;

  // Takes what `other`, of a later line, says. Of several devices in a row the fullest counts.
  void Take(EngineMemory&& other);
};

// std::nullopt when an unwrapped line says nothing of the kind.
std::optional<EngineMemory> ReadEngineMemory(std::string_view line);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_LOG_ENGINE_MEMORY_H_
