// oomdb hosts: the hosts of a job side by side, the odd one first.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/open_captures.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "queries/catalogue.h"
#include "queries/materialize.h"
#include "render/terminal.h"
#include "render/units.h"
#include "render/utf8.h"
#include "render/words.h"
#include "schema/query.h"

namespace oomdb::cli {
namespace {

constexpr size_t kMaxSentences = 8;
constexpr std::string_view kTag = ", hosts,";  // Of the rules that compare hosts.

struct Options {
  std::vector<std::string> paths;
  std::string database;
  std::string run;
  SettingOptions settings;
  OutputOptions output;
};

// Those that stand out come first: of a hundred hosts nobody reads all.
constexpr char kOrder[] = "run, odd DESC, host, device, capture_id";
constexpr char kColumns[] =
    "run, host, device, capacity_bytes, executions, first_in_use_bytes, last_in_use_bytes, "
    "growth_bytes, peak_bytes, wait_ns, failed_count, plan_peak_bytes, odd, odd_in, module_name, "
    "status";

struct Shown {
  const char* column;
  const char* heading;
};
constexpr Shown kShown[] = {{"run", "run"},
                            {"host", "host"},
                            {"device", "device"},
                            {"capacity_bytes", "capacity"},
                            {"executions", "executions"},
                            {"first_in_use_bytes", "in use: first"},
                            {"last_in_use_bytes", "last start"},
                            {"growth_bytes", "growth"},
                            {"peak_bytes", "peak"},
                            {"wait_ns", "waits"},
                            {"failed_count", "failed"},
                            {"plan_peak_bytes", "plan peak"}};

// The run that is asked for, else all.
schema::Parameters Scope(const Options& options) {
  return options.run.empty() ? schema::Parameters() : schema::Parameters{{"run", options.run}};
}

std::string WhyNone(const schema::Record& run) {
  const std::string name = run.Text("run");
  const std::string devices = render::Plural(run.Integer("device_count"), "device");
  const int64_t hosts = run.Integer("profiled_host_count");
  if (run.IsNull("job_host_count")) {
    return fmt::format("the {} of {} are not hosts of one job: a host comes twice",
                       render::Plural(run.Integer("profiler_capture_count"), "capture"), name);
  }
  if (hosts >= 2)
    return fmt::format("no host of {} stands out: {} hosts, {}", name, hosts, devices);
  return fmt::format(
      "{} is one host with {}: {}", name, devices,
      run.Integer("device_count") < 3 ? "nothing to compare it with" : "none stands out");
}

// What stands out, in a sentence each, or why nothing does.
std::vector<std::string> Sentences(schema::Database& database, const Options& options,
                                   bool several_runs) {
  std::vector<std::pair<std::string, std::string>> found;  // By run, then by rule.
  for (const queries::CatalogueEntry* rule : queries::Catalogue::Get().Rules()) {
    if ((", " + rule->tags + ",").find(kTag) == std::string::npos) continue;
    for (const schema::Record& row :
         schema::ReadView(database, rule->id, Scope(options), "run, host, title")) {
      found.push_back({row.Text("run"), row.Text("title")});
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> sentences;
  for (const auto& [run, title] : found) {
    sentences.push_back((several_runs ? run + ": " : "") + title);
  }
  if (!sentences.empty()) return sentences;
  for (const schema::Record& run :
       schema::ReadView(database, "run_summaries", Scope(options), "run")) {
    if (run.Integer("profiler_capture_count") > 0) sentences.push_back(WhyNone(run));
  }
  return sentences;
}

std::string ForPeople(const schema::Record& row, std::string_view column) {
  if (row.IsNull(column)) return "–";
  if (column == "run" || column == "host") return render::Safe(row.Text(column));
  const int64_t number = row.Integer(column);
  if (column.ends_with("_ns")) return number == 0 ? "none" : render::HumanNanoseconds(number);
  return column.ends_with("_bytes") ? render::HumanBytes(number) : std::to_string(number);
}

std::string Mark(const schema::Record& row) {
  if (row.Text("status") != "complete") return "truncated: not compared";
  return row.Flag("odd") ? "◀ " + row.Text("odd_in") : "";
}

// Short headings, the mark in words, and no column that says nothing: the run where there is only
// one, sizes that no host has.
schema::Rows ForPeople(const std::vector<schema::Record>& hosts) {
  schema::Rows shown;
  shown.rows.resize(hosts.size());
  const auto add = [&](const std::string& heading, const std::vector<std::string>& cells,
                       bool right) {
    size_t width = render::DisplayWidth(heading);
    for (const std::string& cell : cells) width = std::max(width, render::DisplayWidth(cell));
    shown.columns.push_back(right ? render::PadLeft(heading, width) : heading);
    for (size_t i = 0; i < cells.size(); ++i)
      shown.rows[i].emplace_back(right ? render::PadLeft(cells[i], width) : cells[i]);
  };
  for (const auto& [name, heading] : kShown) {
    const std::string_view column = name;
    bool known = false, differs = false;
    std::vector<std::string> cells;
    for (const schema::Record& host : hosts) {
      known |= !host.IsNull(column);
      differs |= host.Cell(column) != hosts.front().Cell(column);
      cells.push_back(ForPeople(host, column));
    }
    if (known && (column != "run" || differs)) {
      add(heading, cells, /*right=*/column != "run" && column != "host");
    }
  }
  std::vector<std::string> marks;
  for (const schema::Record& host : hosts) marks.push_back(Mark(host));
  if (std::any_of(marks.begin(), marks.end(), [](const auto& mark) { return !mark.empty(); })) {
    add("", marks, /*right=*/false);
  }
  return shown;
}

std::string Modules(const std::vector<schema::Record>& hosts) {
  std::vector<std::string> names;
  std::string text;
  for (const schema::Record& host : hosts) {
    const std::string name = host.Text("module_name");
    if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) continue;
    names.push_back(name);
    text += (text.empty() ? "" : ", ") + render::Safe(name);
  }
  return text;
}

void WriteForPeople(std::ostream& out, const std::vector<std::string>& sentences,
                    const std::vector<schema::Record>& hosts, const render::TableOptions& look) {
  for (size_t i = 0; i < std::min(sentences.size(), kMaxSentences); ++i) {
    out << render::Paint(render::Style::kBold, render::HumanizeSentence(render::Safe(sentences[i])),
                         look.color)
        << "\n";
  }
  if (sentences.size() > kMaxSentences) {
    out << "… " << sentences.size() - kMaxSentences << " more\n";
  }
  out << "\n";
  const schema::Rows shown = ForPeople(hosts);
  render::WriteTable(out, shown.columns, shown.rows, look);
  const std::string modules = Modules(hosts);
  if (!modules.empty()) out << "\nexecutions, in use and growth are those of " << modules << "\n";
}

void Run(const Options& options, ExitCode& exit_code) {
  Output output(options.output);
  schema::Database database = OpenCaptures(options.paths, options.database,
                                           ReadSettingOptions(options.settings), exit_code);
  CheckRun(database, options.run);
  // The rule and the comparison stand on them: computed once.
  for (const char* view : {"effective_capacity", "host_devices", "host_oddities"}) {
    queries::MaterializeView(database, queries::Catalogue::Get(), view);
  }
  const schema::Rows table =
      schema::ReadTable(database, "host_comparison", kColumns, Scope(options), kOrder);
  if (table.rows.empty()) {
    throw Error("no profiler capture to compare: dumps and logs have no hosts");
  }
  const render::TableOptions look = output.table_options();
  if (look.for_people()) {
    const std::vector<schema::Record> hosts = schema::Records(table);
    const bool several_runs = hosts.front().Text("run") != hosts.back().Text("run");
    WriteForPeople(output.stream(), Sentences(database, options, several_runs), hosts, look);
  } else {
    render::WriteTable(output.stream(), table.columns, table.rows, look);
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
      "A host stands out when it differs from the median of its peers by more than they vary "
      "(`oomdb list settings`: skew_…).\n"
      "Example: oomdb hosts --db oom.db --run run1");
  verb.Run([options, &exit_code] {
    AdoptDatabase(&options->paths, &options->database);
    Run(*options, exit_code);
  });
}

}  // namespace oomdb::cli
