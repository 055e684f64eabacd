#include "schema/sql_names.h"

#include <algorithm>
#include <cctype>

namespace oomdb::schema {
namespace {

bool IsWordByte(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

std::vector<std::string_view> SqlNames(std::string_view sql) {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < sql.size();) {
    const char c = sql[i];
    if (c == '-' && i + 1 < sql.size() && sql[i + 1] == '-') {
      i = std::min(sql.find('\n', i), sql.size());
    } else if (c == '\'') {
      i = std::min(sql.find('\'', i + 1), sql.size() - 1) + 1;
    } else if (IsWordByte(c)) {
      const size_t begin = i;
      while (i < sql.size() && IsWordByte(sql[i])) ++i;
      if (std::isdigit(static_cast<unsigned char>(c)) == 0)
        names.push_back(sql.substr(begin, i - begin));
    } else {
      ++i;
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace oomdb::schema
