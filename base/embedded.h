// Text files compiled into the program by cmake/embed.cmake.
#ifndef OOMDB_BASE_EMBEDDED_H_
#define OOMDB_BASE_EMBEDDED_H_

#include <span>
#include <string_view>

namespace oomdb {

struct EmbeddedFile {
  std::string_view path;  // Relative to its room, such as "facts/buffers.sql".
  std::string_view content;
  std::string_view sha256 = {};  // Of the content, in lower hexadecimal digits.
};

}  // namespace oomdb

#endif  // OOMDB_BASE_EMBEDDED_H_
