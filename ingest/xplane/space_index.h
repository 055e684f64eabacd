// The first pass over an XSpace: where its planes and lines are, and what their metadata says.
//
// Nothing is kept per event: memory grows with the metadata, not with the events. Names follow the
// lines on the wire, so events can only be understood in a second pass (line_walk.h).
#ifndef OOMDB_INGEST_XPLANE_SPACE_INDEX_H_
#define OOMDB_INGEST_XPLANE_SPACE_INDEX_H_

#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ingest/base/facts.h"
#include "ingest/base/wire.h"
#include "ingest/source/source.h"
#include "ingest/xplane/event_vocabulary.h"
#include "ingest/xplane/limits.h"
#include "ingest/xplane/window.h"

namespace oomdb::ingest {

// A table by metadata id. Recorders number metadata from 1, in no order, so ids up to a few times
// the number of entries are an array; a hostile or odd id still works.
template <typename T>
class IdTable {
 public:
  // Before the first entry: about how many there will be.
  void Expect(size_t count) { array_limit_ = static_cast<int64_t>(64 + 4 * count); }
  T& operator[](int64_t id) {
    if (id < 0 || id >= array_limit_) return others_[id];
    if (static_cast<size_t>(id) >= array_.size()) array_.resize(id + 1);
    return array_[id];
  }
  // A default T for ids that were never set.
  const T& at(int64_t id) const {
    static const T kNone{};
    if (id >= 0 && static_cast<size_t>(id) < array_.size()) return array_[id];
    if (others_.empty()) return kNone;
    const auto found = others_.find(id);
    return found == others_.end() ? kNone : found->second;
  }

 private:
  int64_t array_limit_ = 64;
  std::vector<T> array_;
  std::map<int64_t, T> others_;
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
  int64_t number = 0;  // Signed and unsigned alike; for kReference the id of the name.
  double real = 0;
  std::string_view text;  // Into the parsed bytes.
};
RawStat ParseAnyStat(std::string_view bytes);

// A stat as recorders write it: its id, then its one value. Whatever else is one goes to
// ParseAnyStat.
inline RawStat ParseStat(std::string_view bytes) {
  constexpr char kId = 1 << 3, kDouble = 2 << 3 | 1, kUnsigned = 3 << 3, kSigned = 4 << 3,
                 kText = 5 << 3 | 2, kBytes = 6 << 3 | 2, kReference = 7 << 3;
  const char* p = bytes.data();
  const char* const end = p + bytes.size();
  uint64_t id, number;
  if (p == end || *p++ != kId || !DecodeVarint(&p, end, &id) || p == end) {
    return ParseAnyStat(bytes);
  }
  RawStat stat;
  stat.metadata_id = static_cast<int64_t>(id);
  const char tag = *p++;
  switch (tag) {
    case kUnsigned:
    case kSigned:
    case kReference:
      if (!DecodeVarint(&p, end, &number) || p != end) return ParseAnyStat(bytes);
      stat.kind = tag == kReference ? RawStat::Kind::kReference : RawStat::Kind::kNumber;
      stat.number = static_cast<int64_t>(number);
      return stat;
    case kText:
    case kBytes:
      if (!DecodeVarint(&p, end, &number) || number != static_cast<uint64_t>(end - p)) {
        return ParseAnyStat(bytes);
      }
      stat.kind = RawStat::Kind::kText;
      stat.text = std::string_view(p, number);
      return stat;
    case kDouble:
      if (end - p != sizeof stat.real) return ParseAnyStat(bytes);
      stat.kind = RawStat::Kind::kDouble;
      std::memcpy(&stat.real, p, sizeof stat.real);
      return stat;
    default:
      return ParseAnyStat(bytes);
  }
}

struct EventMetadata {
  std::string name;
  EventMeaning meaning;  // Of the name: see event_vocabulary.h.
};

// One event_metadata entry of /host:metadata: a module.
struct ModuleMetadata {
  int64_t metadata_id = 0;
  std::string name;
  MaybeInt program_id;        // The stat.
  std::optional<Extent> hlo;  // Its HLO proto, in the source.
};

// A stat of the environment plane: Unix ns.
inline constexpr std::string_view kProfileStart = "profile_start_time";
inline constexpr std::string_view kProfileStop = "profile_stop_time";

struct PlaneIndex {
  enum class Kind { kHost, kMetadata, kGpu, kTpu, kEnvironment, kOther };
  Kind kind = Kind::kOther;
  int64_t ordinal = -1;  // N of /device:GPU:N.
  std::string name;
  std::vector<Extent> lines;
  IdTable<EventMetadata> events;
  IdTable<EventRole> roles;  // Of the events by their names: what is asked for every one of them.
  IdTable<StatKey> stat_keys;
  IdTable<std::string> stat_names;
  std::vector<ModuleMetadata> modules;  // kMetadata only.
  bool has_run_ids = false;             // Events may have the stat run_id...
  bool has_launch_ids = false;          // ... or say a module or a correlation id.
  // The plane's own stats, by name.
  std::unordered_map<std::string, int64_t> numbers;
  std::unordered_map<std::string, std::string> texts;
};

// The text of a stat of the plane, referred to or its own; empty when it is a number.
std::string_view TextOf(const RawStat& stat, const PlaneIndex& plane);

struct SpaceIndex {
  std::deque<PlaneIndex> planes;  // Whole ones only, of the kinds we read.
  std::vector<std::string> hostnames;
  bool truncated = false;
  CaptureIssues issues;
};

// Throws Error when the source is not an XSpace: empty, foreign content, or without a recognisable
// plane.
SpaceIndex IndexSpace(const Source& source);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_XPLANE_SPACE_INDEX_H_
