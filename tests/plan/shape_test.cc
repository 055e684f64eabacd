#include "ingest/plan/shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plan/text_proto.h"

namespace oomdb::ingest {
namespace {

using proto::ShapeProto;
using ::testing::ElementsAre;

ShapeProto Shape(const std::string& text) { return FromText<ShapeProto>(text); }

TEST(ShapeTest, PrintsArraysAsXlaDoes) {
  EXPECT_EQ(PrintShape(Shape("element_type: 11 dimensions: [8, 8, 1024, 1024]")),
            "f32[8,8,1024,1024]");
  EXPECT_EQ(PrintShape(Shape("element_type: 16")), "bf16[]");
  EXPECT_EQ(PrintShape(Shape("element_type: 20 dimensions: 3")), "f8e4m3fn[3]");
  EXPECT_EQ(PrintShape(Shape("element_type: 17")), "token[]");
  EXPECT_EQ(PrintShape(Shape("element_type: 99 dimensions: 3")), "type_99[3]");
}

TEST(ShapeTest, PrintsDynamicDimensionsWithTheirBound) {
  EXPECT_EQ(PrintShape(Shape("element_type: 4 dimensions: [8, 2] "
                             "is_dynamic_dimension: [true, false]")),
            "s32[<=8,2]");
  EXPECT_EQ(PrintShape(Shape("element_type: 4 dimensions: -9223372036854775808 "
                             "is_dynamic_dimension: true")),
            "s32[?]");
}

TEST(ShapeTest, PrintsTuplesWithXlasMarks) {
  EXPECT_EQ(PrintShape(Shape("element_type: 13 tuple_shapes { element_type: 11 dimensions: 2 } "
                             "tuple_shapes { element_type: 4 }")),
            "(f32[2], s32[])");
  ShapeProto long_tuple;
  long_tuple.set_element_type(kTuple);
  for (int i = 0; i < 6; ++i) long_tuple.add_tuple_shapes()->set_element_type(4);
  EXPECT_EQ(PrintShape(long_tuple), "(s32[], s32[], s32[], s32[], s32[], /*index=5*/s32[])");
  EXPECT_EQ(PrintShape(Shape("element_type: 13")), "()");
}

TEST(ShapeTest, PrintsLayouts) {
  EXPECT_EQ(PrintLayout(Shape("element_type: 11 dimensions: [8, 128] "
                              "layout { minor_to_major: [1, 0] tiles { dimensions: [8, 128] } "
                              "tiles { dimensions: [2, 1] } memory_space: 1 }")),
            "{1,0:T(8,128)(2,1)S(1)}");
  EXPECT_EQ(PrintLayout(Shape("element_type: 21 dimensions: 8 "
                              "layout { minor_to_major: 0 element_size_in_bits: 4 }")),
            "{0:E(4)}");
  EXPECT_EQ(PrintLayout(Shape("element_type: 11 layout {}")), "");
  EXPECT_EQ(PrintLayout(Shape("element_type: 11 dimensions: 2")), "");
}

TEST(ShapeTest, CountsBytesWithoutPadding) {
  EXPECT_EQ(UnpaddedBytes(Shape("element_type: 11 dimensions: [3, 5]")), 60);
  EXPECT_EQ(UnpaddedBytes(Shape("element_type: 1")), 1);
  EXPECT_EQ(UnpaddedBytes(Shape("element_type: 18 dimensions: 2")), 32);
  EXPECT_EQ(UnpaddedBytes(Shape("element_type: 17")), 0);
  EXPECT_EQ(UnpaddedBytes(Shape("element_type: 11 dimensions: [0, 7]")), 0);
  EXPECT_EQ(UnpaddedBytes(Shape("element_type: 14")), std::nullopt);
}

TEST(ShapeTest, PacksTypesBelowAByteOnlyWhereTheLayoutDoes) {
  EXPECT_EQ(UnpaddedBytes(Shape("element_type: 21 dimensions: 9")), 9);
  EXPECT_EQ(UnpaddedBytes(Shape("element_type: 21 dimensions: 9 "
                                "layout { minor_to_major: 0 element_size_in_bits: 4 }")),
            5);
}

TEST(ShapeTest, RefusesSizesThatOverflow) {
  EXPECT_EQ(UnpaddedBytes(Shape("element_type: 11 dimensions: [4294967296, 4294967296]")),
            std::nullopt);
  EXPECT_EQ(UnpaddedBytes(Shape("element_type: 11 dimensions: [-4]")), std::nullopt);
}

TEST(ShapeTest, FindsElementsOfNestedTuples) {
  const ShapeProto nested = Shape(
      "element_type: 13 tuple_shapes { element_type: 4 } "
      "tuple_shapes { element_type: 13 tuple_shapes { element_type: 1 } "
      "               tuple_shapes { element_type: 11 dimensions: 2 } }");
  const ShapeProto* found = SubshapeAt(nested, std::vector<int64_t>{1, 1});
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(PrintShape(*found), "f32[2]");
  EXPECT_EQ(SubshapeAt(nested, std::vector<int64_t>{2}), nullptr);
  EXPECT_EQ(SubshapeAt(nested, std::vector<int64_t>{-1}), nullptr);
  EXPECT_EQ(SubshapeAt(nested, std::vector<int64_t>{0, 0}), nullptr);
  EXPECT_THAT(LeafIndices(nested, 100),
              ElementsAre(ElementsAre(0), ElementsAre(1, 0), ElementsAre(1, 1)));
  EXPECT_THAT(LeafIndices(nested, 2), ElementsAre(ElementsAre(0), ElementsAre(1, 0)));
}

TEST(ShapeTest, PrintsIndices) {
  EXPECT_EQ(PrintShapeIndex(std::vector<int64_t>{0, 12}), "{0,12}");
  EXPECT_EQ(PrintShapeIndex(std::vector<int64_t>{}), "{}");
}

}  // namespace
}  // namespace oomdb::ingest
