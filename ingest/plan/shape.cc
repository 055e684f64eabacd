#include "ingest/plan/shape.h"

#include <array>
#include <limits>

namespace oomdb::ingest {
namespace {

struct ElementType {
  std::string_view name;
  int bits;  // 0: takes no memory; -1: unknown.
};

// Indexed by xla_data.proto PrimitiveType.
constexpr std::array<ElementType, 37> kElementTypes = {{
    {"invalid", -1},   {"pred", 8},     {"s8", 8},       {"s16", 16},          {"s32", 32},
    {"s64", 64},       {"u8", 8},       {"u16", 16},     {"u32", 32},          {"u64", 64},
    {"f16", 16},       {"f32", 32},     {"f64", 64},     {"tuple", -1},        {"opaque", -1},
    {"c64", 64},       {"bf16", 16},    {"token", 0},    {"c128", 128},        {"f8e5m2", 8},
    {"f8e4m3fn", 8},   {"s4", 4},       {"u4", 4},       {"f8e4m3b11fnuz", 8}, {"f8e5m2fnuz", 8},
    {"f8e4m3fnuz", 8}, {"s2", 2},       {"u2", 2},       {"f8e4m3", 8},        {"f8e3m4", 8},
    {"s1", 1},         {"u1", 1},       {"f4e2m1fn", 4}, {"f8e8m0fnu", 8},     {"b", -1},
    {"f6e3m2fn", 6},   {"f6e2m3fn", 6},
}};

// XLA numbers the elements of a long tuple every so often.
constexpr int kTupleMark = 5;

const ElementType* FindType(int32_t type) {
  if (type < 0 || static_cast<size_t>(type) >= kElementTypes.size()) return nullptr;
  return &kElementTypes[type];
}

void AppendNumbers(std::span<const int64_t> numbers, std::string* out) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) *out += ',';
    *out += std::to_string(numbers[i]);
  }
}

void AppendShape(const proto::ShapeProto& shape, std::string* out) {
  if (IsTuple(shape)) {
    *out += '(';
    for (int i = 0; i < shape.tuple_shapes_size(); ++i) {
      if (i > 0) *out += ", ";
      if (i > 0 && i % kTupleMark == 0) *out += "/*index=" + std::to_string(i) + "*/";
      AppendShape(shape.tuple_shapes(i), out);
    }
    *out += ')';
    return;
  }
  if (shape.element_type() == kBuffer && shape.tuple_shapes_size() == 1) {
    *out += "b(";
    AppendShape(shape.tuple_shapes(0), out);
    *out += ')';
    return;
  }
  *out += DtypeName(shape.element_type());
  *out += '[';
  for (int i = 0; i < shape.dimensions_size(); ++i) {
    if (i > 0) *out += ',';
    const bool dynamic = i < shape.is_dynamic_dimension_size() && shape.is_dynamic_dimension(i);
    if (dynamic && shape.dimensions(i) == std::numeric_limits<int64_t>::min()) {
      *out += '?';  // No bound is known.
      continue;
    }
    if (dynamic) *out += "<=";
    *out += std::to_string(shape.dimensions(i));
  }
  *out += ']';
}

void AppendLeaves(const proto::ShapeProto& shape, size_t max_leaves, ShapeIndex* prefix,
                  std::vector<ShapeIndex>* leaves) {
  if (!IsTuple(shape)) {
    leaves->push_back(*prefix);
    return;
  }
  for (int i = 0; i < shape.tuple_shapes_size() && leaves->size() < max_leaves; ++i) {
    prefix->push_back(i);
    AppendLeaves(shape.tuple_shapes(i), max_leaves, prefix, leaves);
    prefix->pop_back();
  }
}

}  // namespace

bool IsTuple(const proto::ShapeProto& shape) { return shape.element_type() == kTuple; }

std::string DtypeName(int32_t element_type) {
  const ElementType* type = FindType(element_type);
  return type != nullptr ? std::string(type->name) : "type_" + std::to_string(element_type);
}

std::optional<int> ElementBits(std::string_view dtype) {
  for (const ElementType& type : kElementTypes) {
    if (type.name == dtype && type.bits >= 0) return type.bits;
  }
  return std::nullopt;
}

