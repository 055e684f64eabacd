#include "queries/generated_views.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
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

std::string QuoteOrNull(std::string_view text) {
  return text.empty() ? "CAST(NULL AS VARCHAR(100))" : Quote(text);
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

bool ListsColumn(const CatalogueEntry& rule, std::string_view name) {
  return std::any_of(rule.columns.begin(), rule.columns.end(),
                     [&](const ColumnMeaning& column) { return column.name == name; });
}

std::string Verdict(const CatalogueEntry& rule) {
  const std::string usual = QuoteOrNull(rule.verdict);
  return ListsColumn(rule, "verdict") ? fmt::format("COALESCE(verdict, {})", usual) : usual;
}

// One failure is one incident, on however many hosts and devices of the run it shows. What no
// module is known of stays apart by capture. A hint that neither explains a failure nor is
// explained by one stands alone.
std::string IncidentId(const CatalogueEntry& rule) {
  const std::string own = Quote(rule.id + ":");
  std::string name = own;
  if (!rule.incident.empty()) {
    const std::string shared = Quote(rule.incident + ":");
    name = rule.hint && rule.explained_by.empty()
               ? fmt::format("CASE severity WHEN 'error' THEN {} ELSE {} END", shared, own)
               : shared;
  }
  return fmt::format(
      "CASE WHEN severity <> 'info' THEN {} || COALESCE(run, '-') || ':' || COALESCE(module_name, "
      "'capture ' || CAST(capture_id AS VARCHAR(20))) END",
      name);
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
      {"verdict", "a report's first words where it leads; NULL: it never does"},
      {"incident_id", "the failure that it belongs to (incidents); NULL: to none"},
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
                    "bytes, device_id, {} AS verdict, {} AS incident_id FROM {}",
                    FindingId(entry.id), entry.id, Verdict(entry), IncidentId(entry), entry.id));
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
      {"remedy", "its key, the same in every rule (see remedy_kinds); of a pair both, joined by +"},
      {"likely",
       "1 when needs_bytes is within the capacity, 0 when not: what to expect where fits is NULL"},
      {"needs_low_bytes",
       "the low end of the range in which what is needed then lies (bytes); NULL: not known"},
      {"needs_high_bytes", "its high end (bytes); NULL: not known"},
  };
  std::vector<std::string> selects;
  for (const CatalogueEntry& entry : entries) {
    if (entry.kind != ViewKind::kRemedies) continue;
    selects.push_back(fmt::format(
        "SELECT {} AS finding_id, position, fix, saving_bytes, needs_bytes, fits, "
        "cost, changes_results, evidence, remedy, {} AS likely, {} AS needs_low_bytes, "
        "{} AS needs_high_bytes FROM {}",
        FindingId(RuleOf(entry)), ListsColumn(entry, "likely") ? "likely" : "fits",
        ListsColumn(entry, "needs_low_bytes") ? "needs_low_bytes" : "CAST(NULL AS BIGINT)",
        ListsColumn(entry, "needs_high_bytes") ? "needs_high_bytes" : "CAST(NULL AS BIGINT)",
        entry.id));
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
      {"hint",
       "1 when it is a suggestion, not the verdict of a report unless it is an error; else 0"},
      {"verdict",
       "a report's first words where it leads; NULL: it says it by finding, or never leads"},
      {"incident", "the failure that findings of a run and module belong to; NULL: one of its own"},
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
        "rule_rank, {} AS severity, {} AS hint, {} AS verdict, {} AS incident, {} AS explained_by, "
        "{} AS needs, {} AS tags",
        Quote(entry.id), Quote(entry.title), Quote(entry.asks), Quote(entry.cause),
        Quote(entry.how_to_read), entry.rank, Quote(entry.severity), entry.hint ? 1 : 0,
        QuoteOrNull(entry.verdict), QuoteOrNull(entry.incident), QuoteOrNull(explained_by),
        Quote(entry.needs), Quote(entry.tags)));
  }
  view.select = Union(selects, NoRows(view.columns));
  return view;
}

