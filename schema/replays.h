// The stored replays of plans.
#ifndef OOMDB_SCHEMA_REPLAYS_H_
#define OOMDB_SCHEMA_REPLAYS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "schema/database.h"

namespace oomdb::schema {

// The bytes for ingest::ReadReplay; std::nullopt: none are stored for that plan.
std::optional<std::string> ReplayOf(Database& database, int64_t plan_id);

}  // namespace oomdb::schema

#endif  // OOMDB_SCHEMA_REPLAYS_H_
