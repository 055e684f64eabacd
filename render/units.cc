#include "render/units.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "base/ascii.h"
#include "base/error.h"

namespace oomdb::render {
namespace {

constexpr std::array<std::string_view, 7> kByteUnits = {"B",   "KiB", "MiB", "GiB",
                                                        "TiB", "PiB", "EiB"};

// The absolute value, also of the smallest int64.
uint64_t Magnitude(int64_t value) {
  return value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

// Three significant figures of a value below 1024.
std::string ThreeFigures(double value) {
  if (value < 9.995) return fmt::format("{:.2f}", value);
  if (value < 99.95) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

// Would this character make a following digit part of a name or of a longer number?
bool JoinsNumber(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '%' ||
         c == '#' || (c & 0x80) != 0;
}

bool EndsWord(std::string_view text, size_t position) {
  if (position >= text.size()) return true;
  const unsigned char c = static_cast<unsigned char>(text[position]);
  return std::isalnum(c) == 0 && c != '_' && c < 0x80;
}

// Powers of 1024 of a unit's name in lower case; std::nullopt when there is no such unit.
std::optional<int> UnitPower(std::string_view unit) {
  if (unit.empty() || unit == "b" || unit == "byte" || unit == "bytes") return 0;
  constexpr std::string_view kLetters = "kmgtpe";
  const size_t power = kLetters.find(unit[0]);
  if (power == std::string_view::npos) return std::nullopt;
  unit.remove_prefix(1);
  if (!unit.empty() && unit != "i" && unit != "ib") return std::nullopt;
  return static_cast<int>(power) + 1;
}

}  // namespace

std::string HumanBytes(int64_t bytes) {
  const std::string_view sign = bytes < 0 ? "-" : "";
  const uint64_t magnitude = Magnitude(bytes);
  if (magnitude < 1024) return fmt::format("{}{} B", sign, magnitude);
  double value = static_cast<double>(magnitude);
  size_t unit = 0;
  // 1023.7 MiB would print as 1024 MiB: it is 1.00 GiB.
  while (value >= 1023.5 && unit + 1 < kByteUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{}{} {}", sign, ThreeFigures(value), kByteUnits[unit]);
}

std::string HumanNanoseconds(int64_t nanoseconds) {
  const std::string_view sign = nanoseconds < 0 ? "-" : "";
  const uint64_t magnitude = Magnitude(nanoseconds);
  const uint64_t seconds = magnitude / 1'000'000'000;
  if (seconds >= 7200) {
    return fmt::format("{}{} h {} min", sign, seconds / 3600, seconds % 3600 / 60);
  }
  if (seconds >= 120) return fmt::format("{}{} min {} s", sign, seconds / 60, seconds % 60);
  if (magnitude < 1000) return fmt::format("{}{} ns", sign, magnitude);
  double value = static_cast<double>(magnitude);
  constexpr std::array<std::string_view, 4> kUnits = {"ns", "µs", "ms", "s"};
  size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{}{} {}", sign, ThreeFigures(value), kUnits[unit]);
}

std::string HumanPercent(int64_t part, int64_t whole) {
  if (whole == 0) return "–";
  const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  if (percent != 0 && std::fabs(percent) < 0.95) return fmt::format("{:.1f} %", percent);
  return fmt::format("{:.0f} %", percent);
}

std::string HumanizeSentence(std::string_view sentence) {
  std::string out;
  for (size_t position = 0; position < sentence.size();) {
    const char c = sentence[position];
    const bool starts_number =
        IsDigit(c) && (position == 0 || !JoinsNumber(sentence[position - 1]));
    if (!starts_number) {
      out += c;
      ++position;
      continue;
    }
    size_t end = position;
    while (end < sentence.size() && IsDigit(sentence[end])) ++end;
    const std::string_view digits = sentence.substr(position, end - position);
    const std::string_view rest = sentence.substr(end);
    int64_t value = 0;
    const bool fits =
        std::from_chars(digits.data(), digits.data() + digits.size(), value).ec == std::errc();
    constexpr std::string_view kBytes = " bytes";
    constexpr std::string_view kNanoseconds = " ns";
    if (fits && rest.starts_with(kBytes) && EndsWord(rest, kBytes.size())) {
      out += HumanBytes(value);
      position = end + kBytes.size();
    } else if (fits && rest.starts_with(kNanoseconds) && EndsWord(rest, kNanoseconds.size())) {
      out += HumanNanoseconds(value);
      position = end + kNanoseconds.size();
    } else {
      out += digits;
      position = end;
    }
  }
  return out;
}

int64_t ParseBytes(std::string_view text, std::string_view what) {
  const auto fail = [&](std::string_view why) -> Error {
    return Error(fmt::format("{}: \"{}\" {}; write bytes or a size such as 16GiB", what, text, why),
                 ExitCode::kUsage);
  };
  size_t end = 0;
  int points = 0;
  while (end < text.size() && (IsDigit(text[end]) || text[end] == '.')) {
    if (text[end] == '.') ++points;
    ++end;
  }
  const std::string_view number = text.substr(0, end);
  if (points > 1 || number.size() == static_cast<size_t>(points)) throw fail("is not a size");
  std::string unit;
  for (size_t i = end; i < text.size(); ++i) {
    if (text[i] == ' ' && unit.empty()) continue;
    unit += static_cast<char>(std::tolower(static_cast<unsigned char>(text[i])));
  }
  if (unit.size() == 2 && unit[1] == 'b' && UnitPower(unit.substr(0, 1)) > 0) {
    throw fail("could mean powers of 1000 or of 1024");
  }
  const std::optional<int> power = UnitPower(unit);
  if (!power) throw fail("is not a size");
  const int64_t scale = int64_t{1} << (10 * *power);

  // Whole and fraction apart, so that a whole number stays exact whatever its size.
  const size_t point = number.find('.');
  const std::string_view whole_digits = number.substr(0, point);
  int64_t whole = 0;
  if (!whole_digits.empty() &&
      std::from_chars(whole_digits.data(), whole_digits.data() + whole_digits.size(), whole).ec !=
          std::errc()) {
    throw fail("is too large");
  }
  long double fraction = 0;
  long double place = 1;
  if (point != std::string_view::npos) {
    for (const char digit : number.substr(point + 1)) {
      place /= 10;
      fraction += place * (digit - '0');
    }
    if (fraction > 0 && *power == 0) throw fail("is not a whole number of bytes");
  }
  const int64_t part = static_cast<int64_t>(std::floor(fraction * scale + 0.5L));
  int64_t bytes = 0;
  if (__builtin_mul_overflow(whole, scale, &bytes) || __builtin_add_overflow(bytes, part, &bytes)) {
    throw fail("is too large");
  }
  return bytes;
}

}  // namespace oomdb::render
