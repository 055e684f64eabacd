// Logs in JSON, an object a line, as containers, clouds and structured loggers write them.
#ifndef OOMDB_INGEST_LOG_JSON_LINE_H_
#define OOMDB_INGEST_LOG_JSON_LINE_H_

#include <string>
#include <string_view>
#include <vector>

namespace oomdb::ingest {

// The lines of what such an object says (`"message": "a\nb"`, `"log"`, `"exception"` and the like,
// at any depth), their escapes undone. Empty when `line` is not such an object; it may be cut.
std::vector<std::string> JsonMessages(std::string_view line);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_LOG_JSON_LINE_H_
