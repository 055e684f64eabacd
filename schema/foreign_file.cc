#include "schema/foreign_file.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "base/error.h"
#include "schema/known_tables.h"
#include "schema/migrations.h"
#include "schema/sql_tokens.h"

namespace oomdb::schema {
namespace {

constexpr std::string_view kJournalMagic("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);

// A statement is told by its first words: `type` and `name` are what somebody wrote there.
constexpr size_t kMaxQuoted = 60;  // Of what differs, in a message.

std::string Shortened(const std::string& text) {
  return text.size() <= kMaxQuoted ? text : text.substr(0, kMaxQuoted) + "...";
}

// The first word of a part that is no column.
bool IsColumn(const std::string& part) {
  for (const std::string_view word : {"PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "CONSTRAINT"}) {
    if (part.starts_with(word) && (part.size() == word.size() || part[word.size()] == ' '))
      return false;
  }
  return true;
}

std::string NameOf(const std::string& part) { return Lower(part.substr(0, part.find(' '))); }

// A column that people added: a name and a type.
bool IsPlainColumn(const std::string& part) {
  return IsColumn(part) && std::count(part.begin(), part.end(), ' ') <= 1 &&
         part.find_first_of("()'") == std::string::npos;
}

// Columns by their names, perhaps with a collation and an order, and nothing else. `open`: its `(`.
bool IsPlainIndex(const std::vector<SqlToken>& tokens, size_t open) {
  size_t at = open + 1;
  const auto name = [&] {
    const char first = at < tokens.size() ? tokens[at].text[0] : ')';
    if (first != '"' && first != '`' && first != '[' && first != '_' &&
        !(first >= 'A' && first <= 'Z'))
      return false;
    ++at;
    return true;
  };
  const auto is = [&](std::string_view word) {
    return at < tokens.size() && tokens[at].text == word;
  };
  do {
    if (!name()) return false;
    if (is("COLLATE") && (++at, !name())) return false;
    if (is("ASC") || is("DESC")) ++at;
  } while (is(",") && ++at);
  return is(")") && at + 1 == tokens.size();
}

// Looks at one schema after the other statement of a file. What it throws is the reason.
class SchemaReader {
 public:
  SchemaReader(const std::string& path, int version) : path_(path), version_(version) {}

  void Statement(const std::string& sql) {
    const std::vector<SqlToken> tokens =
        SqlTokens(sql, 4);  // Enough for a view, which may be long.
    if (tokens.size() < 4 || sql.find('\0') != std::string::npos) Refuse("its schema is damaged");
    const std::string& what = tokens[1].text;
    if (what == "TRIGGER") {
      Refuse(fmt::format("it has a trigger, {}", NameIn(tokens[2])));
    } else if (what == "TABLE") {
      if (IsOurs(tokens[2])) Table(SqlTokens(sql));
    } else if (what == "VIEW") {
      if (IsOurs(tokens[2])) Refuse(fmt::format("its table {} is a view", NameIn(tokens[2])));
    } else if (what == "VIRTUAL") {
      if (IsOurs(tokens[3]))
        Refuse(fmt::format("its table {} is a virtual one", NameIn(tokens[3])));
    } else if (what == "INDEX" || what == "UNIQUE") {
      Index(SqlTokens(sql), what == "UNIQUE" ? 3 : 2);
    } else {
      Refuse(fmt::format("its schema has a {}", what));
    }
  }

  void End() {
    for (const auto& [table, shape] : Expected().tables) {
      if (seen_.count(table) == 0) Refuse(fmt::format("its table {} is missing", Lower(table)));
    }
  }

 private:
  [[noreturn]] void Refuse(const std::string& what) const {
    throw Error(fmt::format("{}: {}: no release of oomdb made it so; make it anew with `oomdb "
                            "ingest`, from the captures",
                            path_, what),
                ExitCode::kForeignFile);
  }

  // What a file of its version has. One of today's version may be as schema.sql is, or migrated.
  const KnownTables& Expected() {
    return version_ == SchemaVersion() ? TodaysTables() : Migrated();
  }
  const KnownTables& Migrated() {
    if (!migrated_) migrated_ = MigratedTables(version_);
    return *migrated_;
  }

  static std::string NameIn(const SqlToken& token) { return Lower(PlainName(token.text)); }
  bool IsOurs(const SqlToken& token) { return Expected().tables.count(PlainName(token.text)) > 0; }

  void Table(const std::vector<SqlToken>& tokens) {
    const std::string name = PlainName(tokens[2].text);
    seen_.insert(name);
    TableShape shape = ShapeOf(tokens, 2);
    const TableShape& expected = Expected().tables.at(name);
    if (shape == expected) return;
    // Often so in a file that was migrated: both are looked at before anything is said.
    const auto without_added = [](TableShape found, const TableShape& known) {
      std::erase_if(found.parts, [&](const std::string& part) {
        return known.parts.count(part) == 0 && IsPlainColumn(part);
      });
      return found;
    };
    const TableShape& migrated = Migrated().tables.at(name);
    if (without_added(shape, expected) == expected || without_added(shape, migrated) == migrated)
      return;
    RefuseTable(Lower(name), without_added(shape, expected), expected);
  }

  [[noreturn]] void RefuseTable(const std::string& name, const TableShape& found,
                                const TableShape& expected) const {
    // A column that is there, but otherwise, is told by what it is now.
    for (const std::string& part : found.parts) {
      if (expected.parts.count(part) == 0)
        Refuse(fmt::format("its table {} has {}", name, Shortened(part)));
    }
    for (const std::string& part : expected.parts) {
      if (found.parts.count(part) > 0) continue;
      Refuse(IsColumn(part) ? fmt::format("its table {} lacks the column {}", name, NameOf(part))
                            : fmt::format("its table {} lacks {}", name, Shortened(part)));
    }
    for (const std::string& option : expected.options) {
      if (found.options.count(option) == 0)
        Refuse(fmt::format("its table {} is not {}", name, option));
    }
    Refuse(fmt::format("its table {} differs", name));
  }

  void Index(const std::vector<SqlToken>& tokens, size_t name) {
    if (name + 3 >= tokens.size() || tokens[name + 1].text != "ON") Refuse("its schema is damaged");
    if (!IsOurs(tokens[name + 2])) return;
    if (tokens[name + 3].text == "(" && IsPlainIndex(tokens, name + 3)) return;
    const std::string text = JoinedTokens(tokens);
    if (Expected().indexes.count(text) > 0 || Migrated().indexes.count(text) > 0) return;
    Refuse(fmt::format("its index {} on {} computes something", NameIn(tokens[name]),
                       NameIn(tokens[name + 2])));
  }

  const std::string& path_;
  const int version_;
  std::optional<KnownTables> migrated_;
  std::set<std::string> seen_;
};

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

void RefuseForeignSchema(SQLite::Database& connection, const std::string& path, int version) {
  SchemaReader reader(path, version);
  // Indexes of UNIQUE and PRIMARY KEY have no text.
  SQLite::Statement query(connection, "SELECT sql FROM main.sqlite_master WHERE sql IS NOT NULL");
  while (query.executeStep()) reader.Statement(query.getColumn(0).getString());
  reader.End();
}

}  // namespace oomdb::schema
