#include "schema/replays.h"

#include <SQLiteCpp/SQLiteCpp.h>

namespace oomdb::schema {

std::optional<std::string> ReplayOf(Database& database, int64_t plan_id) {
  SQLite::Statement query(database.connection(),
                          "SELECT program FROM main.stored_replays WHERE plan_id = ?");
  query.bind(1, plan_id);
  if (!query.executeStep()) return std::nullopt;
  return query.getColumn(0).getString();
}

}  // namespace oomdb::schema
