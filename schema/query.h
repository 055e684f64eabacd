// Asking the database: our own queries, and SQL from anybody in a sandbox.
#ifndef OOMDB_SCHEMA_QUERY_H_
#define OOMDB_SCHEMA_QUERY_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "schema/database.h"

namespace oomdb {

// NULL, an integer, a real, or text. A blob comes as text: X'68656c6c6f'.
using Value = std::variant<std::monostate, int64_t, double, std::string>;

using Row = std::vector<Value>;

// Values for the parameters of a statement: `:name`, `@name` or `$name` in the SQL, without the
// sign here.
using Parameters = std::map<std::string, Value>;

struct Rows {
  std::vector<std::string> columns;
  std::vector<Row> rows;
};

// Runs a query of the program's own and gives all its rows. Throws SQLite::Exception (a
// std::exception).
Rows Query(Database& database, const std::string& sql, const Parameters& parameters = {});

struct SandboxLimits {
  std::chrono::milliseconds timeout = std::chrono::seconds(60);
  const std::atomic<bool>* stop = nullptr;  // Ends the query when it becomes true; may be null.
  std::chrono::milliseconds used{0};        // Of the timeout, before the query.
};

// Runs `work`, which asks `database` with SQL of the program's own, within the limits. Throws Error
// past the deadline and on `stop` as QueryInSandbox does.
void RunWithin(Database& database, const SandboxLimits& limits, const std::function<void()>& work);

// What takes the result as it comes.
struct RowSink {
  std::function<void(std::vector<std::string> columns)> columns;  // Once, before the first row.
  std::function<void(Row row)> row;
};

// Runs one statement from anybody. Only reading is allowed: SELECT with its functions and
// recursion. No ATTACH, PRAGMA, writing, transaction or extension; bounded lengths; a deadline.
// `database` is best one from OpenReadOnly; it stays restricted after the call. Throws Error:
// kUsage for what is wrong with the SQL (syntax, forbidden, several statements, parameters that
// don't match), kFailed past the deadline, kInterrupted on `stop`.
void QueryInSandbox(Database& database, std::string_view sql, const Parameters& parameters,
                    const SandboxLimits& limits, const RowSink& sink);

}  // namespace oomdb

#endif  // OOMDB_SCHEMA_QUERY_H_
