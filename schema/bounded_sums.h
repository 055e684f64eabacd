// Sums over rows that somebody else wrote. SQLite's sum() and abs() fail with "integer overflow" at
// 2^63, and with them every view that they stand in; a sum that is too large is the largest number
// here.
#ifndef OOMDB_SCHEMA_BOUNDED_SUMS_H_
#define OOMDB_SCHEMA_BOUNDED_SUMS_H_

#include <string>
#include <string_view>

struct sqlite3;

namespace oomdb::schema {

// On a connection of ours: sum() adds integers exactly and ends at the least or the largest int64;
// abs() of the least integer is the largest. All else is as SQLite's.
void BoundSums(sqlite3* handle);

// For a view that is stored, which other programs run: no function of ours, so the text itself is
// bounded. SUM(x) becomes CAST(SUM(1e0 * (x)) AS BIGINT), exact up to 2^53 (9 PB), and ABS(x) a
// CASE. `select` is SQL of the program's own.
std::string WithBoundedSums(std::string_view select);

}  // namespace oomdb::schema

#endif  // OOMDB_SCHEMA_BOUNDED_SUMS_H_
