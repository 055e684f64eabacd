// oomdb hosts: the hosts of a job side by side, the odd one first.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/open_captures.h"
#include "cli/options.h"
#include "cli/report/page.h"
#include "cli/report/values.h"
#include "cli/verbs.h"
#include "queries/catalogue.h"
#include "queries/materialize.h"
#include "render/terminal.h"
#include "render/units.h"
#include "render/utf8.h"
#include "schema/query.h"

namespace oomdb {
namespace {

constexpr size_t kMaxSentences = 8;

struct Options {
  std::vector<std::string> paths;
  std::string database;
  std::string run;
  SettingOptions settings;
  OutputOptions output;
};

// Those that stand out come first: of a hundred hosts nobody reads all.
constexpr char kComparison[] =
    "SELECT run, host, device, capacity_bytes, executions, first_in_use_bytes, "
    "last_in_use_bytes, growth_bytes, peak_bytes, wait_ns, failed_count, plan_peak_bytes, odd, "
    "odd_in, module_name, status FROM host_comparison WHERE :run = '' OR run = :run "
    "ORDER BY run, odd DESC, host, device, capture_id";
constexpr size_t kStatus = 15, kModule = 14, kOddIn = 13, kOdd = 12;

class Comparison {
 public:
  Comparison(Database& database, std::string run) : database_(database), run_(std::move(run)) {
    rows_ = Query(database_, kComparison, {{"run", run_}});
  }

  const Rows& rows() const { return rows_; }

  // What stands out, in a sentence each, or why nothing does.
  std::vector<std::string> Sentences() {
    std::vector<std::string> sentences = Titles();
    if (!sentences.empty()) return sentences;
    for (const Row& row : Query(database_,
                                "SELECT c.run, COUNT(DISTINCT c.host), COUNT(*), (SELECT COUNT(*) "
                                "FROM devices d JOIN captures x ON x.capture_id = d.capture_id "
                                "WHERE x.run = c.run), MAX(j.hosts) FROM captures c LEFT JOIN jobs "
                                "j ON j.run = c.run WHERE c.kind = 'xplane' AND (:run = '' OR "
                                "c.run = :run) GROUP BY c.run ORDER BY c.run",
                                {{"run", run_}})
                              .rows) {
      sentences.push_back(WhyNone(row));
    }
    return sentences;
  }

 private:
  std::vector<std::string> Titles() {
    std::vector<std::string> titles;
    for (const Row& row :
         Query(database_,
               "SELECT run, 1 AS part, host, title FROM host_skew WHERE :run = '' OR run = :run "
               "UNION ALL SELECT run, 2, host, title FROM plan_differs_between_hosts "
               "WHERE :run = '' OR run = :run ORDER BY 1, 2, 3, 4",
               {{"run", run_}})
             .rows) {
      const std::string of_run = SeveralRuns() ? Text(row[0]) + ": " : "";
      titles.push_back(of_run + Text(row[3]));
    }
    return titles;
  }

  bool SeveralRuns() const {
    return !rows_.rows.empty() && Text(rows_.rows.front()[0]) != Text(rows_.rows.back()[0]);
  }

  static std::string WhyNone(const Row& row) {
    const std::string run = Text(row[0]);
    const int64_t hosts = Integer(row[1]), captures = Integer(row[2]), devices = Integer(row[3]);
    if (!MaybeInteger(row[4])) {
      return fmt::format("the {} of {} are no hosts of one job: a host comes twice",
                         Plural(captures, "capture"), run);
    }
    if (hosts < 2) {
      return fmt::format("{} is one host with {}: {}", run, Plural(devices, "device"),
                         devices < 3 ? "nothing to compare it with" : "none stands out");
    }
    return fmt::format("no host of {} stands out: {} hosts, {}", run, hosts,
                       Plural(devices, "device"));
  }

