#include "ingest/plan/printed_shape.h"

#include <cctype>
#include <charconv>
#include <limits>

#include "ingest/plan/shape.h"

namespace oomdb::ingest {
namespace {

// More than XLA's own limit; a text can say anything.
constexpr size_t kMaxNumbers = 64;

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool Take(std::string_view literal) {
    if (!text_.substr(at_).starts_with(literal)) return false;
    at_ += literal.size();
    return true;
  }
  std::string_view Word() {
    const size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0)) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  // "1,0" up to, not with, what is not a number; `marks` may stand before each. False: a number is
  // missing or there are too many.
  bool Numbers(std::string_view mark, std::vector<int64_t>* numbers) {
    do {
      Take(mark);
      int64_t number = 0;
      const char* const end = text_.data() + text_.size();
      const auto [stop, error] = std::from_chars(text_.data() + at_, end, number);
      if (error != std::errc() || number < 0 || numbers->size() == kMaxNumbers) return false;
      numbers->push_back(number);
      at_ = static_cast<size_t>(stop - text_.data());
    } while (Take(","));
    return true;
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

bool TakeLayout(Reader& reader, PrintedShape* shape) {
  if (!reader.Take("{")) return true;
  if (!reader.Take(":") && !reader.Take("}")) {
    if (!reader.Numbers("", &shape->minor_to_major)) return false;
    if (reader.Take("}")) return true;
    if (!reader.Take(":")) return false;
  }
  // A layout it is from here on: what can't be read of it leaves the rest standing.
  if (reader.Take("T(") && (!reader.Numbers("", &shape->tile) || !reader.Take(")"))) {
    shape->tile.clear();
    return true;
  }
  for (std::vector<int64_t> packing; reader.Take("("); packing.clear()) {
    if (!reader.Numbers("", &packing) || !reader.Take(")")) return true;
  }
  if (std::vector<int64_t> bits; reader.Take("E(")) {
    if (!reader.Numbers("", &bits) || !reader.Take(")")) return true;
    shape->element_bits = bits.front();
  }
  std::vector<int64_t> space;
  if (reader.Take("S(") && reader.Numbers("", &space)) shape->memory_space = space.front();
  return true;
}

// Of `dimensions` elements, in whole bytes.
std::optional<int64_t> Bytes(const PrintedShape& shape, const std::vector<int64_t>& dimensions) {
  const std::optional<int> type_bits = ElementBits(shape.dtype);
  if (!type_bits.has_value()) return std::nullopt;
  // Types below a byte take a whole one unless the layout packs them.
  const bool packed = shape.element_bits > 0 && *type_bits > 0;
  const int64_t bits = packed ? shape.element_bits : (*type_bits + 7) / 8 * 8;
  int64_t product = bits % 8 == 0 ? bits / 8 : bits;
  for (const int64_t dimension : dimensions) {
    if (__builtin_mul_overflow(product, dimension, &product)) return std::nullopt;
  }
  return bits % 8 == 0 ? product : product / 8 + (product % 8 != 0);
}

}  // namespace

std::string PrintedShape::WithoutLayout() const {
  std::string text = dtype + "[";
  for (size_t i = 0; i < dimensions.size(); ++i)
    text += (i == 0 ? "" : ",") + std::to_string(dimensions[i]);
  return text + "]";
}

std::optional<int64_t> PrintedShape::DenseBytes() const { return Bytes(*this, dimensions); }

std::optional<int64_t> PrintedShape::TiledBytes() const {
  if (tile.empty() || minor_to_major.size() != dimensions.size() ||
      tile.size() > dimensions.size()) {
    return std::nullopt;
  }
  std::vector<int64_t> padded = dimensions;
  for (size_t i = 0; i < tile.size(); ++i) {
    const int64_t dimension = minor_to_major[i];
    const int64_t multiple = tile[tile.size() - 1 - i];
    if (dimension >= static_cast<int64_t>(padded.size()) || multiple == 0) return std::nullopt;
    const int64_t rest = padded[dimension] % multiple;
    if (rest > 0 &&
        __builtin_add_overflow(padded[dimension], multiple - rest, &padded[dimension])) {
      return std::nullopt;
    }
  }
  return Bytes(*this, padded);
}

std::optional<PrintedShape> ParsePrintedShape(std::string_view text) {
  Reader reader(text);
  PrintedShape shape;
  shape.dtype = reader.Word();
  if (shape.dtype.empty() || !reader.Take("[")) return std::nullopt;
  if (!reader.Take("]") && (!reader.Numbers("<=", &shape.dimensions) || !reader.Take("]"))) {
    return std::nullopt;
  }
  if (!TakeLayout(reader, &shape)) return std::nullopt;
  return shape;
}

std::string WithoutLayouts(std::string_view text) {
  std::string plain;
  int depth = 0;
  for (const char c : text) {
    if (c == '{') ++depth;
    if (depth == 0) plain += c;
    if (c == '}' && depth > 0) --depth;
  }
  return plain;
}

}  // namespace oomdb::ingest
