#include "queries/generated_views.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace oomdb::queries {
namespace {

std::string Quote(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    quoted += c;
    if (c == '\'') quoted += c;
  }
  return quoted + "'";
}

// The same expression wherever a finding is referred to. Only a cast with a length means the same
// on every engine.
std::string FindingId(std::string_view rule) {
  return fmt::format(
      "'{}:' || CAST(capture_id AS VARCHAR(20)) || ':' || COALESCE(CAST(device_id AS "
      "VARCHAR(20)), '-') || ':' || COALESCE(CAST(module_id AS VARCHAR(20)), '-')",
      rule);
}

// SELECTs united; `empty` when there are none, since a view needs its columns even then.
std::string Union(const std::vector<std::string>& selects, std::string_view empty) {
  if (selects.empty()) return std::string(empty);
  std::string sql = selects.front();
  for (size_t i = 1; i < selects.size(); ++i) sql += "\nUNION ALL\n" + selects[i];
  return sql;
}

// One row of NULLs with the columns' names, filtered away.
std::string NoRows(const std::vector<ColumnMeaning>& columns) {
  std::string sql = "SELECT ";
  for (size_t i = 0; i < columns.size(); ++i) {
    sql += fmt::format("{}NULL AS {}", i == 0 ? "" : ", ", columns[i].name);
  }
  return sql + " WHERE 1 = 0";
}

CatalogueEntry Findings(const std::vector<CatalogueEntry>& entries) {
  CatalogueEntry view;
  view.id = "findings";
  view.title = "What is wrong: one row per rule, capture, device and module";
  view.columns = {
      {"finding_id",
       "names the finding in finding_items and remedies: rule, capture, device, module"},
      {"capture_id", "the capture"},
      {"run", "its run"},
      {"host", "its host"},
      {"device", "the device's ordinal as recorded; NULL when it is about no device"},
      {"module_id", "the module; NULL when it is about none"},
      {"module_name", "its name"},
      {"execution_id", "the execution that failed or shows it; NULL when there is none"},
      {"rule", "the rule's name"},
      {"severity",
       "error (explains a failure, or the step can't run), warning (will fail, or wastes a lot), "
       "info"},
      {"evidence", "measured, read or inferred"},
      {"title", "one line; sizes are integers and ` bytes`, times integers and ` ns`"},
      {"detail", "the numbers behind it, in the same form"},
      {"bytes", "the number that the rule is about (bytes)"},
      {"device_id", "the row of devices; NULL when it is about no device"},
  };
  view.how_to_read =
      "Errors first. The rule's own page (`oomdb show RULE`) says what its numbers mean; "
      "finding_items has the evidence behind a finding and remedies what to do.";
  std::vector<std::string> selects;
  for (const CatalogueEntry& entry : entries) {
    if (entry.kind != ViewKind::kRule) continue;
    selects.push_back(
        fmt::format("SELECT {} AS finding_id, capture_id, run, host, device, module_id, "
                    "module_name, execution_id, '{}' AS rule, severity, evidence, title, detail, "
                    "bytes, device_id FROM {}",
                    FindingId(entry.id), entry.id, entry.id));
  }
  view.select = Union(selects, NoRows(view.columns));
  return view;
}

CatalogueEntry FindingItems(const std::vector<CatalogueEntry>& entries) {
  CatalogueEntry view;
  view.id = "finding_items";
  view.title = "The evidence behind the findings: largest buffers, live groups, holders, hosts";
  view.columns = {
      {"finding_id", "the finding"}, {"position", "its place, from 1"},
      {"kind", "what it is"},        {"label", "its name, verbatim from the capture"},
      {"bytes", "its size (bytes)"}, {"count", "how many of them"},
  };
  std::vector<std::string> selects;
  for (const CatalogueEntry& entry : entries) {
    if (entry.kind != ViewKind::kItems) continue;
    selects.push_back(
        fmt::format("SELECT {} AS finding_id, position, kind, label, bytes, count FROM {}",
                    FindingId(RuleOf(entry)), entry.id));
  }
  view.select = Union(selects, NoRows(view.columns));
  return view;
}