int Level(std::string_view severity) {
  return severity == "error" ? 3 : severity == "warning" ? 2 : 1;
}

std::string LevelOf(std::string_view severity) {
  return fmt::format("CASE {} WHEN 'error' THEN {} WHEN 'warning' THEN {} ELSE {} END", severity,
                     Level("error"), Level("warning"), Level("info"));
}

// Which of its findings is an incident's cause: by the rules' ranks, after those that another of
// the same incident explains. One pass: what a rule can be explained by is looked for with windows,
// not with a join of all findings with all.
CatalogueEntry IncidentFindings(const std::vector<CatalogueEntry>& entries) {
  CatalogueEntry view;
  view.id = "incident_findings";
  view.title = "What an incident is made of: its cause, its parts, and how it was seen";
  view.columns = {
      {"incident_id", "the incident"},
      {"finding_id", "the finding"},
      {"part",
       "cause, part (what it is made of), symptom (how it was seen), or again (the cause "
       "on another device or host)"},
      {"place", "from 1: the cause, then by severity and rank"},
      {"capture_id", "the capture"},
      {"run", "its run"},
      {"rule", "the rule"},
      {"severity", "error or warning"},
      {"verdict", "a report's first words where it leads; NULL: it never does"},
      {"title", "one line"},
      {"module_name", "the module"},
      {"bytes", "the number that the rule is about (bytes)"},
  };
  std::set<std::string> causes;
  std::string ranks, symptoms, explained;
  for (const CatalogueEntry& rule : entries) {
    if (rule.kind != ViewKind::kRule) continue;
    ranks += fmt::format(" WHEN '{}' THEN {}", rule.id, rule.rank);
    if (rule.symptom) symptoms += fmt::format(" WHEN '{}' THEN 1", rule.id);
    std::string by;
    for (const std::string& cause : rule.explained_by) {
      causes.insert(cause);
      const auto found = std::find_if(entries.begin(), entries.end(),
                                      [&](const CatalogueEntry& e) { return e.id == cause; });
      // A hint explains what it would have prevented: then it is an error.
      const bool hint = found != entries.end() && found->hint;
      by += fmt::format("{}l.level_{} >= {}", by.empty() ? "" : " OR ", cause,
                        Level(hint ? "error" : "warning"));
    }
    if (!by.empty())
      explained += fmt::format("\n    WHEN l.rule = '{}' AND ({}) THEN 1", rule.id, by);
  }
  std::string windows;
  for (const std::string& cause : causes) {
    windows += fmt::format(
        ",\n    MAX(CASE WHEN x.rule = '{0}' THEN x.level ELSE 0 END) OVER (PARTITION BY "
        "x.incident_id) AS level_{0}",
        cause);
  }
  const auto cases = [](const std::string& what, const std::string& whens, int otherwise) {
    return whens.empty() ? std::to_string(otherwise)
                         : fmt::format("CASE {}{} ELSE {} END", what, whens, otherwise);
  };
  view.select = fmt::format(
      R"(WITH leveled AS (
  SELECT
    f.finding_id, f.incident_id, f.capture_id, f.run, f.device, f.rule, f.severity, f.verdict,
    f.title, f.module_name, f.bytes,
    {} AS level,
    {} AS rule_rank,
    {} AS symptom
  FROM findings f
  WHERE f.incident_id IS NOT NULL
),
looked AS (
  SELECT
    x.*{}
  FROM leveled x
),
explained AS (
  SELECT
    l.*,
    {} AS explained
  FROM looked l
),
ordered AS (
  SELECT
    e.*,
    ROW_NUMBER() OVER (
      PARTITION BY e.incident_id
      ORDER BY e.explained NULLS FIRST, e.level DESC NULLS LAST, e.rule_rank NULLS FIRST,
        e.capture_id, e.device NULLS FIRST, e.finding_id NULLS FIRST
    ) AS place
  FROM explained e
),
led AS (
  SELECT
    o.*,
    MAX(CASE WHEN o.place = 1 THEN o.rule END) OVER (PARTITION BY o.incident_id) AS cause_rule
  FROM ordered o
)
SELECT
  d.incident_id,
  d.finding_id,
  CASE
    WHEN d.place = 1 THEN 'cause'
    WHEN d.rule = d.cause_rule THEN 'again'
    WHEN d.symptom = 1 THEN 'symptom'
    ELSE 'part'
  END AS part,
  d.place,
  d.capture_id,
  d.run,
  d.rule,
  d.severity,
  d.verdict,
  d.title,
  d.module_name,
  d.bytes
FROM led d)",
      LevelOf("f.severity"), cases("f.rule", ranks, 0), cases("f.rule", symptoms, 0), windows,
      explained.empty() ? "0" : "CASE" + explained + "\n    ELSE 0 END");
  return view;
}

