// How large a number from a database is taken for. Rows may be a stranger's: without a limit, what
// adds two of them overflows.
#ifndef OOMDB_SCHEMA_NUMBER_LIMITS_H_
#define OOMDB_SCHEMA_NUMBER_LIMITS_H_

#include <cstdint>
#include <limits>
#include <string_view>

namespace oomdb::schema {

// The largest size (9 PB) and count, as importers cap them.
inline constexpr int64_t kMostOfAnything = int64_t{1} << 53;
// Times are Unix ns: the year 2043.
inline constexpr int64_t kMostNs = int64_t{1} << 61;

// The largest number in a column of this name, and its least with a minus. The compiler's own ids
// and addresses use all 64 bits: they are compared and never added.
constexpr int64_t MostIn(std::string_view column) {
  if (column.ends_with("_id") || column == "address") return std::numeric_limits<int64_t>::max();
  return column.ends_with("_ns") ? kMostNs : kMostOfAnything;
}

}  // namespace oomdb::schema

#endif  // OOMDB_SCHEMA_NUMBER_LIMITS_H_
