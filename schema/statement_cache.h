// Statements that stay prepared: SQLite takes longer to prepare one than to run it.
#ifndef OOMDB_SCHEMA_STATEMENT_CACHE_H_
#define OOMDB_SCHEMA_STATEMENT_CACHE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace SQLite {
class Database;
class Statement;
}  // namespace SQLite

namespace oomdb::schema {

// For SQL of a bounded number of texts. Belongs to one thread at a time.
class StatementCache {
 public:
  // `connection` must outlive this.
  explicit StatementCache(SQLite::Database& connection);
  ~StatementCache();

  // The statement of this text, reset and without bindings. Throws SQLite::Exception when it can't
  // be prepared. It must be reset after use: one that is not keeps its transaction from ending.
  SQLite::Statement& Get(std::string_view sql);

  // The first number of the first row of `sql`, which must give one.
  int64_t Number(std::string_view sql);

 private:
  SQLite::Database& connection_;
  std::map<std::string, std::unique_ptr<SQLite::Statement>, std::less<>> statements_;
};

}  // namespace oomdb::schema

#endif  // OOMDB_SCHEMA_STATEMENT_CACHE_H_
