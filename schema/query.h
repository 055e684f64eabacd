// Asking the database: our own queries, and SQL from anybody in a sandbox.
#ifndef OOMDB_SCHEMA_QUERY_H_
#define OOMDB_SCHEMA_QUERY_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "schema/database.h"

namespace oomdb::schema {

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

// One row, its cells by the names of their columns. A name that is not a column, or a cell of
// another type, is a mistake in the program: std::logic_error. A NULL is 0, false or the empty text
// where it isn't asked for with Maybe. An integer past the limits of number_limits.h is the limit.
class Record {
 public:
  using Columns = std::map<std::string, size_t, std::less<>>;  // Where in the row each one stands.

  Record(std::shared_ptr<const Columns> columns, Row cells)
      : columns_(std::move(columns)), cells_(std::move(cells)) {}

  const Value& Cell(std::string_view column) const;
  bool IsNull(std::string_view column) const;
  std::string Text(std::string_view column) const;
  int64_t Integer(std::string_view column) const;
  bool Flag(std::string_view column) const;  // A 0/1 column.
  std::optional<int64_t> MaybeInteger(std::string_view column) const;
  std::optional<bool> MaybeFlag(std::string_view column) const;
  // The same row with NULL in a column, where it has that column.
  Record Without(std::string_view column) const;

 private:
  std::shared_ptr<const Columns> columns_;  // Of all rows of a query.
  Row cells_;
};

// The rows of a view or table in which every column of `where` has its value (or is NULL, for
// std::monostate), in the order of `order`, a list of columns as after ORDER BY. The SQL of the
// program lies in views (queries/); this is how it is read.
std::vector<Record> ReadView(Database& database, std::string_view view,
                             const Parameters& where = {}, std::string_view order = {});

// The same with a condition of its own: "run = :base OR run = :new".
std::vector<Record> ReadViewWhere(Database& database, std::string_view view,
                                  std::string_view condition, const Parameters& parameters = {},
                                  std::string_view order = {});

// The same for who writes them out: with `columns`, a list as after SELECT.
Rows ReadTable(Database& database, std::string_view view, std::string_view columns,
               const Parameters& where = {}, std::string_view order = {});

// Rows by the names of their columns.
std::vector<Record> Records(Rows rows);

// A setting, by its name in the table `settings`.
int64_t SettingOf(Database& database, const std::string& name);

// The same of one that may not be set.
std::optional<int64_t> MaybeSettingOf(Database& database, const std::string& name);

struct SandboxLimits {
  std::chrono::milliseconds timeout = std::chrono::seconds(60);
  const std::atomic<bool>* stop = nullptr;  // Ends the query when it becomes true; may be null.
  std::chrono::milliseconds used{0};        // Of the timeout, before the query.
};

// What is said of a query past its deadline.
std::string PastDeadline(const SandboxLimits& limits);

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
// don't match), kFailed past the deadline, kInterrupted on `stop`. Throws std::bad_alloc where
// SQLite ran out of memory. A single step of SQLite may outlast the deadline: cli/watchdog.h.
void QueryInSandbox(Database& database, std::string_view sql, const Parameters& parameters,
                    const SandboxLimits& limits, const RowSink& sink);

}  // namespace oomdb::schema

#endif  // OOMDB_SCHEMA_QUERY_H_
