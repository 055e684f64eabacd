// Removing captures and what only they needed.
#ifndef OOMDB_SCHEMA_FORGET_H_
#define OOMDB_SCHEMA_FORGET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "schema/database.h"

namespace SQLite {
class Database;
}

namespace oomdb::schema {

// Removes these captures with all their rows, the plans that no other capture has, the labels of
// runs that have no capture left, and the texts that nothing refers to, in one transaction.
void ForgetCaptures(Database& database, const std::vector<int64_t>& capture_ids);

// Only their rows, within a transaction of the caller's: what they shared with others stays, and so
// do labels, plans and texts.
void DeleteCaptureRows(SQLite::Database& connection, const std::vector<int64_t>& capture_ids);

}  // namespace oomdb::schema

#endif  // OOMDB_SCHEMA_FORGET_H_
