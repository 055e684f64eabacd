#include "render/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>
#include <ostream>
#include <set>
#include <utility>

#include "base/error.h"
#include "render/terminal.h"
#include "render/units.h"

namespace oomdb::render {
namespace {

constexpr size_t kMeasuredRows = 1000;
constexpr size_t kNarrowestColumn = 8;  // Cells are not cut below this.
constexpr std::string_view kGap = "  ";

bool IsBytesColumn(std::string_view name) { return name == "bytes" || name.ends_with("_bytes"); }

// A number of nanoseconds above this is a point in time (Unix time of 1973 and later), not a
// duration.
constexpr int64_t kLongestDurationNs = 100'000'000'000'000'000;

std::string PlainText(const Cell& cell) {
  if (const auto* integer = std::get_if<int64_t>(&cell)) return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&cell)) return fmt::format("{}", *real);
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  return "";
}

std::string TextForPeople(const Cell& cell, std::string_view column, bool human) {
  if (std::holds_alternative<std::monostate>(cell)) return "NULL";
  const auto* integer = std::get_if<int64_t>(&cell);
  if (human && integer != nullptr) {
    if (IsBytesColumn(column)) return HumanBytes(*integer);
    if (column.ends_with("_ns") && *integer<kLongestDurationNs&& * integer> - kLongestDurationNs) {
      return HumanNanoseconds(*integer);
    }
  }
  return Sanitize(PlainText(cell));
}

std::string CsvField(const Cell& cell) {
  const std::string text = PlainText(cell);
  const bool is_text = std::holds_alternative<std::string>(cell);
  if (!is_text) return text;
  const bool quote = text.empty() || text.find_first_of(",\"\r\n") != std::string::npos ||
                     text.front() == ' ' || text.back() == ' ';
  if (!quote) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string JsonValue(const Cell& cell) {
  if (const auto* integer = std::get_if<int64_t>(&cell)) return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&cell)) return JsonNumber(*real);
  if (const auto* text = std::get_if<std::string>(&cell)) return JsonString(*text);
  return "null";
}

