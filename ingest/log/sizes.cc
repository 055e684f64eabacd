#include "ingest/log/sizes.h"

#include <charconv>
#include <cmath>
#include <string>

#include "base/ascii.h"

namespace oomdb::ingest {
namespace {

// The power of two of a unit; std::nullopt when it is not a unit of size.
std::optional<int> Shift(std::string_view unit) {
  if (unit.empty() || unit == "B" || unit == "bytes" || unit == "byte") return 0;
  constexpr std::string_view kPrefixes = "KMGTPE";
  const char prefix = unit.front() == 'k' ? 'K' : unit.front();  // The kernel's kB.
  const size_t power = kPrefixes.find(prefix);
  if (power == std::string_view::npos) return std::nullopt;
  unit.remove_prefix(1);
  if (!unit.empty() && unit != "B" && unit != "iB") return std::nullopt;
  return static_cast<int>(10 * (power + 1));
}

std::optional<Size> Integer(std::string_view digits, int base) {
  int64_t value = 0;
  const auto [stop, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc() || stop != digits.data() + digits.size()) return std::nullopt;
  if (value == -1) return std::nullopt;
  return Size{value, 0};
}

}  // namespace

std::optional<Size> ParseSize(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) return Integer(text.substr(2), 16);
  size_t at = !text.empty() && text.front() == '-' ? 1 : 0;
  const size_t first_digit = at;
  while (at < text.size() && IsDigit(text[at])) ++at;
  if (at == first_digit) return std::nullopt;
  int decimals = 0;
  if (at + 1 < text.size() && text[at] == '.' && IsDigit(text[at + 1])) {
    for (++at; at < text.size() && IsDigit(text[at]); ++at) ++decimals;
  }
  const std::string_view number = text.substr(0, at);
  std::string_view unit = text.substr(at);
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  const std::optional<int> shift = Shift(unit);
  if (!shift.has_value()) return std::nullopt;
  if (*shift == 0 && decimals == 0) return Integer(number, 10);

  double value = 0;
  const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc()) return std::nullopt;
  if (value == -1.0 && *shift == 0) return std::nullopt;
  const double scale = std::ldexp(1.0, *shift);
  const double bytes = value * scale;
  if (std::abs(bytes) >= std::ldexp(1.0, 63)) return std::nullopt;
  const double slack = decimals == 0 ? 0 : 0.5 * scale * std::pow(10.0, -decimals) + 1;
  return Size{static_cast<int64_t>(std::llround(bytes)), static_cast<int64_t>(slack)};
}

bool IsAmbiguousUnit(std::string_view text) {
  return text.size() >= 2 && text.ends_with('B') && text[text.size() - 2] != 'i' &&
         std::string_view("KMGTPE").find(text[text.size() - 2]) != std::string_view::npos;
}

}  // namespace oomdb::ingest
