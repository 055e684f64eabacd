// What an importer is: the interface of every format's folder. The list of them stands above, in
// ingest/importers.h.
#ifndef OOMDB_INGEST_BASE_IMPORTER_H_
#define OOMDB_INGEST_BASE_IMPORTER_H_

#include <cstdint>
#include <string_view>

#include "ingest/base/facts.h"
#include "ingest/source/source.h"

namespace oomdb::ingest {

class PlanCache;

enum class EventSelection { kNone, kMemory, kAll };  // --events: which host_events are stored.

struct ImportOptions {
  EventSelection events = EventSelection::kMemory;
  // An allocating span in which the thread records nothing for this long waited (the setting
  // wait_min_ns).
  int64_t wait_min_ns = 1'000'000'000;
  // The plans of other captures of the job, which this one may share; null: none are kept.
  PlanCache* plans = nullptr;
  // Plans below this size (bytes), and below this share of a capacity that is known (per cent), are
  // not asked what they would need with each remedy (the settings changes_min_...). The capacity: of
  // the setting capacity_bytes, which goes before those that captures tell.
  int64_t changes_min_bytes = 16 << 20;
  int64_t changes_min_percent = 50;
  MaybeInt capacity_bytes;
  // Plans below this size (bytes) come without their replay (the setting replay_min_bytes).
  int64_t replay_min_bytes = 1 << 20;

  // Whether to ask a plan of so many bytes. `capacity`: what its device may use; not given: unknown.
  bool WantsChanges(int64_t plan_bytes, MaybeInt capacity) const {
    if (capacity_bytes) capacity = capacity_bytes;
    return plan_bytes >= changes_min_bytes &&
           (!capacity || plan_bytes / 100 >= *capacity / 10000 * changes_min_percent);
  }
};

struct Importer {
  std::string_view name;  // xplane, hlo, plan_text, device_memory_profile, log
  // True when the file name claims this format: in a folder, files that none claims are passed
  // over.
  bool (*claims)(std::string_view file_name);
  // Hands every fact to `sink`. Throws Error, with a clear line, when the content is not of this
  // format (nothing may have been handed over by then that would mislead: the job discards it all).
  void (*import)(const Source& source, const ImportOptions& options, FactSink& sink);
  // For a format that names don't tell, else null. In a folder, a file whose name is claimed is
  // read when this is true of its content. `named`: the file itself was asked for; one whose name
  // no other importer claims is read when this is true, whatever its name.
  bool (*holds)(const Source& source, bool named) = nullptr;
};

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_BASE_IMPORTER_H_
