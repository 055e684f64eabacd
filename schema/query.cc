#include "schema/query.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "schema/number_limits.h"

namespace oomdb::schema {
namespace {

using Clock = std::chrono::steady_clock;

// Bounds for SQL from anybody. Our own views must parse within them: the union of all rules is the
// longest text, the deepest expression stays far below.
constexpr int kMaxSqlBytes = 1 << 20;
constexpr int kMaxValueBytes =
    64 << 20;  // Of one text or row: `printf('%1000000000d', 1)` must not take the memory.
constexpr int kMaxLikePatternBytes =
    1000;  // LIKE is quadratic in it, and the deadline can't look inside.
// Of one statement; the longest view of ours, all rules united, has fewer than a tenth.
constexpr int kMaxOperations = 2'000'000;
constexpr int kProgressSteps = 1000;  // Virtual machine steps between two looks at the clock.

// SQLite's functions that read nothing but their arguments. A build of SQLite may have others, and
// they reach files, other memory or the log.
constexpr std::string_view kSafeFunctions[] = {
    // Of one row.
    "abs", "char", "coalesce", "concat", "concat_ws", "format", "glob", "hex", "if", "ifnull",
    "iif", "instr", "length", "like", "likelihood", "likely", "lower", "ltrim", "max", "min",
    "nullif", "octet_length", "printf", "quote", "random", "randomblob", "replace", "round",
    "rtrim", "sign", "soundex", "sqlite_version", "substr", "substring", "trim", "typeof", "unhex",
    "unicode", "unlikely", "upper", "zeroblob",
    // Times.
    "current_date", "current_time", "current_timestamp", "date", "datetime", "julianday",
    "strftime", "time", "timediff", "unixepoch",
    // Of many rows.
    "avg", "count", "cume_dist", "dense_rank", "first_value", "group_concat", "lag", "last_value",
    "lead", "nth_value", "ntile", "percent_rank", "rank", "row_number", "string_agg", "sum",
    "total",
    // Mathematics.
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "ceiling", "cos", "cosh",
    "degrees", "exp", "floor", "ln", "log", "log10", "log2", "mod", "pi", "pow", "power", "radians",
    "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
    // JSON.
    "->", "->>", "json", "json_array", "json_array_length", "json_error_position", "json_extract",
    "json_group_array", "json_group_object", "json_insert", "json_object", "json_patch",
    "json_quote", "json_remove", "json_replace", "json_set", "json_type", "json_valid"};

bool IsSafeFunction(std::string_view name) {
  return std::find(std::begin(kSafeFunctions), std::end(kSafeFunctions), name) !=
         std::end(kSafeFunctions);
}

struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using StatementPtr = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

Value ReadColumn(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return sqlite3_column_int64(statement, column);
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, column);
    case SQLITE_TEXT: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
      return std::string(text, static_cast<size_t>(sqlite3_column_bytes(statement, column)));
    }
    case SQLITE_BLOB: {
      const auto* bytes = static_cast<const unsigned char*>(sqlite3_column_blob(statement, column));
      const int size = sqlite3_column_bytes(statement, column);
      std::string text = "X'";
      for (int i = 0; i < size; ++i) text += fmt::format("{:02x}", bytes[i]);
      return text + "'";
    }
    default:
      return std::monostate();
  }
}

std::vector<std::string> ColumnNames(sqlite3_stmt* statement) {
  std::vector<std::string> names;
  for (int i = 0; i < sqlite3_column_count(statement); ++i)
    names.emplace_back(sqlite3_column_name(statement, i));
  return names;
}

Row ReadRow(sqlite3_stmt* statement) {
  Row row;
  const int count = sqlite3_column_count(statement);
  row.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) row.push_back(ReadColumn(statement, i));
  return row;
}

void BindValue(sqlite3_stmt* statement, int index, const Value& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) {
    sqlite3_bind_int64(statement, index, *number);
  } else if (const auto* real = std::get_if<double>(&value)) {
    sqlite3_bind_double(statement, index, *real);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    sqlite3_bind_text(statement, index, text->data(), static_cast<int>(text->size()),
                      SQLITE_TRANSIENT);
  } else {
    sqlite3_bind_null(statement, index);
  }
}

// Every parameter of the statement must have a value, and every value a parameter: a misspelt name
// would be NULL.
void BindAll(sqlite3_stmt* statement, const Parameters& parameters) {
  std::set<std::string> used;
  for (int i = 1; i <= sqlite3_bind_parameter_count(statement); ++i) {
    const char* const name = sqlite3_bind_parameter_name(statement, i);
    if (name == nullptr || name[0] == '?') {
      throw Error("a parameter must have a name, as :name; give its value with -p name=value",
                  ExitCode::kUsage);
    }
    const auto found = parameters.find(name + 1);
    if (found == parameters.end()) {
      throw Error(
          fmt::format("the parameter {} has no value; give it with -p {}=value", name, name + 1),
          ExitCode::kUsage);
    }
    used.insert(found->first);
    BindValue(statement, i, found->second);
  }
  for (const auto& [name, value] : parameters) {
    if (used.count(name) == 0) {
      throw Error(fmt::format("the SQL has no parameter :{}", name), ExitCode::kUsage);
    }
  }
}

