// Shapes and layouts of HLO values: how XLA prints them, and how many bytes they hold.
#ifndef OOMDB_INGEST_PLAN_SHAPE_H_
#define OOMDB_INGEST_PLAN_SHAPE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proto/hlo.pb.h"

namespace oomdb::ingest {

// The place of a value inside a tuple, outermost first; empty: the whole.
using ShapeIndex = std::vector<int64_t>;

// Longest index that is followed. XLA's tuples nest a few deep; protobuf stops at 100.
inline constexpr size_t kMaxShapeIndexDepth = 64;

// The numbers of xla_data.proto PrimitiveType that rules ask for.
enum PrimitiveType : int32_t {
  kS8 = 2,
  kU8 = 6,
  kTuple = 13,
  kOpaque = 14,
  kToken = 17,
  kBuffer = 34,
};

bool IsTuple(const proto::ShapeProto& shape);

// "f32", "bf16", "tuple"; "type_N" for an unknown number.
std::string DtypeName(int32_t element_type);

// Bits of an element of the type that XLA prints so ("bf16": 16), 0 for one that takes no memory.
// std::nullopt: unknown.
std::optional<int> ElementBits(std::string_view dtype);

// As XLA's HumanString prints it: "f32[8,128]", "(f32[2], s32[])", "f32[<=8]", "token[]". A tuple
// of more than five elements has XLA's /*index=5*/ marks.
std::string PrintShape(const proto::ShapeProto& shape);

// As XLA prints the layout of an array: "{1,0:T(8,128)S(1)}"; empty where there is none to print.
std::string PrintLayout(const proto::ShapeProto& shape);

// "{0,1}"; "{}" for the whole.
std::string PrintShapeIndex(std::span<const int64_t> index);

// The element of `shape` at `index`, or null when there is none.
const proto::ShapeProto* SubshapeAt(const proto::ShapeProto& shape, std::span<const int64_t> index);

// Elements x element size in bytes, without padding. Types below a byte take a whole byte an
// element unless their layout packs them (element_size_in_bits). A tuple: 8 bytes a pointer.
// Dynamic dimensions count with their bound. std::nullopt: unknown (opaque, an unknown type, an
// unbounded or negative dimension) or more than an int64.
std::optional<int64_t> UnpaddedBytes(const proto::ShapeProto& shape);

// The dimension that the layout's first tile pads most, in proportion; of equal ones the minor-most.
// std::nullopt: none is padded.
struct PaddedDimension {
  int64_t dimension = 0;  // As in the shape, from 0.
  int64_t from = 0;       // Its extent.
  int64_t to = 0;         // The next multiple of the tile's.
};
std::optional<PaddedDimension> MostPadded(const proto::ShapeProto& shape);

// The indices of everything in `shape` that is not a tuple, in order. Stops at `max_leaves`.
std::vector<ShapeIndex> LeafIndices(const proto::ShapeProto& shape, size_t max_leaves);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_SHAPE_H_
