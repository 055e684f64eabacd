#include "schema/merge_tables.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string_view>

#include "schema/database.h"

namespace oomdb::schema {
namespace {

struct Undeclared {
  std::string_view table;
  std::string_view column;
  std::string_view target;
};

// Ids that schema.sql doesn't declare with REFERENCES.
constexpr Undeclared kUndeclared[] = {
    {"stored_executions", "launch_event_id", "stored_host_events"},
    {"stored_allocations", "alloc_event_id", "stored_host_events"},
    {"stored_allocations", "free_event_id", "stored_host_events"},
    {"stored_host_events", "parent_id", "stored_host_events"},
    {"stored_host_events", "execution_id", "stored_executions"},
};

// Numbers of the compiler that are called ids.
constexpr std::string_view kForeignIds[] = {"program_id", "logical_buffer_id", "frame_id",
                                            "parent_frame_id"};

// Merged in ways of their own.
constexpr std::string_view kWithoutOwner[] = {"strings", "captures", "stored_plans", "run_labels",
                                              "settings"};

template <typename List>
bool Contains(const List& list, std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

std::map<std::string, std::string> TargetsOf(SQLite::Database& connection,
                                             const std::string& table) {
  std::map<std::string, std::string> targets;
  SQLite::Statement query(connection, "SELECT \"from\", \"table\" FROM pragma_foreign_key_list(?)");
  query.bind(1, table);
  while (query.executeStep())
    targets[query.getColumn(0).getString()] = query.getColumn(1).getString();
  for (const Undeclared& one : kUndeclared) {
    if (one.table == table) targets[std::string(one.column)] = one.target;
  }
  return targets;
}

// Of a capture if it can be; else of what it can't be without.
std::optional<size_t> OwnerOf(const MergeTable& table, const std::vector<bool>& required) {
  std::optional<size_t> owner;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const std::string& target = table.columns[i].target;
    if (!required[i] || target.empty() || target == "strings") continue;
    if (target == "captures") return i;
    if (!owner.has_value()) owner = i;
  }
  return owner;
}

MergeTable ReadTable(SQLite::Database& connection, const std::string& name, bool has_rowid) {
  MergeTable table;
  table.name = name;
  table.order = has_rowid ? "rowid" : "";
  const std::map<std::string, std::string> targets = TargetsOf(connection, name);
  std::vector<bool> required;
  SQLite::Statement query(
      connection, "SELECT name, \"notnull\", pk, type FROM pragma_table_info(?) ORDER BY cid");
  query.bind(1, name);
  while (query.executeStep()) {
    MergeColumn column;
    column.name = query.getColumn(0).getString();
    const bool in_key = query.getColumn(2).getInt() > 0;
    column.is_blob = query.getColumn(3).getString() == "BLOB";
    const auto target = targets.find(column.name);
    if (target != targets.end()) column.target = target->second;
    // What has no id of its own, but that of its owner, has no key.
    column.is_key = in_key && has_rowid && column.target.empty();
    if (column.is_key) table.key = table.columns.size();
    if (in_key && !has_rowid) table.order += (table.order.empty() ? "" : ", ") + column.name;
    const std::string_view text = column.name;
    const bool named_id = text.size() > 3 && text.substr(text.size() - 3) == "_id";
    if (named_id && !column.is_key && column.target.empty() && !Contains(kForeignIds, text)) {
      throw std::logic_error(fmt::format("merge_tables.cc: whose id is {}.{}?", name, column.name));
    }
    required.push_back(query.getColumn(1).getInt() != 0);
    table.columns.push_back(column);
  }
  table.owner = OwnerOf(table, required);
  if (!table.owner.has_value() && !Contains(kWithoutOwner, name))
    throw std::logic_error(fmt::format("merge_tables.cc: whom do the rows of {} belong to?", name));
  return table;
}

}  // namespace

std::vector<MergeTable> ReadMergeTables() {
  Database fresh = Database::Throwaway({});
  SQLite::Database& connection = fresh.connection();
  std::vector<MergeTable> tables;
  SQLite::Statement query(connection,
                          "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = "
                          "'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name");
  while (query.executeStep()) {
    tables.push_back(ReadTable(connection, query.getColumn(0).getString(),
                               /*has_rowid=*/query.getColumn(1).getInt() == 0));
  }
  return tables;
}

void MergedIds::Add(int64_t from, int64_t to) {
  if (!runs_.empty()) {
    Run& last = runs_.back();
    // Unsigned differences, not sums: an untrusted id may be the largest there is.
    const auto count = static_cast<uint64_t>(last.count);
    if (static_cast<uint64_t>(from) - static_cast<uint64_t>(last.from) == count &&
        static_cast<uint64_t>(to) - static_cast<uint64_t>(last.to) == count) {
      ++last.count;
      return;
    }
  }
  runs_.push_back({from, to, 1});
}

std::optional<int64_t> MergedIds::Find(int64_t from) const {
  const auto after =
      std::upper_bound(runs_.begin(), runs_.end(), from,
                       [](int64_t value, const Run& run) { return value < run.from; });
  if (after == runs_.begin()) return std::nullopt;
  const Run& run = *std::prev(after);
  const uint64_t place = static_cast<uint64_t>(from) - static_cast<uint64_t>(run.from);
  if (place >= static_cast<uint64_t>(run.count)) return std::nullopt;
  return run.to + static_cast<int64_t>(place);
}

}  // namespace oomdb::schema
