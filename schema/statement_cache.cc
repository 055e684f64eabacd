#include "schema/statement_cache.h"

#include <SQLiteCpp/SQLiteCpp.h>

namespace oomdb::schema {

StatementCache::StatementCache(SQLite::Database& connection) : connection_(connection) {}
StatementCache::~StatementCache() = default;

SQLite::Statement& StatementCache::Get(std::string_view sql) {
  auto found = statements_.find(sql);
  if (found == statements_.end()) {
    const std::string text(sql);
    found = statements_.emplace(text, std::make_unique<SQLite::Statement>(connection_, text)).first;
  } else {
    // One that failed says its error again when it is reset: that was heard.
    found->second->tryReset();
    found->second->clearBindings();
  }
  return *found->second;
}

int64_t StatementCache::Number(std::string_view sql) {
  SQLite::Statement& statement = Get(sql);
  statement.executeStep();
  const int64_t number = statement.getColumn(0).getInt64();
  statement.reset();
  return number;
}

}  // namespace oomdb::schema