  Database& database_;
  const std::string run_;
  Rows rows_;
};

struct Shown {
  size_t column;  // Of kComparison.
  const char* heading;
};
constexpr Shown kShown[] = {{0, "run"},        {1, "host"},       {2, "device"},
                            {3, "capacity"},   {4, "executions"}, {5, "in use: first"},
                            {6, "last start"}, {7, "growth"},     {8, "peak"},
                            {9, "waits"},      {10, "failed"},    {11, "plan peak"}};

std::string ForPeople(const Value& value, const std::string& column) {
  if (const std::string text = Text(value); !text.empty()) return Safe(text);
  const std::optional<int64_t> number = MaybeInteger(value);
  if (!number) return "–";
  if (column.ends_with("_ns")) return *number == 0 ? "none" : HumanNanoseconds(*number);
  return column.ends_with("_bytes") ? HumanBytes(*number) : std::to_string(*number);
}

std::string Mark(const Row& row) {
  if (Text(row[kStatus]) != "complete") return "truncated: not compared";
  return Integer(row[kOdd]) == 1 ? "◀ " + Text(row[kOddIn]) : "";
}

// Short headings, the mark in words, and no column that says nothing: the run where there is only
// one, sizes that no host has.
Rows ForPeople(const Rows& all) {
  Rows shown;
  shown.rows.resize(all.rows.size());
  for (const auto& [column, heading] : kShown) {
    bool known = false, differs = false;
    size_t width = DisplayWidth(heading);
    std::vector<std::string> cells;
    for (const Row& row : all.rows) {
      known |= !std::holds_alternative<std::monostate>(row[column]);
      differs |= row[column] != all.rows.front()[column];
      cells.push_back(ForPeople(row[column], all.columns[column]));
      width = std::max(width, DisplayWidth(cells.back()));
    }
    if (!known || (column == 0 && !differs)) continue;
    const bool name = column <= 1;
    shown.columns.push_back(name ? heading : PadLeft(heading, width));
    for (size_t i = 0; i < cells.size(); ++i) {
      shown.rows[i].emplace_back(name ? cells[i] : PadLeft(cells[i], width));
    }
  }
  std::vector<std::string> marks;
  for (const Row& row : all.rows) marks.push_back(Mark(row));
  if (std::all_of(marks.begin(), marks.end(), [](const std::string& m) { return m.empty(); })) {
    return shown;
  }
  shown.columns.emplace_back("");
  for (size_t i = 0; i < marks.size(); ++i) shown.rows[i].emplace_back(marks[i]);
  return shown;
}

std::string Modules(const Rows& rows) {
  std::vector<std::string> names;
  for (const Row& row : rows.rows) {
    const std::string name = Text(row[kModule]);
    if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) continue;
    names.push_back(name);
  }
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + Safe(name);
  return text;
}

void WriteForPeople(std::ostream& out, Comparison& comparison, TableOptions look) {
  const std::vector<std::string> sentences = comparison.Sentences();
  for (size_t i = 0; i < std::min(sentences.size(), kMaxSentences); ++i) {
    out << Paint(Style::kBold, HumanizeSentence(Safe(sentences[i])), look.color) << "\n";
  }
  if (sentences.size() > kMaxSentences) {
    out << "… " << sentences.size() - kMaxSentences << " more\n";
  }
  out << "\n";
  const Rows shown = ForPeople(comparison.rows());
  WriteTable(out, shown.columns, shown.rows, look);
  const std::string modules = Modules(comparison.rows());
  if (!modules.empty()) out << "\nexecutions, in use and growth are those of " << modules << "\n";
}

void Run(const Options& options, ExitCode& exit_code) {
  Output output(options.output);
  Database database = OpenCaptures(options.paths, options.database,
                                   ReadSettingOptions(options.settings), exit_code);
  CheckRun(database, options.run);
  // The rule and the comparison stand on them: computed once.
  for (const char* view : {"effective_capacity", "host_devices", "host_oddities"}) {
    MaterializeView(database, Catalogue::Get(), view);
  }
  Comparison comparison(database, options.run);
  if (comparison.rows().rows.empty()) {
    throw Error("no profiler capture to compare: dumps and logs have no hosts");
  }
  const TableOptions look = output.table_options();
  if (look.format == TableFormat::kTable || look.format == TableFormat::kMarkdown) {
    WriteForPeople(output.stream(), comparison, look);
  } else {
    WriteTable(output.stream(), comparison.rows().columns, comparison.rows().rows, look);
  }
  output.Finish();
}

}  // namespace

void RegisterHosts(Verbs& verbs, ExitCode& exit_code) {
  Verb verb = verbs.Add("hosts", "Compare the hosts of a job, and name the one that stands out");
  const auto options = std::make_shared<Options>();
  verb.Option("CAPTURE", options->paths, "Captures or folders to compare, instead of a database");
  AddDatabaseOption(verb, options->database);
  verb.Option("--run", options->run, "Only this run").Type("NAME");
  AddSettingOptions(verb, options->settings);
  AddOutputOptions(verb, options->output);
  verb.Footer(
      "A host stands out when it is beyond the median of its peers by more than they vary "
      "(`oomdb show host_skew`; settings skew_…).\n"
      "Example: oomdb hosts --db oom.db --run run1");
  verb.Run([options, &exit_code] { Run(*options, exit_code); });
}

}  // namespace oomdb