CatalogueEntry Incidents() {
  CatalogueEntry view;
  view.id = "incidents";
  view.title = "What went wrong: one failure is one incident, on however many devices it shows";
  view.columns = {
      {"incident_id", "names it in findings and incident_findings"},
      {"run", "the run"},
      {"verdict", "what happened, in the words of verdict_kinds; NULL: nothing failed"},
      {"title", "one line: that of its cause"},
      {"cause_rule", "the rule of its cause"},
      {"severity", "error or warning: that of its worst finding"},
      {"first_capture_id", "the capture of its cause"},
      {"cause_finding_id", "the finding that is its cause"},
      {"module_name", "the module that it is about; NULL: not known"},
      {"bytes", "the number that the cause is about (bytes)"},
      {"finding_count", "findings that it is made of, with its cause"},
  };
  view.how_to_read =
      "The cause is the finding of the lowest rank that no other of the incident explains; "
      "incident_findings lists all of them.";
  view.select =
      R"(WITH counted AS (
  SELECT
    i.*,
    COUNT(*) OVER (PARTITION BY i.incident_id) AS finding_count,
    MIN(i.severity) OVER (PARTITION BY i.incident_id) AS worst_severity
  FROM incident_findings i
)
SELECT
  c.incident_id,
  c.run,
  c.verdict,
  c.title,
  c.rule AS cause_rule,
  c.worst_severity AS severity,
  c.capture_id AS first_capture_id,
  c.finding_id AS cause_finding_id,
  c.module_name,
  c.bytes,
  c.finding_count
FROM counted c
WHERE c.place = 1)";
  return view;
}

CatalogueEntry OpenQuestions(const std::vector<CatalogueEntry>& entries) {
  CatalogueEntry view;
  view.id = "open_questions";
  view.title = "What a capture can't tell for want of evidence, and what would tell";
  view.columns = {
      {"rule", "the rule that has no answer"},
      {"capture_id", "the capture"},
      {"device_id", "the device; NULL without devices"},
      {"module_id", "the module; NULL: the capture as a whole"},
      {"title", "what can't be told, and why"},
      {"tell", "what would tell"},
  };
  view.how_to_read =
      "A report says `well` only of a capture without a row here; else `can't tell`, with these.";
  std::vector<std::string> selects;
  for (const CatalogueEntry& entry : entries) {
    if (entry.kind != ViewKind::kOpen) continue;
    selects.push_back(
        fmt::format("SELECT '{}' AS rule, capture_id, device_id, module_id, title, tell FROM {}",
                    RuleOf(entry), entry.id));
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
    case ViewKind::kOpen:
      return id.substr(0, id.rfind('_'));
    default:
      return {};
  }
}

std::vector<CatalogueEntry> GeneratedViews(const std::vector<CatalogueEntry>& entries) {
  std::vector<CatalogueEntry> views = {
      Findings(entries),         FindingItems(entries), Remedies(entries),     RulesView(entries),
      IncidentFindings(entries), Incidents(),           OpenQuestions(entries)};
  for (CatalogueEntry& view : views) view.kind = ViewKind::kGenerated;
  return views;
}

}  // namespace oomdb::queries