CatalogueEntry Remedies(const std::vector<CatalogueEntry>& entries) {
  CatalogueEntry view;
  view.id = "remedies";
  view.title = "What to do about the findings, what it saves, and whether that is enough";
  view.columns = {
      {"finding_id", "the finding"},
      {"position", "its place, from 1: the first is the one to try first"},
      {"fix", "what to do"},
      {"saving_bytes", "what it saves (bytes); NULL: not known"},
      {"needs_bytes", "what is needed then (bytes)"},
      {"fits", "1 when that fits the capacity, 0 when not, NULL: not known"},
      {"cost", "what it costs"},
      {"changes_results", "1 when the program's numbers change, 0 when not"},
      {"evidence", "measured, read or inferred"},
      {"remedy", "its key, the same in every rule (see remedy_kinds)"},
  };
  std::vector<std::string> selects;
  for (const CatalogueEntry& entry : entries) {
    if (entry.kind != ViewKind::kRemedies) continue;
    selects.push_back(
        fmt::format("SELECT {} AS finding_id, position, fix, saving_bytes, needs_bytes, fits, "
                    "cost, changes_results, evidence, remedy FROM {}",
                    FindingId(RuleOf(entry)), entry.id));
  }
  view.select = Union(selects, NoRows(view.columns));
  return view;
}

CatalogueEntry RulesView(const std::vector<CatalogueEntry>& entries) {
  CatalogueEntry view;
  view.id = "rules";
  view.title = "The rules there are";
  view.columns = {
      {"rule", "its name, which is also its view's"},
      {"title", "what it says"},
      {"asks", "the question that it answers"},
      {"cause", "why that happens"},
      {"how_to_read", "what its numbers mean"},
      {"rule_rank", "its place among findings of equal severity, from 1"},
      {"severity", "how bad its findings are, and when"},
      {"hint", "1 when it is a suggestion, never the verdict of a report, else 0"},
      {"explained_by",
       "rules that explain it where they fire for the same thing; NULL when there are none"},
      {"needs", "the evidence that it needs"},
      {"tags", "what it is about"},
  };
  std::vector<std::string> selects;
  for (const CatalogueEntry& entry : entries) {
    if (entry.kind != ViewKind::kRule) continue;
    std::string explained_by;
    for (const std::string& cause : entry.explained_by) {
      explained_by += (explained_by.empty() ? "" : ", ") + cause;
    }
    selects.push_back(fmt::format(
        "SELECT {} AS rule, {} AS title, {} AS asks, {} AS cause, {} AS how_to_read, {} AS "
        "rule_rank, {} AS severity, {} AS hint, {} AS explained_by, {} AS needs, {} AS tags",
        Quote(entry.id), Quote(entry.title), Quote(entry.asks), Quote(entry.cause),
        Quote(entry.how_to_read), entry.rank, Quote(entry.severity), entry.hint ? 1 : 0,
        explained_by.empty() ? "CAST(NULL AS VARCHAR(100))" : Quote(explained_by),
        Quote(entry.needs), Quote(entry.tags)));
  }
  view.select = Union(selects, NoRows(view.columns));
  return view;
}

}  // namespace

std::vector<CatalogueEntry> FindingViews(const std::vector<CatalogueEntry>& entries,
                                         const std::set<std::string>& rules) {
  std::vector<CatalogueEntry> asked;
  for (const CatalogueEntry& entry : entries) {
    if (rules.count(std::string(RuleOf(entry))) > 0) asked.push_back(entry);
  }
  return {Findings(asked), FindingItems(asked), Remedies(asked)};
}

std::string_view RuleOf(const CatalogueEntry& entry) {
  const std::string_view id = entry.id;
  switch (entry.kind) {
    case ViewKind::kRule:
      return id;
    case ViewKind::kItems:
    case ViewKind::kRemedies:
    case ViewKind::kQuiet:
      return id.substr(0, id.rfind('_'));
    default:
      return {};
  }
}

std::vector<CatalogueEntry> GeneratedViews(const std::vector<CatalogueEntry>& entries) {
  std::vector<CatalogueEntry> views = {Findings(entries), FindingItems(entries), Remedies(entries),
                                       RulesView(entries)};
  for (CatalogueEntry& view : views) view.kind = ViewKind::kGenerated;
  return views;
}

}  // namespace oomdb::queries