// Interrupts what runs on a connection past the deadline and on request.
class Deadline {
 public:
  Deadline(sqlite3* handle, const SandboxLimits& limits)
      : handle_(handle), limits_(limits), end_(Clock::now() + limits.timeout - limits.used) {
    sqlite3_progress_handler(handle, kProgressSteps, &Deadline::Progress, this);
  }
  ~Deadline() { sqlite3_progress_handler(handle_, 0, nullptr, nullptr); }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  // After SQLITE_INTERRUPT.
  [[noreturn]] void Throw() const {
    if (Stopped()) throw Error("interrupted", ExitCode::kInterrupted);
    throw Error(PastDeadline(limits_));
  }

 private:
  bool Stopped() const {
    return limits_.stop != nullptr && limits_.stop->load(std::memory_order_relaxed);
  }
  static int Progress(void* self) {
    const auto* deadline = static_cast<const Deadline*>(self);
    return deadline->Stopped() || Clock::now() > deadline->end_;
  }

  sqlite3* const handle_;
  const SandboxLimits limits_;
  const Clock::time_point end_;
};

// The guards on a connection while SQL from anybody runs.
class Sandbox {
 public:
  Sandbox(sqlite3* handle, const std::string& path, const SandboxLimits& limits)
      : handle_(handle), path_(path), deadline_(handle, limits) {
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0, nullptr);
    // Table-valued functions declare their table at the first use, which the authorizer would
    // refuse.
    sqlite3_exec(handle, "SELECT 1 FROM json_each('[]'), json_tree('[]')", nullptr, nullptr,
                 nullptr);
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kMaxValueBytes);
    sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, kMaxSqlBytes);
    sqlite3_limit(handle, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, kMaxLikePatternBytes);
    sqlite3_limit(handle, SQLITE_LIMIT_VDBE_OP, kMaxOperations);
    sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(handle, SQLITE_LIMIT_WORKER_THREADS, 0);
    sqlite3_set_authorizer(handle, &Sandbox::Authorize, this);
  }
  // The limits and the authorizer's "no" stay; only the pointers to this object go.
  ~Sandbox() { sqlite3_set_authorizer(handle_, &Sandbox::DenyAll, nullptr); }
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  // What the last failing call of SQLite means to the user; `place` says where in the SQL.
  [[noreturn]] void Throw(const std::string& place = "") const {
    if (!denied_.empty()) {
      throw Error(
          fmt::format("{} is not allowed here: `query` only reads, with one SELECT", denied_),
          ExitCode::kUsage);
    }
    switch (sqlite3_errcode(handle_)) {
      case SQLITE_INTERRUPT:
        deadline_.Throw();
      case SQLITE_NOMEM:
        throw std::bad_alloc();
      case SQLITE_TOOBIG:
        throw Error(
            fmt::format("a text in the query is too long: SQL up to {} bytes, values up to {}",
                        kMaxSqlBytes, kMaxValueBytes),
            ExitCode::kUsage);
      case SQLITE_ERROR:
        throw Error(fmt::format("SQL: {}{}", sqlite3_errmsg(handle_), place), ExitCode::kUsage);
      default:
        throw Error(
            fmt::format("{}: {}", path_.empty() ? "the database" : path_, sqlite3_errmsg(handle_)));
    }
  }

 private:
  static int DenyAll(void*, int, const char*, const char*, const char*, const char*) {
    return SQLITE_DENY;
  }

  // An allow-list: what SQLite adds later is refused until somebody has looked at it.
  static int Authorize(void* self, int action, const char* first, const char* second, const char*,
                       const char*) {
    switch (action) {
      case SQLITE_SELECT:
      case SQLITE_READ:
      case SQLITE_RECURSIVE:
        return SQLITE_OK;
      case SQLITE_FUNCTION: {
        if (IsSafeFunction(second)) return SQLITE_OK;
        break;
      }
      default:
        break;
    }
    static_cast<Sandbox*>(self)->denied_ = ActionName(action, first, second);
    return SQLITE_DENY;
  }

  static std::string ActionName(int action, const char* first, const char* second) {
    const auto with = [](const char* what, const char* name) {
      return name == nullptr ? std::string(what) : fmt::format("{} {}", what, name);
    };
    switch (action) {
      case SQLITE_ATTACH:
        return "ATTACH";
      case SQLITE_DETACH:
        return "DETACH";
      case SQLITE_PRAGMA:
        return with("PRAGMA", first);
      case SQLITE_INSERT:
        return with("writing to", first);
      case SQLITE_UPDATE:
        return with("UPDATE of", first);
      case SQLITE_DELETE:
        return with("DELETE from", first);
      case SQLITE_TRANSACTION:
      case SQLITE_SAVEPOINT:
        return "a transaction";
      case SQLITE_FUNCTION:
        return with("the function", second);
      default:
        return "this statement";
    }
  }

  sqlite3* const handle_;
  const std::string& path_;
  const Deadline deadline_;
  std::string denied_;
};

