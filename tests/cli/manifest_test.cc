#include "cli/ingest/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace oomdb::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::string ErrorOf(std::string_view text) {
  try {
    ParseManifest(text, "");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ManifestTest, ColumnsInAnyOrderAndTheOthersAreLabels) {
  const std::vector<ManifestRow> rows =
      ParseManifest("batch,host,path,run\n8,h1,a.xplane.pb,r1\n,,/abs/b.xplane.pb,\n", "runs");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].path, "runs/a.xplane.pb");
  EXPECT_EQ(rows[0].run, "r1");
  EXPECT_EQ(rows[0].host, "h1");
  EXPECT_THAT(rows[0].labels, ElementsAre(Pair("batch", "8")));
  EXPECT_EQ(rows[1].path, "/abs/b.xplane.pb");
  EXPECT_EQ(rows[1].run, std::nullopt);
  EXPECT_EQ(rows[1].host, std::nullopt);
  EXPECT_TRUE(rows[1].labels.empty());
}

TEST(ManifestTest, QuotingIsThatOfRfc4180) {
  const std::vector<CsvRecord> records =
      ParseCsv("a,\"b, c\",\"say \"\"hi\"\"\"\r\n\"two\nlines\",,x\n\nlast");
  ASSERT_EQ(records.size(), 3u);
  EXPECT_THAT(records[0].cells, ElementsAre("a", "b, c", "say \"hi\""));
  EXPECT_THAT(records[1].cells, ElementsAre("two\nlines", "", "x"));
  EXPECT_EQ(records[1].line, 2);
  EXPECT_THAT(records[2].cells, ElementsAre("last"));
  EXPECT_EQ(records[2].line, 5);
  EXPECT_THAT(ParseCsv("\xef\xbb\xbfpath\n").front().cells, ElementsAre("path"));
  EXPECT_TRUE(ParseCsv("").empty());
  EXPECT_THAT(ParseCsv("a,").front().cells, ElementsAre("a", ""));
  EXPECT_THAT(ParseCsv("\"\"").size(), 0u);
}

TEST(ManifestTest, WhatCantBeReadIsSaidWithItsLine) {
  EXPECT_THAT(ErrorOf("path\n\"a\nb"), HasSubstr("line 2: a quote that doesn't close"));
  EXPECT_THAT(ErrorOf("path\na\nb\"c\n"), HasSubstr("line 3: a quote within a cell"));
  EXPECT_THAT(ErrorOf("path\n\"a\"b\n"), HasSubstr("line 2: text after the quote"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("empty"));
  EXPECT_THAT(ErrorOf("run,host\n"), HasSubstr("no column `path`"));
  EXPECT_THAT(ErrorOf("path,run,run\n"), HasSubstr("names run twice"));
  EXPECT_THAT(ErrorOf("path,,run\n"), HasSubstr("without a name"));
}

TEST(ManifestTest, ARowThatDoesntFitIsAProblemOfThatRow) {
  const std::vector<ManifestRow> rows = ParseManifest("path,run\na,r,x\n,r\nb,r\nc\n", "");
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].problem, "3 cells, the header names 2 columns");
  EXPECT_EQ(rows[1].problem, "no path");
  EXPECT_EQ(rows[2].problem, "");
  EXPECT_EQ(rows[3].problem, "1 cells, the header names 2 columns");
  EXPECT_EQ(rows[3].line, 5);
}

TEST(ManifestTest, AMissingManifestIsNamed) {
  try {
    ReadManifest("/no/such/runs.csv");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("/no/such/runs.csv"));
  }
}

}  // namespace
}  // namespace oomdb::cli
