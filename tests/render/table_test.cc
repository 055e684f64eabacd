#include "render/table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <sstream>

#include "base/error.h"

namespace oomdb::render {
namespace {

using Rows = std::vector<std::vector<Cell>>;

std::string Render(const std::vector<std::string>& columns, const Rows& rows,
                   const TableOptions& options) {
  std::ostringstream out;
  WriteTable(out, columns, rows, options);
  return out.str();
}

const Cell kNull;

TEST(TableTest, AlignsByDisplayWidth) {
  EXPECT_EQ(
      Render({"name", "bytes"}, {{"漢字", int64_t{5}}, {"x", int64_t{1234567}}, {kNull, kNull}},
             {.format = TableFormat::kTable}),
      "name    bytes\n"
      "────  ───────\n"
      "漢字        5\n"
      "x     1234567\n"
      "NULL     NULL\n");
}

TEST(TableTest, ExactUnlessHuman) {
  const Rows rows = {{int64_t{3075480600}, int64_t{10'000'000'000}, int64_t{1790000000000000000}}};
  const std::vector<std::string> columns = {"temp_bytes", "wait_ns", "start_ns"};
  EXPECT_NE(Render(columns, rows, {}).find("3075480600"), std::string::npos);
  const std::string human = Render(columns, rows, {.human = true});
  EXPECT_NE(human.find("2.86 GiB"), std::string::npos);
  EXPECT_NE(human.find("10.0 s"), std::string::npos);
  EXPECT_NE(human.find("1790000000000000000"), std::string::npos);  // A point in time.
  EXPECT_EQ(Render(columns, rows, {.format = TableFormat::kCsv, .human = true}),
            "temp_bytes,wait_ns,start_ns\n3075480600,10000000000,1790000000000000000\n");
}

TEST(TableTest, CutsOnlyWhereItMustFit) {
  const Rows rows = {{std::string(50, 'a'), int64_t{123456789012}, "short"}};
  const std::string fitted = Render({"text", "n", "other"}, rows, {.fit = true, .width = 40});
  EXPECT_EQ(fitted.substr(fitted.rfind("─") + 4),
            std::string(18, 'a') + "…  123456789012  short\n");
  EXPECT_NE(Render({"text", "n", "other"}, rows, {.width = 40}).find(std::string(50, 'a')),
            std::string::npos);
}

TEST(TableTest, ControlCharactersShow) {
  const std::string out = Render({"a\x1b"}, {{"x\x1b[31m\ny"}}, {});
  EXPECT_EQ(out.find('\x1b'), std::string::npos);
  EXPECT_NE(out.find("x\\x1b[31m\\ny"), std::string::npos);
}

TEST(TableTest, CsvQuotesWhatNeedsIt) {
  EXPECT_EQ(Render({"a", "b,c"},
                   {{"plain", "say \"hi\""}, {"two\nlines", kNull}, {"", 1.5}, {" x", int64_t{-1}}},
                   {.format = TableFormat::kCsv}),
            "a,\"b,c\"\n"
            "plain,\"say \"\"hi\"\"\"\n"
            "\"two\nlines\",\n"
            "\"\",1.5\n"
            "\" x\",-1\n");
}

TEST(TableTest, JsonIsExactAndEscaped) {
  EXPECT_EQ(Render({"n", "s", "s"},
                   {{std::numeric_limits<int64_t>::min(), "q\"\\\n\x01\x7f\xff", kNull},
                    {0.1, "é漢", std::numeric_limits<double>::infinity()}},
                   {.format = TableFormat::kJson}),
            "[\n"
            " {\"n\": -9223372036854775808, \"s\": \"q\\\"\\\\\\n\\u0001\\u007f\uFFFD\", \"s_2\": "
            "null},\n"
            " {\"n\": 0.1, \"s\": \"é漢\", \"s_2\": null}\n"
            "]\n");
}

TEST(TableTest, NoRows) {
  EXPECT_EQ(Render({"a"}, {}, {.format = TableFormat::kJson}), "[]\n");
  EXPECT_EQ(Render({"a"}, {}, {.format = TableFormat::kJsonl}), "");
  EXPECT_EQ(Render({"a"}, {}, {.format = TableFormat::kCsv}), "a\n");
  EXPECT_EQ(Render({"a"}, {}, {.format = TableFormat::kTable}), "a\n─\n");
  EXPECT_EQ(Render({"a"}, {}, {.format = TableFormat::kMarkdown}), "| a |\n| --- |\n");
}

TEST(TableTest, JsonlHasARowALine) {
  EXPECT_EQ(Render({"a"}, {{int64_t{1}}, {"x\ny"}}, {.format = TableFormat::kJsonl}),
            "{\"a\": 1}\n{\"a\": \"x\\ny\"}\n");
}

TEST(TableTest, MarkdownEscapesWhatBreaksATable) {
  EXPECT_EQ(Render({"a|b", "n"}, {{"<b>|x\n", int64_t{1}}}, {.format = TableFormat::kMarkdown}),
            "| a\\|b | n |\n| --- | ---: |\n| &lt;b>\\|x\\n | 1 |\n");
}

// What a capture says must not fetch anything where the table is shown.
TEST(TableTest, MarkdownHasNoLinksOrImages) {
  EXPECT_EQ(Render({"a"}, {{"![i](http://x/y.png) \\[z] www.x `c` &#91;"}},
                   {.format = TableFormat::kMarkdown}),
            "| a |\n| --- |\n| !\\[i\\](http&#58;//x/y.png) \\\\\\[z\\] ww&#119;.x \\`c\\` "
            "&amp;#91; |\n");
}

TEST(TableTest, ManyRowsComeThrough) {
  Rows rows;
  for (int64_t i = 0; i < 2500; ++i) rows.push_back({i});
  for (const TableFormat format : {TableFormat::kTable, TableFormat::kMarkdown}) {
    const std::string out = Render({"i"}, rows, {.format = format});
    EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 2502);
    EXPECT_NE(out.find("2499"), std::string::npos);
  }
}

TEST(TableTest, FormatsAreNamed) {
  EXPECT_EQ(ParseTableFormat("jsonl"), TableFormat::kJsonl);
  EXPECT_THROW(ParseTableFormat("xml"), Error);
}

}  // namespace
}  // namespace oomdb::render
