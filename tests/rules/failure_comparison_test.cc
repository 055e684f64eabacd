// The view failure_comparison: what two runs' error logs say, side by side.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/rules/rule_database.h"
#include "tests/support/hlo_builder.h"
#include "tests/support/sizes.h"

namespace oomdb::queries {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string CompileFailure(const std::string& used, const std::string& exceeded) {
  return "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: XLA:TPU compile permanent "
         "error. Ran out of memory in memory space hbm. Used " +
         used + " of 15.75G hbm. Exceeded hbm capacity by " + exceeded +
         ".\n\n  Largest program allocations in hbm:\n\n";
}

// As XLA lists one; an empty `op` is an instruction without metadata.
std::string Buffer(int rank, const std::string& size, const std::string& op, int line,
                   const std::string& shape) {
  std::string text = "  " + std::to_string(rank) + ". Size: " + size + "\n";
  if (!op.empty()) {
    text += "     Operator: op_name=\"" + op +
            "\" source_file=\"/app/model.py\" source_line=" + std::to_string(line) + "\n";
  }
  return text + "     Shape: " + shape + "\n     Unpadded size: " + size +
         "\n     XLA label: fusion." + std::to_string(rank) +
         " = fusion(p)\n     Allocation type: HLO temp\n     ==========================\n\n";
}

const char kRequest[] =
    "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Attempting to allocate 4.00G. That "
    "was not possible. There are 3.00G free.; (0x0x0_HBM0)\n";

// Rows as "name|change|base_bytes|new_bytes|delta_bytes" and, of buffers, the counts and shapes; a
// number that is not known is a dash.
std::vector<std::string> Compare(RuleDatabase& database, const std::string& kind,
                                 const std::string& base = "old",
                                 const std::string& changed = "new",
                                 const std::string& stage = "compile") {
  SQLite::Statement query(
      database.database().connection(),
      "SELECT name, COALESCE(change, '-'), base_bytes, new_bytes, delta_bytes, base_count, "
      "new_count, COALESCE(base_shape, ''), COALESCE(new_shape, '') FROM failure_comparison WHERE "
      "base_run = ? AND new_run = ? AND kind = ? AND stage = ? ORDER BY 1, 8, 9");
  query.bind(1, base);
  query.bind(2, changed);
  query.bind(3, kind);
  query.bind(4, stage);
  std::vector<std::string> lines;
  while (query.executeStep()) {
    std::string line;
    for (int i = 0; i < (kind == "buffer" ? 9 : 5); ++i) {
      const SQLite::Column column = query.getColumn(i);
      line += (i == 0 ? "" : "|") + (column.isNull() ? "-" : column.getString());
    }
    lines.push_back(line);
  }
  return lines;
}

TEST(FailureComparisonTest, FiguresOfOneStage) {
  RuleDatabase database;
  database.IngestText(CompileFailure("30.75G", "15.00G"), "old");
  database.IngestText(CompileFailure("17.75G", "2.00G"), "new");
  EXPECT_THAT(Compare(database, "figure"),
              ElementsAre("capacity|same|16911433728|16911433728|0",
                          "needed|shrank|33017561088|19058917376|-13958643712",
                          "short|shrank|16106127360|2147483648|-13958643712",
                          "used|shrank|33017561088|19058917376|-13958643712"));
  EXPECT_THAT(Compare(database, "figure", "new", "old"),
              testing::Contains("short|grew|2147483648|16106127360|13958643712"));
}

TEST(FailureComparisonTest, AnotherBatchIsABufferThatShrank) {
  RuleDatabase database;
  database.IngestText(CompileFailure("30.75G", "15.00G") +
                          Buffer(1, "2.00G", "jit(f)/jvp(a)/dot", 17, "f32[32,4096,4096]") +
                          Buffer(2, "2.00G", "jit(f)/jvp(a)/dot", 17, "f32[32,4096,4096]") +
                          Buffer(3, "1.00G", "jit(f)/w", 3, "f32[16384,16384]"),
                      "old");
  database.IngestText(CompileFailure("17.75G", "2.00G") +
                          Buffer(1, "1.00G", "jit(f)/w", 3, "f32[16384,16384]") +
                          Buffer(2, "1.00G", "jit(f)/jvp(a)/dot", 17, "f32[16,4096,4096]") +
                          Buffer(3, "1.00G", "jit(f)/jvp(a)/dot", 17, "f32[16,4096,4096]"),
                      "new");
  EXPECT_THAT(Compare(database, "buffer"),
              ElementsAre("jit(f)/jvp(a)/dot|shrank|4294967296|2147483648|-2147483648|2|2|"
                          "f32[32,4096,4096]|f32[16,4096,4096]",
                          "jit(f)/w|same|1073741824|1073741824|0|1|1|f32[16384,16384]|"
                          "f32[16384,16384]"));
}

TEST(FailureComparisonTest, CameWentAndFewerOfAKind) {
  RuleDatabase database;
  database.IngestText(CompileFailure("30.75G", "15.00G") +
                          Buffer(1, "2.00G", "jit(f)/a", 17, "f32[32,4096,4096]") +
                          Buffer(2, "2.00G", "jit(f)/a", 17, "f32[32,4096,4096]") +
                          Buffer(3, "1.00G", "jit(f)/b", 18, "f32[16,4096,4096]"),
                      "old");
  database.IngestText(CompileFailure("17.75G", "2.00G") +
                          Buffer(1, "2.00G", "jit(f)/a", 17, "f32[32,4096,4096]") +
                          Buffer(2, "1.00G", "jit(f)/c", 19, "f32[16384,16384]"),
                      "new");
  EXPECT_THAT(Compare(database, "buffer"),
              ElementsAre("jit(f)/a|shrank|4294967296|2147483648|-2147483648|2|1|"
                          "f32[32,4096,4096]|f32[32,4096,4096]",
                          "jit(f)/b|went|1073741824|-|-1073741824|1|0|f32[16,4096,4096]|",
                          "jit(f)/c|appeared|-|1073741824|1073741824|0|1||f32[16384,16384]"));
}

// An edit moves lines; rematerialization renames operations; and both are no difference.
TEST(FailureComparisonTest, MovedLinesAndRenamedOperations) {
  RuleDatabase database;
  database.IngestText(CompileFailure("30.75G", "15.00G") +
                          Buffer(1, "2.00G", "jit(f)/a", 17, "f32[32,4096,4096]") +
                          Buffer(2, "1.00G", "jit(f)/jvp(m)/b", 18, "f32[16,4096,4096]") +
                          Buffer(3, "1.00G", "", 0, "f32[1,268435456]"),
                      "old");
  database.IngestText(
      CompileFailure("30.75G", "15.00G") + Buffer(7, "2.00G", "jit(f)/a", 21, "f32[32,4096,4096]") +
          Buffer(8, "1.00G", "jit(f)/jvp(m)/checkpoint/b", 18, "f32[16,4096,4096]") +
          Buffer(9, "1.00G", "", 0, "f32[2,134217728]"),
      "new");
  EXPECT_THAT(Compare(database, "buffer"),
              ElementsAre(
                  // Without a name another shape is another buffer.
                  "fusion.3 = fusion(p)|went|1073741824|-|-1073741824|1|0|f32[1,268435456]|",
                  "fusion.9 = fusion(p)|appeared|-|1073741824|1073741824|0|1||f32[2,134217728]",
                  "jit(f)/a|same|2147483648|2147483648|0|1|1|f32[32,4096,4096]|f32[32,4096,4096]",
                  "jit(f)/jvp(m)/checkpoint/b|same|1073741824|1073741824|0|1|1|f32[16,4096,4096]|"
                  "f32[16,4096,4096]"));
}

// XLA lists so many of the largest: what is smaller than those may be there all the same.
TEST(FailureComparisonTest, WhatAListMayHaveCutIsNotKnown) {
  RuleDatabase database;
  std::string full = CompileFailure("30.75G", "15.00G");
  for (int i = 1; i <= 14; ++i)
    full += Buffer(i, "2.00G", "jit(f)/a" + std::to_string(i), 20 + i, "f32[32,4096,4096]");
  full += Buffer(15, "1.00G", "jit(f)/b", 18, "f32[16,4096,4096]");
  database.IngestText(full, "old");
  database.IngestText(CompileFailure("17.75G", "2.00G") +
                          Buffer(1, "1.50G", "jit(f)/larger", 7, "f32[24,4096,4096]") +
                          Buffer(2, "1.00G", "jit(f)/b", 18, "f32[16,4096,4096]") +
                          Buffer(3, "1.00G", "jit(f)/b", 18, "f32[16,4096,4096]") +
                          Buffer(4, "0.50G", "jit(f)/small", 8, "f32[8,4096,4096]"),
                      "new");
  const std::vector<std::string> rows = Compare(database, "buffer");
  EXPECT_THAT(rows, testing::Contains(
                        "jit(f)/larger|appeared|-|1610612736|1610612736|0|1||f32[24,4096,4096]"));
  EXPECT_THAT(rows, testing::Contains("jit(f)/small|-|-|536870912|-|-|1||f32[8,4096,4096]"));
  EXPECT_THAT(rows, testing::Contains("jit(f)/b|-|1073741824|2147483648|-|1|2|f32[16,4096,4096]|"
                                      "f32[16,4096,4096]"));
  EXPECT_THAT(rows,
              testing::Contains("jit(f)/a1|went|2147483648|-|-2147483648|1|0|f32[32,4096,4096]|"));
}

TEST(FailureComparisonTest, ATextWithoutAListSaysNothingOfBuffers) {
  RuleDatabase database;
  database.IngestText(
      CompileFailure("30.75G", "15.00G") + Buffer(1, "2.00G", "jit(f)/a", 17, "f32[32,4096,4096]"),
      "old");
  database.IngestText(CompileFailure("17.75G", "2.00G"), "new");
  EXPECT_THAT(Compare(database, "buffer"),
              ElementsAre("jit(f)/a|-|2147483648|-|-|1|-|f32[32,4096,4096]|"));
}

// What is short by nothing known is not short by nothing.
TEST(FailureComparisonTest, OneRunAlone) {
  RuleDatabase database;
  database.IngestText(
      CompileFailure("30.75G", "15.00G") + Buffer(1, "2.00G", "jit(f)/a", 17, "f32[32,4096,4096]"),
      "old");
  database.IngestText("step 100: loss 0.3\n", "new");
  EXPECT_THAT(Compare(database, "figure"), testing::Contains("short|went|16106127360|-|-"));
  EXPECT_THAT(Compare(database, "figure", "new", "old"),
              testing::Contains("short|appeared|-|16106127360|-"));
  EXPECT_THAT(Compare(database, "buffer"),
              ElementsAre("jit(f)/a|went|2147483648|-|-|1|-|f32[32,4096,4096]|"));
}

TEST(FailureComparisonTest, StagesStayApart) {
  RuleDatabase database;
  database.IngestText(CompileFailure("30.75G", "15.00G"), "old");
  database.IngestText(kRequest, "new");
  EXPECT_THAT(Compare(database, "figure"), testing::Contains("short|went|16106127360|-|-"));
  EXPECT_THAT(Compare(database, "figure", "old", "new", "run"),
              testing::Contains("requested|appeared|-|4294967296|-"));
  EXPECT_THAT(Compare(database, "figure", "old", "new", "run"),
              testing::Contains("free|appeared|-|3221225472|-"));
}

TEST(FailureComparisonTest, TheHostThatIsShortestCounts) {
  RuleDatabase database;
  database.IngestText(CompileFailure("17.75G", "2.00G"), "old");
  database.IngestText(CompileFailure("30.75G", "15.00G"), "old");
  database.IngestText(CompileFailure("18.75G", "3.00G"), "old");
  database.IngestText(CompileFailure("16.75G", "1.00G"), "new");
  EXPECT_THAT(Compare(database, "figure"),
              testing::Contains("short|shrank|16106127360|1073741824|-15032385536"));
}

TEST(FailureComparisonTest, NothingOfRunsThatDidNotFail) {
  RuleDatabase database;
  database.IngestText("fine\n", "old");
  database.IngestText("fine too\n", "new");
  EXPECT_THAT(Compare(database, "figure"), IsEmpty());
}

// A text that lists none takes the buffers of the plan that it is about.
TEST(FailureComparisonTest, BuffersOfAPlan) {
  const auto ingest = [](RuleDatabase& database, const std::string& run, int64_t batch) {
    HloBuilder hlo("jit_step");
    hlo.Parameter(64_MiB);
    hlo.Temp(Value(batch * 64_MiB)
                 .Shape(11, {batch, 4096, 4096})
                 .Op("jit(step)/jvp()/div")
                 .At("model.py", 17, "layer"));
    database.IngestPlan(hlo.Bytes(), run);
    database.IngestText("RESOURCE_EXHAUSTED: Out of memory while trying to allocate " +
                            std::to_string(batch * 64_MiB) + " bytes.\n",
                        run);
  };
  RuleDatabase database;
  ingest(database, "old", 32);
  ingest(database, "new", 16);
  EXPECT_THAT(Compare(database, "buffer", "old", "new", "run"),
              testing::Contains("jit(step)/jvp()/div|shrank|2147483648|1073741824|-1073741824|1|1|"
                                "f32[32,4096,4096]|f32[16,4096,4096]"));
}

}  // namespace
}  // namespace oomdb::queries
