// Sentences as templates: what a rule says is written once, as English, over typed columns.
//
//   {col}       text            {col:n}   integer          {col:list}  text that lists things with
//   {col:bytes} `N bytes`       {col:ns}  `N ns`                       their sizes, as `N bytes`
//   {col:%}     `N %`           {col:x}   hundredths as 1.23
//   [ … ]       left out when a column in it is NULL; without a column in it, plain text
//   (flag? yes | no)  by a column that is 1 or not; the no part may lack
//
// Parentheses that don't begin with `(word?` are text, and so is what they enclose. Blanks count.
// A NULL outside of [ ] makes the whole sentence NULL.
#ifndef OOMDB_QUERIES_WORDS_H_
#define OOMDB_QUERIES_WORDS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace oomdb::schema {
class Record;  // schema/query.h
}  // namespace oomdb::schema

namespace oomdb::queries {

// How numbers are written for people. `list` takes a text with sizes in it.
struct WordUnits {
  std::function<std::string(int64_t)> bytes;
  std::function<std::string(int64_t)> nanoseconds;
  std::function<std::string(const std::string&)> list;
};

class Template {
 public:
  enum class Kind { kText, kColumn, kOptional, kChoice, kCases };

  // A part of a template: text, or what is put in its place.
  struct Node {
    Kind kind = Kind::kText;
    std::string text;  // The text; or a column: to write, the flag, or what the cases go by.
    std::string unit;  // Of a column to write: empty, n, bytes, ns, %, x or list.
    // What an optional part holds; of a choice first the yes, then the no; of cases one each.
    std::vector<std::vector<Node>> parts;
    std::vector<std::string> keys;  // Of the cases.
  };

  Template() = default;
  // Throws Error, without the file's name, where the text is not as described above.
  explicit Template(std::string_view text);
  // One of several, chosen by a text column; NULL where it is none of their keys.
  static Template Cases(const std::string& column,
                        std::vector<std::pair<std::string, Template>> cases);

  bool empty() const { return nodes_.empty(); }
  // The columns that it needs.
  std::set<std::string> Columns() const;
  // With the templates of `words`, by column, in the place of those columns. Throws Error where one
  // leads back to itself.
  Template Expanded(const std::map<std::string, Template, std::less<>>& words) const;

  // The portable expression over the columns of the table `alias`.
  std::string ToSql(std::string_view alias) const;
  // The same sentence from a row that has these columns. Empty where the expression is NULL.
  std::string ToText(const schema::Record& row, const WordUnits& units) const;

 private:
  std::vector<Node> nodes_;
};

}  // namespace oomdb::queries

#endif  // OOMDB_QUERIES_WORDS_H_
