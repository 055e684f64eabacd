#include "cli/ingest/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "base/error.h"

namespace oomdb::cli {
namespace {

// Of people's lists, not of captures.
constexpr uintmax_t kMaxManifestBytes = uintmax_t{256} << 20;

class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : text_(text) {}

  // False at the end.
  bool Read(CsvRecord& record) {
    record = {line_, {}};
    if (at_ == text_.size()) return false;
    while (true) {
      record.cells.push_back(Cell());
      if (at_ < text_.size() && text_[at_] == ',') {
        ++at_;
        continue;
      }
      EndLine();
      return true;
    }
  }

 private:
  bool AtLineEnd() const {
    return at_ == text_.size() || text_[at_] == '\n' || text_.substr(at_, 2) == "\r\n";
  }

  void EndLine() {
    if (at_ < text_.size() && text_[at_] == '\r') ++at_;
    if (at_ < text_.size()) ++at_;
    ++line_;
  }

  std::string Cell() {
    std::string cell;
    if (at_ < text_.size() && text_[at_] == '"') return QuotedCell();
    for (; !AtLineEnd() && text_[at_] != ','; ++at_) {
      if (text_[at_] == '"') {
        throw Error(
            fmt::format("line {}: a quote within a cell; quote the whole cell and write "
                        "the quote twice",
                        line_));
      }
      cell += text_[at_];
    }
    return cell;
  }

  std::string QuotedCell() {
    const int64_t begin = line_;
    std::string cell;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] != '"') {
        cell += text_[at_];
        continue;
      }
      ++at_;
      if (at_ < text_.size() && text_[at_] == '"') {
        cell += '"';
        continue;
      }
      if (!AtLineEnd() && text_[at_] != ',')
        throw Error(fmt::format("line {}: text after the quote that ends a cell", line_));
      return cell;
    }
    throw Error(fmt::format("line {}: a quote that doesn't close", begin));
  }

  const std::string_view text_;
  size_t at_ = 0;
  int64_t line_ = 1;
};

void CheckHeader(const std::vector<std::string>& names) {
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (name.empty()) throw Error("the header has a column without a name", ExitCode::kUsage);
    if (!seen.insert(name).second)
      throw Error(fmt::format("the header names {} twice", name), ExitCode::kUsage);
  }
  if (seen.count("path") == 0) {
    throw Error(
        "the header (first line) has no column `path`; it names path, optionally run and host, and "
        "any labels",
        ExitCode::kUsage);
  }
}

void SetCell(ManifestRow& row, const std::string& name, const std::string& cell,
             const std::string& folder) {
  if (cell.empty()) return;
  if (name == "path") {
    row.path = cell[0] == '/' ? cell : (std::filesystem::path(folder) / cell).string();
  } else if (name == "run") {
    row.run = cell;
  } else if (name == "host") {
    row.host = cell;
  } else {
    row.labels[name] = cell;
  }
}

}  // namespace

std::vector<CsvRecord> ParseCsv(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark)
    text.remove_prefix(kByteOrderMark.size());
  CsvReader reader(text);
  std::vector<CsvRecord> records;
  for (CsvRecord record; reader.Read(record);) {
    if (record.cells.size() > 1 || !record.cells[0].empty()) records.push_back(std::move(record));
  }
  return records;
}

std::vector<ManifestRow> ParseManifest(std::string_view text, const std::string& folder) {
  std::vector<ManifestRow> rows;
  const std::vector<CsvRecord> records = ParseCsv(text);
  if (records.empty()) throw Error("empty; its first line names the columns", ExitCode::kUsage);
  const std::vector<std::string>& names = records.front().cells;
  CheckHeader(names);
  for (size_t i = 1; i < records.size(); ++i) {
    const CsvRecord& record = records[i];
    ManifestRow row;
    row.line = record.line;
    for (size_t column = 0; column < std::min(names.size(), record.cells.size()); ++column)
      SetCell(row, names[column], record.cells[column], folder);
    if (record.cells.size() != names.size()) {
      row.problem =
          fmt::format("{} cells, the header names {} columns", record.cells.size(), names.size());
    } else if (row.path.empty()) {
      row.problem = "no path";
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<ManifestRow> ReadManifest(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const uintmax_t size = fs::file_size(path, error);
  if (error) throw Error(fmt::format("{}: can't be read ({})", path, error.message()));
  if (size > kMaxManifestBytes) throw Error(fmt::format("{}: too large for a manifest", path));
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw Error(fmt::format("{}: can't be read", path));
  try {
    return ParseManifest(text.str(), fs::path(path).parent_path().string());
  } catch (const Error& problem) {
    throw Error(fmt::format("{}: {}", path, problem.what()), problem.code());
  }
}

}  // namespace oomdb::cli