// Where in a statement SQLite stumbled: " at line 2: … before >>>here after …"; empty where it
// doesn't say.
std::string PlaceIn(std::string_view sql, int offset) {
  if (offset < 0 || static_cast<size_t>(offset) >= sql.size()) return "";
  const auto at = static_cast<size_t>(offset);
  const size_t begin = sql.rfind('\n', at) == std::string_view::npos ? 0 : sql.rfind('\n', at) + 1;
  const size_t end = std::min(sql.find('\n', at), sql.size());
  const auto line = std::count(sql.begin(), sql.begin() + offset, '\n') + 1;
  constexpr size_t kAround = 40;  // Of a long line only what is near.
  const size_t from = at - begin > kAround ? at - kAround : begin;
  const size_t to = end - at > kAround ? at + kAround : end;
  return fmt::format("; line {}: {}{}>>>{}{}", line, from > begin ? "…" : "",
                     sql.substr(from, at - from), sql.substr(at, to - at), to < end ? "…" : "");
}

StatementPtr Prepare(sqlite3* handle, const Sandbox& sandbox, std::string_view* sql) {
  sqlite3_stmt* raw = nullptr;
  const char* tail = nullptr;
  const int status =
      sqlite3_prepare_v2(handle, sql->data(), static_cast<int>(sql->size()), &raw, &tail);
  StatementPtr statement(raw);
  if (status != SQLITE_OK) sandbox.Throw(PlaceIn(*sql, sqlite3_error_offset(handle)));
  sql->remove_prefix(static_cast<size_t>(tail - sql->data()));
  return statement;
}

Rows Select(Database& database, std::string_view columns, std::string_view view,
            std::string_view condition, const Parameters& parameters, std::string_view order) {
  std::string sql = fmt::format("SELECT {} FROM {}", columns, view);
  if (!condition.empty()) sql += fmt::format(" WHERE {}", condition);
  if (!order.empty()) sql += fmt::format(" ORDER BY {}", order);
  return Query(database, sql, parameters);
}

}  // namespace

std::string PastDeadline(const SandboxLimits& limits) {
  return fmt::format(
      "the query took longer than {} s and was stopped; give it more time with --timeout",
      std::chrono::duration<double>(limits.timeout).count());
}

Rows Query(Database& database, const std::string& sql, const Parameters& parameters) {
  database.MakeViewsFor(sql);
  SQLite::Statement statement(database.connection(), sql);
  Rows result;
  for (const auto& [name, value] : parameters) {
    const std::string key = ":" + name;
    if (const auto* number = std::get_if<int64_t>(&value)) {
      statement.bind(key, *number);
    } else if (const auto* real = std::get_if<double>(&value)) {
      statement.bind(key, *real);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      statement.bind(key, *text);
    }
  }
  for (int i = 0; i < statement.getColumnCount(); ++i)
    result.columns.emplace_back(statement.getColumnName(i));
  while (statement.executeStep()) {
    Row row;
    for (int i = 0; i < statement.getColumnCount(); ++i) {
      const SQLite::Column cell = statement.getColumn(i);
      if (cell.isInteger()) {
        row.emplace_back(cell.getInt64());
      } else if (cell.isFloat()) {
        row.emplace_back(cell.getDouble());
      } else if (cell.isNull()) {
        row.emplace_back();
      } else {
        row.emplace_back(cell.getString());
      }
    }
    result.rows.push_back(std::move(row));
  }
  return result;
}

const Value& Record::Cell(std::string_view column) const {
  const auto found = columns_->find(column);
  if (found == columns_->end()) throw std::logic_error(fmt::format("no column {}", column));
  return cells_[found->second];
}

bool Record::IsNull(std::string_view column) const {
  return std::holds_alternative<std::monostate>(Cell(column));
}

std::string Record::Text(std::string_view column) const {
  const Value& cell = Cell(column);
  if (std::holds_alternative<std::monostate>(cell)) return "";
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  throw std::logic_error(fmt::format("column {} is not a text", column));
}

