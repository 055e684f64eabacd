// Walking over UTF-8 that may be broken.
#ifndef OOMDB_RENDER_UTF8_H_
#define OOMDB_RENDER_UTF8_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace oomdb::render {

// Reads the character at `position` and moves it past. std::nullopt for a byte that is not part of
// valid UTF-8 (overlong, surrogate, cut short); then `position` moves by one byte. Requires
// position < text.size().
std::optional<char32_t> NextCodePoint(std::string_view text, size_t& position);

void AppendUtf8(char32_t code_point, std::string& out);

// Columns that a character takes: 0 (combining, control), 1, or 2 (wide).
int CodePointWidth(char32_t code_point);

// Columns that `text` takes on a terminal. A broken byte counts as one.
size_t DisplayWidth(std::string_view text);

}  // namespace oomdb::render

#endif  // OOMDB_RENDER_UTF8_H_
