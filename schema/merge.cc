#include "schema/merge.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "schema/bulk_insert.h"
#include "schema/forget.h"
#include "schema/merge_tables.h"
#include "schema/number_limits.h"
#include "schema/string_table.h"
#include "schema/text.h"

namespace oomdb::schema {
namespace {

// What the path decides of a run's capture: the ingest's words, not the content's.
constexpr std::string_view kFromPath[] = {"path", "host", "format_note"};

// A hash that PlanWriter makes up: it says nothing beyond its own database.
constexpr std::string_view kUnhashed = "unhashed:";

// "0.10.2" as numbers.
std::array<int64_t, 3> Version(std::string_view text) {
  std::array<int64_t, 3> version = {};
  for (int64_t& part : version) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), part);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (error != std::errc() || text.empty() || text.front() != '.') break;
    text.remove_prefix(1);
  }
  return version;
}

std::string Names(const MergeTable& table) {
  std::string names;
  for (const MergeColumn& column : table.columns)
    names += (names.empty() ? "" : ", ") + column.name;
  return names;
}

class Merge {
 public:
  Merge(Database& out, Database& in, const std::atomic<bool>* stop)
      : out_(out.connection()),
        statements_(out.statements()),
        in_(in.connection()),
        stop_(stop),
        strings_(statements_),
        tables_(ReadMergeTables()) {}

  MergeSummary Run() {
    ChooseCaptures();
    if (!ids_["captures"].empty()) {
      ChoosePlans();
      // All ids before any row: rows refer to one another in both directions.
      for (const MergeTable& table : tables_) {
        if (table.key.has_value() && table.owner.has_value()) AssignIds(table);
      }
      for (const MergeTable& table : tables_) {
        if (table.owner.has_value() || table.name == "captures" || table.name == "stored_plans")
          CopyRows(table);
      }
      strings_.Flush();
    }
    MergeLabels();
    return summary_;
  }

 private:
  void Look() const {
    if (stop_ != nullptr && stop_->load(std::memory_order_relaxed))
      throw Error("interrupted; nothing of this database was merged", ExitCode::kInterrupted);
  }

  static std::optional<int64_t> Integer(const SQLite::Column& cell) {
    if (cell.isNull()) return std::nullopt;
    if (!cell.isInteger()) throw Error("damaged: an id is not a number");
    return cell.getInt64();
  }

  int64_t FirstFreeId(const std::string& table, const std::string& key) {
    return out_.execAndGet(fmt::format("SELECT COALESCE(MAX({}), 0) + 1 FROM {}", key, table))
        .getInt64();
  }

  static int64_t EventCount(SQLite::Database& connection, int64_t capture_id) {
    SQLite::Statement query(connection,
                            "SELECT COUNT(*) FROM main.stored_host_events WHERE capture_id = ?");
    query.bind(1, capture_id);
    query.executeStep();
    return query.getColumn(0).getInt64();
  }

  // Which captures come along, and under which ids; settles what both databases have.
  void ChooseCaptures() {
    constexpr const char* kSelect =
        "SELECT capture_id, content_hash, ingester_version, path, run, COALESCE(host, ''), host IS "
        "NULL, COALESCE(format_note, '') FROM main.captures";
    int64_t next = FirstFreeId("captures", "capture_id");
    SQLite::Statement theirs(in_, std::string(kSelect) + " ORDER BY capture_id");
    SQLite::Statement ours(out_, std::string(kSelect) + " WHERE content_hash = ? AND run IS ?");
    std::vector<int64_t> replaced;
    // Path first; a host that is known before one that isn't.
    const auto words = [](SQLite::Statement& row) {
      return std::tuple(row.getColumn(3).getString(), row.getColumn(6).getInt(),
                        row.getColumn(5).getString(), row.getColumn(7).getString());
    };
    while (theirs.executeStep()) {
      const int64_t id = *Integer(theirs.getColumn(0));
      ours.reset();
      ours.clearBindings();
      ours.bind(1, theirs.getColumn(1).getString());
      if (!theirs.getColumn(4).isNull()) ours.bind(2, theirs.getColumn(4).getString());
      if (!ours.executeStep()) {
        ids_["captures"].Add(id, next++);
        ++summary_.added;
        continue;
      }
      ++summary_.already_there;
      const int64_t own_id = ours.getColumn(0).getInt64();
      const bool their_words = words(theirs) < words(ours);
      const auto their_rank =
          std::pair(Version(theirs.getColumn(2).getString()), EventCount(in_, id));
      const auto our_rank =
          std::pair(Version(ours.getColumn(2).getString()), EventCount(out_, own_id));
      if (our_rank < their_rank) {
        if (!their_words) kept_words_[id] = ReadWords(out_, own_id);
        ids_["captures"].Add(id, next++);
        replaced.push_back(own_id);
      } else if (their_words) {
        WriteWords(own_id, ReadWords(in_, id));
      }
    }
    ours.reset();
    if (!replaced.empty()) DeleteCaptureRows(out_, replaced);
  }

