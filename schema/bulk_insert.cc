#include "schema/bulk_insert.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace oomdb {
namespace {

constexpr int kRowsPerStatement = 32;

}  // namespace

void SqlValue::Bind(SQLite::Statement& statement, int index) const {
  if (const auto* number = std::get_if<int64_t>(&value_)) {
    statement.bind(index, *number);
  } else if (const auto* real = std::get_if<double>(&value_)) {
    statement.bind(index, *real);
  } else if (const auto* text = std::get_if<std::string>(&value_)) {
    // Not copied: the batch lives until the statement has run.
    statement.bindNoCopy(index, *text);
  } else {
    statement.bind(index);
  }
}

BulkInsert::BulkInsert(SQLite::Database& connection, const std::string& table,
                       const std::string& columns)
    : connection_(connection),
      // Without OR ROLLBACK SQLite keeps a journal for each statement of several rows, to undo it
      // alone: a third of the time that storing takes.
      head_(fmt::format("INSERT OR ROLLBACK INTO {} ({}) VALUES ", table, columns)),
      column_count_(static_cast<int>(std::count(columns.begin(), columns.end(), ',')) + 1) {
  waiting_.reserve(static_cast<size_t>(column_count_) * kRowsPerStatement);
}

BulkInsert::~BulkInsert() = default;

std::unique_ptr<SQLite::Statement> BulkInsert::Prepare(int rows) {
  std::string row = "(?";
  for (int i = 1; i < column_count_; ++i) row += ",?";
  row += ")";
  std::string sql = head_ + row;
  for (int i = 1; i < rows; ++i) sql += "," + row;
  return std::make_unique<SQLite::Statement>(connection_, sql);
}

void BulkInsert::Add(std::initializer_list<SqlValue> row) {
  if (static_cast<int>(row.size()) != column_count_)
    throw std::logic_error(head_ + ": wrong number of cells");
  waiting_.insert(waiting_.end(), row.begin(), row.end());
  FlushFullBatch();
}

void BulkInsert::Add(std::vector<SqlValue> row) {
  if (static_cast<int>(row.size()) != column_count_)
    throw std::logic_error(head_ + ": wrong number of cells");
  for (SqlValue& cell : row) waiting_.push_back(std::move(cell));
  FlushFullBatch();
}

void BulkInsert::FlushFullBatch() {
  if (waiting_.size() < static_cast<size_t>(column_count_) * kRowsPerStatement) return;
  if (batch_ == nullptr) batch_ = Prepare(kRowsPerStatement);
  for (size_t i = 0; i < waiting_.size(); ++i) waiting_[i].Bind(*batch_, static_cast<int>(i) + 1);
  batch_->exec();
  batch_->reset();
  waiting_.clear();
}

void BulkInsert::Flush() {
  if (waiting_.empty()) return;
  const std::unique_ptr<SQLite::Statement> rest =
      Prepare(static_cast<int>(waiting_.size()) / column_count_);
  for (size_t i = 0; i < waiting_.size(); ++i) waiting_[i].Bind(*rest, static_cast<int>(i) + 1);
  rest->exec();
  waiting_.clear();
}

}  // namespace oomdb
