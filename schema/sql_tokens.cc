#include "schema/sql_tokens.h"

#include <algorithm>

namespace oomdb::schema {
namespace {

// SQLite's own idea of a space: no vertical tab.
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r'; }

// Of names, numbers and keywords.
bool IsWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

char Capital(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

// Behind a text in quotes; a quote in it stands twice.
size_t QuotedEnd(std::string_view sql, size_t begin, char quote) {
  for (size_t at = begin + 1; at < sql.size(); ++at) {
    if (sql[at] != quote) continue;
    if (quote != ']' && at + 1 < sql.size() && sql[at + 1] == quote) {
      ++at;
    } else {
      return at + 1;
    }
  }
  return sql.size();
}

size_t Behind(std::string_view sql, std::string_view what, size_t from) {
  const size_t found = sql.find(what, from);
  return found == std::string_view::npos ? sql.size() : found + what.size();
}

}  // namespace

std::vector<SqlToken> SqlTokens(std::string_view sql, size_t most) {
  std::vector<SqlToken> tokens;
  for (size_t at = 0; at < sql.size() && tokens.size() < most;) {
    const char c = sql[at];
    const std::string_view rest = sql.substr(at);
    if (IsSpace(c)) {
      ++at;
      continue;
    }
    if (rest.starts_with("--")) {
      at = Behind(sql, "\n", at);
      continue;
    }
    if (rest.starts_with("/*")) {
      at = Behind(sql, "*/", at + 2);
      continue;
    }
    size_t end = at + 1;
    if (c == '\'' || c == '"' || c == '`') {
      end = QuotedEnd(sql, at, c);
    } else if (c == '[') {
      end = QuotedEnd(sql, at, ']');
    } else if (IsWord(c)) {
      while (end < sql.size() && IsWord(sql[end])) ++end;
    }
    std::string text(sql.substr(at, end - at));
    if (IsWord(c)) std::transform(text.begin(), text.end(), text.begin(), Capital);
    tokens.push_back({at, end, std::move(text)});
    at = end;
  }
  return tokens;
}

size_t ClosingToken(const std::vector<SqlToken>& tokens, size_t open) {
  size_t depth = 0;
  for (size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i].text == "(") ++depth;
    if (tokens[i].text == ")" && --depth == 0) return i;
  }
  return tokens.size();
}

}  // namespace oomdb::schema
