#include "ingest/plan/printed_shape.h"

#include <gtest/gtest.h>

#include <string>

namespace oomdb::ingest {
namespace {

constexpr int64_t kMiB = 1 << 20;

TEST(PrintedShapeTest, ReadsTypeDimensionsLayoutAndSpace) {
  const auto shape = ParsePrintedShape("bf16[4,512,64]{2,0,1:T(4,128)(2,1)S(1)} fusion(%x)");
  ASSERT_TRUE(shape.has_value());
  EXPECT_EQ(shape->dtype, "bf16");
  EXPECT_EQ(shape->dimensions, (std::vector<int64_t>{4, 512, 64}));
  EXPECT_EQ(shape->minor_to_major, (std::vector<int64_t>{2, 0, 1}));
  EXPECT_EQ(shape->tile, (std::vector<int64_t>{4, 128}));
  EXPECT_EQ(shape->memory_space, 1);
  EXPECT_EQ(shape->WithoutLayout(), "bf16[4,512,64]");
}

TEST(PrintedShapeTest, ScalarsAndShapesWithoutLayout) {
  EXPECT_EQ(ParsePrintedShape("f32[]")->DenseBytes(), 4);
  EXPECT_EQ(ParsePrintedShape("u32[]{:S(2)}")->memory_space, 2);
  EXPECT_EQ(ParsePrintedShape("pred[<=10,3]")->DenseBytes(), 30);
  EXPECT_EQ(ParsePrintedShape("s4[3]")->DenseBytes(), 3);
  EXPECT_EQ(ParsePrintedShape("s4[3]{0:E(4)}")->DenseBytes(), 2);
  EXPECT_EQ(ParsePrintedShape("token[]")->DenseBytes(), 0);
  EXPECT_EQ(ParsePrintedShape("f32[5]")->TiledBytes(), std::nullopt);
  EXPECT_EQ(ParsePrintedShape("f32[5,6]{1,0}")->TiledBytes(), std::nullopt);
}

TEST(PrintedShapeTest, TilesPadTheMinorDimensions) {
  const auto tiled = [](const char* text) { return *ParsePrintedShape(text)->TiledBytes(); };
  EXPECT_EQ(tiled("s32[8388608,8,4]{2,1,0:T(8,128)}"), 32768 * kMiB);
  EXPECT_EQ(tiled("u32[12582912,1]{1,0:T(8,128)}"), 6144 * kMiB);
  EXPECT_EQ(tiled("bf16[4,512,512,64]{3,0,2,1:T(4,128)(2,1)}"), 256 * kMiB);
  EXPECT_EQ(tiled("s32[29360128,10]{1,0:T(8,128)}"), 14336 * kMiB);
  EXPECT_EQ(tiled("f32[32,4096,4096]{1,2,0:T(8,128)}"), 2048 * kMiB);
  EXPECT_EQ(tiled("f32[100]{0:T(256)}"), 1024);
}

TEST(PrintedShapeTest, WhatIsNoArrayIsNothing) {
  for (const char* text : {"", "f32", "(f32[2], s32[])", "f32[2", "f32[2,]", "f32[-3]", "[2]",
                           "f32[99999999999999999999]", "f32[2]{x}"}) {
    EXPECT_FALSE(ParsePrintedShape(text).has_value()) << text;
  }
}

TEST(PrintedShapeTest, SizesBeyondAnInt64AreUnknown) {
  EXPECT_EQ(ParsePrintedShape("f32[4611686018427387904,4]")->DenseBytes(), std::nullopt);
  EXPECT_EQ(ParsePrintedShape("f32[9223372036854775807,1]{1,0:T(8,128)}")->TiledBytes(),
            std::nullopt);
  EXPECT_EQ(ParsePrintedShape("bf16[1000000000,1000000000]")->DenseBytes(), 2000000000000000000);
  EXPECT_EQ(ParsePrintedShape("f32[2,2]{7,9:T(8,128)}")->TiledBytes(), std::nullopt);
  EXPECT_EQ(ParsePrintedShape("f32[2,2]{1,0:T(0,0)}")->TiledBytes(), std::nullopt);
  EXPECT_EQ(ParsePrintedShape("new8[2,2]{1,0:T(8,128)}")->TiledBytes(), std::nullopt);
}

TEST(PrintedShapeTest, TuplesLoseTheirLayouts) {
  EXPECT_EQ(WithoutLayouts("(f32[8]{0:T(8)S(1)}, u32[]{:S(2)})"), "(f32[8], u32[])");
}

}  // namespace
}  // namespace oomdb::ingest
