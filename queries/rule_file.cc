#include "queries/rule_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>

#include "base/error.h"
#include "queries/sql_header.h"
#include "schema/sql_names.h"

namespace oomdb::queries {
namespace {

using WordTemplates = std::map<std::string, Template, std::less<>>;

// The columns that every rule has, and the views that belong to one. They mean the same in all of
// them, so a file lists only its own, and those that mean something special there.
const std::vector<ColumnMeaning> kRuleColumns = {
    {"capture_id", "the capture"},
    {"run", "its run"},
    {"host", "its host"},
    {"device", "ordinal of the device; NULL without devices"},
    {"device_id", "the device"},
    {"module_id", "the module"},
    {"module_name", "its name"},
    {"execution_id", "the execution that failed or shows it; NULL when there is none"},
    {"severity", "error, warning or info"},
    {"evidence", "measured, read or inferred"},
    {"title", "one sentence"},
    {"detail", "the numbers behind it"},
    {"bytes", "the number that the rule is about (bytes)"},
};
const std::vector<ColumnMeaning> kItemColumns = {
    {"capture_id", "the capture"}, {"device_id", "the device; NULL without devices"},
    {"module_id", "the module"},   {"position", "from 1, most bytes first"},
    {"kind", "what it is"},        {"label", "its name, as in the capture"},
    {"bytes", "its size (bytes)"}, {"count", "how many of them"},
};
const std::vector<ColumnMeaning> kRemedyColumns = {
    {"capture_id", "the capture"},
    {"device_id", "the device; NULL without devices"},
    {"module_id", "the module"},
    {"position", "from 1, the one to try first"},
    {"fix", "what to do"},
    {"saving_bytes", "what it saves (bytes); NULL: unknown"},
    {"needs_bytes", "what is needed then (bytes); NULL: unknown"},
    {"fits", "1 when that is within the capacity, 0 when not, NULL: unknown"},
    {"cost", "what it costs"},
    {"changes_results", "1 when the program's numbers change, 0 when not"},
    {"evidence", "measured, read or inferred"},
    {"remedy", "its key, the same in every rule (see remedy_kinds)"},
};
const std::vector<ColumnMeaning> kQuietColumns = {
    {"capture_id", "the capture"},
    {"device_id", "the device; NULL without devices"},
    {"module_id", "the module"},
    {"title", "what the rule looked for and did not find, in a few words"},
};

const std::vector<ColumnMeaning>& StandardColumns(ViewKind kind) {
  static const std::vector<ColumnMeaning> none;
  switch (kind) {
    case ViewKind::kRule:
      return kRuleColumns;
    case ViewKind::kItems:
      return kItemColumns;
    case ViewKind::kRemedies:
      return kRemedyColumns;
    case ViewKind::kQuiet:
      return kQuietColumns;
    default:
      return none;
  }
}

bool IsRuleFile(std::string_view path) { return path.starts_with("rules/"); }

std::string_view StemOf(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.substr(0, name.rfind('.'));
}

// What the view `id` of the file is.
ViewKind KindOf(std::string_view path, std::string_view id) {
  if (IsRuleFile(path)) {
    const std::string_view rule = StemOf(path);
    if (id == rule) return ViewKind::kRule;
    const std::string_view part = id.starts_with(rule) ? id.substr(rule.size()) : "";
    if (part == "_items") return ViewKind::kItems;
    if (part == "_remedies") return ViewKind::kRemedies;
    if (part == "_quiet") return ViewKind::kQuiet;
    throw Error(fmt::format(
        "a rule's views are {0}, {0}_items, {0}_remedies and {0}_quiet; not {1}", rule, id));
  }
  if (path.starts_with("compare/")) return ViewKind::kCompare;
  if (path.starts_with("facts/")) return ViewKind::kFact;
  if (path.starts_with("report/")) return ViewKind::kReport;
  if (path.starts_with("check/")) return ViewKind::kCheck;
  throw Error("not in facts/, report/, compare/, check/ or rules/");
}

// Takes the statement off the front of `sql`, to its `;` or to the end. Quotes and comments are
// skipped when looking for that.
std::string_view TakeStatement(std::string_view& sql) {
  size_t end = 0;
  while (end < sql.size() && sql[end] != ';') {
    if (sql[end] == '\'') {
      end = sql.find('\'', end + 1);
    } else if (sql.substr(end).starts_with("--")) {
      end = sql.find('\n', end);
    }
    if (end == std::string_view::npos) break;
    ++end;
  }
  end = std::min(end, sql.size());
  const std::string_view statement = TrimBlanks(sql.substr(0, end));
  sql.remove_prefix(std::min(end + 1, sql.size()));
  return statement;
}

// `id` and what follows CREATE VIEW id AS.
std::pair<std::string_view, std::string_view> SplitStatement(std::string_view statement) {
  constexpr std::string_view kCreate = "CREATE VIEW ";
  constexpr std::string_view kAs = " AS";
  const size_t as = statement.find(kAs);
  if (!statement.starts_with(kCreate) || as == std::string_view::npos ||
      !IsSqlIdentifier(statement.substr(kCreate.size(), as - kCreate.size()))) {
    throw Error("`CREATE VIEW <id> AS` expected after the header");
  }
  return {statement.substr(kCreate.size(), as - kCreate.size()),
          TrimBlanks(statement.substr(as + kAs.size()))};
}

// Where a key's text goes as it is; null for the other keys.
std::string* PlainField(CatalogueEntry& entry, std::string_view key) {
  if (key == "title") return &entry.title;
  if (key == "asks") return &entry.asks;
  if (key == "needs") return &entry.needs;
  if (key == "tags") return &entry.tags;
  if (key == "severity") return &entry.severity;
  if (key == "cause") return &entry.cause;
  if (key == "how to read") return &entry.how_to_read;
  if (key == "next") return &entry.next;
  if (key == "empty without") return &entry.empty_without;
  return nullptr;
}

std::vector<std::string> SplitList(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    names.emplace_back(TrimBlanks(text.substr(0, comma)));
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return names;
}

int ReadRank(std::string_view text) {
  int rank = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (error != std::errc() || end != text.data() + text.size() || rank < 1) {
    throw Error(fmt::format("`rank: {}` is not a number from 1 on", text));
  }
  return rank;
}

// What only a rule's header says.
bool ReadRuleField(CatalogueEntry& entry, std::string_view key, std::string_view text) {
  if (key == "rank") {
    entry.rank = ReadRank(text);
  } else if (key == "hint") {
    if (text != "yes") throw Error(fmt::format("`hint: {}`: yes expected, or no such line", text));
    entry.hint = true;
  } else if (key == "explained by") {
    entry.explained_by = SplitList(text);
  } else if (key == "says") {
    entry.says = Template(text);
  } else if (key == "detail") {
    entry.detail = Template(text);
  } else if (key == "quiet") {
    entry.quiet = Template(text);
  } else {
    return false;
  }
  return true;
}

// A rule's own sentences are also made from the rows of its view, which so needs all of their
// columns. For others it is enough that the statement gives them.
void CheckColumns(const CatalogueEntry& entry, std::string_view select, std::string_view what,
                  const Template& text) {
  const std::vector<std::string_view> names = schema::SqlNames(select);
  const bool any = select.find(".*") != std::string_view::npos;
  const bool listed_only = entry.kind == ViewKind::kRule || entry.kind == ViewKind::kQuiet;
  for (const std::string& column : text.Columns()) {
    const bool listed =
        std::any_of(entry.columns.begin(), entry.columns.end(),
                    [&](const ColumnMeaning& other) { return other.name == column; });
    const bool given = any || std::find(names.begin(), names.end(), column) != names.end();
    if (listed_only ? !listed : !given) {
      throw Error(fmt::format("{}: `{}` speaks of the column {}, which the view {}", entry.id, what,
                              column, listed_only ? "does not list" : "does not have"));
    }
  }
}

// One view of a file: its header, its words and its columns, put together.
class ViewReader {
 public:
  ViewReader(const EmbeddedFile& file, const SqlHeader& header, std::string_view statement)
      : header_(header) {
    const auto [id, select] = SplitStatement(statement);
    entry_.path = file.path;
    entry_.id = id;
    entry_.kind = KindOf(file.path, id);
    select_ = select;
    const std::string_view named = header.Field("id");
    if (!named.empty() && named != id) {
      throw Error(fmt::format("`CREATE VIEW {} AS` expected after the header", named));
    }
    if (!IsRuleFile(file.path) && StemOf(file.path) != id) {
      throw Error(fmt::format("id {} is not the file's name", id));
    }
  }

