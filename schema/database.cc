#include "schema/database.h"

#include <SQLiteCpp/Backup.h>
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "schema/bounded_sums.h"
#include "schema/foreign_file.h"
#include "schema/migrations.h"
#include "schema/private_copy.h"
#include "schema/sql_names.h"

namespace oomdb::schema {
namespace {

namespace fs = std::filesystem;

// Several ingests into one file wait for one another: longer than any one capture takes.
constexpr int kBusyTimeoutMs = 15 * 60 * 1000;
// A reader only waits while a writer commits or its changes outgrow the cache; past this it says
// so.
constexpr int kReadTimeoutMs = 60 * 1000;
// Page cache, in KiB: the indexes of a large ingest stay in memory.
constexpr int kCacheKib = 64 * 1024;

// SQLite counts the bytes it has, under a lock, which nobody asks for here. Has to be said before
// it is first used; later it is refused, which does no harm.
void DontCountMemory() { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

std::unique_ptr<SQLite::Database> Connect(const std::string& path, int flags,
                                          int timeout_ms = kBusyTimeoutMs) {
  static std::once_flag once;
  std::call_once(once, DontCountMemory);
  try {
    // A connection belongs to one thread at a time (database.h), so SQLite need not guard it: its
    // mutexes take a twentieth of an ingest.
    auto connection =
        std::make_unique<SQLite::Database>(path, flags | SQLite::OPEN_NOMUTEX, timeout_ms);
    BoundSums(connection->getHandle());
    return connection;
  } catch (const SQLite::Exception& error) {
    throw Error(fmt::format("{}: can't be opened as a database: {}", path, error.what()));
  }
}

void RefuseNetworkFileSystem(const std::string& path) {
  fs::path place = fs::path(path).parent_path();
  if (place.empty()) place = ".";
  struct statfs status = {};
  // A missing folder is reported by the opening itself.
  if (statfs(path.c_str(), &status) != 0 && statfs(place.c_str(), &status) != 0) return;
  const std::string_view name = NetworkFileSystemName(static_cast<uint64_t>(status.f_type));
  if (name.empty()) return;
  throw Error(
      fmt::format("{}: it is on {}, where file locks can't be trusted; ingest into a file on a "
                  "local disk of each host, then unite them with `oomdb merge`",
                  path, name));
}

// SQLite finds out at the first page that it writes: each capture would be rejected then.
void RefuseReadOnlyFolder(const std::string& path) {
  std::error_code unresolved;
  const fs::path file = fs::weakly_canonical(path, unresolved);  // As SQLite, which follows links.
  if (unresolved) return;
  const fs::path folder = file.parent_path();
  if (::access(folder.c_str(), W_OK) == 0 || (errno != EACCES && errno != EROFS)) return;
  throw Error(fmt::format(
      "{}: can't be written: SQLite keeps its journal beside it, in {} ({}); name a file in a "
      "folder that can be written with --db",
      path, folder.string(), std::generic_category().message(errno)));
}

// Reads the file's header, so only after Inspect.
void SetCache(SQLite::Database& connection) {
  connection.exec(fmt::format("PRAGMA cache_size = -{}", kCacheKib));
}

int64_t Number(SQLite::Database& connection, const std::string& sql) {
  return connection.execAndGet(sql).getInt64();
}

enum class FileState { kNew, kOurs };

// What the file is. Throws kForeignFile for what this program must not touch.
FileState Inspect(SQLite::Database& connection, const std::string& path, int* version) {
  int64_t id = 0;
  int64_t objects = 0;
  try {
    id = Number(connection, "PRAGMA application_id");
    *version = static_cast<int>(Number(connection, "PRAGMA user_version"));
    objects = Number(connection, "SELECT COUNT(*) FROM sqlite_master");
  } catch (const SQLite::Exception& error) {
    if (error.getErrorCode() == SQLITE_NOTADB) {
      throw Error(
          fmt::format("{}: not a database; --db names a file that oomdb made or is to make", path),
          ExitCode::kForeignFile);
    }
    throw Error(fmt::format("{}: can't be read: {}", path, error.what()));
  }
  if (id == 0 && objects == 0) return FileState::kNew;
  if (id != kApplicationId) {
    throw Error(fmt::format("{}: a database of another program (application id {:#x}, ours is "
                            "{:#x}); name another file",
                            path, static_cast<uint32_t>(id), kApplicationId),
                ExitCode::kForeignFile);
  }
  if (*version > SchemaVersion()) {
    throw Error(
        fmt::format(
            "{}: written by a newer oomdb (schema version {}, this program knows {}); update oomdb",
            path, *version, SchemaVersion()),
        ExitCode::kForeignFile);
  }
  return FileState::kOurs;
}

void CreateTables(SQLite::Database& connection) {
  connection.exec(std::string(SchemaSql()));
  connection.exec(fmt::format("PRAGMA application_id = {}", kApplicationId));
  connection.exec(fmt::format("PRAGMA user_version = {}", SchemaVersion()));
}

// Views are code: those whose stored text differs are made anew.
void StoreViews(SQLite::Database& connection, std::span<const ViewDefinition> views) {
  std::map<std::string, std::string> stored;
  SQLite::Statement query(connection, "SELECT name, sql FROM sqlite_master WHERE type = 'view'");
  while (query.executeStep())
    stored[query.getColumn(0).getString()] = query.getColumn(1).getString();
  for (const ViewDefinition& view : views) {
    const std::string text =
        fmt::format("CREATE VIEW {} AS {}", view.name, WithBoundedSums(view.select));
    const auto found = stored.find(view.name);
    if (found != stored.end() && found->second == text) continue;
    connection.exec(fmt::format("DROP VIEW IF EXISTS {}", view.name));
    connection.exec(text);
  }
}

void Override(SQLite::Database& connection, const SettingOverrides& overrides) {
  SQLite::Statement update(connection, "UPDATE settings SET setting = ?1 WHERE name = ?2");
  for (const auto& [name, setting] : overrides) {
    setting.has_value() ? update.bind(1, *setting) : update.bind(1);
    update.bind(2, name);
    if (update.exec() == 0) {
      throw Error(fmt::format("no setting {}; `oomdb list settings` names them", name),
                  ExitCode::kUsage);
    }
    update.reset();
  }
}

// `temp.settings` with every default: settings.sql names the table without a schema, and temp comes
// first.
void MakeDefaultSettings(SQLite::Database& connection) {
  connection.exec(
      "CREATE TEMP TABLE settings (name TEXT PRIMARY KEY, setting INTEGER, meaning TEXT NOT "
      "NULL) STRICT, WITHOUT ROWID");
  connection.exec(std::string(SettingsSql()));
}

// Adds the settings that the file lacks. Values that it has are the user's and stay.
void StoreSettings(SQLite::Database& connection) {
  MakeDefaultSettings(connection);
  connection.exec(
      "INSERT OR IGNORE INTO main.settings SELECT name, setting, meaning FROM "
      "temp.settings;UPDATE main.settings SET meaning = d.meaning FROM temp.settings d WHERE "
      "d.name = main.settings.name AND d.meaning <> main.settings.meaning;DROP TABLE "
      "temp.settings");
}

// What a file from somebody else may not do, however its schema is made.
void DistrustSchema(SQLite::Database& connection) {
  sqlite3* const handle = connection.getHandle();
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
}

// And of a file that is only read.
void Distrust(SQLite::Database& connection) {
  DistrustSchema(connection);
  connection.exec("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0");
}

// What a writer that was killed left beside the file: it can't be read without rolling that back,
// and a read-only connection doesn't.
bool NeedsRollback(SQLite::Database& connection) {
  try {
    Number(connection, "PRAGMA application_id");
    return false;
  } catch (const SQLite::Exception& error) {
    return error.getExtendedErrorCode() == SQLITE_READONLY_ROLLBACK;  // The rest Inspect says.
  }
}

std::unique_ptr<SQLite::Database> ConnectToCopy(const std::string& path, const std::string& beside,
                                                std::string& notice) {
  const PrivateCopy copy(path, beside);
  RefuseSuperJournal(copy.path());  // The file may have changed since it was looked at.
  Number(*Connect(copy.path(), SQLite::OPEN_READWRITE), "SELECT COUNT(*) FROM sqlite_master");
  notice = fmt::format(
      "{}: what another program left in {} is taken in for reading, in a copy of {} MB in {} that "
      "is gone already; the next `oomdb ingest` into it does so in place",
      path, path + beside, copy.bytes() / 1000000 + 1,
      fs::path(copy.folder()).parent_path().string());
  return Connect(ImmutableUri(copy.path()), SQLite::OPEN_READONLY | SQLite::OPEN_URI);
}

// Nothing at or beside `path` is written.
std::unique_ptr<SQLite::Database> ConnectToRead(const std::string& path, std::string& notice) {
  RefuseSuperJournal(path);
  if (IsInWalMode(path)) {
    if (HasBytes(path + "-wal")) return ConnectToCopy(path, "-wal", notice);
    return Connect(ImmutableUri(path), SQLite::OPEN_READONLY | SQLite::OPEN_URI);
  }
  std::unique_ptr<SQLite::Database> connection =
      Connect(path, SQLite::OPEN_READONLY, kReadTimeoutMs);
  if (!NeedsRollback(*connection)) return connection;
  connection.reset();
  return ConnectToCopy(path, "-journal", notice);
}

// Views in `temp`, over a `temp.settings` that has the file's values, our defaults for the rest,
// and the overrides.
void ShadowWithOurs(SQLite::Database& connection, std::span<const ViewDefinition> views,
                    const SettingOverrides& overrides) {
  MakeDefaultSettings(connection);
  connection.exec(
      "INSERT OR REPLACE INTO temp.settings SELECT name, setting, meaning FROM main.settings "
      "WHERE typeof(name) = 'text' AND typeof(setting) IN ('integer', 'null') AND "
      "typeof(meaning) = 'text'");
  Override(connection, overrides);
  for (const ViewDefinition& view : views) {
    connection.exec(fmt::format("CREATE TEMP VIEW {} AS {}", view.name, view.select));
  }
}

}  // namespace

// What SQLite asks while a lock is not to be had.
struct Database::Busy {
  BusyHandler handler;
  std::chrono::steady_clock::time_point begun;

