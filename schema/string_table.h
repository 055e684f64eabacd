// The table `strings`: every repeated text once.
#ifndef OOMDB_SCHEMA_STRING_TABLE_H_
#define OOMDB_SCHEMA_STRING_TABLE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "schema/bulk_insert.h"

namespace oomdb::schema {

// Valid within one write transaction: another writer may add strings between two.
class StringTable {
 public:
  explicit StringTable(StatementCache& statements);

  // The id of `text`, which is added when it is new; std::nullopt (NULL) for an empty one. Bytes
  // that are not UTF-8 are replaced.
  std::optional<int64_t> Intern(std::string_view text);
  void Flush();

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  // A text that was asked for lately, by where it stands: an event's name stands at one place.
  struct Recent {
    const char* place = nullptr;
    const std::string* text = nullptr;  // In cache_.
    int64_t id = 0;
  };

  using Cache = std::unordered_map<std::string, int64_t, Hash, std::equal_to<>>;

  Cache::iterator InternNew(std::string_view text);

  std::array<Recent, 4096> recent_{};
  int64_t next_id_;
  bool table_was_empty_;
  size_t cached_bytes_ = 0;
  Cache cache_;
  SQLite::Statement& find_;
  BulkInsert insert_;
};

}  // namespace oomdb::schema

#endif  // OOMDB_SCHEMA_STRING_TABLE_H_