// Markup is escaped, and what would be a link or an image stays text: names come from a capture.
std::string MarkdownCell(std::string_view sanitized) {
  std::string out;
  for (size_t i = 0; i < sanitized.size(); ++i) {
    const char c = sanitized[i];
    const std::string_view rest = sanitized.substr(i);
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (rest.starts_with("://")) {
      out += "&#58;";  // Bare addresses become links, too.
    } else if (rest.starts_with("www.")) {
      out += "ww&#119;";
      i += 2;
    } else {
      // A backslash is one where no markup follows: the \n of what was sanitized.
      const bool escapes =
          c == '\\' && rest.size() > 1 && std::ispunct(static_cast<unsigned char>(rest[1])) != 0;
      if (escapes || std::string_view("|[]`").find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

// Gives the second and later columns of one name a name of their own.
void MakeUnique(std::vector<std::string>& names) {
  std::set<std::string> taken;
  for (std::string& name : names) {
    const std::string base = name;
    for (int n = 2; !taken.insert(name).second; ++n) name = base + "_" + std::to_string(n);
  }
}

}  // namespace

TableFormat ParseTableFormat(std::string_view text) {
  if (text == "table") return TableFormat::kTable;
  if (text == "csv") return TableFormat::kCsv;
  if (text == "json") return TableFormat::kJson;
  if (text == "jsonl") return TableFormat::kJsonl;
  if (text == "markdown") return TableFormat::kMarkdown;
  throw Error(fmt::format("--format {}: table, csv, json, jsonl or markdown expected", text),
              ExitCode::kUsage);
}

TableWriter::TableWriter(std::ostream& out, std::vector<std::string> columns, TableOptions options)
    : out_(out), columns_(std::move(columns)), options_(options) {
  if (options_.format == TableFormat::kJson || options_.format == TableFormat::kJsonl) {
    MakeUnique(columns_);
  }
}

void TableWriter::AddRow(std::vector<Cell> row) {
  if (options_.for_people() && !header_written_) {
    buffered_.push_back(std::move(row));
    if (buffered_.size() >= kMeasuredRows) WriteBufferedRows();
    return;
  }
  WriteHeader();
  WriteRow(row);
}

void TableWriter::Finish() {
  if (!header_written_) WriteBufferedRows();
  if (options_.format == TableFormat::kJson) out_ << (any_row_ ? "\n]\n" : "]\n");
}

void TableWriter::WriteBufferedRows() {
  MeasureColumns();
  WriteHeader();
  for (const std::vector<Cell>& row : buffered_) WriteRow(row);
  buffered_.clear();
}

void TableWriter::MeasureColumns() {
  widths_.assign(columns_.size(), 0);
  right_aligned_.assign(columns_.size(), false);
  for (size_t i = 0; i < columns_.size(); ++i) {
    widths_[i] = DisplayWidth(Sanitize(columns_[i]));
    bool numbers = false;
    bool others = false;
    for (const std::vector<Cell>& row : buffered_) {
      const Cell& cell = row[i];
      numbers |= std::holds_alternative<int64_t>(cell) || std::holds_alternative<double>(cell);
      others |= std::holds_alternative<std::string>(cell);
      widths_[i] =
          std::max(widths_[i], DisplayWidth(TextForPeople(cell, columns_[i], options_.human)));
    }
    right_aligned_[i] = numbers && !others;
  }
  if (!options_.fit || options_.format != TableFormat::kTable || columns_.empty()) return;
  // Narrow the widest text column, again and again; numbers are never cut.
  size_t total =
      std::accumulate(widths_.begin(), widths_.end(), kGap.size() * (widths_.size() - 1));
  while (total > options_.width) {
    size_t widest = columns_.size();
    for (size_t i = 0; i < widths_.size(); ++i) {
      if (right_aligned_[i] || widths_[i] <= kNarrowestColumn) continue;
      if (widest == columns_.size() || widths_[i] > widths_[widest]) widest = i;
    }
    if (widest == columns_.size()) break;
    --widths_[widest];
    --total;
  }
}

void TableWriter::WriteHeader() {
  if (std::exchange(header_written_, true)) return;
  switch (options_.format) {
    case TableFormat::kTable: {
      std::vector<std::string> names;
      for (const std::string& column : columns_) names.push_back(Sanitize(column));
      WriteAligned(names, /*header=*/true);
      break;
    }
    case TableFormat::kCsv:
      for (size_t i = 0; i < columns_.size(); ++i) {
        out_ << (i > 0 ? "," : "") << CsvField(Cell(columns_[i]));
      }
      out_ << '\n';
      break;
    case TableFormat::kJson:
      out_ << '[';
      break;
    case TableFormat::kJsonl:
      break;
    case TableFormat::kMarkdown:
      out_ << '|';
      for (const std::string& column : columns_)
        out_ << ' ' << MarkdownCell(Sanitize(column)) << " |";
      out_ << "\n|";
      for (const bool right : right_aligned_) out_ << (right ? " ---: |" : " --- |");
      out_ << '\n';
      break;
  }
}

void TableWriter::WriteRow(const std::vector<Cell>& row) {
  switch (options_.format) {
    case TableFormat::kTable: {
      std::vector<std::string> cells;
      for (size_t i = 0; i < row.size(); ++i) {
        cells.push_back(TextForPeople(row[i], columns_[i], options_.human));
      }
      WriteAligned(cells, /*header=*/false);
      break;
    }
    case TableFormat::kCsv:
      for (size_t i = 0; i < row.size(); ++i) out_ << (i > 0 ? "," : "") << CsvField(row[i]);
      out_ << '\n';
      break;
    case TableFormat::kJson:
    case TableFormat::kJsonl:
      if (options_.format == TableFormat::kJson) out_ << (any_row_ ? ",\n " : "\n ");
      out_ << '{';
      for (size_t i = 0; i < row.size(); ++i) {
        out_ << (i > 0 ? ", " : "") << JsonString(columns_[i]) << ": " << JsonValue(row[i]);
      }
      out_ << (options_.format == TableFormat::kJson ? "}" : "}\n");
      break;
    case TableFormat::kMarkdown:
      out_ << '|';
      for (size_t i = 0; i < row.size(); ++i) {
        out_ << ' ' << MarkdownCell(TextForPeople(row[i], columns_[i], options_.human)) << " |";
      }
      out_ << '\n';
      break;
  }
  any_row_ = true;
}

void TableWriter::WriteAligned(const std::vector<std::string>& cells, bool header) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += kGap;
    const std::string cell = options_.fit ? Truncate(cells[i], widths_[i]) : cells[i];
    line += right_aligned_[i] ? PadLeft(cell, widths_[i]) : PadRight(cell, widths_[i]);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out_ << (header ? Paint(Style::kBold, line, options_.color) : line) << '\n';
  if (!header) return;
  std::string rule;
  for (size_t i = 0; i < widths_.size(); ++i) {
    if (i > 0) rule += kGap;
    for (size_t n = 0; n < widths_[i]; ++n) rule += "─";
  }
  out_ << Paint(Style::kDim, rule, options_.color) << '\n';
}

void WriteTable(std::ostream& out, const std::vector<std::string>& columns,
                const std::vector<std::vector<Cell>>& rows, const TableOptions& options) {
  TableWriter writer(out, columns, options);
  for (const std::vector<Cell>& row : rows) writer.AddRow(row);
  writer.Finish();
}

std::string JsonString(std::string_view text) {
  std::string out = "\"";
  for (size_t position = 0; position < text.size();) {
    const std::optional<char32_t> code_point = NextCodePoint(text, position);
    if (!code_point) {
      AppendUtf8(0xfffd, out);
    } else if (*code_point == '"' || *code_point == '\\') {
      out += '\\';
      out += static_cast<char>(*code_point);
    } else if (*code_point == '\n') {
      out += "\\n";
    } else if (*code_point == '\r') {
      out += "\\r";
    } else if (*code_point == '\t') {
      out += "\\t";
    } else if (*code_point < 0x20 || (*code_point >= 0x7f && *code_point < 0xa0) ||
               *code_point == 0x2028 || *code_point == 0x2029) {
      out += fmt::format("\\u{:04x}", static_cast<uint32_t>(*code_point));
    } else {
      AppendUtf8(*code_point, out);
    }
  }
  return out + '"';
}

std::string JsonNumber(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "null";
}

}  // namespace oomdb::render