  CatalogueEntry Read() {
    for (const auto& [key, text] : header_.fields) {
      if (key == "id") continue;
      if (std::string* const field = PlainField(entry_, key)) {
        *field = text;
      } else if (entry_.kind != ViewKind::kRule || !ReadRuleField(entry_, key, text)) {
        throw Error(fmt::format("{}: unknown header line `{}: …`", entry_.id, key));
      }
    }
    ReadColumns();
    ReadWords();
    CheckComplete();
    return std::move(entry_);
  }

  // The statement, with the words in it. `quiet`: what the view of that kind says.
  static std::string Select(const CatalogueEntry& entry, std::string_view select,
                            const Template& quiet) {
    std::string columns;
    for (const ColumnMeaning& column : entry.columns) {
      const auto words = entry.words.find(column.name);
      if (!columns.empty()) columns += ",\n  ";
      if (words != entry.words.end()) {
        columns += fmt::format("{} AS {}", words->second.ToSql("t"), column.name);
      } else if (entry.kind == ViewKind::kRule && column.name == "title") {
        columns += fmt::format("{} AS title", entry.says.ToSql("t"));
      } else if (entry.kind == ViewKind::kRule && column.name == "detail") {
        columns += fmt::format("{} AS detail", entry.detail.ToSql("t"));
      } else if (entry.kind == ViewKind::kQuiet && column.name == "title") {
        columns += fmt::format("{} AS title", quiet.ToSql("t"));
      } else {
        columns += "t." + column.name;
      }
    }
    return fmt::format("SELECT\n  {}\nFROM (\n{}\n) t", columns, select);
  }

