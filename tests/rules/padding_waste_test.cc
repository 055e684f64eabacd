#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/rules/rule_database.h"
#include "tests/support/gpu_story.h"

namespace oomdb::queries {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string Report(const std::string& buffer) {
  return "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space "
         "hbm. Used 40.00G of 16.00G hbm. Exceeded hbm capacity by 24.00G.\n\n  Largest program "
         "allocations in hbm:\n\n" +
         buffer + "     ==========================\n";
}

TEST(PaddingWasteTest, AsTheTextPrintsIt) {
  RuleDatabase database;
  database.IngestText(
      Report("  1. Size: 32.00G\n     Operator: op_name=\"FloorMod\"\n     Shape: "
             "s32[8388608,8,4]{2,1,0:T(8,128)}\n     Unpadded size: 1.00G\n     Extra memory due "
             "to padding: 31.00G (32.0x expansion)\n"));
  const std::vector<Finding> found = database.Findings("padding_waste");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "warning");
  EXPECT_EQ(found[0].bytes, 31_GiB);
  EXPECT_THAT(found[0].detail, HasSubstr("s32[8388608,8,4]{2,1,0:T(8,128)}"));
  EXPECT_EQ(database.Remedies(found[0])[0].saving_bytes, 31_GiB);
  EXPECT_THAT(database.Items(found[0]), SizeIs(1));
  EXPECT_THAT(database.Findings("compile_oom")[0].detail, HasSubstr("padding to the tile"));
}

TEST(PaddingWasteTest, ComputedFromTheLayoutWhereTheTextDoesNotSayIt) {
  RuleDatabase database;
  database.IngestText(Report("  1. Size: 32.00G\n     Shape: s32[8388608,8,4]{2,1,0:T(8,128)}\n"));
  const std::vector<Finding> found = database.Findings("padding_waste");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].bytes, 31_GiB);
}

TEST(PaddingWasteTest, QuietForFullTilesAndForRounding) {
  RuleDatabase database;
  database.IngestText(
      Report("  1. Size: 32.00G\n     Shape: f32[8192,1024,1024]{2,1,0:T(8,128)}\n     Unpadded "
             "size: 31.99G\n     Extra memory due to padding: 10.00M (1.0x expansion)\n"));
  EXPECT_THAT(database.Findings("padding_waste"), IsEmpty());
}

TEST(PaddingWasteTest, TooLittleOfItHasNoItemsEither) {
  RuleDatabase database;
  database.IngestText(
      Report("  1. Size: 32.00G\n     Shape: f32[8192,1024,1024]{2,1,0:T(8,128)}\n\n  2. Size: "
             "40.0K\n     Shape: s32[8,257]{1,0:T(8,128)}\n     Unpadded size: 8.0K\n     Extra "
             "memory due to padding: 32.0K (5.0x expansion)\n"));
  EXPECT_EQ(database.Integer("SELECT COUNT(*) FROM padding_parts"), 1);
  EXPECT_THAT(database.Findings("padding_waste"), IsEmpty());
  EXPECT_EQ(database.Integer("SELECT COUNT(*) FROM finding_items WHERE finding_id LIKE "
                             "'padding_waste%'"),
            0);
}

}  // namespace
}  // namespace oomdb::queries
