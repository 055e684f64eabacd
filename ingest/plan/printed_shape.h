// Shapes as XLA prints them in error texts and dumps: "bf16[4,512]{1,0:T(8,128)(2,1)S(1)}".
#ifndef OOMDB_INGEST_PLAN_PRINTED_SHAPE_H_
#define OOMDB_INGEST_PLAN_PRINTED_SHAPE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oomdb::ingest {

struct PrintedShape {
  std::string dtype;
  std::vector<int64_t> dimensions;      // A dynamic one by its bound.
  std::vector<int64_t> minor_to_major;  // Empty: no layout is printed.
  std::vector<int64_t> tile;            // The first tile, major to minor; empty: none.
  int64_t memory_space = 0;             // The N of S(N).
  int64_t element_bits = 0;             // The N of E(N): elements are packed; 0: none is printed.

  // "bf16[4,512]".
  std::string WithoutLayout() const;
  // Elements × element size. std::nullopt: the type is unknown, or more than an int64.
  std::optional<int64_t> DenseBytes() const;
  // With the padding of the first tile: its dimensions divide the minor-most ones, each rounded up.
  // A second tile, such as (2,1), packs small types and adds nothing. (Rule and examples: measured
  // on 12 buffers of TPU error reports.) std::nullopt: no tile is printed, or as DenseBytes.
  std::optional<int64_t> TiledBytes() const;
};

// An array. std::nullopt: a tuple, a token, or nothing that is a shape. What follows it is ignored.
std::optional<PrintedShape> ParsePrintedShape(std::string_view text);

// `text` without the layouts of its arrays, tuples too: "(f32[2]{0}, s32[])" -> "(f32[2], s32[])".
std::string WithoutLayouts(std::string_view text);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_PRINTED_SHAPE_H_
