// Stretches of a thread's time: start and end, ps.
#ifndef OOMDB_INGEST_XPLANE_SPANS_H_
#define OOMDB_INGEST_XPLANE_SPANS_H_

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace oomdb::ingest {

using Spans = std::vector<std::pair<int64_t, int64_t>>;

// Sorts, and joins what overlaps or nests; empty ones go.
inline void Join(Spans* spans) {
  std::sort(spans->begin(), spans->end());
  Spans joined;
  for (const auto& span : *spans) {
    if (span.second <= span.first) continue;
    if (!joined.empty() && span.first < joined.back().second) {
      joined.back().second = std::max(joined.back().second, span.second);
    } else {
      joined.push_back(span);
    }
  }
  *spans = std::move(joined);
}

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_XPLANE_SPANS_H_
