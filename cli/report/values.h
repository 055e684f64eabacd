// Cells of a query's rows as C++ values. What is NULL or of another type is std::nullopt, 0 or the
// empty text.
#ifndef OOMDB_CLI_REPORT_VALUES_H_
#define OOMDB_CLI_REPORT_VALUES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "schema/query.h"

namespace oomdb {

inline std::optional<int64_t> MaybeInteger(const Value& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return *number;
  if (const auto* real = std::get_if<double>(&value)) return static_cast<int64_t>(*real);
  return std::nullopt;
}
inline int64_t Integer(const Value& value) { return MaybeInteger(value).value_or(0); }
inline std::optional<bool> MaybeBool(const Value& value) {
  const auto number = MaybeInteger(value);
  return number ? std::optional<bool>(*number != 0) : std::nullopt;
}
inline std::string Text(const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? "" : *text;
}

}  // namespace oomdb

#endif  // OOMDB_CLI_REPORT_VALUES_H_
