#include "cli/compare/profiles.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>
#include <vector>

#include "cli/compare/words.h"
#include "cli/report/page.h"
#include "cli/report/values.h"
#include "render/table.h"
#include "render/terminal.h"
#include "render/units.h"
#include "schema/query.h"

namespace oomdb {
namespace {

// The last profile of each host of the two runs, line by line; lines whose bytes are not known
// can't be compared.
constexpr char kGrowth[] =
    "WITH last AS (SELECT c.capture_id, c.run, ROW_NUMBER() OVER (PARTITION BY c.run, c.host ORDER "
    "BY c.started_unix_ns DESC NULLS LAST, c.path DESC, c.capture_id DESC) AS place FROM captures "
    "c WHERE c.kind = 'device_memory_profile' AND c.run IN (:base, :new)), "
    "sides AS (SELECT l.kind, l.source_file, l.source_line, l.function_name, "
    "CASE WHEN a.run = :base THEN l.bytes ELSE 0 END AS base_bytes, "
    "CASE WHEN a.run = :new THEN l.bytes ELSE 0 END AS new_bytes, "
    "CASE WHEN a.run = :base THEN COALESCE(l.count, 0) ELSE 0 END AS base_count, "
    "CASE WHEN a.run = :new THEN COALESCE(l.count, 0) ELSE 0 END AS new_count "
    "FROM last a JOIN profile_lines l ON l.capture_id = a.capture_id WHERE a.place = 1 AND l.bytes "
    "IS NOT NULL) "
    "SELECT kind, source_file, source_line, function_name, SUM(base_bytes) AS base_bytes, "
    "SUM(new_bytes) AS new_bytes, SUM(new_bytes) - SUM(base_bytes) AS grown_bytes, "
    "SUM(base_count) AS base_count, SUM(new_count) AS new_count FROM sides GROUP BY kind, "
    "source_file, source_line, function_name ORDER BY grown_bytes DESC, new_bytes DESC, kind, "
    "source_file, source_line, function_name";

struct LineGrowth {
  std::string kind, place;
  int64_t base_bytes = 0, new_bytes = 0, base_count = 0, new_count = 0;

  int64_t grown() const { return new_bytes - base_bytes; }
};

std::vector<LineGrowth> ReadGrowth(const Rows& rows) {
  std::vector<LineGrowth> lines;
  for (const Row& row : rows.rows) {
    LineGrowth line{Text(row[0]),    Safe(Place(Text(row[1]), MaybeInteger(row[2]), Text(row[3]))),
                    Integer(row[4]), Integer(row[5]),
                    Integer(row[7]), Integer(row[8])};
    if (line.place.empty()) line.place = "no line outside installed packages";
    if (line.kind == "executable") line.place += " (code)";
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string Held(int64_t bytes, int64_t count) {
  return count == 0 ? "–" : fmt::format("{} in {}", HumanBytes(bytes), count);
}

std::string Sentence(const std::vector<LineGrowth>& lines, const std::string& base,
                     const std::string& changed) {
  int64_t before = 0;
  int64_t after = 0;
  const LineGrowth* most = nullptr;
  for (const LineGrowth& line : lines) {
    before += line.base_bytes;
    after += line.new_bytes;
  }
  for (const LineGrowth& line : lines) {
    const bool same_way = (line.grown() > 0) == (after > before);
    if (same_way && (most == nullptr || std::abs(line.grown()) > std::abs(most->grown())))
      most = &line;
  }
  const std::string sizes = fmt::format("{} → {}", HumanBytes(before), HumanBytes(after));
  if (before == after) return fmt::format("{} holds as much as {}: {}", changed, base, sizes);
  const char* const more = after > before ? "more" : "less";
  std::string sentence = fmt::format("{} holds {} {} than {} ({})", changed,
                                     HumanBytes(std::abs(after - before)), more, base, sizes);
  if (most != nullptr) {
    sentence +=
        fmt::format("; {} {} is {}", HumanBytes(std::abs(most->grown())), more, most->place);
  }
  return sentence;
}

}  // namespace

bool HoldOnlyProfiles(Database& database, const std::string& base, const std::string& changed) {
  for (const std::string& run : {base, changed}) {
    const std::vector<Row> rows =
        Query(database,
              "SELECT COUNT(*), SUM(CASE WHEN kind = 'device_memory_profile' THEN 1 ELSE 0 END) "
              "FROM captures WHERE run = :run",
              {{"run", run}})
            .rows;
    if (Integer(rows[0][0]) == 0 || Integer(rows[0][0]) != Integer(rows[0][1])) return false;
  }
  return true;
}

void CompareProfiles(Database& database, const std::string& base, const std::string& changed,
                     size_t top, Output& output) {
  const Rows rows = Query(database, kGrowth, {{"base", base}, {"new", changed}});
  const TableOptions look = output.table_options();
  if (look.format != TableFormat::kTable && look.format != TableFormat::kMarkdown) {
    WriteTable(output.stream(), rows.columns, rows.rows, look);
    output.Finish();
    return;
  }
  const std::vector<LineGrowth> lines = ReadGrowth(rows);
  const auto [base_name, new_name] = ShortNames(base, changed);
  output.stream() << Paint(Style::kBold, Sentence(lines, base_name, new_name), look.color)
                  << "\n\n";
  std::vector<std::vector<Cell>> table;
  int64_t same = 0;
  int64_t left_out = 0;
  for (const LineGrowth& line : lines) {
    if (line.grown() == 0) {
      ++same;
    } else if (table.size() == top) {
      ++left_out;
    } else {
      table.push_back({Signed(line.grown()), Held(line.base_bytes, line.base_count),
                       Held(line.new_bytes, line.new_count), line.place});
    }
  }
  if (!table.empty())
    WriteTable(output.stream(), {"difference", base_name, new_name, "line"}, table, look);
  if (left_out > 0) output.stream() << "… " << Plural(left_out, "other difference") << " (--top)\n";
  if (same > 0) output.stream() << "and " << Plural(same, "line") << " unchanged\n";
  output.Finish();
}

}  // namespace oomdb