  // The columns of kFromPath.
  static std::vector<SqlValue> ReadWords(SQLite::Database& connection, int64_t capture_id) {
    SQLite::Statement query(
        connection, "SELECT path, host, format_note FROM main.captures WHERE capture_id = ?");
    query.bind(1, capture_id);
    query.executeStep();
    std::vector<SqlValue> words;
    for (int i = 0; i < 3; ++i) words.push_back(Plain(query.getColumn(i)));
    return words;
  }

  void WriteWords(int64_t capture_id, const std::vector<SqlValue>& words) {
    SQLite::Statement update(out_,
                             "UPDATE captures SET path = ?1, host = ?2, format_note = ?3 "
                             "WHERE capture_id = ?4");
    for (int i = 0; i < 3; ++i) words[static_cast<size_t>(i)].Bind(update, i + 1);
    update.bind(4, capture_id);
    update.exec();
  }

  void ChoosePlans() {
    const MergedIds& captures = ids_["captures"];
    int64_t next = FirstFreeId("stored_plans", "plan_id");
    SQLite::Statement used(in_,
                           "SELECT DISTINCT m.plan_id, p.hlo_hash, m.capture_id FROM "
                           "main.stored_modules m LEFT JOIN main.stored_plans p ON p.plan_id = "
                           "m.plan_id WHERE m.plan_id IS NOT NULL ORDER BY m.plan_id");
    SQLite::Statement find(out_, "SELECT plan_id FROM stored_plans WHERE hlo_hash = ?");
    std::optional<int64_t> last;
    while (used.executeStep()) {
      const std::optional<int64_t> id = Integer(used.getColumn(0));
      const std::optional<int64_t> capture = Integer(used.getColumn(2));
      if (id == last || !capture.has_value() || !captures.Find(*capture).has_value()) continue;
      last = id;
      const std::string hash = used.getColumn(1).getString();
      find.reset();
      find.bind(1, hash);
      if (hash.rfind(kUnhashed, 0) != 0 && find.executeStep()) {
        ids_["stored_plans"].Add(*id, find.getColumn(0).getInt64());
      } else {
        ids_["stored_plans"].Add(*id, next);
        new_plans_.Add(*id, next++);
      }
    }
  }

  // The owners whose rows come along: of the plans, only those that `out` hadn't.
  const MergedIds& Owners(const MergeTable& table) {
    const std::string& target = table.columns[*table.owner].target;
    return target == "stored_plans" ? new_plans_ : ids_[target];
  }

  void AssignIds(const MergeTable& table) {
    const std::string& key = table.columns[*table.key].name;
    int64_t next = FirstFreeId(table.name, key);
    const MergedIds& owners = Owners(table);
    MergedIds& ids = ids_[table.name];
    SQLite::Statement query(in_, fmt::format("SELECT {0}, {1} FROM main.{2} ORDER BY {0}", key,
                                             table.columns[*table.owner].name, table.name));
    while (query.executeStep()) {
      const std::optional<int64_t> owner = Integer(query.getColumn(1));
      if (owner.has_value() && owners.Find(*owner).has_value())
        ids.Add(*Integer(query.getColumn(0)), next++);
    }
  }

  void CopyRows(const MergeTable& table) {
    const std::string names = Names(table);
    BulkInsert insert(statements_, table.name, names);
    SQLite::Statement query(
        in_, fmt::format("SELECT {} FROM main.{} ORDER BY {}", names, table.name, table.order));
    const size_t deciding = table.owner.value_or(table.key.value_or(0));
    const MergedIds& chosen = table.owner.has_value()        ? Owners(table)
                              : table.name == "stored_plans" ? new_plans_
                                                             : ids_[table.name];
    int64_t seen = 0;
    while (query.executeStep()) {
      if (++seen % 1024 == 0) Look();
      const std::optional<int64_t> owner = Integer(query.getColumn(static_cast<int>(deciding)));
      if (!owner.has_value() || !chosen.Find(*owner).has_value()) continue;
      insert.Add(NewRow(table, query, *owner));
    }
    insert.Flush();
  }

  std::vector<SqlValue> NewRow(const MergeTable& table, SQLite::Statement& query, int64_t owner) {
    std::vector<SqlValue> row;
    row.reserve(table.columns.size());
    for (size_t i = 0; i < table.columns.size(); ++i) {
      const MergeColumn& column = table.columns[i];
      const SQLite::Column cell = query.getColumn(static_cast<int>(i));
      if (column.is_key || !column.target.empty()) {
        row.push_back(NewId(column.is_key ? table.name : column.target, cell));
      } else {
        row.push_back(column.is_blob && cell.isBlob() ? SqlValue(Blob{cell.getString()})
                      : cell.isInteger()              ? Capped(column, cell.getInt64())
                                                      : Plain(cell));
      }
    }
    if (table.name == "captures") KeepWords(table, owner, row);
    if (table.name == "stored_plans") RenameUnhashed(table, query, owner, row);
    return row;
  }

