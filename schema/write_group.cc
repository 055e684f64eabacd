#include "schema/write_group.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <utility>

namespace oomdb::schema {

WriteGroup::WriteGroup(Database& database) : database_(database) {}
WriteGroup::~WriteGroup() = default;

void WriteGroup::Begin() {
  if (transaction_ != nullptr && !lost()) return;
  transaction_.reset();
  transaction_ = std::make_unique<SQLite::Transaction>(database_.connection(),
                                                       SQLite::TransactionBehavior::IMMEDIATE);
  begun_ = std::chrono::steady_clock::now();
}

void WriteGroup::Commit() {
  // One that can't be committed is rolled back as it goes.
  const std::unique_ptr<SQLite::Transaction> transaction = std::move(transaction_);
  if (transaction != nullptr) transaction->commit();
}

bool WriteGroup::lost() const {
  return transaction_ != nullptr && sqlite3_get_autocommit(database_.connection().getHandle()) != 0;
}

std::chrono::nanoseconds WriteGroup::age() const {
  return transaction_ != nullptr ? std::chrono::steady_clock::now() - begun_
                                 : std::chrono::nanoseconds(0);
}

}  // namespace oomdb::schema
