// The database file: opening it for the three uses there are, and everything that guards it.
//
// - ingest: created when missing, migrated when older, our views stored in it;
// - read-only: our views as temporary views, which shadow whatever the file itself holds, so a file
//   from somebody else is read through our SQL only;
// - throw-away: in memory, for a report on captures that nobody asked to keep.
//
// A Database belongs to one thread at a time.
#ifndef OOMDB_SCHEMA_DATABASE_H_
#define OOMDB_SCHEMA_DATABASE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "schema/statement_cache.h"

namespace SQLite {
class Database;
}

namespace oomdb::schema {

// "oomd" as a big-endian number: marks a file as ours (PRAGMA application_id).
inline constexpr int32_t kApplicationId = 0x6f6f6d64;

// A view that the program brings along.
struct ViewDefinition {
  std::string name;
  std::string select;  // What follows `CREATE VIEW name AS`, without the semicolon.
};

// Values of settings that hold for one call (--set, --capacity). NULL: not set.
using SettingOverrides = std::map<std::string, std::optional<int64_t>>;

// Asked again and again while another program has the file, with how long that took so far. False:
// wait no longer; what waits throws then.
using BusyHandler = std::function<bool(std::chrono::milliseconds waited)>;

class Database {
 public:
  // Opens `path` for writing, creates it when missing (unless `must_exist`), migrates an older one,
  // and stores `views` in it where their text differs. Throws Error: kForeignFile when the file is
  // not ours or is newer than this program; kFailed when it is on a network file system, can't be
  // written, or is missing with `must_exist`. Other writers are waited for, here and later, as long
  // as `busy` says, a quarter of an hour at most; without one as long as that.
  static Database OpenForIngest(const std::string& path, std::span<const ViewDefinition> views,
                                bool must_exist = false, BusyHandler busy = {});

  // Opens `path` for reading and makes `views` as temporary views. `overrides` and the settings
  // that the file lacks stand in a temporary table `settings`, which the views read. An older file
  // is migrated in memory, not on disk. Nothing there or beside it is written: what a dead writer
  // left is rolled back in a private copy. Throws Error: kFailed when missing or unreadable,
  // kForeignFile as above, kUsage for an unknown setting.
  static Database OpenReadOnly(const std::string& path, std::span<const ViewDefinition> views,
                               const SettingOverrides& overrides = {});

  // A database in memory, with everything that a file would have.
  static Database Throwaway(std::span<const ViewDefinition> views,
                            const SettingOverrides& overrides = {});

  // The same, but a view is made when MakeViewsFor sees it mentioned, which Query (query.h) asks
  // for: a report needs few of them, and making all takes a third of its time. `views` must outlive
  // the database.
  static Database ThrowawayWithLazyViews(std::span<const ViewDefinition> views,
                                         const SettingOverrides& overrides = {});

  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  // For the writer, the query and tests. Statements must not outlive the Database.
  SQLite::Database& connection() { return *connection_; }
  // Of this connection; for what is asked again for every capture.
  StatementCache& statements() { return *statements_; }
  const std::string& path() const { return path_; }  // "" for a throw-away one.
  // What the user should know of how it was opened, one line; often empty.
  const std::string& notice() const { return notice_; }

  // Makes the views that `sql` mentions, and those that these mention, where they wait to be made.
  void MakeViewsFor(std::string_view sql);
  // One of this name that waits is not made any more: something else bears it.
  void ForgetView(std::string_view name) { waiting_views_.erase(name); }

 private:
  struct Busy;

  Database(std::unique_ptr<SQLite::Database> connection, std::string path);

  std::unique_ptr<Busy> busy_;  // Goes after the connection, which asks it.
  std::unique_ptr<SQLite::Database> connection_;
  std::unique_ptr<StatementCache> statements_;  // Goes before the connection.
  std::string path_;
  std::string notice_;
  std::map<std::string_view, const ViewDefinition*> waiting_views_;  // By name.
};

// The name of a network file system on which locks can't be trusted (NFS, SMB, Lustre), for a
// statfs f_type; empty for all others: containers use 9p, virtiofs and overlay, which lock well.
std::string_view NetworkFileSystemName(uint64_t file_system_type);

}  // namespace oomdb::schema

#endif  // OOMDB_SCHEMA_DATABASE_H_
