// What the verbs that answer in JSON share.
#ifndef OOMDB_CLI_JSON_H_
#define OOMDB_CLI_JSON_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace oomdb::cli {

using Json = nlohmann::ordered_json;  // Keys in the order in which they are written.

// What is not known is null, never left out: of a text the empty one.
template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
inline Json OrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

// What `make` makes of each value.
template <typename T, typename Make>
Json List(const std::vector<T>& values, const Make& make) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(make(value));
  return list;
}

// Names are bytes: what is not UTF-8 becomes U+FFFD.
inline std::string Dumped(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace oomdb::cli

#endif  // OOMDB_CLI_JSON_H_
