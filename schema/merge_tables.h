// What a merge has to know of the tables: which columns are ids, and of what.
#ifndef OOMDB_SCHEMA_MERGE_TABLES_H_
#define OOMDB_SCHEMA_MERGE_TABLES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace oomdb::schema {

struct MergeColumn {
  std::string name;
  bool is_key = false;  // The table's own local id.
  std::string target;   // The table whose id it is; empty: a value like any other.
  bool is_blob = false;
};

struct MergeTable {
  std::string name;
  std::string order;  // Columns that give a row's place, comma-separated.
  std::vector<MergeColumn> columns;
  std::optional<size_t> key;
  // The column that says whom a row belongs to (a capture, a plan, an event): a row comes along
  // with its owner. None: the table is merged in a way of its own.
  std::optional<size_t> owner;
};

// All tables of this program's schema, read from the schema itself: a new table or column needs
// nothing here, unless it is an id that REFERENCES does not declare; such a one throws
// std::logic_error until it is listed in merge_tables.cc. Tables that people added to a database of
// theirs are none of ours.
std::vector<MergeTable> ReadMergeTables();

// Old ids to new ones. Ids come in long runs, so this stays small for millions of rows.
class MergedIds {
 public:
  // `from` ascending from call to call.
  void Add(int64_t from, int64_t to);
  std::optional<int64_t> Find(int64_t from) const;
  bool empty() const { return runs_.empty(); }

 private:
  struct Run {
    int64_t from;
    int64_t to;
    int64_t count;
  };
  std::vector<Run> runs_;
};

}  // namespace oomdb::schema

#endif  // OOMDB_SCHEMA_MERGE_TABLES_H_
