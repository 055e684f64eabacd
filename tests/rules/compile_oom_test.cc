#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/rules/error_logs.h"
#include "tests/rules/rule_database.h"
#include "tests/support/gpu_story.h"

namespace oomdb::queries {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr int64_t kGiB = int64_t{1} << 30;

std::string Buffer(int rank, const std::string& size, const std::string& op,
                   const std::string& shape) {
  return "  " + std::to_string(rank) + ". Size: " + size + "\n     Operator: op_name=\"" + op +
         "\" source_file=\"/app/model.py\" source_line=" + std::to_string(10 + rank) +
         "\n     Shape: " + shape + "\n     Unpadded size: " + size + "\n     XLA label: fusion." +
         std::to_string(rank) +
         " = fusion(p)\n     Allocation type: HLO temp\n     ==========================\n\n";
}

const char kLargest[] = "  Largest program allocations in hbm:\n\n";

TEST(CompileOomTest, OneAllocationAboveHalfOfTheMemory) {
  RuleDatabase database;
  database.IngestText(Headline("20.00G", "15.00G", "5.00G") + kLargest +
                      Buffer(1, "12.00G", "jit(f)/dot_general", "f32[3221225472]{0:T(256)}"));
  const Finding finding = Only(database, "compile_oom");
  EXPECT_EQ(finding.severity, "error");
  EXPECT_EQ(finding.evidence, "read");
  EXPECT_EQ(finding.bytes, 20 * kGiB);
  EXPECT_THAT(finding.detail,
              AllOf(HasSubstr("A single allocation of 12884901888 bytes"),
                    HasSubstr("Short by 5368709120 bytes"), HasSubstr("model.py:11")));
  EXPECT_THAT(Fixes(database, finding), Contains(HasSubstr("annotate the sharding")));
  ASSERT_THAT(database.Items(finding), SizeIs(1));
  EXPECT_EQ(database.Items(finding)[0].bytes, 12 * kGiB);
}

// What the gradient made grows with what is trained on: no mesh is wrong.
TEST(CompileOomTest, OneActivationAboveHalfOfTheMemory) {
  RuleDatabase database;
  database.IngestText(
      Headline("20.00G", "15.00G", "5.00G") + kLargest +
      Buffer(1, "12.00G", "jit(f)/jvp(layer)/while/body/dot_general", "f32[3221225472]{0:T(256)}"));
  const Finding finding = Only(database, "compile_oom");
  EXPECT_EQ(finding.severity, "error");
  const std::vector<std::string> fixes = Fixes(database, finding);
  EXPECT_THAT(fixes, Contains(HasSubstr("micro-batches")));
  EXPECT_THAT(fixes, Not(Contains(HasSubstr("annotate the sharding"))));
}

TEST(CompileOomTest, ManyEqualOnesAddUpAndAreGrouped) {
  RuleDatabase database;
  std::string text = Headline("20.00G", "15.00G", "5.00G") + kLargest;
  for (int i = 0; i < 3; ++i)
    text +=
        Buffer(1, "2.00G", "jit(f)/jvp(layer)/dot_general", "f32[4,131072,1024]{2,1,0:T(8,128)}");
  database.IngestText(text);
  const Finding finding = Only(database, "compile_oom");
  EXPECT_THAT(finding.detail, AllOf(HasSubstr("what is live at once adds up"),
                                    HasSubstr("3 × f32[4,131072,1024] (6442450944 bytes")));
  const std::vector<Remedy> remedies = database.Remedies(finding);
  // Two of three can be computed again, which is not enough.
  ASSERT_THAT(remedies, Not(IsEmpty()));
  EXPECT_THAT(remedies[0].fix, HasSubstr("jax.checkpoint"));
  EXPECT_EQ(remedies[0].saving_bytes, 4 * kGiB);
  EXPECT_EQ(remedies[0].fits, 0);
  EXPECT_THAT(Fixes(database, finding), Not(Contains(HasSubstr("attention"))));
}

TEST(CompileOomTest, ScoresAskForFusedAttention) {
  RuleDatabase database;
  database.IngestText(
      Headline("20.00G", "15.00G", "5.00G") + kLargest +
      Buffer(1, "6.00G", "jit(f)/jvp(attention)/dot_general", "f32[96,4096,4096]{2,1,0:T(8,128)}"));
  const std::vector<Remedy> remedies = database.Remedies(Only(database, "compile_oom"));
  ASSERT_THAT(remedies, Not(IsEmpty()));
  EXPECT_THAT(remedies[0].fix, HasSubstr("f32[96,4096,4096] is gone"));
  EXPECT_EQ(remedies[0].fits, 1);
}

TEST(CompileOomTest, ArgumentsAloneDoNotFit) {
  RuleDatabase database;
  database.IngestText(
      Headline("30.00G", "15.00G", "15.00G") +
      "Total hbm usage >= 30.25G:\n    reserved        256.00M\n    program         "
      "  10.00G\n    arguments        20.00G\n\n");
  const Finding finding = Only(database, "compile_oom");
  EXPECT_THAT(finding.detail,
              HasSubstr("Its arguments take 21474836480 bytes, more than there is"));
  EXPECT_THAT(Fixes(database, finding), Contains(HasSubstr("shard the arguments")));
}

TEST(CompileOomTest, SparseCoresLead) {
  RuleDatabase database;
  database.IngestText(
      "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom:\n"
      "TPU TensorCore Hbm usage: 30.00G, SparseCore Hbm usage 170.00G, exceeding available bytes: "
      "95.00G\n");
  const Finding finding = Only(database, "compile_oom");
  EXPECT_EQ(finding.bytes, 200 * kGiB);
  EXPECT_THAT(finding.detail, HasSubstr("The SparseCores need"));
  EXPECT_THAT(Fixes(database, finding)[0], HasSubstr("xla_sc_num_serialized_tables"));
}

TEST(CompileOomTest, OfASizeThatCannotBeMeantNothingIsTuned) {
  RuleDatabase database;
  database.IngestText(
      "RESOURCE_EXHAUSTED: Compilation failure: Aborting compilation early because it's unlikely "
      "to have enough device memory. Requires 4.00T, has 14.00G available.\n");
  const Finding finding = Only(database, "compile_oom");
  EXPECT_THAT(finding.detail, HasSubstr("a shape or sharding mistake"));
  EXPECT_THAT(Fixes(database, finding), ElementsAre(HasSubstr("no option helps")));
}

TEST(CompileOomTest, OneLineAsksForADump) {
  RuleDatabase database;
  database.IngestText(
      "RESOURCE_EXHAUSTED: Ran out of memory on HBM, the total memory required for HLO temporaries "
      "(24.00G) exceeds available HBM (15.00G). HLO module: jit_step.\n");
  const Finding finding = Only(database, "compile_oom");
  EXPECT_EQ(finding.module_name, "jit_step");
  EXPECT_THAT(finding.detail, HasSubstr("--xla_dump_to"));
  EXPECT_THAT(Fixes(database, finding), Contains(HasSubstr("--xla_dump_to=DIR")));
}

// 300 MiB of arguments and 700 MiB of temps.
HloBuilder Step(const std::string& name = "jit_step") {
  HloBuilder hlo(name);
  hlo.Parameter(300_MiB).Output(1_MiB);
  hlo.Temp(700_MiB);
  return hlo;
}

std::string OneLine(int64_t bytes, const std::string& module) {
  return "RESOURCE_EXHAUSTED: Ran out of memory on HBM, the total memory required for HLO "
         "temporaries (" +
         std::to_string(bytes >> 20) + ".00M) exceeds available HBM (600.00M)." +
         (module.empty() ? "" : " HLO module: " + module + ".") + "\n";
}

TEST(CompileOomTest, APlanOfTheSameRunIsJoinedBySize) {
  RuleDatabase database;
  database.IngestPlan(Step().Bytes());
  HloBuilder small("jit_other");
  small.Parameter(9_MiB).Temp(9_MiB);
  database.IngestPlan(small.Bytes());
  database.IngestText(OneLine(Step().temp_bytes(), ""));
  const Finding finding = Only(database, "compile_oom");
  EXPECT_EQ(finding.module_name, "jit_step");
  EXPECT_THAT(finding.detail, HasSubstr("matched by size"));
  EXPECT_THAT(database.Items(finding), Not(IsEmpty()));
  // The text says the capacity, so the plan's own rule speaks as well.
  EXPECT_THAT(database.Findings("step_does_not_fit"), SizeIs(1));
}

TEST(CompileOomTest, ATextThatNamesAnotherModuleIsNotJoined) {
  RuleDatabase database;
  database.IngestPlan(Step().Bytes());
  database.IngestText(OneLine(Step().temp_bytes(), "jit_eval"));
  const Finding finding = Only(database, "compile_oom");
  EXPECT_EQ(finding.module_name, "jit_eval");
  EXPECT_THAT(database.Items(finding), IsEmpty());
}

TEST(CompileOomTest, NeitherIsAPlanOfAnotherSizeOrRun) {
  RuleDatabase database;
  database.IngestPlan(Step().Bytes());
  database.IngestText(OneLine(Step().temp_bytes() + 50_MiB, ""));
  EXPECT_EQ(Only(database, "compile_oom").module_name, "");
  RuleDatabase other;
  other.IngestPlan(Step().Bytes(), "run2");
  other.IngestText(OneLine(Step().temp_bytes(), ""), "run1");
  EXPECT_EQ(Only(other, "compile_oom").module_name, "");
}

TEST(CompileOomTest, AReportWithoutAnErrorIsAWarning) {
  RuleDatabase database;
  database.IngestText(
      "Total hbm usage >= 8.00G:\n    reserved   18.00M\n    program     1.00G\n    arguments   "
      "7.00G\n\nOutput size 6.0K; shares 0B with arguments.\n");
  const Finding finding = Only(database, "compile_oom");
  EXPECT_EQ(finding.severity, "warning");
  EXPECT_THAT(finding.detail, HasSubstr("does not say whether it failed"));
}

TEST(CompileOomTest, QuietForStatisticsAdviceAndOtherText) {
  RuleDatabase database;
  database.IngestText(
      "step 1 loss 2.3\nCompiledMemoryStats(generated_code_size_in_bytes=10, "
      "argument_size_in_bytes=100, output_size_in_bytes=100, alias_size_in_bytes=0, "
      "temp_size_in_bytes=100)\n");
  database.IngestText(
      "W external/xla/xla/service/hlo_rematerialization.cc:3005] Can't reduce memory use below "
      "18.88GiB (20272000000 bytes) by rematerialization; only reduced to 41.43GiB (44485000000 "
      "bytes), down from 45.92GiB (49306000000 bytes) originally\n");
  EXPECT_THAT(database.Findings("compile_oom"), IsEmpty());
  EXPECT_THAT(database.Summary(), IsEmpty());
}

TEST(CompileOomTest, TheLastFailureOfATextCounts) {
  RuleDatabase database;
  database.IngestText(Headline("20.00G", "15.00G", "5.00G") + "retrying with a smaller batch\n" +
                      Headline("17.00G", "15.00G", "2.00G"));
  EXPECT_EQ(Only(database, "compile_oom").bytes, 17 * kGiB);
}

}  // namespace
}  // namespace oomdb::queries
