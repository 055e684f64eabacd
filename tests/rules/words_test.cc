#include "queries/words.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "queries/catalogue.h"
#include "schema/database.h"
#include "schema/query.h"

namespace oomdb::queries {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const WordUnits& SqlUnits() {
  static const WordUnits units{[](int64_t n) { return std::to_string(n) + " bytes"; },
                               [](int64_t n) { return std::to_string(n) + " ns"; },
                               [](const std::string& text) { return text; }};
  return units;
}

// A table `t` of one row: what the columns of the templates below are.
constexpr char kRow[] =
    "SELECT 'step' AS name, 7 AS n, 4096 AS size, 1500 AS wait, 12 AS share, 105 AS times, "
    "'a (8 bytes)' AS things, 1 AS yes, 0 AS no, NULL AS none, 'big' AS size_class, 'it''s' AS "
    "quoted";

// The sentence as SQL gives it. The same is asked of ToText, with the same units.
std::string Sentence(const Template& words) {
  schema::Database database = schema::Database::Throwaway(Catalogue::Get().views());
  const std::string sql = "SELECT " + words.ToSql("t") + " FROM (" + kRow + ") t";
  const schema::Value value = schema::Query(database, sql).rows.at(0).at(0);
  const auto* const text = std::get_if<std::string>(&value);
  const std::string from_sql = text == nullptr ? "" : *text;
  database.connection().exec(std::string("CREATE TEMP TABLE one_row AS ") + kRow);
  EXPECT_EQ(words.ToText(schema::ReadView(database, "one_row").at(0), SqlUnits()), from_sql) << sql;
  return text == nullptr ? "NULL" : from_sql;
}

std::string Sentence(const std::string& text) { return Sentence(Template(text)); }

std::string ProblemOf(const std::string& text) {
  try {
    const Template words(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(WordsTest, WritesColumnsInTheirUnits) {
  EXPECT_EQ(
      Sentence("{name}: {n:n} of {size:bytes}, {wait:ns}, {share:%}, {times:x}; {things:list}"),
      "step: 7 of 4096 bytes, 1500 ns, 12 %, 1.05; a (8 bytes)");
  EXPECT_EQ(Sentence("it's {quoted}"), "it's it's");
}

TEST(WordsTest, WritesNumbersForPeople) {
  schema::Database database = schema::Database::Throwaway(Catalogue::Get().views());
  database.connection().exec(std::string("CREATE TEMP TABLE one_row AS ") + kRow);
  const WordUnits units{[](int64_t n) { return std::to_string(n / 1024) + " KiB"; },
                        [](int64_t n) { return std::to_string(n / 1000) + " µs"; },
                        [](const std::string& text) { return "<" + text + ">"; }};
  EXPECT_EQ(Template("{size:bytes} in {wait:ns}: {things:list}, {times:x}")
                .ToText(schema::ReadView(database, "one_row").at(0), units),
            "4 KiB in 1 µs: <a (8 bytes)>, 1.05");
}

TEST(WordsTest, LeavesOutWhatIsUnknown) {
  EXPECT_EQ(Sentence("a[ of {size:bytes}][ and {none}]."), "a of 4096 bytes.");
  EXPECT_EQ(Sentence("a[ {name}[ {none}] b]"), "a step b");
  EXPECT_EQ(Sentence("a[ {none}[ {name}] b]"), "a");
  EXPECT_EQ(Sentence("a {none}"), "NULL");
  EXPECT_EQ(Sentence("a[(none? b| {none} c)]"), "a");
}

TEST(WordsTest, ChoosesByAFlag) {
  EXPECT_EQ(Sentence("(yes?one|two), (no?one|two), (none?one|two)"), "one, two, two");
  EXPECT_EQ(Sentence("a(yes? b)(no? c)"), "a b");
  EXPECT_EQ(Sentence("(yes?(no?a|{name} (twice))|c)"), "step (twice)");
  EXPECT_EQ(Sentence("(no?a)"), "");
}

TEST(WordsTest, OtherBracketsAreText) {
  EXPECT_EQ(Sentence("x.at[i].set(...) (read) ({size:bytes} padding) f32[8,16]"),
            "x.at[i].set(...) (read) (4096 bytes padding) f32[8,16]");
}

TEST(WordsTest, ChoosesByAText) {
  const Template by_size = Template::Cases(
      "size_class", {{"small", Template("little")}, {"big", Template("{size:bytes}, much")}});
  EXPECT_EQ(Sentence(by_size), "4096 bytes, much");
  EXPECT_EQ(Sentence(Template::Cases("size_class", {{"small", Template("little")}})), "NULL");
  EXPECT_EQ(Sentence(Template("a[ {how}]").Expanded({{"how", by_size}})), "a 4096 bytes, much");
}

TEST(WordsTest, ExpandsWordsInWords) {
  EXPECT_EQ(
      Sentence(Template("{a}!").Expanded({{"a", Template("<{b}>")}, {"b", Template("{n:n}")}})),
      "<7>!");
  EXPECT_THROW(Template("{a}").Expanded({{"a", Template("{b}")}, {"b", Template("{a}")}}), Error);
}

TEST(WordsTest, KnowsItsColumns) {
  EXPECT_THAT(Template("{a}[ {b:n}(c? {d:%}|)] [e]").Columns(), ElementsAre("a", "b", "c", "d"));
}

TEST(WordsTest, SaysWhatIsWrong) {
  EXPECT_EQ(ProblemOf("{a} [b {c}] (d? e|f) (g)"), "none");
  EXPECT_THAT(ProblemOf("a {b"), HasSubstr("`}` is missing"));
  EXPECT_THAT(ProblemOf("a [b {c}"), HasSubstr("`]` is missing"));
  EXPECT_THAT(ProblemOf("a (b? c"), HasSubstr("`)` is missing"));
  EXPECT_THAT(ProblemOf("a) b"), HasSubstr("`)` closes nothing"));
  EXPECT_THAT(ProblemOf("a ]"), HasSubstr("`]` closes nothing"));
  EXPECT_THAT(ProblemOf("{a:kg}"), HasSubstr("not a column"));
  EXPECT_THAT(ProblemOf("{A}"), HasSubstr("not a column"));
}

// What people read in a report is what SQL gives, with other units.
TEST(WordsTest, EveryRuleHasItsSentences) {
  for (const CatalogueEntry* rule : Catalogue::Get().Rules()) {
    EXPECT_FALSE(rule->says.empty()) << rule->id;
    EXPECT_FALSE(rule->detail.empty()) << rule->id;
    EXPECT_GT(rule->rank, 0) << rule->id;
  }
}

}  // namespace
}  // namespace oomdb::queries
