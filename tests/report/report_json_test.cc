#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/report/text.h"
#include "tests/report/sample_report.h"

namespace oomdb::cli {
namespace {

using Json = nlohmann::json;

TEST(ReportJsonTest, ExactNumbersWithTheirEvidence) {
  const Json json = Json::parse(ReportJson(MisfitReport()));
  EXPECT_EQ(json["plan"]["plan_bytes"]["value"], 314572804);
  EXPECT_EQ(json["plan"]["plan_bytes"]["evidence"], "read");
  EXPECT_EQ(json["plan"]["capacity_bytes"]["evidence"], "measured");
  EXPECT_EQ(json["findings"][0]["rule"], "step_does_not_fit");
  EXPECT_EQ(json["findings"][0]["bytes"]["value"], 314572804);
  EXPECT_EQ(json["findings"][0]["remedies"][0]["saving_bytes"]["evidence"], "inferred");
  EXPECT_EQ(json["findings"][0]["remedies"][1]["fits"], false);
  EXPECT_EQ(json["run"]["devices"][0]["in_use_at_starts"]["values"].size(), 3);
  EXPECT_TRUE(json["oomdb"]["schema_version"].is_number_integer());
  EXPECT_TRUE(json["oomdb"]["tool_version"].is_string());
}

// Every size and time is an object with a value and an evidence word, or null: no bare number.
void ExpectEvidence(const Json& json, const std::string& path) {
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) {
      const bool number = key.ends_with("_bytes") || key.ends_with("_ns");
      if (number && value.is_object())
        EXPECT_TRUE(value.contains("evidence")) << path << "/" << key;
      if (number) EXPECT_FALSE(value.is_number()) << path << "/" << key;
      ExpectEvidence(value, path + "/" + key);
    }
  } else if (json.is_array()) {
    for (const Json& element : json) ExpectEvidence(element, path);
  }
}

TEST(ReportJsonTest, NoSizeWithoutEvidence) {
  ExpectEvidence(Json::parse(ReportJson(MisfitReport())), "");
}

TEST(ReportJsonTest, WhatAnErrorTextStates) {
  Report report = MisfitReport();
  ReportErrorLog log;
  log.path = "/logs/train.log";
  log.failed = true;
  log.events.push_back({12, "T1", true, "hbm", "", "Ran out of memory", 3});
  log.main = 0;
  log.numbers.push_back({"needed_bytes", "needs", "the program", 4096});
  ReportGroup buffer;
  buffer.bytes = 1024;
  buffer.count = 2;
  buffer.shape = "f32[128]";
  log.buffers.push_back(buffer);
  report.logs.push_back(log);
  const Json json = Json::parse(ReportJson(report));
  ExpectEvidence(json, "");
  const Json& shown = json["error_texts"][0];
  EXPECT_EQ(shown["numbers"]["needed_bytes"]["value"], 4096);
  EXPECT_EQ(shown["events"][0]["line"], 12);
  EXPECT_EQ(shown["events"][0]["repeat_count"], 3);
  EXPECT_TRUE(shown["events"][0]["allocator"].is_null());
  EXPECT_TRUE(shown["buffers"][0]["padding_bytes"].is_null());
}

// What a page leaves out is the page's matter.
TEST(ReportJsonTest, ListsAreWhole) {
  Report report = HealthyReport();
  for (int i = 0; i < 20; ++i) {
    report.plan->groups.push_back(report.plan->groups.back());
    report.run->live.push_back(report.run->live.back());
  }
  const Json json = Json::parse(ReportJson(report));
  EXPECT_EQ(json["plan"]["groups_at_peak"].size(), 28);
  EXPECT_EQ(json["run"]["live_at_last_start"].size(), 21);
}

TEST(ReportJsonTest, NamesMayBeAnyBytes) {
  Report report = MisfitReport();
  report.findings[0].title = "broken \xff\xfe utf-8 \"quoted\"\n";
  report.plan->name = std::string("null\0inside", 11);
  const Json json = Json::parse(ReportJson(report));
  EXPECT_THAT(json["findings"][0]["title"].get<std::string>(), testing::HasSubstr("\"quoted\"\n"));
}

TEST(ReportJsonTest, WhatIsNotKnownIsNull) {
  Report report = HealthyReport();
  report.plan->capacity_bytes.reset();
  report.plan->heap_peak_bytes.reset();
  report.run.reset();
  const Json json = Json::parse(ReportJson(report));
  EXPECT_TRUE(json["plan"]["capacity_bytes"].is_null());
  EXPECT_TRUE(json["plan"]["heap_peak_bytes"].is_null());
  EXPECT_TRUE(json["run"].is_null());
}

}  // namespace
}  // namespace oomdb::cli
