#include "cli/options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <sstream>
#include <utility>

#include "base/ascii.h"
#include "cli/nearest.h"
#include "cli/unfinished.h"
#include "ingest/importers.h"
#include "render/terminal.h"
#include "render/units.h"
#include "schema/query.h"

namespace oomdb::cli {
namespace {

namespace fs = std::filesystem;

// The settings' names and nothing else: read from a throw-away database, so that this needs no
// parser of its own.
std::vector<std::string> SettingNames() {
  schema::Database database = schema::Database::Throwaway({});
  std::vector<std::string> names;
  for (const schema::Record& row : schema::ReadView(database, "settings", {}, "name")) {
    names.push_back(row.Text("name"));
  }
  return names;
}

bool EndsWith(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

int64_t ReadSetting(const std::string& name, const std::string& text) {
  if (EndsWith(name, "_bytes")) return render::ParseBytes(text, "--set " + name);
  const std::optional<int64_t> number = WholeNumber<int64_t>(text);
  if (!number)
    throw Error(fmt::format("--set {}={}: an integer expected", name, text), ExitCode::kUsage);
  return *number;
}

// A text report of ours, which has the name of a log: a verdict, and at its end what to ask next.
bool IsOurReport(const std::string& path) {
  constexpr std::streamoff kEnd = 1 << 16;
  std::ifstream file(path, std::ios::binary);
  std::string verdict;
  std::getline(file, verdict);
  const size_t words = verdict.find("  ");
  if (!file || words == std::string::npos || words < 3) return false;
  if (!std::all_of(verdict.begin(), verdict.begin() + static_cast<std::ptrdiff_t>(words),
                   [](char c) { return (c >= 'A' && c <= 'Z') || c == ' ' || c == '\''; }))
    return false;
  file.seekg(0, std::ios::end);
  file.seekg(std::max<std::streamoff>(0, file.tellg() - kEnd));
  std::string end(std::istreambuf_iterator<char>(file), {});
  return end.find("\nnext  oomdb ") != std::string::npos;
}

}  // namespace

void RefuseToOverwriteInputs(const std::string& output, const std::vector<std::string>& inputs) {
  if (output.empty() || output == "-") return;
  std::error_code ignored;
  if (!fs::exists(output, ignored)) return;
  const std::string name = fs::path(output).filename().string();
  const bool capture =
      std::any_of(ingest::Importers().begin(), ingest::Importers().end(),
                  [&](const ingest::Importer& importer) { return importer.claims(name); });
  const bool input = std::any_of(inputs.begin(), inputs.end(), [&](const std::string& path) {
    return fs::equivalent(output, path, ignored);
  });
  if (input || (capture && !IsOurReport(output))) {
    throw Error(fmt::format("{}: {}; oomdb does not overwrite it, name another file", output,
                            input ? "this is an input" : "this is a capture"),
                ExitCode::kUsage);
  }
}

void AddDatabaseOption(Verb& verb, std::string& path) {
  verb.Option("--db", path, "The database file; else $OOMDB_DB").Variable("OOMDB_DB").Type("FILE");
}

const std::string& RequireDatabase(const std::string& path) {
  if (path.empty())
    throw Error("no database named: give --db FILE or set $OOMDB_DB", ExitCode::kUsage);
  return path;
}

void AddSettingOptions(Verb& verb, SettingOptions& options) {
  verb.Option("--set", options.sets, "A setting for this call; `oomdb list settings` names them")
      .Type("NAME=VALUE")
      .OneValue();
  verb.Option("--capacity", options.capacity,
              "The devices' memory where the captures don't say it, such as 16GiB")
      .Type("SIZE");
}

int64_t ParseDeviceBytes(const std::string& text, const std::string& option) {
  constexpr size_t kMostDigits = 4;  // No device has 9,999 bytes, and none 9,999 GiB.
  const bool is_bare =
      !text.empty() && text.size() <= kMostDigits &&
      std::all_of(text.begin(), text.end(), [](char c) { return '0' <= c && c <= '9'; });
  if (is_bare && text.find_first_not_of('0') != std::string::npos) {
    throw Error(fmt::format("{0}: \"{1}\" could mean {1} bytes or {1} GiB; write {1}GiB, or {1}B",
                            option, text),
                ExitCode::kUsage);
  }
  return render::ParseBytes(text, option);
}

schema::SettingOverrides ReadSettingOptions(const SettingOptions& options) {
  schema::SettingOverrides overrides;
  const std::vector<std::string> names =
      options.sets.empty() ? std::vector<std::string>() : SettingNames();
  for (const std::string& text : options.sets) {
    const auto [name, value] = SplitAssignment(text, "--set");
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw Error(fmt::format("no setting {}{}", name, DidYouMean(name, names)), ExitCode::kUsage);
    }
    overrides[name] = ReadSetting(name, value);
  }
  if (!options.capacity.empty())
    overrides["capacity_bytes"] = ParseDeviceBytes(options.capacity, "--capacity");
  return overrides;
}

void AddOutputOptions(Verb& verb, OutputOptions& options) {
  verb.Option("--format", options.format,
              "table (for people), csv, json, jsonl or markdown; by default what the name of -o "
              "ends in, else table")
      .Type("FORMAT");
  verb.Option("-o,--output", options.file, "Write to this file instead of standard output")
      .Type("FILE");
  verb.Flag("-f,--force", options.force, "Overwrite the file of -o");
  verb.Option("--color", options.color, "auto, always or never").Type("WHEN").ShowDefault();
}

namespace {

// Throws Error (kUsage) for a name that promises what there is none of.
std::string FormatOf(const OutputOptions& options) {
  if (!options.format.empty()) return options.format;
  const std::string_view file = options.file;
  for (const auto& [ending, format] : {std::pair{".csv", "csv"},
                                       {".json", "json"},
                                       {".jsonl", "jsonl"},
                                       {".ndjson", "jsonl"},
                                       {".md", "markdown"}}) {
    if (file.ends_with(ending)) return format;
  }
  if (file.ends_with(".html") || file.ends_with(".htm")) {
    throw Error(
        fmt::format("-o {}: no HTML is written here; name a .csv, .json, .jsonl or .md file, "
                    "or say --format",
                    file),
        ExitCode::kUsage);
  }
  return "table";
}

}  // namespace

struct Output::State {
  render::TableOptions table;
  std::string file;
  std::string temporary;
  std::ofstream out;
};

Output::Output(const OutputOptions& options) : state_(std::make_unique<State>()) {
  state_->table.format = render::ParseTableFormat(FormatOf(options));
  const render::ColorMode color = render::ParseColorMode(options.color);
  const bool to_stdout = options.file.empty() || options.file == "-";
  if (to_stdout) {
    const render::Terminal terminal = render::DescribeTerminal(STDOUT_FILENO, color);
    state_->table.fit = terminal.interactive;
    state_->table.width = terminal.width;
    state_->table.color = terminal.color;
    return;
  }
  state_->table.color = color == render::ColorMode::kAlways;
  state_->file = options.file;
  if (fs::exists(options.file)) {
    if (!options.force) throw Error(fmt::format("{}: exists; -f overwrites it", options.file));
    if (!fs::is_regular_file(options.file))
      throw Error(fmt::format("{}: not a file", options.file));
  }
  state_->temporary = fmt::format("{}.{}.tmp", options.file, getpid());
  AddUnfinished(state_->temporary);
  state_->out.open(state_->temporary, std::ios::binary | std::ios::trunc);
  if (!state_->out) throw Error(fmt::format("{}: can't be written", options.file));
}

Output::~Output() {
  std::error_code ignored;
  if (state_->temporary.empty()) return;
  fs::remove(state_->temporary, ignored);
  ForgetUnfinished(state_->temporary);
}

std::ostream& Output::stream() { return state_->file.empty() ? std::cout : state_->out; }

render::TableOptions Output::table_options() const { return state_->table; }

void Output::Finish() {
  if (state_->file.empty()) {
    std::cout.flush();
    if (!std::cout) throw Error("standard output: can't be written to the end");
    return;
  }
  state_->out.close();
  std::error_code error;
  if (state_->out) fs::rename(state_->temporary, state_->file, error);
  if (!state_->out || error)
    throw Error(fmt::format("{}: can't be written to the end", state_->file));
  ForgetUnfinished(state_->temporary);
  state_->temporary.clear();
}

std::pair<std::string, std::string> SplitAssignment(const std::string& text,
                                                    std::string_view option) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw Error(fmt::format("{} {}: name=value expected", option, text), ExitCode::kUsage);
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::string ShellQuote(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos)
    return std::string(text);
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace oomdb::cli
