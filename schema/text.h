// Text from captures, made fit for a TEXT column.
#ifndef OOMDB_SCHEMA_TEXT_H_
#define OOMDB_SCHEMA_TEXT_H_

#include <string>
#include <string_view>

namespace oomdb::schema {

// True when `text` is UTF-8 without NUL bytes.
bool IsCleanText(std::string_view text);

// `text` with every byte that is not part of valid UTF-8, and every NUL, replaced by U+FFFD: many
// SQLite clients refuse a whole result when one of its texts is not UTF-8, and some cut texts at a
// NUL.
std::string CleanText(std::string_view text);

}  // namespace oomdb::schema

#endif  // OOMDB_SCHEMA_TEXT_H_
