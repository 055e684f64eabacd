// The comments of schema.sql, which are the reference of its tables.
#ifndef OOMDB_SCHEMA_DESCRIBE_H_
#define OOMDB_SCHEMA_DESCRIBE_H_

#include <string>
#include <string_view>
#include <vector>

namespace oomdb::schema {

struct ColumnDescription {
  std::string name;
  std::string meaning;  // Empty: it has none, which a test refuses.
};

struct TableDescription {
  std::string name;
  std::string meaning;
  std::vector<ColumnDescription> columns;
  std::string sql;  // CREATE TABLE …, with the comments.
};

// The tables of a schema text, in its order. The form that schema.sql keeps: comment lines right
// above CREATE TABLE are the table's; each line within gives one or more columns, and the comment
// at its end, or a comment line after it, is theirs.
std::vector<TableDescription> DescribeTables(std::string_view schema_sql);

}  // namespace oomdb::schema

#endif  // OOMDB_SCHEMA_DESCRIBE_H_
