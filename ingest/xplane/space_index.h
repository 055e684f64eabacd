// The first pass over an XSpace: where its planes and lines are, and what their metadata says.
//
// Nothing is kept per event: memory grows with the metadata, not with the events. Names follow the lines
// on the wire, so events can only be understood in a second pass (line_walk.h).
#ifndef OOMDB_INGEST_XPLANE_SPACE_INDEX_H_
#define OOMDB_INGEST_XPLANE_SPACE_INDEX_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ingest/base/facts.h"
#include "ingest/source/source.h"
#include "ingest/xplane/event_vocabulary.h"
#include "ingest/xplane/window.h"

namespace oomdb {

// A table by metadata id. Recorders number metadata from 1, so small ids are an array; a hostile or odd id
// still works.
template <typename T>
class IdTable {
 public:
  static constexpr int64_t kDense = 1 << 20;
  T& operator[](int64_t id) {
    if (id < 0 || id >= kDense) return sparse_[id];
    if (static_cast<size_t>(id) >= dense_.size()) dense_.resize(id + 1);
    return dense_[id];
  }
  // A default T for ids that were never set.
  const T& at(int64_t id) const {
    static const T kNone{};
    if (id >= 0 && id < kDense) {
      return static_cast<size_t>(id) < dense_.size() ? dense_[id] : kNone;
    }
    const auto found = sparse_.find(id);
    return found == sparse_.end() ? kNone : found->second;
  }

 private:
  std::vector<T> dense_;
  std::unordered_map<int64_t, T> sparse_;
};

// A range of the source.
struct Extent {
  uint64_t position = 0;
  uint64_t length = 0;
};

// One stat of an event, of an event's metadata or of a plane, before references are resolved.
struct RawStat {
  enum class Kind { kNone, kNumber, kDouble, kText, kReference };
  int64_t metadata_id = 0;
  Kind kind = Kind::kNone;
  int64_t number = 0;      // Signed and unsigned alike; for kReference the id of the name.
  double real = 0;
  std::string_view text;   // Into the parsed bytes.
};
RawStat ParseStat(std::string_view bytes);

struct EventMetadata {
  std::string name;
  EventMeaning meaning;  // Of the name: see event_vocabulary.h.
};

// One event_metadata entry of /host:metadata: a module.
struct ModuleMetadata {
  int64_t metadata_id = 0;
  std::string name;
  MaybeInt program_id;          // The stat.
  std::optional<Extent> hlo;    // Its HLO proto, in the source.
};

struct PlaneIndex {
  enum class Kind { kHost, kMetadata, kGpu, kTpu, kEnvironment, kOther };
  Kind kind = Kind::kOther;
  int64_t ordinal = -1;  // N of /device:GPU:N.
  std::string name;
  std::vector<Extent> lines;
  IdTable<EventMetadata> events;
  IdTable<StatKey> stat_keys;
  IdTable<std::string> stat_names;
  std::vector<ModuleMetadata> modules;  // kMetadata only.
  // The plane's own stats, by name.
  std::unordered_map<std::string, int64_t> numbers;
  std::unordered_map<std::string, std::string> texts;
};

struct SpaceIndex {
  std::deque<PlaneIndex> planes;  // Whole ones only.
  std::vector<std::string> hostnames;
  bool truncated = false;
  std::vector<IssueFact> issues;
};

// Throws Error when the source is no XSpace: empty, foreign content, or not one recognisable plane.
SpaceIndex IndexSpace(const Source& source);

}  // namespace oomdb

#endif  // OOMDB_INGEST_XPLANE_SPACE_INDEX_H_
