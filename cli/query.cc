// oomdb query: SQL from anybody, in a sandbox.
#include "schema/query.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "cli/interrupt.h"
#include "cli/open_captures.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "cli/watchdog.h"
#include "queries/catalogue.h"
#include "queries/materialize.h"
#include "render/units.h"
#include "schema/sql_names.h"

namespace oomdb::cli {
namespace {

// Less than the views and a page cache take.
constexpr int64_t kLeastMemory = int64_t{64} << 20;

struct Options {
  std::string database;
  std::string sql;
  std::vector<std::string> parameters;
  double timeout_seconds = 60;
  std::string memory = "1GiB";
  int64_t rows = 10'000'000;
  SettingOptions settings;
  bool human = false;
  OutputOptions output;
};

// An integer or a real when the whole text is one, else text: SQLite never equates '1' and 1.
schema::Value ParseValue(const std::string& text) {
  if (const auto number = WholeNumber<int64_t>(text)) return *number;
  if (const auto real = WholeNumber<double>(text)) return *real;
  return text;
}

// Columns of findings and remedies whose text has sizes as `N bytes` in it.
bool IsSentence(const std::string& column) {
  return column == "title" || column == "detail" || column == "fix" || column == "cost";
}

std::string ReadSql(const std::string& argument) {
  if (argument != "-") return argument;
  return std::string(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
}

// The findings and what is made of them stand on the same blocks. Who asks for them has the blocks
// computed once, as the report has: faster, and more so where they are joined.
void PrepareFindings(schema::Database& database, std::string sql, schema::SandboxLimits* limits) {
  sql = Lower(sql);
  const std::vector<std::string_view> names = schema::SqlNames(sql);
  const std::set<std::string_view> made_of_findings = {
      "findings", "finding_items", "remedies", "incidents", "incident_findings", "open_questions"};
  const bool asked = std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    return made_of_findings.contains(name);
  });
  if (!asked) return;
  const auto begun = std::chrono::steady_clock::now();
  schema::RunWithin(database, *limits,
                    [&] { queries::MaterializeRules(database, queries::Catalogue::Get()); });
  limits->used = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - begun);
}

void Run(const Options& options) {
  const std::string sql = ReadSql(options.sql);
  schema::Parameters parameters;
  for (const std::string& text : options.parameters) {
    const auto [name, value] = SplitAssignment(text, "-p");
    parameters[name] = ParseValue(value);
  }
  schema::SandboxLimits limits;
  // A day at most: more would overflow, and means "no limit" anyway.
  if (!(options.timeout_seconds > 0 && options.timeout_seconds <= 86400)) {
    throw Error("--timeout: seconds above 0, at most 86400, expected", ExitCode::kUsage);
  }
  limits.timeout =
      std::chrono::milliseconds(std::max<int64_t>(1, std::llround(options.timeout_seconds * 1000)));
  limits.stop = &StopRequested();
  const int64_t memory = render::ParseBytes(options.memory, "--memory");
  if (memory < kLeastMemory) {
    throw Error(fmt::format("--memory: at least {} expected", render::HumanBytes(kLeastMemory)),
                ExitCode::kUsage);
  }

  if (options.rows < 1) throw Error("--rows: a number above 0 expected", ExitCode::kUsage);

  Watchdog watchdog(limits.timeout, schema::PastDeadline(limits));
  LimitMemory(memory);
  schema::Database database = schema::Database::OpenReadOnly(RequireDatabase(options.database),
                                                             queries::Catalogue::Get().views(),
                                                             ReadSettingOptions(options.settings));
  SayNotice(database);
  watchdog.Restart();  // The files are no part of what was asked.
  RefuseToOverwriteInputs(options.output.file, {options.database});
  PrepareFindings(database, sql, &limits);
  Output output(options.output);
  std::optional<render::TableWriter> table;
  std::vector<bool> sentences;  // Which columns are.
  schema::RowSink sink;
  sink.columns = [&](std::vector<std::string> columns) {
    render::TableOptions look = output.table_options();
    look.human = options.human;
    for (const std::string& column : columns) {
      sentences.push_back(look.human && look.for_people() && IsSentence(column));
    }
    table.emplace(output.stream(), std::move(columns), look);
  };
  int64_t rows = 0;
  sink.row = [&](schema::Row row) {
    if (++rows > options.rows) {
      throw Error(fmt::format("the query has more than {} rows and was stopped; --rows takes more",
                              options.rows));
    }
    for (size_t i = 0; i < row.size(); ++i) {
      auto* const text = std::get_if<std::string>(&row[i]);
      if (sentences[i] && text != nullptr) *text = render::HumanizeSentence(*text);
    }
    table->AddRow(std::move(row));
  };
  try {
    schema::QueryInSandbox(database, sql, parameters, limits, sink);
    table->Finish();
  } catch (const std::bad_alloc&) {
    LiftMemoryLimit();
    throw Error(
        fmt::format("the query needs more than {} of memory and was stopped; give it more "
                    "with --memory",
                    render::HumanBytes(memory)));
  }
  output.Finish();
}

}  // namespace

void RegisterQuery(Verbs& verbs, ExitCode&) {
  Verb verb = verbs.Add("query", "Ask a database with SQL");
  const auto options = std::make_shared<Options>();
  AddDatabaseOption(verb, options->database);
  verb.Option("SQL", options->sql, "One SELECT; - reads it from standard input").Required();
  verb.Option("-p,--param", options->parameters,
              "The value of a parameter :NAME in the SQL; repeatable")
      .Type("NAME=VALUE")
      .OneValue();
  verb.Option("--timeout", options->timeout_seconds, "Stop after this many seconds")
      .Type("SECONDS")
      .ShowDefault();
  verb.Option("--memory", options->memory, "Stop when more memory is needed")
      .Type("SIZE")
      .ShowDefault();
  verb.Option("--rows", options->rows, "Stop after this many rows").Type("N").ShowDefault();
  verb.Flag("--human", options->human,
            "Sizes and times in units, in tables and markdown; else exact integers");
  AddSettingOptions(verb, options->settings);
  AddOutputOptions(verb, options->output);
  verb.Footer(
      "Reads only, whatever the SQL says. `oomdb list tables` names what there is to ask, `oomdb "
      "show NAME` explains it.\n"
      "Example: oomdb query --db oom.db \"SELECT name, plan_bytes FROM modules WHERE plan_bytes "
      "> :least\" -p least=0");
  verb.Run([options] { Run(*options); });
}

}  // namespace oomdb::cli