std::string PrintShape(const proto::ShapeProto& shape) {
  std::string text;
  AppendShape(shape, &text);
  return text;
}

std::string PrintLayout(const proto::ShapeProto& shape) {
  if (IsTuple(shape) || !shape.has_layout()) return {};
  const proto::LayoutProto& layout = shape.layout();
  std::string extras;
  if (layout.tiles_size() > 0) extras += 'T';
  for (const proto::TileProto& tile : layout.tiles()) {
    extras += '(';
    for (int i = 0; i < tile.dimensions_size(); ++i) {
      if (i > 0) extras += ',';
      // XLA's mark for a dimension that is merged with the next.
      const bool merged = tile.dimensions(i) == std::numeric_limits<int64_t>::min();
      extras += merged ? "*" : std::to_string(tile.dimensions(i));
    }
    extras += ')';
  }
  if (layout.element_size_in_bits() != 0) {
    extras += "E(" + std::to_string(layout.element_size_in_bits()) + ")";
  }
  if (layout.memory_space() != 0) extras += "S(" + std::to_string(layout.memory_space()) + ")";
  if (layout.minor_to_major_size() == 0 && extras.empty()) return {};
  std::string text = "{";
  AppendNumbers({layout.minor_to_major().data(), static_cast<size_t>(layout.minor_to_major_size())},
                &text);
  if (!extras.empty()) text += ":" + extras;
  return text + "}";
}

std::string PrintShapeIndex(std::span<const int64_t> index) {
  std::string text = "{";
  AppendNumbers(index, &text);
  return text + "}";
}

const proto::ShapeProto* SubshapeAt(const proto::ShapeProto& shape,
                                    std::span<const int64_t> index) {
  const proto::ShapeProto* at = &shape;
  for (int64_t place : index) {
    if (!IsTuple(*at) || place < 0 || place >= at->tuple_shapes_size()) return nullptr;
    at = &at->tuple_shapes(static_cast<int>(place));
  }
  return at;
}

std::optional<int64_t> UnpaddedBytes(const proto::ShapeProto& shape) {
  constexpr int64_t kPointerBytes = 8;
  if (IsTuple(shape)) return kPointerBytes * shape.tuple_shapes_size();
  if (shape.element_type() == kBuffer && shape.tuple_shapes_size() == 1) {
    return UnpaddedBytes(shape.tuple_shapes(0));
  }
  const ElementType* type = FindType(shape.element_type());
  if (type == nullptr || type->bits < 0) return std::nullopt;
  int64_t bits = type->bits;
  if (bits > 0 && shape.layout().element_size_in_bits() > 0) {
    bits = shape.layout().element_size_in_bits();
  } else {
    bits = (bits + 7) / 8 * 8;
  }
  for (int64_t dimension : shape.dimensions()) {
    if (dimension < 0 || __builtin_mul_overflow(bits, dimension, &bits)) return std::nullopt;
  }
  return bits / 8 + (bits % 8 != 0);
}

std::optional<PaddedDimension> MostPadded(const proto::ShapeProto& shape) {
  if (shape.layout().tiles_size() == 0) return std::nullopt;
  constexpr int64_t kMax = int64_t{1} << 31;
  const auto& tile = shape.layout().tiles(0).dimensions();
  const auto& minor_to_major = shape.layout().minor_to_major();
  std::optional<PaddedDimension> most;
  for (int k = 0; k < tile.size() && k < minor_to_major.size(); ++k) {
    const int64_t t = tile[tile.size() - 1 - k];
    const int64_t d = minor_to_major[k];
    if (d < 0 || d >= shape.dimensions_size()) return std::nullopt;
    const int64_t n = shape.dimensions(static_cast<int>(d));
    if (t <= 0 || n <= 0 || t >= kMax || n >= kMax || n % t == 0) continue;
    const int64_t to = (n + t - 1) / t * t;
    // to / n > most->to / most->from
    if (!most || to * most->from > most->to * n) most = PaddedDimension{d, n, to};
  }
  return most;
}

std::vector<ShapeIndex> LeafIndices(const proto::ShapeProto& shape, size_t max_leaves) {
  std::vector<ShapeIndex> leaves;
  ShapeIndex prefix;
  AppendLeaves(shape, max_leaves, &prefix, &leaves);
  return leaves;
}

}  // namespace oomdb::ingest
