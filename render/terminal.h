// The terminal: how wide, with colour or not, and text that is safe to show and fits.
#ifndef OOMDB_RENDER_TERMINAL_H_
#define OOMDB_RENDER_TERMINAL_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "render/utf8.h"

namespace oomdb::render {

enum class ColorMode { kAuto, kAlways, kNever };

// "auto", "always" or "never"; throws Error (usage) for anything else.
ColorMode ParseColorMode(std::string_view text);

struct Terminal {
  bool interactive = false;  // The stream goes to a terminal.
  bool color = false;
  size_t width = 100;  // Columns.
};

// Looks at the stream of `fd` (1 stdout, 2 stderr) and at the environment. Width: $COLUMNS, else
// the terminal's, else 100; at least 40. Colour by itself only on a terminal, not with NO_COLOR set
// to anything, not with TERM=dumb; --color always wins over all of them.
Terminal DescribeTerminal(int fd, ColorMode mode);

enum class Style { kBold, kDim, kRed, kYellow, kGreen, kCyan };

// `text` in a style, or as it is without colour.
std::string Paint(Style style, std::string_view text, bool color);

// What a capture says must not drive the terminal: control characters become visible escapes (\n,
// \x1b), as do the characters that turn the direction of writing; broken UTF-8 becomes U+FFFD.
std::string Sanitize(std::string_view text);

// The functions below count columns (DisplayWidth) and expect sanitized text without styles.

// At most `width` columns; what was cut ends in "…".
std::string Truncate(std::string_view text, size_t width);

std::string PadRight(std::string_view text, size_t width);  // Left-aligned.
std::string PadLeft(std::string_view text, size_t width);   // Right-aligned.

// Breaks at spaces into lines of at most `width` columns; a word wider than that is broken
// anywhere. Always at least one line.
std::vector<std::string> Wrap(std::string_view text, size_t width);

// A bar of block characters in eighths of a column: `part` of `whole` over `width` columns.
// Anything above 0 shows at least the thinnest block; never wider than `width`.
std::string Bar(double part, double whole, size_t width);

}  // namespace oomdb::render

#endif  // OOMDB_RENDER_TERMINAL_H_
