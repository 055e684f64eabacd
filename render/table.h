// Rows in the formats of --format.
#ifndef OOMDB_RENDER_TABLE_H_
#define OOMDB_RENDER_TABLE_H_

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace oomdb::render {

// NULL, an integer, a real, or text. Text may be any bytes: each format makes it safe its own way.
using Cell = std::variant<std::monostate, int64_t, double, std::string>;

enum class TableFormat { kTable, kCsv, kJson, kJsonl, kMarkdown };

// "table", "csv", "json", "jsonl" or "markdown"; throws Error (usage) for anything else.
TableFormat ParseTableFormat(std::string_view text);

struct TableOptions {
  TableFormat format = TableFormat::kTable;
  // Sizes (columns `bytes` and `…_bytes`) and durations (`…_ns`) in units; table and markdown only.
  // Machine formats give exact integers always.
  bool human = false;
  // Cut long cells with "…" so that a row fits `width` columns; table only, for a terminal.
  bool fit = false;
  size_t width = 100;
  bool color = false;  // table only.

  // Whether people read it: sentences and units then, else all rows and exact numbers.
  bool for_people() const {
    return format == TableFormat::kTable || format == TableFormat::kMarkdown;
  }
};

// Writes rows as they come; memory stays bounded however many there are. In detail:
//   table     aligned by display width, numbers to the right, control characters made visible, NULL
//             as "NULL"; widths are those of the first 1000 rows.
//   csv       RFC 4180 quoting, a header line, lines end in LF; NULL is empty, the empty text is "".
//   json      an array of objects, keys in the order of the columns; invalid UTF-8 becomes U+FFFD. A
//             name that comes twice gets _2, so that no value is lost. Infinite numbers are null.
//   jsonl     the same objects, one a line.
//   markdown  a GitHub table; |, < and line breaks are escaped.
class TableWriter {
 public:
  TableWriter(std::ostream& out, std::vector<std::string> columns, TableOptions options);

  // Requires as many cells as there are columns.
  void AddRow(std::vector<Cell> row);
  // Must be called once, after the last row.
  void Finish();

 private:
  void WriteHeader();
  void WriteRow(const std::vector<Cell>& row);
  void WriteBufferedRows();
  void MeasureColumns();
  void WriteAligned(const std::vector<std::string>& cells, bool header);

  std::ostream& out_;
  std::vector<std::string> columns_;
  const TableOptions options_;
  std::vector<std::vector<Cell>> buffered_;  // table and markdown, until the widths are known.
  std::vector<size_t> widths_;
  std::vector<bool> right_aligned_;
  bool header_written_ = false;
  bool any_row_ = false;
};

// All at once.
void WriteTable(std::ostream& out, const std::vector<std::string>& columns,
                const std::vector<std::vector<Cell>>& rows, const TableOptions& options);

// A JSON string literal with its quotes, for who writes JSON of another form.
std::string JsonString(std::string_view text);

// A JSON number; "null" for what JSON can't say (infinite, not a number).
std::string JsonNumber(double value);

}  // namespace oomdb::render

#endif  // OOMDB_RENDER_TABLE_H_