  std::string_view select() const { return select_; }

 private:
  // The standard ones first.
  void ReadColumns() {
    entry_.columns = StandardColumns(entry_.kind);
    for (const ColumnMeaning& column : header_.columns) {
      const auto same =
          std::find_if(entry_.columns.begin(), entry_.columns.end(),
                       [&](const ColumnMeaning& other) { return other.name == column.name; });
      if (same != entry_.columns.end()) {
        same->meaning = column.meaning;
      } else {
        entry_.columns.push_back(column);
      }
    }
  }

  void ReadWords() {
    WordTemplates words;
    for (const HeaderWords& block : header_.words) {
      std::vector<std::pair<std::string, Template>> cases;
      for (const auto& [key, text] : block.texts) cases.emplace_back(key, Template(text));
      if (cases.empty()) throw Error(fmt::format("`words {}` has no text", block.name));
      words[block.name] = block.by.empty() ? std::move(cases[0].second)
                                           : Template::Cases(block.by, std::move(cases));
    }
    for (const auto& [name, text] : words) entry_.words[name] = text.Expanded(words);
    entry_.says = entry_.says.Expanded(words);
    entry_.detail = entry_.detail.Expanded(words);
    entry_.quiet = entry_.quiet.Expanded(words);
    for (const auto& [name, text] : entry_.words)
      CheckColumns(entry_, select_, "words " + name, text);
    CheckColumns(entry_, select_, "says", entry_.says);
    CheckColumns(entry_, select_, "detail", entry_.detail);
  }

  void Need(std::string_view name, bool there) const {
    if (!there) throw Error(fmt::format("{}: the header lacks `{}`", entry_.id, name));
  }

  void CheckComplete() const {
    Need("title", !entry_.title.empty());
    Need("columns", !entry_.columns.empty());
    for (const ColumnMeaning& column : entry_.columns) {
      Need("columns: " + column.name, !column.meaning.empty());
    }
    const bool is_part = IsRuleFile(entry_.path) && entry_.kind != ViewKind::kRule;
    Need("id", is_part || !header_.Field("id").empty());
    if (entry_.kind != ViewKind::kRule) return;
    Need("asks", !entry_.asks.empty());
    Need("needs", !entry_.needs.empty());
    Need("tags", !entry_.tags.empty());
    Need("severity", !entry_.severity.empty());
    Need("cause", !entry_.cause.empty());
    Need("how to read", !entry_.how_to_read.empty());
    Need("next", !entry_.next.empty());
    Need("rank", entry_.rank > 0);
    Need("says", !entry_.says.empty());
    Need("detail", !entry_.detail.empty());
  }

  const SqlHeader& header_;
  CatalogueEntry entry_;
  std::string_view select_;
};

std::vector<CatalogueEntry> ReadViews(const EmbeddedFile& file) {
  std::vector<CatalogueEntry> entries;
  std::string_view rest = file.content;
  Template quiet;
  while (!TrimBlanks(rest).empty()) {
    const SqlHeader header = TakeSqlHeader(rest);
    const std::string_view statement = TakeStatement(rest);
    if (!entries.empty() && !IsRuleFile(file.path)) throw Error("more than one statement");
    ViewReader reader(file, header, statement);
    CatalogueEntry entry = reader.Read();
    if (entries.empty() && IsRuleFile(file.path) && entry.kind != ViewKind::kRule) {
      throw Error(fmt::format("the rule {} comes first", StemOf(file.path)));
    }
    if (entry.kind == ViewKind::kRule) quiet = entry.quiet;
    if (entry.kind == ViewKind::kQuiet) CheckColumns(entry, reader.select(), "quiet", quiet);
    // Without words a fact is what it says.
    entry.select = IsRuleFile(file.path) || !entry.words.empty()
                       ? ViewReader::Select(entry, reader.select(), quiet)
                       : std::string(reader.select());
    entries.push_back(std::move(entry));
  }
  if (entries.empty()) throw Error("no statement");
  const bool has_quiet =
      std::any_of(entries.begin(), entries.end(),
                  [](const CatalogueEntry& entry) { return entry.kind == ViewKind::kQuiet; });
  if (has_quiet == quiet.empty()) {
    throw Error(fmt::format("`quiet:` and the view {}_quiet belong together", StemOf(file.path)));
  }
  return entries;
}

}  // namespace

std::vector<CatalogueEntry> ReadViewFile(const EmbeddedFile& file) {
  try {
    return ReadViews(file);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", file.path, error.what()));
  }
}

}  // namespace oomdb::queries
