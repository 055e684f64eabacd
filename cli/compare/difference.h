// What the pages of oomdb compare are about.
#ifndef OOMDB_CLI_COMPARE_DIFFERENCE_H_
#define OOMDB_CLI_COMPARE_DIFFERENCE_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "schema/query.h"

namespace oomdb::cli {

// Of two paths the shortest ends that tell them apart, safe to show: of a/1/memory.prof and
// a/2/memory.prof, 1/memory.prof and 2/memory.prof.
std::pair<std::string, std::string> ShortNames(const std::string& base, const std::string& changed);

// What differs between two runs, and by how much: what the views of comparisons have in common.
// What is not known is empty.
struct Difference {
  std::string kind, change, base_shape, new_shape, op_name, place;
  std::optional<int64_t> base_bytes, new_bytes, delta_bytes, base_count, new_count;

  int64_t delta() const { return delta_bytes.value_or(0); }
  int64_t largest_bytes() const { return std::max(base_bytes.value_or(0), new_bytes.value_or(0)); }
};

// A row of run_comparison or failure_comparison.
Difference ReadDifference(const schema::Record& row);

// Of those that changed in the direction of `total`, a sum of bytes, the one that changed most;
// null: there is none.
template <typename D>
const D* LeadingDifference(const std::vector<const D*>& differences, int64_t total) {
  const D* leading = nullptr;
  for (const D* d : differences) {
    if (d->delta() == 0 || (d->delta() > 0) != (total > 0)) continue;
    if (leading == nullptr || std::abs(d->delta()) > std::abs(leading->delta())) leading = d;
  }
  return leading;
}

}  // namespace oomdb::cli

#endif  // OOMDB_CLI_COMPARE_DIFFERENCE_H_
