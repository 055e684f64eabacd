#include "schema/write_group.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

namespace oomdb {
namespace {

bool InTransaction(Database& database) {
  return sqlite3_get_autocommit(database.connection().getHandle()) == 0;
}

void RollBack(Database& database) {
  // The database has done it itself where it undid the transaction.
  if (InTransaction(database)) database.connection().tryExec("ROLLBACK");
}

}  // namespace

WriteGroup::~WriteGroup() {
  if (open_) RollBack(database_);
}

void WriteGroup::Begin() {
  if (open_ && !lost()) return;
  open_ = false;
  database_.connection().exec("BEGIN IMMEDIATE");
  open_ = true;
  begun_ = std::chrono::steady_clock::now();
}

void WriteGroup::Commit() {
  if (!open_) return;
  try {
    database_.connection().exec("COMMIT");
  } catch (...) {
    RollBack(database_);
    throw;
  }
  open_ = false;
}

bool WriteGroup::lost() const { return open_ && !InTransaction(database_); }

std::chrono::nanoseconds WriteGroup::age() const {
  return open_ ? std::chrono::steady_clock::now() - begun_ : std::chrono::nanoseconds(0);
}

}  // namespace oomdb