std::optional<int64_t> Record::MaybeInteger(std::string_view column) const {
  const Value& cell = Cell(column);
  if (std::holds_alternative<std::monostate>(cell)) return std::nullopt;
  const int64_t most = MostIn(column);
  if (const auto* number = std::get_if<int64_t>(&cell)) return std::clamp(*number, -most, most);
  if (const auto* real = std::get_if<double>(&cell)) {
    // SQLite goes on in reals where integers overflow. The largest int64 is no double.
    const auto end = static_cast<double>(most);
    if (!(*real > -end)) return -most;
    return *real < end ? static_cast<int64_t>(*real) : most;
  }
  throw std::logic_error(fmt::format("column {} is not a number", column));
}

int64_t Record::Integer(std::string_view column) const { return MaybeInteger(column).value_or(0); }

std::optional<bool> Record::MaybeFlag(std::string_view column) const {
  const auto number = MaybeInteger(column);
  return number ? std::optional<bool>(*number != 0) : std::nullopt;
}

Record Record::Without(std::string_view column) const {
  Record record = *this;
  const auto found = columns_->find(column);
  if (found != columns_->end()) record.cells_[found->second] = std::monostate();
  return record;
}

bool Record::Flag(std::string_view column) const { return Integer(column) != 0; }

std::vector<Record> Records(Rows rows) {
  auto columns = std::make_shared<Record::Columns>();
  for (size_t i = 0; i < rows.columns.size(); ++i) columns->emplace(rows.columns[i], i);
  std::vector<Record> records;
  records.reserve(rows.rows.size());
  for (Row& row : rows.rows) records.emplace_back(columns, std::move(row));
  return records;
}

Rows ReadTable(Database& database, std::string_view view, std::string_view columns,
               const Parameters& where, std::string_view order) {
  std::string condition;
  Parameters values;
  for (const auto& [column, value] : where) {
    condition += condition.empty() ? "" : " AND ";
    if (std::holds_alternative<std::monostate>(value)) {
      condition += column + " IS NULL";
    } else {
      condition += fmt::format("{0} = :{0}", column);
      values[column] = value;
    }
  }
  return Select(database, columns, view, condition, values, order);
}

std::vector<Record> ReadView(Database& database, std::string_view view, const Parameters& where,
                             std::string_view order) {
  return Records(ReadTable(database, view, "*", where, order));
}

std::vector<Record> ReadViewWhere(Database& database, std::string_view view,
                                  std::string_view condition, const Parameters& parameters,
                                  std::string_view order) {
  return Records(Select(database, "*", view, condition, parameters, order));
}

int64_t SettingOf(Database& database, const std::string& name) {
  return ReadView(database, "settings", {{"name", name}}).at(0).Integer("setting");
}

std::optional<int64_t> MaybeSettingOf(Database& database, const std::string& name) {
  return ReadView(database, "settings", {{"name", name}}).at(0).MaybeInteger("setting");
}

void RunWithin(Database& database, const SandboxLimits& limits, const std::function<void()>& work) {
  sqlite3* const handle = database.connection().getHandle();
  const Deadline deadline(handle, limits);
  try {
    work();
  } catch (const SQLite::Exception& error) {
    if (error.getErrorCode() == SQLITE_INTERRUPT) deadline.Throw();
    throw;
  }
}

void QueryInSandbox(Database& database, std::string_view sql, const Parameters& parameters,
                    const SandboxLimits& limits, const RowSink& sink) {
  // SQLite would stop at a NUL and run the rest never: refuse it. Also bounds what is cast to int
  // below.
  if (sql.find('\0') != std::string_view::npos)
    throw Error("SQL: a NUL byte in the text", ExitCode::kUsage);
  if (sql.size() > static_cast<size_t>(kMaxSqlBytes)) {
    throw Error(fmt::format("SQL: {} bytes, at most {} are taken", sql.size(), kMaxSqlBytes),
                ExitCode::kUsage);
  }
  database.MakeViewsFor(sql);
  sqlite3* const handle = database.connection().getHandle();
  const Sandbox sandbox(handle, database.path(), limits);
  StatementPtr statement;
  while (statement == nullptr && !sql.empty())
    statement = Prepare(handle, sandbox, &sql);  // Skips empty ones.
  if (statement == nullptr) throw Error("SQL: no statement in the text", ExitCode::kUsage);
  while (!sql.empty()) {
    if (Prepare(handle, sandbox, &sql) != nullptr) {
      throw Error("more than one statement; `query` runs one SELECT at a time", ExitCode::kUsage);
    }
  }
  BindAll(statement.get(), parameters);
  sink.columns(ColumnNames(statement.get()));
  for (;;) {
    const int status = sqlite3_step(statement.get());
    if (status == SQLITE_DONE) return;
    if (status != SQLITE_ROW) sandbox.Throw();
    sink.row(ReadRow(statement.get()));
  }
}

}  // namespace oomdb::schema
