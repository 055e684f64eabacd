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
