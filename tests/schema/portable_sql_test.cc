// Every stored view is one text that means the same on SQLite, DuckDB, PostgreSQL and Spark. What
// those read differently, or not at all, is looked for in the text of all views, the generated ones
// too: a row that only today's data keeps equal would not be noticed otherwise. No view is
// excepted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "queries/catalogue.h"
#include "tests/schema/sql_text.h"

namespace oomdb::schema {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Forbidden {
  const char* pattern;  // In text without comments, its strings emptied and its spaces single.
  const char* reason;
  const char* example;  // What it is there to find.
};

const std::vector<Forbidden> kForbidden = {
    {R"(["`\[\]])", "a name in double quotes is a string to Spark", R"(SELECT "a" FROM t)"},
    {R"(\bRECURSIVE\b)", "only the newest Spark has it", "WITH RECURSIVE r AS (SELECT 1)"},
    {R"(\bMATERIALIZED\b)", "Spark has no such hint", "WITH r AS MATERIALIZED (SELECT 1)"},
    {R"(\b(GLOB|REGEXP|MATCH|ILIKE|SIMILAR|RLIKE)\b)", "not everywhere", "SELECT a GLOB b"},
    {R"(\bIS (?!NULL\b|NOT NULL\b|NOT DISTINCT FROM\b|DISTINCT FROM\b))",
     "x IS y compares in SQLite alone: IS NOT DISTINCT FROM", "SELECT a IS b"},
    {R"(\bVALUES\b)", "no table in SQLite: UNION ALL", "FROM (VALUES (1)) v"},
    {R"(\b(TRUE|FALSE|BOOLEAN)\b)", "booleans are 0 and 1", "SELECT a = TRUE"},
    {R"(==|!=|::|->|<=>)", "operators of some engines", "SELECT a == 1"},
    {R"(\d\.\d)", "1.0 is a DECIMAL elsewhere: 1e0", "SELECT 1.0 * a"},
    {R"(\b(COLLATE|INDEXED|ROWID|NATURAL|QUALIFY|LATERAL|ASOF|PIVOT|EXCLUDE|GROUPS)\b)",
     "not everywhere", "SELECT a COLLATE NOCASE"},
    {R"(\bLIMIT\b)", "of a view's rows there is no order: ROW_NUMBER", "SELECT a FROM t LIMIT 1"},
    {R"(\b(GROUP|ORDER) BY \d)", "a number is a constant to some", "SELECT a GROUP BY 1"},
    {R"(\bAS (OFFSET|END|TIMESTAMP|VALUE|RANK|USER|TABLE|GROUP|ORDER|INTERVAL|DATE|TIME)\b)",
     "a reserved word somewhere", "SELECT a AS offset"},
    {R"(% (?!\d|NULLIF\())", "what is left of a division by 0 is an error elsewhere: NULLIF",
     "SELECT a % b"},
    {R"(% 0)", "a division by 0", "SELECT a % 0"},
};

// The functions that all of them have, with the same result, and what only looks like a call.
const std::set<std::string> kFunctions = {
    "ABS",     "CAST",  "COALESCE", "COUNT",   "DENSE_RANK", "LAG",        "LENGTH", "LOWER",
    "MAX",     "MIN",   "NULLIF",   "REPLACE", "ROUND",      "ROW_NUMBER", "SUBSTR", "SUM",
    "VARCHAR", "AND",   "AS",       "BY",      "CASE",       "ELSE",       "EXISTS", "FROM",
    "IN",      "JOIN",  "NOT",      "ON",      "OR",         "OVER",       "SELECT", "THEN",
    "WHEN",    "WHERE", "FILTER",   "HAVING",  "PARTITION"};

// Sorting keys that are never NULL: numbers given by ROW_NUMBER or written in the view, and columns
// that the tables declare NOT NULL. Any other says where its NULLs go.
const std::set<std::string> kNeverNull = {
    "POSITION",        "PLACE",      "SIZE_PLACE", "PAIR_PLACE",   "PAIR_NUMBER",  "PART",
    "IMPORTANCE",      "PREFERENCE", "CAPTURE_ID", "LAST_RESORT",  "MODULE_ID",    "EXECUTION_ID",
    "CHANGES_RESULTS", "EVENT_ID",   "CONTAINER",  "ALLOCATOR_ID", "OOM_EVENT_ID", "START_NS",
    "NAMED_LIKE_ONE",  "ENCLOSES",   "PYTHON",     "END_NS"};

using Problems = std::vector<std::string>;

void CheckCall(const SqlCall& call, Problems& problems) {
  const std::vector<std::string> parts = SplitAtTop(call.arguments, ',');
  if (kFunctions.count(call.name) == 0) {
    problems.push_back(call.name + "(: not a function of all engines");
  }
  if ((call.name == "MAX" || call.name == "MIN") && parts.size() > 1) {
    problems.push_back(call.name + " of several is not everywhere: CASE: " + call.arguments);
  }
  // Half a unit goes up with some and to the even with others: it is moved off the middle.
  if (call.name == "ROUND" && !call.arguments.ends_with(" + 1E-3")) {
    problems.push_back("ROUND(x) of a half differs: ROUND(x + 1e-3): " + call.arguments);
  }
  if (call.name == "CAST") {
    static const std::regex type(R"(.* AS (BIGINT|VARCHAR\(\d+\)))");
    if (!std::regex_match(call.arguments, type)) {
      problems.push_back("a cast to another type than BIGINT and VARCHAR(n): " + call.arguments);
    }
  }
  if (call.name == "SUM") {
    static const std::regex condition(R"([<>=]| IS | IN | LIKE | AND | OR |^NOT |^EXISTS)");
    if (call.arguments.rfind("CASE ", 0) != 0 && std::regex_search(call.arguments, condition)) {
      problems.push_back("a sum of conditions: SUM(CASE …): " + call.arguments);
    }
  }
}

// Only exact quotients are divided, or an integer would become a fraction that one engine rounds
// and the other cuts: CAST((x - x % y) / y AS BIGINT). Ratios begin with 1e0.
void CheckDivisions(const std::string& sql, Problems& problems) {
  static const std::regex exact(R"(\((.+) - \(?\1\)? % (.+)\) / \2 AS BIGINT)");
  static const std::regex safe(R"(.* / (\d+|NULLIF\(.+, 0\))( AS BIGINT)?)");
  for (size_t at = sql.find('/'); at != std::string::npos; at = sql.find('/', at + 1)) {
    const std::string inside = EnclosingParentheses(sql, at);
    const bool ratio = inside.rfind("1E0 * ", 0) == 0;
    if (!(ratio || std::regex_match(inside, exact)) || !std::regex_match(inside, safe)) {
      problems.push_back("a division of integers, or by what may be 0: " + inside);
    }
  }
}

// SQLite's LIKE takes no notice of case, the others' does.
void CheckLikes(const std::string& sql, Problems& problems) {
  static const std::regex pattern(R"( LIKE ('(?:[^']|'')*'( \|\|)?|\S+))");
  for (std::sregex_iterator i(sql.begin(), sql.end(), pattern), end; i != end; ++i) {
    const std::string text = (*i)[1];
    const bool literal = text.front() == '\'' && text.back() == '\'';
    const bool letters =
        std::any_of(text.begin(), text.end(), [](unsigned char c) { return std::isalpha(c) != 0; });
    const bool capitals =
        std::any_of(text.begin(), text.end(), [](unsigned char c) { return std::isupper(c) != 0; });
    if (literal && !letters) continue;
    std::string before = sql.substr(0, i->position());
    if (before.ends_with(" NOT")) before.resize(before.size() - 4);
    if (!EndsWithCallOf(before, "LOWER") || (literal && capitals)) {
      problems.push_back("LIKE and case: LOWER(x) LIKE 'in small letters': " + text);
    }
  }
}

void CheckOrders(const std::string& sql, Problems& problems) {
  static const std::regex said(R"(.* NULLS (FIRST|LAST))");
  static const std::regex column(R"((?:\w+\.)?(\w+)(?: ASC| DESC)?)");
  // A CASE with an ELSE of constants.
  static const std::regex constants(R"(CASE .*ELSE \d+ END(?: ASC| DESC)?)");
  static const std::regex coalesced(R"(COALESCE\(.*, \d+\)(?: ASC| DESC)?)");
  for (const std::string& key : OrderKeys(sql)) {
    std::smatch match;
    if (std::regex_match(key, said) || std::regex_match(key, constants) ||
        std::regex_match(key, coalesced) ||
        (std::regex_match(key, match, column) && kNeverNull.count(match[1]) > 0)) {
      continue;
    }
    problems.push_back("NULLS FIRST or LAST is not said: ORDER BY " + key);
  }
}

// SQLite takes a column beside GROUP BY from any row; the others refuse it.
void CheckGroups(const std::string& sql, Problems& problems) {
  static const std::regex column(R"(\w+\.\w+)");
  for (const SqlSelect& select : GroupedSelects(sql)) {
    const std::set<std::string> keys(select.keys.begin(), select.keys.end());
    for (const std::string& item : select.items) {
      const std::string bare = std::regex_replace(item, std::regex(R"( AS \w+$)"), "");
      if (keys.count(bare) > 0) continue;
      const std::string rest = WithoutAggregates(bare);
      for (std::sregex_iterator i(rest.begin(), rest.end(), column), end; i != end; ++i) {
        if (keys.count(i->str()) == 0) problems.push_back("beside GROUP BY: " + item);
      }
    }
  }
}

Problems ProblemsOf(const std::string& select) {
  const std::string text = Normalized(select);
  const std::string sql = WithoutStrings(text);
  Problems problems;
  for (const Forbidden& forbidden : kForbidden) {
    std::smatch match;
    if (std::regex_search(sql, match, std::regex(forbidden.pattern))) {
      problems.push_back(match.str() + ": " + forbidden.reason);
    }
  }
  for (const SqlCall& call : Calls(sql)) CheckCall(call, problems);
  CheckDivisions(sql, problems);
  CheckLikes(text, problems);
  CheckOrders(sql, problems);
  CheckGroups(sql, problems);
  return problems;
}

TEST(PortableSqlTest, NoViewSaysWhatEnginesReadDifferently) {
  for (const queries::CatalogueEntry& entry : queries::Catalogue::Get().entries()) {
    EXPECT_THAT(ProblemsOf(entry.select), ElementsAre()) << entry.id;
  }
}

TEST(PortableSqlTest, FindsWhatItIsThereFor) {
  for (const Forbidden& forbidden : kForbidden) {
    EXPECT_THAT(ProblemsOf(forbidden.example), testing::Contains(HasSubstr(forbidden.reason)));
  }
  const std::vector<std::pair<const char*, const char*>> examples = {
      {"SELECT group_concat(a)", "GROUP_CONCAT("},
      {"SELECT iif(a, 1, 2)", "IIF("},
      {"SELECT round(a)", "ROUND(x) of a half"},
      {"SELECT max(a, (SELECT b))", "MAX of several"},
      {"SELECT CAST(a AS REAL)", "a cast to another type"},
      {"SELECT CAST(a AS VARCHAR)", "a cast to another type"},
      {"SELECT SUM(a = 1)", "a sum of conditions"},
      {"SELECT SUM(a IS NULL)", "a sum of conditions"},
      {"SELECT (a / b)", "a division"},
      {"SELECT a / 2", "a division"},
      {"SELECT CAST(a / 2 AS BIGINT)", "a division"},
      {"SELECT CAST((a - a % NULLIF(b, 0)) / NULLIF(c, 0) AS BIGINT)", "a division"},
      {"SELECT (1e0 * a / b)", "a division"},
      {"SELECT a LIKE 'x%'", "LIKE and case"},
      {"SELECT a NOT LIKE '%' || b", "LIKE and case"},
      {"SELECT lower(a) LIKE 'X%'", "LIKE and case"},
      {"SELECT ROW_NUMBER() OVER (PARTITION BY t.place ORDER BY t.place, t.bytes DESC) FROM t",
       "ORDER BY T.BYTES DESC"},
      {"SELECT LAG(a) OVER (ORDER BY CASE WHEN b THEN 1 END)", "ORDER BY CASE"},
      {"SELECT t.a, t.b AS c, COUNT(*) FROM t GROUP BY t.a", "beside GROUP BY: T.B AS C"},
      {"SELECT t.a + 1, MAX(t.b) - t.b FROM t GROUP BY t.a", "beside GROUP BY: MAX(T.B) - T.B"},
  };
  for (const auto& [sql, problem] : examples) {
    EXPECT_THAT(ProblemsOf(sql), testing::Contains(HasSubstr(problem))) << sql;
  }
}

TEST(PortableSqlTest, LetsPassWhatMeansTheSame) {
  for (const char* sql : {
           "SELECT CAST((t.a - t.a % 2) / 2 AS BIGINT), (1e0 * t.a / NULLIF(t.b, 0)) FROM t",
           "SELECT CAST((t.a - t.b - (t.a - t.b) % NULLIF(t.c, 0)) / NULLIF(t.c, 0) AS BIGINT)",
           "SELECT 'a / b IS \"c\" LIKE ''d'' VALUES' -- max(a, b)\nFROM t",
           "SELECT LOWER(t.a) NOT LIKE '%' || t.b, t.c LIKE '%[%' FROM t",
           "SELECT t.a, MAX(CASE WHEN t.b = 1 THEN t.c END) OVER w FROM t WINDOW w AS (PARTITION "
           "BY t.a ORDER BY t.b NULLS FIRST, t.place DESC ROWS UNBOUNDED PRECEDING)",
           "SELECT t.a AS b, (SELECT s.c FROM s), 1 + SUM(t.b) FROM t GROUP BY t.a HAVING "
           "COUNT(*) = 1 UNION ALL SELECT t.a, t.b, 2 FROM t",
       }) {
    EXPECT_THAT(ProblemsOf(sql), ElementsAre()) << sql;
  }
}

TEST(PortableSqlTest, LinesAreNoLongerThanThoseOfTheCode) {
  size_t files = 0;
  const std::filesystem::path room = std::filesystem::path(OOMDB_SOURCE_DIR) / "queries";
  for (const auto& file : std::filesystem::recursive_directory_iterator(room)) {
    if (file.path().extension() != ".sql") continue;
    ++files;
    std::ifstream stream(file.path());
    int number = 0;
    for (std::string line; std::getline(stream, line);) {
      ++number;
      // Of a character in UTF-8 the first byte counts.
      const auto columns = std::count_if(line.begin(), line.end(),
                                         [](unsigned char c) { return (c & 0xC0) != 0x80; });
      EXPECT_LE(columns, 100) << file.path().filename() << ":" << number;
    }
  }
  EXPECT_GT(files, 90u);
}

}  // namespace
}  // namespace oomdb::schema
