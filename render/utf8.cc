#include "render/utf8.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace oomdb::render {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// Marks that sit on the character before them, and characters without a form of their own
// (Unicode 15, general categories Mn, Me and Cf of the scripts in common use).
constexpr std::array kZeroWidth = std::to_array<Range>({
    {0x0000, 0x001f},   {0x007f, 0x009f}, {0x0300, 0x036f}, {0x0483, 0x0489},   {0x0591, 0x05bd},
    {0x05bf, 0x05bf},   {0x05c1, 0x05c2}, {0x05c4, 0x05c5}, {0x0610, 0x061a},   {0x064b, 0x065f},
    {0x0670, 0x0670},   {0x06d6, 0x06dc}, {0x06df, 0x06e4}, {0x0730, 0x074a},   {0x0900, 0x0902},
    {0x093c, 0x093c},   {0x0941, 0x0948}, {0x094d, 0x094d}, {0x0e31, 0x0e31},   {0x0e34, 0x0e3a},
    {0x0e47, 0x0e4e},   {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f},   {0x202a, 0x202e},
    {0x2060, 0x2064},   {0x2066, 0x206f}, {0x20d0, 0x20f0}, {0x302a, 0x302d},   {0x3099, 0x309a},
    {0xfe00, 0xfe0f},   {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}, {0x1f3fb, 0x1f3ff}, {0xe0001, 0xe007f},
    {0xe0100, 0xe01ef},
});

// East Asian Wide and Fullwidth, and the emoji that terminals draw two columns wide.
constexpr std::array kWide = std::to_array<Range>({
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23ec},
    {0x23f0, 0x23f0},   {0x23f3, 0x23f3},   {0x25fd, 0x25fe},   {0x2614, 0x2615},
    {0x2648, 0x2653},   {0x267f, 0x267f},   {0x2693, 0x2693},   {0x26a1, 0x26a1},
    {0x26aa, 0x26ab},   {0x26bd, 0x26be},   {0x26c4, 0x26c5},   {0x26ce, 0x26ce},
    {0x26d4, 0x26d4},   {0x26ea, 0x26ea},   {0x26f2, 0x26f3},   {0x26f5, 0x26f5},
    {0x26fa, 0x26fa},   {0x26fd, 0x26fd},   {0x2705, 0x2705},   {0x270a, 0x270b},
    {0x2728, 0x2728},   {0x274c, 0x274c},   {0x274e, 0x274e},   {0x2753, 0x2755},
    {0x2757, 0x2757},   {0x2795, 0x2797},   {0x27b0, 0x27b0},   {0x27bf, 0x27bf},
    {0x2b1b, 0x2b1c},   {0x2b50, 0x2b50},   {0x2b55, 0x2b55},   {0x2e80, 0x3029},
    {0x302e, 0x303e},   {0x3041, 0x3098},   {0x309b, 0x4dbf},   {0x4e00, 0xa4cf},
    {0xa960, 0xa97c},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
    {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf},
    {0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a}, {0x1f200, 0x1f320}, {0x1f32d, 0x1f335},
    {0x1f337, 0x1f37c}, {0x1f37e, 0x1f393}, {0x1f3a0, 0x1f3ca}, {0x1f3cf, 0x1f3d3},
    {0x1f3e0, 0x1f3f0}, {0x1f3f8, 0x1f3fa}, {0x1f400, 0x1f43e}, {0x1f440, 0x1f440},
    {0x1f442, 0x1f4fc}, {0x1f4ff, 0x1f53d}, {0x1f54b, 0x1f54e}, {0x1f550, 0x1f567},
    {0x1f57a, 0x1f57a}, {0x1f595, 0x1f596}, {0x1f5a4, 0x1f5a4}, {0x1f5fb, 0x1f64f},
    {0x1f680, 0x1f6c5}, {0x1f6cc, 0x1f6cc}, {0x1f6d0, 0x1f6d2}, {0x1f6d5, 0x1f6df},
    {0x1f6eb, 0x1f6ec}, {0x1f6f4, 0x1f6fc}, {0x1f7e0, 0x1f7eb}, {0x1f90c, 0x1f9ff},
    {0x1fa70, 0x1faff}, {0x20000, 0x3fffd},
});

bool Contains(std::span<const Range> ranges, char32_t code_point) {
  const auto range =
      std::lower_bound(ranges.begin(), ranges.end(), code_point,
                       [](const Range& r, char32_t value) { return r.last < value; });
  return range != ranges.end() && range->first <= code_point;
}

}  // namespace

std::optional<char32_t> NextCodePoint(std::string_view text, size_t& position) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(position);
  const size_t start = position++;
  if (lead < 0x80) return lead;
  int following;
  char32_t code_point;
  char32_t smallest;  // Anything below is an overlong form.
  if (lead >= 0xc2 && lead <= 0xdf) {
    following = 1, code_point = lead & 0x1f, smallest = 0x80;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    following = 2, code_point = lead & 0x0f, smallest = 0x800;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    following = 3, code_point = lead & 0x07, smallest = 0x10000;
  } else {
    return std::nullopt;
  }
  if (text.size() - start <= static_cast<size_t>(following)) return std::nullopt;
  for (int i = 1; i <= following; ++i) {
    if ((byte(start + i) & 0xc0) != 0x80) return std::nullopt;
    code_point = (code_point << 6) | (byte(start + i) & 0x3f);
  }
  const bool surrogate = code_point >= 0xd800 && code_point <= 0xdfff;
  if (code_point < smallest || surrogate || code_point > 0x10ffff) return std::nullopt;
  position = start + 1 + following;
  return code_point;
}

void AppendUtf8(char32_t code_point, std::string& out) {
  const auto put = [&](char32_t byte) { out += static_cast<char>(byte); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xc0 | (code_point >> 6));
    put(0x80 | (code_point & 0x3f));
  } else if (code_point < 0x10000) {
    put(0xe0 | (code_point >> 12));
    put(0x80 | ((code_point >> 6) & 0x3f));
    put(0x80 | (code_point & 0x3f));
  } else {
    put(0xf0 | (code_point >> 18));
    put(0x80 | ((code_point >> 12) & 0x3f));
    put(0x80 | ((code_point >> 6) & 0x3f));
    put(0x80 | (code_point & 0x3f));
  }
}

int CodePointWidth(char32_t code_point) {
  if (code_point >= 0x20 && code_point < 0x7f) return 1;
  if (Contains(kZeroWidth, code_point)) return 0;
  return Contains(kWide, code_point) ? 2 : 1;
}

size_t DisplayWidth(std::string_view text) {
  size_t width = 0;
  for (size_t position = 0; position < text.size();) {
    const std::optional<char32_t> code_point = NextCodePoint(text, position);
    width += code_point ? static_cast<size_t>(CodePointWidth(*code_point)) : 1;
  }
  return width;
}

}  // namespace oomdb::render
