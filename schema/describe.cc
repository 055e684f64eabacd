#include "schema/describe.h"

#include <array>
#include <cctype>
#include <cstddef>

namespace oomdb::schema {
namespace {

std::string_view Trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  return text;
}

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

void AppendSentence(std::string* text, std::string_view more) {
  if (!text->empty()) *text += ' ';
  *text += more;
}

// `code` is one line between the parentheses of CREATE TABLE: its column definitions are separated
// by commas outside parentheses. Constraints of the table are not columns.
std::vector<std::string> ColumnNames(std::string_view code) {
  static constexpr std::array<std::string_view, 5> kConstraints = {"PRIMARY", "UNIQUE", "CHECK",
                                                                   "FOREIGN", "CONSTRAINT"};
  std::vector<std::string> names;
  int depth = 0;
  size_t start = 0;
  const auto take = [&](size_t end) {
    const std::string_view definition = Trim(code.substr(start, end - start));
    const std::string_view name = definition.substr(0, definition.find(' '));
    bool column =
        !name.empty() && (std::isalpha(static_cast<unsigned char>(name[0])) || name[0] == '_');
    for (const std::string_view constraint : kConstraints) column = column && name != constraint;
    if (column) names.emplace_back(name);
  };
  for (size_t i = 0; i < code.size(); ++i) {
    if (code[i] == '(') ++depth;
    if (code[i] == ')') --depth;
    if (code[i] == ',' && depth == 0) {
      take(i);
      start = i + 1;
    }
  }
  take(code.size());
  return names;
}

}  // namespace

std::vector<TableDescription> DescribeTables(std::string_view schema_sql) {
  constexpr std::string_view kCreate = "CREATE TABLE ";
  std::vector<TableDescription> tables;
  std::string comment;
  bool inside = false;
  size_t first_of_line =
      0;  // Of the last line with columns: which of the table's columns a comment belongs to.
  while (!schema_sql.empty()) {
    const size_t newline = schema_sql.find('\n');
    const std::string_view line = schema_sql.substr(0, newline);
    schema_sql.remove_prefix(newline == std::string_view::npos ? schema_sql.size() : newline + 1);
    const std::string_view trimmed = Trim(line);
    if (inside) {
      TableDescription& table = tables.back();
      table.sql += '\n';
      table.sql += line;
      if (StartsWith(trimmed, ")")) {
        inside = false;
        continue;
      }
      const size_t dashes = line.find("--");
      const std::string_view code = Trim(line.substr(0, dashes));
      if (!code.empty()) {
        first_of_line = table.columns.size();
        for (std::string& name : ColumnNames(code)) table.columns.push_back({std::move(name), ""});
      }
      if (dashes == std::string_view::npos) continue;
      for (size_t i = first_of_line; i < table.columns.size(); ++i) {
        AppendSentence(&table.columns[i].meaning, Trim(line.substr(dashes + 2)));
      }
    } else if (StartsWith(trimmed, "--")) {
      AppendSentence(&comment, Trim(trimmed.substr(2)));
    } else {
      if (StartsWith(trimmed, kCreate)) {
        const std::string_view rest = trimmed.substr(kCreate.size());
        tables.push_back(
            {std::string(rest.substr(0, rest.find(' '))), comment, {}, std::string(line)});
        inside = true;
      }
      comment.clear();
    }
  }
  return tables;
}

}  // namespace oomdb::schema
