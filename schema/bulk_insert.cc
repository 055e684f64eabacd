#include "schema/bulk_insert.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "schema/text.h"

namespace oomdb::schema {

SqlValue TextOrNull(std::string_view text) {
  return text.empty() ? SqlValue() : SqlValue(CleanText(text));
}

void SqlValue::Bind(SQLite::Statement& statement, int index) const {
  if (const auto* number = std::get_if<int64_t>(&value_)) {
    statement.bind(index, *number);
  } else if (const auto* real = std::get_if<double>(&value_)) {
    statement.bind(index, *real);
  } else if (const auto* text = std::get_if<std::string>(&value_)) {
    // Not copied: the batch lives until the statement has run.
    statement.bindNoCopy(index, *text);
  } else if (const auto* blob = std::get_if<Blob>(&value_)) {
    statement.bindNoCopy(index, blob->bytes.data(), static_cast<int>(blob->bytes.size()));
  } else {
    statement.bind(index);
  }
}

BulkInsert::BulkInsert(StatementCache& statements, std::string table)
    : statements_(statements), table_(std::move(table)) {}

BulkInsert::BulkInsert(StatementCache& statements, std::string table, const std::string& columns)
    : BulkInsert(statements, std::move(table)) {
  NameColumns(columns);
}

void BulkInsert::NameColumns(const std::string& columns) {
  // Without OR ROLLBACK SQLite keeps a journal for each statement of several rows, to undo it
  // alone: a third of the time that storing takes.
  head_ = fmt::format("INSERT OR ROLLBACK INTO {} ({}) VALUES ", table_, columns);
  column_count_ = static_cast<int>(std::count(columns.begin(), columns.end(), ',')) + 1;
}

void BulkInsert::Add(std::initializer_list<Cell> row) {
  if (columns_.empty()) {
    for (const Cell& cell : row) columns_.push_back(cell.column);
    NameColumns(fmt::format("{}", fmt::join(columns_, ", ")));
  }
  // The same literals for nearly every row: then their places tell.
  const bool same =
      std::equal(row.begin(), row.end(), columns_.begin(), columns_.end(),
                 [](const Cell& cell, const char* column) {
                   return cell.column == column || std::strcmp(cell.column, column) == 0;
                 });
  if (!same) throw std::logic_error(table_ + ": a row of other columns than those before it");
  for (const Cell& cell : row) waiting_.push_back(std::move(cell.value));
  FlushFullBatch();
}

void BulkInsert::Add(std::vector<SqlValue> row) {
  if (static_cast<int>(row.size()) != column_count_)
    throw std::logic_error(table_ + ": wrong number of cells");
  for (SqlValue& cell : row) waiting_.push_back(std::move(cell));
  FlushFullBatch();
}

void BulkInsert::FlushFullBatch() {
  if (waiting_.size() < static_cast<size_t>(column_count_) * kRowsPerStatement) return;
  Insert(0, kRowsPerStatement);
  waiting_.clear();
}

void BulkInsert::Flush() {
  if (waiting_.empty()) return;
  // In halves of a batch, so that a table has few statements, which are prepared once.
  size_t first = 0;
  for (int rows = kRowsPerStatement; rows > 0; rows /= 2) {
    const size_t cells = static_cast<size_t>(column_count_) * rows;
    for (; waiting_.size() - first >= cells; first += cells) Insert(first, rows);
  }
  waiting_.clear();
}

std::string BulkInsert::Sql(int rows) const {
  std::string row = "(?";
  for (int i = 1; i < column_count_; ++i) row += ",?";
  row += ")";
  std::string sql = head_ + row;
  for (int i = 1; i < rows; ++i) sql += "," + row;
  return sql;
}

void BulkInsert::Insert(size_t first, int rows) {
  SQLite::Statement*& insert = inserts_[std::countr_zero(static_cast<unsigned>(rows))];
  if (insert == nullptr) insert = &statements_.Get(Sql(rows));
  const int cells = column_count_ * rows;
  for (int i = 0; i < cells; ++i) waiting_[first + i].Bind(*insert, i + 1);
  insert->exec();
  insert->reset();
}

}  // namespace oomdb::schema
