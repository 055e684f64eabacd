// What a test needs to know of the text of a query, without being an engine. All of it expects what
// Normalized returns, which is in capitals outside of strings.
#ifndef OOMDB_TESTS_SCHEMA_SQL_TEXT_H_
#define OOMDB_TESTS_SCHEMA_SQL_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

namespace oomdb::schema {

// Without comments, with single spaces and none inside parentheses, names in capitals, strings as
// they are.
std::string Normalized(std::string_view sql);

// The strings emptied.
std::string WithoutStrings(std::string_view sql);

struct SqlCall {
  std::string name;       // The word before the parenthesis.
  std::string arguments;  // What is between it and its partner.
};
std::vector<SqlCall> Calls(const std::string& sql);

// Does the text end with a call of that function?
bool EndsWithCallOf(const std::string& sql, std::string_view function);

// What is inside the parentheses around a place; all of it where there are none.
std::string EnclosingParentheses(const std::string& sql, size_t at);

// At that character, outside of parentheses.
std::vector<std::string> SplitAtTop(std::string_view sql, char separator);

// The keys of all ORDER BY.
std::vector<std::string> OrderKeys(const std::string& sql);

struct SqlSelect {
  std::vector<std::string> items;
  std::vector<std::string> keys;  // Of its GROUP BY.
};
std::vector<SqlSelect> GroupedSelects(const std::string& sql);

// Without the calls of aggregates that are no windows, and without queries in parentheses.
std::string WithoutAggregates(const std::string& expression);

}  // namespace oomdb::schema

#endif  // OOMDB_TESTS_SCHEMA_SQL_TEXT_H_
