// The names in an SQL text.
#ifndef OOMDB_SCHEMA_SQL_NAMES_H_
#define OOMDB_SCHEMA_SQL_NAMES_H_

#include <string_view>
#include <vector>

namespace oomdb::schema {

// Every word of the statement outside comments and texts, once, sorted: the tables and views that
// it mentions are among them. Views into `sql`.
std::vector<std::string_view> SqlNames(std::string_view sql);

}  // namespace oomdb::schema

#endif  // OOMDB_SCHEMA_SQL_NAMES_H_