  // `asked`: how often for this lock. 0: give up.
  static int Wait(void* self, int asked) {
    auto* const busy = static_cast<Busy*>(self);
    const auto now = std::chrono::steady_clock::now();
    if (asked == 0) busy->begun = now;
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(now - busy->begun);
    if (waited.count() > kBusyTimeoutMs || !busy->handler(waited)) return 0;
    // Often at first: most locks are short.
    std::this_thread::sleep_for(std::chrono::milliseconds(std::min(1 + asked * 5, 100)));
    return 1;
  }
};

Database::Database(std::unique_ptr<SQLite::Database> connection, std::string path)
    : connection_(std::move(connection)),
      statements_(std::make_unique<StatementCache>(*connection_)),
      path_(std::move(path)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&& other) noexcept {
  statements_ = std::move(other.statements_);  // Before the connection that ours were made on.
  connection_ = std::move(other.connection_);
  path_ = std::move(other.path_);
  notice_ = std::move(other.notice_);
  waiting_views_ = std::move(other.waiting_views_);
  busy_ = std::move(other.busy_);
  return *this;
}
Database::~Database() = default;

Database Database::OpenForIngest(const std::string& path, std::span<const ViewDefinition> views,
                                 bool must_exist, BusyHandler busy) {
  if (must_exist && !fs::exists(path)) throw Error(fmt::format("{}: no such database", path));
  if (fs::is_directory(path)) throw Error(fmt::format("{}: a folder; --db names a file", path));
  RefuseNetworkFileSystem(path);
  RefuseReadOnlyFolder(path);
  RefuseSuperJournal(path);
  std::unique_ptr<SQLite::Database> connection =
      Connect(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  std::unique_ptr<Busy> watch;
  if (busy) {
    watch = std::make_unique<Busy>(Busy{std::move(busy), {}});
    sqlite3_busy_handler(connection->getHandle(), &Busy::Wait, watch.get());
  }
  int version = 0;
  // Looked at before the lock, so that a foreign file isn't even locked.
  if (Inspect(*connection, path, &version) == FileState::kOurs)
    RefuseForeignSchema(*connection, path, version);
  DistrustSchema(*connection);
  SetCache(*connection);
  // Full sync and the default journal are SQLite's defaults; said here because a SIGKILL must never
  // cost the file.
  connection->exec("PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF");
  try {
    SQLite::Transaction transaction(*connection, SQLite::TransactionBehavior::IMMEDIATE);
    if (Inspect(*connection, path, &version) == FileState::kNew) {
      CreateTables(*connection);
    } else {
      RefuseForeignSchema(*connection, path, version);  // Once more, under the lock.
      Migrate(*connection, version, Migrations());
    }
    StoreSettings(*connection);
    StoreViews(*connection, views);
    transaction.commit();
  } catch (const SQLite::Exception& error) {
    throw Error(fmt::format("{}: can't be written: {}", path, error.what()));
  }
  Database database(std::move(connection), path);
  database.busy_ = std::move(watch);
  return database;
}

Database Database::OpenReadOnly(const std::string& path, std::span<const ViewDefinition> views,
                                const SettingOverrides& overrides) {
  if (!fs::exists(path)) {
    throw Error(
        fmt::format("{}: no such database; make it with `oomdb ingest --db {} PATH…`", path, path));
  }
  if (fs::is_directory(path)) throw Error(fmt::format("{}: a folder; --db names a file", path));
  std::string notice;
  std::unique_ptr<SQLite::Database> connection = ConnectToRead(path, notice);
  Distrust(*connection);
  int version = 0;
  if (Inspect(*connection, path, &version) == FileState::kNew) {
    throw Error(fmt::format("{}: empty; fill it with `oomdb ingest --db {} PATH…`", path, path));
  }
  RefuseForeignSchema(*connection, path, version);
  if (version < SchemaVersion()) {
    std::unique_ptr<SQLite::Database> copy =
        Connect("", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    SQLite::Backup(*copy, *connection).executeStep();
    Distrust(*copy);
    SQLite::Transaction transaction(*copy);
    Migrate(*copy, version, Migrations());
    transaction.commit();
    connection = std::move(copy);
  }
  SetCache(*connection);
  ShadowWithOurs(*connection, views, overrides);
  Database database(std::move(connection), path);
  database.notice_ = std::move(notice);
  return database;
}

Database Database::Throwaway(std::span<const ViewDefinition> views,
                             const SettingOverrides& overrides) {
  // An empty name: SQLite keeps it in memory and spills to an unlinked temporary file when it
  // outgrows the cache.
  std::unique_ptr<SQLite::Database> connection =
      Connect("", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  SetCache(*connection);
  connection->exec("PRAGMA synchronous = OFF");
  connection->exec("BEGIN");  // Each statement in a transaction of its own takes far longer.
  CreateTables(*connection);
  StoreSettings(*connection);
  Override(*connection, overrides);
  StoreViews(*connection, views);
  connection->exec("COMMIT");
  return Database(std::move(connection), "");
}

Database Database::ThrowawayWithLazyViews(std::span<const ViewDefinition> views,
                                          const SettingOverrides& overrides) {
  Database database = Throwaway({}, overrides);
  for (const ViewDefinition& view : views) database.waiting_views_.emplace(view.name, &view);
  return database;
}

void Database::MakeViewsFor(std::string_view sql) {
  if (waiting_views_.empty()) return;
  for (const std::string_view name : SqlNames(sql)) {
    const auto waiting = waiting_views_.find(name);
    if (waiting == waiting_views_.end()) continue;
    const ViewDefinition& view = *waiting->second;
    waiting_views_.erase(waiting);
    connection_->exec(fmt::format("CREATE VIEW {} AS {}", view.name, view.select));
    MakeViewsFor(view.select);
  }
}

std::string_view NetworkFileSystemName(uint64_t file_system_type) {
  // Magic numbers of Linux's magic.h and of the file systems' own headers. f_type is signed on some
  // systems: compare the low 32 bits.
  switch (static_cast<uint32_t>(file_system_type)) {
    case 0x00006969:
      return "NFS";
    case 0x0000517b:
      return "SMB";
    case 0xff534d42:  // CIFS
    case 0xfe534d42:  // SMB2
      return "SMB";
    case 0x0bd00bd0:
      return "Lustre";
    default:
      return {};
  }
}

}  // namespace oomdb::schema
