#include "schema/bounded_sums.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "schema/sql_tokens.h"

namespace oomdb::schema {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

// SQLite gives it zeroed, and frees it.
struct Sum {
  uint64_t low;  // Of the integers, 128 bits: they go in and out of a window exactly.
  int64_t high;
  double reals;   // Of everything, as SQLite adds.
  int64_t count;  // Without NULLs.
  bool is_real;   // A real was among them.
};

// `sign` is 1 or -1.
void Change(Sum& sum, sqlite3_value* value, int sign) {
  const int type = sqlite3_value_numeric_type(value);
  if (type == SQLITE_NULL) return;
  sum.count += sign;
  if (type != SQLITE_INTEGER) {
    sum.is_real = true;
    sum.reals += sign * sqlite3_value_double(value);
    return;
  }
  const int64_t number = sqlite3_value_int64(value);
  sum.reals += sign * static_cast<double>(number);
  const auto low = static_cast<uint64_t>(number);
  const int64_t high = number < 0 ? -1 : 0;
  if (sign > 0) {
    sum.high += high + (__builtin_add_overflow(sum.low, low, &sum.low) ? 1 : 0);
  } else {
    sum.high -= high + (__builtin_sub_overflow(sum.low, low, &sum.low) ? 1 : 0);
  }
}

Sum* Of(sqlite3_context* context, int bytes) {
  return static_cast<Sum*>(sqlite3_aggregate_context(context, bytes));
}

void Add(sqlite3_context* context, int, sqlite3_value** values) {
  if (Sum* const sum = Of(context, sizeof(Sum))) Change(*sum, values[0], 1);
}

void Remove(sqlite3_context* context, int, sqlite3_value** values) {
  if (Sum* const sum = Of(context, sizeof(Sum))) Change(*sum, values[0], -1);
}

void Give(sqlite3_context* context) {
  const Sum* const sum = Of(context, 0);
  if (sum == nullptr || sum->count == 0) return;  // NULL.
  if (sum->is_real) return sqlite3_result_double(context, sum->reals);
  const auto low = static_cast<int64_t>(sum->low);
  const bool fits = sum->high == (low < 0 ? -1 : 0);
  sqlite3_result_int64(context, fits ? low : sum->high < 0 ? kLeast : kLargest);
}

void Absolute(sqlite3_context* context, int, sqlite3_value** values) {
  switch (sqlite3_value_type(values[0])) {
    case SQLITE_NULL:
      return sqlite3_result_null(context);
    case SQLITE_INTEGER: {
      const int64_t number = sqlite3_value_int64(values[0]);
      return sqlite3_result_int64(context, number == kLeast ? kLargest
                                           : number < 0     ? -number
                                                            : number);
    }
    default: {
      const double number = sqlite3_value_double(values[0]);
      return sqlite3_result_double(context, number < 0 ? -number : number);
    }
  }
}

// Behind what belongs to a call that ends before `at`: FILTER (…), OVER (…), OVER window.
size_t CallEnd(const std::vector<SqlToken>& tokens, size_t at) {
  for (;;) {
    if (at + 1 >= tokens.size()) return at;
    const std::string& word = tokens[at].text;
    const bool in_parentheses = tokens[at + 1].text == "(";
    if ((word == "FILTER" || word == "OVER") && in_parentheses) {
      at = ClosingToken(tokens, at + 1) + 1;
    } else if (word == "OVER") {
      at += 2;
    } else {
      return at;
    }
  }
}

class Rewriter {
 public:
  explicit Rewriter(std::string_view sql) : sql_(sql), tokens_(SqlTokens(sql)) {}

  std::string All() { return Between(0, tokens_.size(), 0, sql_.size()); }

 private:
  // The tokens from `from` to before `to`, which stand in the text from `begin` to `end`.
  std::string Between(size_t from, size_t to, size_t begin, size_t end) {
    std::string text;
    size_t written = begin;
    for (size_t i = from; i + 1 < to; ++i) {
      const std::string& word = tokens_[i].text;
      if ((word != "SUM" && word != "ABS") || tokens_[i + 1].text != "(") continue;
      const size_t close = ClosingToken(tokens_, i + 1);
      if (close >= to) continue;
      text += sql_.substr(written, tokens_[i].begin - written);
      const std::string inner = Between(i + 2, close, tokens_[i + 1].end, tokens_[close].begin);
      size_t behind = close + 1;
      if (word == "SUM") {
        behind = CallEnd(tokens_, behind);
        text += fmt::format(
            "CAST(SUM(1e0 * ({})){} AS BIGINT)", inner,
            sql_.substr(tokens_[close].end, tokens_[behind - 1].end - tokens_[close].end));
      } else {
        text += fmt::format("(CASE WHEN ({0}) < 0 THEN -({0}) ELSE ({0}) END)", inner);
      }
      written = tokens_[behind - 1].end;
      i = behind - 1;
    }
    return text + std::string(sql_.substr(written, end - written));
  }

  const std::string_view sql_;
  const std::vector<SqlToken> tokens_;
};

}  // namespace

void BoundSums(sqlite3* handle) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  sqlite3_create_window_function(handle, "sum", 1, kFlags, nullptr, &Add, &Give, &Give, &Remove,
                                 nullptr);
  sqlite3_create_function_v2(handle, "abs", 1, kFlags, nullptr, &Absolute, nullptr, nullptr,
                             nullptr);
}

std::string WithBoundedSums(std::string_view select) { return Rewriter(select).All(); }

}  // namespace oomdb::schema
