// Captures that are committed together. To commit is to wait for the disk, several times: one
// commit for many small captures takes a tenth of one for each.
#ifndef OOMDB_SCHEMA_WRITE_GROUP_H_
#define OOMDB_SCHEMA_WRITE_GROUP_H_

#include <chrono>
#include <memory>

#include "schema/database.h"

namespace SQLite {
class Transaction;
}

namespace oomdb::schema {

// One IMMEDIATE transaction, begun when the first capture of the group is. Each capture is undone
// alone when it can't be stored. Other writers wait until the group is committed.
class WriteGroup {
 public:
  // `database` must outlive this.
  explicit WriteGroup(Database& database);
  // Rolls back what was not committed.
  ~WriteGroup();
  WriteGroup(const WriteGroup&) = delete;
  WriteGroup& operator=(const WriteGroup&) = delete;

  // Begins, waiting for other writers, unless it has. Throws SQLite::Exception.
  void Begin();
  // Everything in the group is on disk then; the next Begin begins another. Does nothing when it
  // has not begun. Throws SQLite::Exception, and nothing of the group is stored then.
  void Commit();

  // The database undid the whole group: it refused a row, or has no room. Until the next Begin or
  // Commit.
  bool lost() const;
  // Since Begin; 0 when it has not begun.
  std::chrono::nanoseconds age() const;

 private:
  Database& database_;
  std::unique_ptr<SQLite::Transaction> transaction_;  // Null: it has not begun.
  std::chrono::steady_clock::time_point begun_;
};

}  // namespace oomdb::schema

#endif  // OOMDB_SCHEMA_WRITE_GROUP_H_