  void KeepWords(const MergeTable& table, int64_t capture_id, std::vector<SqlValue>& row) {
    const auto kept = kept_words_.find(capture_id);
    if (kept == kept_words_.end()) return;
    for (size_t word = 0; word < std::size(kFromPath); ++word) {
      for (size_t i = 0; i < row.size(); ++i) {
        if (table.columns[i].name == kFromPath[word]) row[i] = kept->second[word];
      }
    }
  }

  void RenameUnhashed(const MergeTable& table, SQLite::Statement& query, int64_t plan_id,
                      std::vector<SqlValue>& row) {
    for (size_t i = 0; i < row.size(); ++i) {
      if (table.columns[i].name != "hlo_hash") continue;
      if (query.getColumn(static_cast<int>(i)).getString().rfind(kUnhashed, 0) == 0)
        row[i] = SqlValue(fmt::format("{}{}", kUnhashed, *new_plans_.Find(plan_id)));
    }
  }

  SqlValue NewId(const std::string& target, const SQLite::Column& cell) {
    const std::optional<int64_t> id = Integer(cell);
    if (!id.has_value()) return SqlValue();
    if (target == "strings") return NewString(*id);
    const std::optional<int64_t> found = ids_[target].Find(*id);
    if (!found.has_value())
      throw Error(fmt::format("damaged: a row refers to {} {}, which is not there", target, *id));
    return SqlValue(*found);
  }

  SqlValue NewString(int64_t id) {
    if (const auto found = string_ids_.find(id); found != string_ids_.end())
      return SqlValue(found->second);
    if (find_string_ == nullptr) {
      find_string_ = std::make_unique<SQLite::Statement>(
          in_, "SELECT content FROM main.strings WHERE string_id = ?");
    }
    find_string_->reset();
    find_string_->bind(1, id);
    if (!find_string_->executeStep())
      throw Error(fmt::format("damaged: a row refers to text {}, which is not there", id));
    const std::optional<int64_t> own = strings_.Intern(find_string_->getColumn(0).getString());
    if (!own.has_value()) return SqlValue();
    string_ids_.emplace(id, *own);
    return SqlValue(*own);
  }

  // A number that no importer would store must not come in by another door.
  static SqlValue Capped(const MergeColumn& column, int64_t number) {
    const int64_t most = MostIn(column.name);
    return SqlValue(std::clamp(number, -most, most));
  }

  static SqlValue Plain(const SQLite::Column& cell) {
    if (cell.isInteger()) return SqlValue(cell.getInt64());
    if (cell.isFloat()) return SqlValue(cell.getDouble());
    if (cell.isText()) return SqlValue(CleanText(cell.getString()));
    if (!cell.isNull()) throw Error("damaged: a cell of bytes");
    return SqlValue();
  }

  void MergeLabels() {
    SQLite::Statement query(in_, "SELECT run, name, label FROM main.run_labels ORDER BY run, name");
    SQLite::Statement find(out_, "SELECT label FROM run_labels WHERE run = ? AND name = ?");
    SQLite::Statement insert(out_,
                             "INSERT INTO run_labels (run, name, label) VALUES (?, ?, ?) ON "
                             "CONFLICT (run, name) DO UPDATE SET label = MIN(label, "
                             "excluded.label)");
    while (query.executeStep()) {
      find.reset();
      insert.reset();
      std::array<std::string, 3> cells;
      for (int i = 0; i < 3; ++i) {
        cells[static_cast<size_t>(i)] = CleanText(query.getColumn(i).getString());
        insert.bind(i + 1, cells[static_cast<size_t>(i)]);
      }
      find.bind(1, cells[0]);
      find.bind(2, cells[1]);
      if (find.executeStep()) summary_.labels_differ += find.getColumn(0).getString() != cells[2];
      find.reset();
      insert.exec();
    }
  }

  SQLite::Database& out_;
  StatementCache& statements_;
  SQLite::Database& in_;
  const std::atomic<bool>* const stop_;
  StringTable strings_;
  const std::vector<MergeTable> tables_;
  std::map<std::string, MergedIds> ids_;  // By table.
  MergedIds new_plans_;                   // Of ids_["stored_plans"], those that `out` hadn't.
  // By their capture id: the words of a capture of ours whose rows theirs replace.
  std::map<int64_t, std::vector<SqlValue>> kept_words_;
  std::unordered_map<int64_t, int64_t> string_ids_;
  std::unique_ptr<SQLite::Statement> find_string_;
  MergeSummary summary_;
};

}  // namespace

MergeSummary MergeDatabase(Database& out, Database& in, const std::atomic<bool>* stop) {
  try {
    // Reading spans several statements: one state of the file for all of them.
    SQLite::Transaction snapshot(in.connection());
    SQLite::Transaction transaction(out.connection(), SQLite::TransactionBehavior::IMMEDIATE);
    const MergeSummary summary = Merge(out, in, stop).Run();
    transaction.commit();
    return summary;
  } catch (const SQLite::Exception& error) {
    throw Error(fmt::format("{}: can't be merged: {}", in.path(), error.what()));
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", in.path(), error.what()), error.code());
  }
}

}  // namespace oomdb::schema
