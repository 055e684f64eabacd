// The words of SQL as SQLite tells them apart, without its spaces and comments.
#ifndef OOMDB_SCHEMA_SQL_TOKENS_H_
#define OOMDB_SCHEMA_SQL_TOKENS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace oomdb::schema {

struct SqlToken {
  size_t begin = 0;  // Where it stands in the text.
  size_t end = 0;
  // A word in capitals, for comparing: keywords and names have no case. Quoted names and texts are
  // as they stand, with their quotes.
  std::string text;
};

// A text or a comment that doesn't end takes the rest. A NUL is a token of its own.
// `most`: no more than so many of them.
std::vector<SqlToken> SqlTokens(std::string_view sql, size_t most = static_cast<size_t>(-1));

// The index of the `)` to the `(` at `open`; the number of tokens where there is none.
size_t ClosingToken(const std::vector<SqlToken>& tokens, size_t open);

}  // namespace oomdb::schema

#endif  // OOMDB_SCHEMA_SQL_TOKENS_H_
