#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/rules/rule_database.h"
#include "tests/support/gpu_story.h"

namespace oomdb::queries {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(NoDonationTest, StateInTwoCopiesIsAWarning) {
  HloBuilder hlo("jit_step");
  hlo.Parameter(64_MiB).Parameter(64_MiB).Parameter(1_MiB);
  hlo.Output(Value(64_MiB).Op("jit(step)/sub")).Output(Value(64_MiB).Op("jit(step)/sub"));
  RuleDatabase database;
  database.IngestPlan(hlo.Bytes());
  const std::vector<Finding> found = database.Findings("no_donation");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "warning");
  EXPECT_EQ(found[0].bytes, 128_MiB);
  EXPECT_THAT(found[0].detail, HasSubstr("0 of 3 parameters are donated (read)"));
  const std::vector<Remedy> remedies = database.Remedies(found[0]);
  ASSERT_THAT(remedies, SizeIs(1));
  EXPECT_EQ(remedies[0].fits, std::nullopt);  // No capacity is known.
}

TEST(NoDonationTest, AFailureThatDonationWouldPreventIsAnError) {
  HloBuilder hlo("jit_step");
  hlo.Parameter(64_MiB).Parameter(64_MiB);
  hlo.Output(Value(64_MiB).Op("jit(step)/sub")).Output(Value(64_MiB).Op("jit(step)/sub"));
  hlo.Temp(16_MiB);
  GpuStory story;
  story.Pool(0, 200_MiB, {.in_use_before = 128_MiB}).Module(hlo, 1);
  story.FailStep("jit_step");
  RuleDatabase database;
  database.Ingest(story.Bytes());
  const std::vector<Finding> found = database.Findings("no_donation");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "error");
  const std::vector<Remedy> remedies = database.Remedies(found[0]);
  ASSERT_THAT(remedies, SizeIs(1));
  EXPECT_EQ(remedies[0].fits, 1);
  EXPECT_EQ(*remedies[0].needs_bytes,
            hlo.parameter_bytes() + hlo.output_bytes() + hlo.temp_bytes() - 128_MiB);
}

TEST(NoDonationTest, QuietWhenDonated) {
  HloBuilder hlo("jit_step");
  hlo.DonatedParameter(64_MiB).DonatedParameter(64_MiB).Parameter(1_MiB);
  hlo.Output(Value(4).Op("jit(step)/reduce_sum"));
  RuleDatabase database;
  database.IngestPlan(hlo.Bytes());
  EXPECT_THAT(database.Findings("no_donation"), IsEmpty());
}

TEST(NoDonationTest, APartialDonationNamesTheRest) {
  HloBuilder hlo("jit_step");
  hlo.DonatedParameter(64_MiB).Parameter(32_MiB).Parameter(32_MiB);
  hlo.Output(Value(32_MiB).Op("jit(step)/sub")).Output(Value(32_MiB).Op("jit(step)/sub"));
  RuleDatabase database;
  database.IngestPlan(hlo.Bytes());
  const std::vector<Finding> found = database.Findings("no_donation");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].bytes, 64_MiB);
  EXPECT_THAT(found[0].title, HasSubstr("Only a part"));
}

TEST(NoDonationTest, GradientsAreNotState) {
  HloBuilder hlo("jit_grad");
  hlo.Parameter(64_MiB).Parameter(64_MiB);
  hlo.Output(Value(64_MiB).Op("jit(grad)/transpose(jvp())/dot_general"));
  hlo.Output(Value(64_MiB).Op("jit(grad)/transpose(jvp())/dot_general"));
  RuleDatabase database;
  database.IngestPlan(hlo.Bytes());
  EXPECT_THAT(database.Findings("no_donation"), IsEmpty());
}

TEST(NoDonationTest, CountersBesideGradientsDoNotMakeThemState) {
  HloBuilder hlo("jit_grad");
  hlo.Parameter(64_MiB).Parameter(64_MiB).Parameter(4).Parameter(4);
  hlo.Output(Value(64_MiB).Op("jit(grad)/transpose(jvp())/dot_general"));
  hlo.Output(Value(64_MiB).Op("jit(grad)/transpose(jvp())/dot_general"));
  hlo.Output(Value(4).Op("jit(grad)/add")).Output(Value(4).Op("jit(grad)/add"));
  RuleDatabase database;
  database.IngestPlan(hlo.Bytes());
  EXPECT_THAT(database.Findings("no_donation"), IsEmpty());
}

TEST(NoDonationTest, OneCacheUpdatedInPlaceIsEnough) {
  HloBuilder hlo("jit_decode");
  hlo.Parameter(64_MiB).Parameter(8_MiB);
  hlo.Output(Value(64_MiB).Opcode("dynamic-update-slice").Op("jit(decode)/dynamic_update_slice"));
  RuleDatabase database;
  database.IngestPlan(hlo.Bytes());
  EXPECT_THAT(database.Findings("no_donation"), SizeIs(1));

  HloBuilder other("jit_map");
  other.Parameter(64_MiB).Parameter(8_MiB);
  other.Output(Value(64_MiB).Op("jit(map)/mul"));
  RuleDatabase quiet;
  quiet.IngestPlan(other.Bytes());
  EXPECT_THAT(quiet.Findings("no_donation"), IsEmpty());
}

TEST(NoDonationTest, QuietBelowTheSmallestSaving) {
  HloBuilder hlo("jit_step");
  hlo.Parameter(256_KiB).Parameter(256_KiB);
  hlo.Output(Value(256_KiB).Op("jit(step)/sub")).Output(Value(256_KiB).Op("jit(step)/sub"));
  RuleDatabase quiet;
  quiet.IngestPlan(hlo.Bytes());
  EXPECT_THAT(quiet.Findings("no_donation"), IsEmpty());
  RuleDatabase database({{"donation_min_bytes", 1024}});
  database.IngestPlan(hlo.Bytes());
  EXPECT_THAT(database.Findings("no_donation"), SizeIs(1));
}

}  // namespace
}  // namespace oomdb::queries
