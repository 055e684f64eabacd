#include "schema/foreign_file.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "schema/migrations.h"

namespace oomdb::schema {
namespace {

constexpr std::string_view kJournalMagic("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);

// The names after CREATE TABLE in our schema.
std::vector<std::string> OurTables() {
  constexpr std::string_view kCreate = "CREATE TABLE ";
  std::vector<std::string> names;
  const std::string_view schema = SchemaSql();
  for (size_t at = schema.find(kCreate); at != std::string_view::npos;
       at = schema.find(kCreate, at)) {
    at += kCreate.size();
    names.emplace_back(schema.substr(at, schema.find_first_of(" (", at) - at));
  }
  return names;
}

}  // namespace

void RefuseSuperJournal(const std::string& path) {
  std::ifstream journal(path + "-journal", std::ios::binary | std::ios::ate);
  if (!journal) return;
  // At its end: the name, its length and checksum, four bytes each, and the magic.
  std::array<char, 16> end{};
  if (journal.tellg() < static_cast<std::streamoff>(end.size())) return;
  journal.seekg(-static_cast<std::streamoff>(end.size()), std::ios::end);
  journal.read(end.data(), static_cast<std::streamsize>(end.size()));
  const std::string_view tail(end.data(), end.size());
  uint32_t length = 0;
  for (const char byte : tail.substr(0, 4)) length = length << 8 | static_cast<uint8_t>(byte);
  if (!journal || tail.substr(8) != kJournalMagic || length == 0) return;
  throw Error(fmt::format("{0}-journal names another file, which SQLite would delete with it: "
                          "oomdb did not write it; move {0}-journal away, if you trust {0}",
                          path),
              ExitCode::kForeignFile);
}

void RefuseForeignSchema(SQLite::Database& connection, const std::string& path) {
  const auto refuse = [&path](const std::string& what) {
    throw Error(fmt::format("{}: {}: somebody else changed this database; make it anew with "
                            "`oomdb ingest`, from the captures",
                            path, what),
                ExitCode::kForeignFile);
  };
  SQLite::Statement trigger(connection,
                            "SELECT name FROM main.sqlite_master WHERE type = 'trigger' LIMIT 1");
  if (trigger.executeStep())
    refuse(fmt::format("it has a trigger, {}", trigger.getColumn(0).getString()));
  SQLite::Statement object(connection,
                           "SELECT type, sql FROM main.sqlite_master WHERE name = ? COLLATE NOCASE "
                           "AND type IN ('table', 'view')");
  SQLite::Statement computed(connection,
                             "SELECT name FROM pragma_table_xinfo(?) WHERE hidden > 1 LIMIT 1");
  for (const std::string& table : OurTables()) {
    object.reset();
    object.bind(1, table);
    while (object.executeStep()) {
      if (object.getColumn(0).getString() == "view")
        refuse(fmt::format("its table {} is a view", table));
      if (object.getColumn(1).getString().rfind("CREATE VIRTUAL", 0) == 0)
        refuse(fmt::format("its table {} is a virtual one", table));
    }
    computed.reset();
    computed.bind(1, table);
    if (computed.executeStep()) {
      refuse(fmt::format("the column {} of its table {} is computed",
                         computed.getColumn(0).getString(), table));
    }
  }
}

}  // namespace oomdb::schema
