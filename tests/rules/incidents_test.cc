// One failure is one incident: its cause, what it is made of, and how it was seen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "queries/catalogue.h"
#include "schema/query.h"
#include "tests/rules/rule_database.h"
#include "tests/support/gpu_story.h"

namespace oomdb::queries {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

// "verdict: cause rule (severity)".
std::vector<std::string> Incidents(RuleDatabase& database) {
  std::vector<std::string> incidents;
  for (const schema::Record& row :
       schema::ReadView(database.database(), "incidents", {}, "severity, incident_id")) {
    incidents.push_back(row.Text("verdict") + ": " + row.Text("cause_rule") + " (" +
                        row.Text("severity") + ")");
  }
  return incidents;
}

std::vector<std::string> Parts(RuleDatabase& database) {
  std::vector<std::string> parts;
  for (const schema::Record& row : schema::ReadView(database.database(), "incident_findings"))
    parts.push_back(row.Text("rule") + " " + row.Text("part"));
  return parts;
}

HloBuilder Large() {
  HloBuilder hlo("jit_step");
  hlo.Parameter(128_MiB).Output(96_MiB);
  hlo.Temp(Value(450_MiB).Op("jit(step)/jvp()/dot_general"));
  return hlo;
}

TEST(IncidentsTest, AFailedStepIsOneOnAllItsDevices) {
  GpuStory story;
  story.Pool(0, 512_MiB, {.in_use_before = 128_MiB});
  story.Pool(1, 512_MiB, {.in_use_before = 128_MiB});
  story.Module(Large(), 7);
  story.FailStep("jit_step", {.device = 0});
  story.FailStep("jit_step", {.device = 1});
  RuleDatabase database;
  database.Ingest(story.Bytes());
  EXPECT_THAT(Incidents(database), ElementsAre("too large: step_does_not_fit (error)"));
  EXPECT_THAT(Parts(database),
              UnorderedElementsAre("step_does_not_fit cause", "step_does_not_fit again",
                                   "forward_dominates part", "forward_dominates part",
                                   "allocator_retry symptom", "allocator_retry symptom"));
  EXPECT_EQ(database.Integer("SELECT COUNT(DISTINCT incident_id) FROM findings WHERE severity = "
                             "'error'"),
            1);
}

// What the run time printed is how the failure was seen; the plan says why.
TEST(IncidentsTest, TheErrorTextOfTheSameProgramIsASymptom) {
  GpuStory story;
  story.Pool(0, 512_MiB, {.in_use_before = 128_MiB}).Module(Large(), 7);
  story.FailStep("jit_step");
  RuleDatabase database;
  database.Ingest(story.Bytes());
  database.IngestText(
      "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to "
      "allocate 471859200 bytes.\n");
  EXPECT_THAT(Incidents(database), ElementsAre("too large: step_does_not_fit (error)"));
  EXPECT_THAT(Parts(database), testing::Contains("runtime_oom symptom"));
}

// The program that an error log does not name is the one of the run whose plan holds the shapes that
// it lists, if there is one alone.
TEST(IncidentsTest, AnErrorLogWithoutAModuleIsJoinedByItsShapes) {
  const auto plan = [](const std::string& name, std::vector<int64_t> dimensions) {
    HloBuilder hlo(name);
    hlo.Parameter(4_MiB).Output(1_MiB);
    hlo.Temp(Value(512_KiB).Shape(11, std::move(dimensions)).Op("jit(f)/jvp()/dot_general"));
    return hlo.Bytes();
  };
  const std::string log =
      "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. "
      "Ran out of memory in memory space hbm. Used 20.00G of 15.00G hbm. Exceeded hbm capacity by "
      "5.00G.\n\n  Largest program allocations in hbm:\n\n  1. Size: 512.0K\n     Operator: "
      "op_name=\"jit(f)/jvp()/dot_general\" source_file=\"m.py\" source_line=1\n     Shape: "
      "f32[256,512]{1,0:T(8,128)}\n     Unpadded size: 512.0K\n     XLA label: fusion.1 = "
      "fusion(p)\n     Allocation type: HLO temp\n     ==========================\n\n";
  const auto joined = [](RuleDatabase& database) {
    std::string by;
    for (const schema::Record& row : schema::ReadView(database.database(), "oom_event_modules"))
      by += row.Text("module_name") + " by " + row.Text("matched_by") + ";";
    return by;
  };
  RuleDatabase alone;
  alone.IngestPlan(plan("jit_f", {256, 512}));
  alone.IngestPlan(plan("jit_g", {512, 256}));
  alone.IngestText(log);
  EXPECT_EQ(joined(alone), "jit_f by shapes;");
  RuleDatabase both;
  both.IngestPlan(plan("jit_f", {256, 512}));
  both.IngestPlan(plan("jit_g", {256, 512}));
  both.IngestText(log);
  EXPECT_EQ(joined(both), "");
  RuleDatabase another_run;
  another_run.IngestPlan(plan("jit_f", {256, 512}), "run2");
  another_run.IngestText(log);
  EXPECT_EQ(joined(another_run), "");
}

TEST(IncidentsTest, EveryVerdictIsListed) {
  RuleDatabase database;
  std::set<std::string> listed;
  for (const schema::Record& kind : schema::ReadView(database.database(), "verdict_kinds")) {
    EXPECT_TRUE(listed.insert(kind.Text("verdict")).second);
    EXPECT_NE(kind.Text("meaning"), "");
  }
  EXPECT_EQ(listed.count("well"), 1U);
  EXPECT_EQ(listed.count("can't tell"), 1U);
  for (const CatalogueEntry* rule : Catalogue::Get().Rules()) {
    if (rule->verdict.empty()) continue;
    EXPECT_EQ(listed.count(rule->verdict), 1U) << rule->id;
  }
}

TEST(IncidentsTest, HealthyCapturesHaveNone) {
  HloBuilder hlo("jit_step");
  hlo.DonatedParameter(128_MiB).Output(1_MiB);
  hlo.Temp(100_MiB);
  GpuStory story;
  story.Pool(0, 512_MiB, {.in_use_before = 128_MiB}).Module(hlo, 7);
  for (int i = 0; i < 5; ++i) story.Step("jit_step", {.free_outputs = true});
  RuleDatabase database;
  database.Ingest(story.Bytes());
  EXPECT_THAT(Incidents(database), ElementsAre());
  EXPECT_EQ(database.Integer("SELECT COUNT(*) FROM open_questions"), 0);
}

}  // namespace
}  // namespace oomdb::queries
