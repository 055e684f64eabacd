#include "tests/schema/sql_text.h"

#include <cctype>
#include <initializer_list>

namespace oomdb::schema {
namespace {

bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The place of the parenthesis that closes the one at `open`.
size_t ClosingOf(std::string_view sql, size_t open) {
  int depth = 0;
  for (size_t i = open; i < sql.size(); ++i) {
    if (sql[i] == '(') ++depth;
    if (sql[i] == ')' && --depth == 0) return i;
  }
  return sql.size();
}

// What follows `begin` up to the first of these words, or to the end of the parentheses around it.
size_t EndOfClause(std::string_view sql, size_t begin, std::initializer_list<const char*> words) {
  for (size_t i = begin; i < sql.size(); ++i) {
    if (sql[i] == '(') {
      i = ClosingOf(sql, i);
      continue;
    }
    if (sql[i] == ')' || sql[i] == ';') return i;
    if (sql[i] != ' ') continue;
    for (const std::string_view word : words) {
      const size_t after = i + 1 + word.size();
      if (sql.substr(i + 1, word.size()) == word && (after >= sql.size() || !IsWord(sql[after]))) {
        return i;
      }
    }
  }
  return sql.size();
}

std::string Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return std::string(text);
}

}  // namespace

std::string Normalized(std::string_view sql) {
  std::string text;
  bool in_string = false;
  for (size_t i = 0; i < sql.size(); ++i) {
    const char c = sql[i];
    if (c == '\'') in_string = !in_string;
    if (!in_string && sql.substr(i, 2) == "--") {
      while (i + 1 < sql.size() && sql[i + 1] != '\n') ++i;
    } else if (in_string || std::isspace(static_cast<unsigned char>(c)) == 0) {
      if (!in_string && c == ')' && text.ends_with(' ')) text.pop_back();
      text += in_string ? c : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    } else if (!text.ends_with(' ') && !text.ends_with('(')) {
      text += ' ';
    }
  }
  return Trimmed(text);
}

std::string WithoutStrings(std::string_view sql) {
  std::string text;
  bool in_string = false;
  for (const char c : sql) {
    if (c == '\'') in_string = !in_string;
    if (c == '\'' || !in_string) text += c;
  }
  return text;
}

std::vector<SqlCall> Calls(const std::string& sql) {
  std::vector<SqlCall> calls;
  for (size_t open = sql.find('('); open != std::string::npos; open = sql.find('(', open + 1)) {
    size_t begin = open;
    while (begin > 0 && sql[begin - 1] == ' ') --begin;
    const size_t end = begin;
    while (begin > 0 && IsWord(sql[begin - 1])) --begin;
    if (begin == end) continue;
    calls.push_back(
        {sql.substr(begin, end - begin), sql.substr(open + 1, ClosingOf(sql, open) - open - 1)});
  }
  return calls;
}

bool EndsWithCallOf(const std::string& sql, std::string_view function) {
  if (!sql.ends_with(')')) return false;
  int depth = 0;
  for (size_t i = sql.size(); i-- > 0;) {
    if (sql[i] == ')') ++depth;
    if (sql[i] == '(' && --depth == 0) return sql.substr(0, i).ends_with(function);
  }
  return false;
}

std::string EnclosingParentheses(const std::string& sql, size_t at) {
  int depth = 0;
  for (size_t i = at; i-- > 0;) {
    if (sql[i] == ')') ++depth;
    if (sql[i] == '(' && --depth < 0) return sql.substr(i + 1, ClosingOf(sql, i) - i - 1);
  }
  return sql;
}

std::vector<std::string> SplitAtTop(std::string_view sql, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t i = 0; i < sql.size(); ++i) {
    if (sql[i] == '(') i = ClosingOf(sql, i);
    if (i < sql.size() && sql[i] == separator) {
      parts.push_back(Trimmed(sql.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  parts.push_back(Trimmed(sql.substr(begin)));
  return parts;
}

std::vector<std::string> OrderKeys(const std::string& sql) {
  std::vector<std::string> keys;
  constexpr std::string_view kOrder = "ORDER BY ";
  for (size_t at = sql.find(kOrder); at != std::string::npos; at = sql.find(kOrder, at + 1)) {
    const size_t begin = at + kOrder.size();
    const size_t end = EndOfClause(sql, begin, {"ROWS", "RANGE", "LIMIT", "UNION"});
    for (std::string& key : SplitAtTop(sql.substr(begin, end - begin), ',')) {
      keys.push_back(std::move(key));
    }
  }
  return keys;
}

std::vector<SqlSelect> GroupedSelects(const std::string& sql) {
  std::vector<SqlSelect> selects;
  constexpr std::string_view kSelect = "SELECT ";
  constexpr std::string_view kGroup = " GROUP BY ";
  for (size_t at = sql.find(kSelect); at != std::string::npos; at = sql.find(kSelect, at + 1)) {
    const size_t begin = at + kSelect.size();
    const size_t group = EndOfClause(sql, begin, {"GROUP BY", "UNION", "EXCEPT", "INTERSECT"});
    if (sql.compare(group, kGroup.size(), kGroup) != 0) continue;
    const size_t from = EndOfClause(sql, begin, {"FROM"});
    const size_t keys = group + kGroup.size();
    const size_t end =
        EndOfClause(sql, keys, {"HAVING", "WINDOW", "ORDER", "UNION", "EXCEPT", "INTERSECT"});
    selects.push_back({SplitAtTop(sql.substr(begin, from - begin), ','),
                       SplitAtTop(sql.substr(keys, end - keys), ',')});
  }
  return selects;
}

std::string WithoutAggregates(const std::string& expression) {
  std::string rest = expression;
  for (const std::string_view call : {"MAX(", "MIN(", "SUM(", "COUNT(", "(SELECT "}) {
    for (size_t at = rest.find(call); at != std::string::npos; at = rest.find(call, at)) {
      const size_t open = rest.find('(', at);
      const size_t end = ClosingOf(rest, open);
      // A window over groups: what it is over must be grouped as well.
      if (rest.compare(end, 6, ") OVER") == 0) {
        at = open;
        continue;
      }
      rest.erase(at, end + 1 - at);
    }
  }
  return rest;
}

}  // namespace oomdb::schema
