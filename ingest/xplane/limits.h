// What keeps the reading of an untrusted capture bounded: how many things of a kind are kept (far
// above what recorders write), and a log that counts equal problems instead of repeating them.
#ifndef OOMDB_INGEST_XPLANE_LIMITS_H_
#define OOMDB_INGEST_XPLANE_LIMITS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ingest/base/facts.h"

namespace oomdb::ingest {

inline constexpr size_t kMaxPlanes = 10'000;         // A host with 8 GPUs has a dozen.
inline constexpr size_t kMaxLines = 200'000;         // Of all planes: threads and streams.
inline constexpr size_t kMaxKeptEvents = 1 << 24;    // Of the timeline: 100 bytes each.
inline constexpr size_t kMaxExecutions = 2'000'000;  // 300 bytes each.
// A metadata entry above this is not looked into. HLO protos of tens of MB are normal, names are
// short.
inline constexpr uint64_t kMaxModuleBytes = uint64_t{1} << 30;
inline constexpr uint64_t kMaxMetadataBytes = uint64_t{16} << 20;
inline constexpr size_t kMaxNameBytes = 64 << 10;  // Longer names are cut.
// Events longer than this are passed over: no recorder writes one.
inline constexpr uint64_t kMaxEventBytes = uint64_t{16} << 20;
// No allocator has this many bytes, and all allocations of a capture together have at most the
// second number: sums of them stay exact, here and in SQL.
inline constexpr int64_t kMaxAllocatorBytes = int64_t{1} << 50;
inline constexpr int64_t kMaxAllocatedBytes = int64_t{1} << 60;
// Of the spans around an allocation, this many are asked what it is for.
inline constexpr int kMaxSpansAround = 64;

// The problems of one capture: the first ones of a kind each on a line, the others counted on the
// last.
class CaptureIssues {
 public:
  void Add(std::string severity, std::string what, std::string detail, int64_t count = 1) {
    constexpr int kMaxDescribed = 20;
    Seen& seen = seen_[what];
    if (seen.described == kMaxDescribed) {
      issues_[seen.last].count += count;
      return;
    }
    ++seen.described;
    seen.last = issues_.size();
    issues_.push_back({std::move(severity), std::move(what), std::move(detail), count});
  }
  const std::vector<IssueFact>& all() const { return issues_; }

 private:
  struct Seen {
    int described = 0;
    size_t last = 0;
  };
  std::vector<IssueFact> issues_;
  std::unordered_map<std::string, Seen> seen_;  // By key; there are few keys.
};

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_XPLANE_LIMITS_H_
