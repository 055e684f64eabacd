// The comment lines before a view's CREATE VIEW, as they are written: key and text. What the keys
// mean is told in queries/catalogue.h.
#ifndef OOMDB_QUERIES_SQL_HEADER_H_
#define OOMDB_QUERIES_SQL_HEADER_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "queries/catalogue.h"

namespace oomdb::queries {

// `-- words NAME: TEMPLATE`, or `-- words NAME by COLUMN:` with a line `--   KEY: TEMPLATE` each.
struct HeaderWords {
  std::string name;
  std::string by;  // Empty: one text, whose key is empty.
  std::vector<std::pair<std::string, std::string>> texts;
};

struct SqlHeader {
  std::vector<std::pair<std::string, std::string>> fields;  // In their order, each key once.
  std::vector<ColumnMeaning> columns;
  std::vector<HeaderWords> words;

  // Empty: there is none.
  std::string_view Field(std::string_view key) const;
};

// Takes the header off the front of `sql`. Throws Error, without the file's name, where a line is
// neither `-- key: text` nor continues one.
SqlHeader TakeSqlHeader(std::string_view& sql);

// Without the blanks around it.
std::string_view TrimBlanks(std::string_view text);

// lower_snake_case.
bool IsSqlIdentifier(std::string_view text);

}  // namespace oomdb::queries

#endif  // OOMDB_QUERIES_SQL_HEADER_H_
