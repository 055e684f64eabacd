// Characters, whatever the locale.
#ifndef OOMDB_BASE_ASCII_H_
#define OOMDB_BASE_ASCII_H_

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace oomdb {

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

constexpr char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

inline std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = Lower(c);
  return lower;
}

// The number that all of `text` is, such as "42" or "2.5"; std::nullopt: it is none, or too large.
template <typename T>
std::optional<T> WholeNumber(std::string_view text) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace oomdb

#endif  // OOMDB_BASE_ASCII_H_
