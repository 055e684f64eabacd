// Inserts many rows into one table, dozens to a statement: measured three times as fast as one row
// each.
#ifndef OOMDB_SCHEMA_BULK_INSERT_H_
#define OOMDB_SCHEMA_BULK_INSERT_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "schema/statement_cache.h"

namespace SQLite {
class Statement;
}  // namespace SQLite

namespace oomdb::schema {

// A value to insert. Texts are copied into the batch and must be clean (schema/text.h); an empty
// one is stored as it is.
struct Blob {
  std::string bytes;
};

class SqlValue {
 public:
  SqlValue() = default;  // NULL
  SqlValue(int64_t number) : value_(number) {}
  SqlValue(double number) : value_(number) {}
  SqlValue(std::string text) : value_(std::move(text)) {}
  SqlValue(Blob blob) : value_(std::move(blob)) {}
  template <typename T>
  SqlValue(const std::optional<T>& number) {
    if (number.has_value()) *this = SqlValue(*number);
  }

  void Bind(SQLite::Statement& statement, int index) const;

 private:
  std::variant<std::monostate, int64_t, double, std::string, Blob> value_;
};

// A text from a capture, made clean; NULL when it is empty.
SqlValue TextOrNull(std::string_view text);

// A value beside the name of its column, so that none slips to the next one.
struct Cell {
  const char* column;      // Must stay: a literal.
  mutable SqlValue value;  // Moved from, although what an initializer list holds is const.
};

class BulkInsert {
 public:
  // The first row names the columns; every other must name the same ones in the same order.
  // `statements` must outlive this.
  BulkInsert(StatementCache& statements, std::string table);
  // For columns that are known at run time only: comma-separated names.
  BulkInsert(StatementCache& statements, std::string table, const std::string& columns);

  // Throws std::logic_error, and adds nothing, when the columns are not those of the rows before.
  // Throws SQLite::Exception when the database refuses a full batch; its transaction is rolled back
  // then, so nothing may be written after that.
  void Add(std::initializer_list<Cell> row);
  // A cell for each of the columns that the constructor named.
  void Add(std::vector<SqlValue> row);
  // Inserts what is waiting. Rows that were never flushed are lost.
  void Flush();

 private:
  static constexpr int kRowsPerStatement = 32;  // A power of two.

  void NameColumns(const std::string& columns);
  void FlushFullBatch();
  std::string Sql(int rows) const;
  // Inserts the `rows` rows that wait from cell `first` on.
  void Insert(size_t first, int rows);

  StatementCache& statements_;
  const std::string table_;
  std::vector<const char*> columns_;  // Of a row of cells; empty until the first one.
  std::string head_;
  int column_count_ = 0;
  std::vector<SqlValue> waiting_;
  // Of 1, 2, 4 ... rows; null until one is needed.
  std::array<SQLite::Statement*, std::countr_zero(unsigned{kRowsPerStatement}) + 1> inserts_ = {};
};

}  // namespace oomdb::schema

#endif  // OOMDB_SCHEMA_BULK_INSERT_H_
