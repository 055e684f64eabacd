#include "cli/compare/profiles.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>
#include <vector>

#include "cli/compare/difference.h"
#include "render/table.h"
#include "render/terminal.h"
#include "render/units.h"
#include "render/words.h"
#include "schema/query.h"

namespace oomdb::cli {
namespace {

constexpr char kColumns[] =
    "kind, source_file, source_line, function_name, base_bytes, new_bytes, grown_bytes, "
    "base_count, new_count";
constexpr char kProfileOrder[] =
    "grown_bytes DESC, new_bytes DESC, kind, source_file, source_line, function_name";

std::vector<Difference> ReadGrowth(const std::vector<schema::Record>& rows) {
  std::vector<Difference> lines;
  for (const schema::Record& row : rows) {
    Difference& line = lines.emplace_back();
    line.base_bytes = row.Integer("base_bytes");
    line.new_bytes = row.Integer("new_bytes");
    line.delta_bytes = row.Integer("grown_bytes");
    line.base_count = row.Integer("base_count");
    line.new_count = row.Integer("new_count");
    line.place = render::Safe(render::Place(
        row.Text("source_file"), row.MaybeInteger("source_line"), row.Text("function_name")));
    if (line.place.empty()) line.place = "no line outside installed packages";
    if (row.Text("kind") == "executable") line.place += " (code)";
  }
  return lines;
}

std::string Held(std::optional<int64_t> bytes, std::optional<int64_t> count) {
  return count == 0 ? "–" : fmt::format("{} in {}", render::HumanBytes(*bytes), *count);
}

std::string Sentence(const std::vector<Difference>& lines, const std::string& base,
                     const std::string& changed) {
  int64_t before = 0, after = 0;
  std::vector<const Difference*> all;
  for (const Difference& line : lines) {
    before += *line.base_bytes;
    after += *line.new_bytes;
    all.push_back(&line);
  }
  const std::string sizes =
      fmt::format("{} → {}", render::HumanBytes(before), render::HumanBytes(after));
  if (before == after) return fmt::format("{} holds as much as {}: {}", changed, base, sizes);
  const char* const more = after > before ? "more" : "less";
  std::string sentence =
      fmt::format("{} holds {} {} than {} ({})", changed,
                  render::HumanBytes(std::abs(after - before)), more, base, sizes);
  if (const Difference* const most = LeadingDifference(all, after - before)) {
    sentence += fmt::format("; {} {} is {}", render::HumanBytes(std::abs(most->delta())), more,
                            most->place);
  }
  return sentence;
}

}  // namespace

bool HoldOnlyProfiles(schema::Database& database, const std::string& base,
                      const std::string& changed) {
  for (const std::string& run : {base, changed}) {
    const std::vector<schema::Record> rows =
        schema::ReadView(database, "run_summaries", {{"run", run}});
    if (rows.empty() || rows[0].Integer("profile_count") != rows[0].Integer("capture_count"))
      return false;
  }
  return true;
}

void CompareProfiles(schema::Database& database, const std::string& base,
                     const std::string& changed, size_t top, Output& output,
                     const std::string& first) {
  const schema::Rows rows =
      schema::ReadTable(database, "profile_comparison", kColumns,
                        {{"base_run", base}, {"new_run", changed}}, kProfileOrder);
  const render::TableOptions look = output.table_options();
  if (!look.for_people()) {
    render::WriteTable(output.stream(), rows.columns, rows.rows, look);
    output.Finish();
    return;
  }
  const std::vector<Difference> lines = ReadGrowth(schema::Records(rows));
  const auto [base_name, new_name] = ShortNames(base, changed);
  if (!first.empty())
    output.stream() << render::Paint(render::Style::kBold, first, look.color) << '\n';
  output.stream() << render::Paint(render::Style::kBold, Sentence(lines, base_name, new_name),
                                   look.color)
                  << "\n\n";
  std::vector<std::vector<render::Cell>> table;
  int64_t same = 0;
  int64_t left_out = 0;
  for (const Difference& line : lines) {
    if (line.delta() == 0) {
      ++same;
    } else if (table.size() == top) {
      ++left_out;
    } else {
      table.push_back({render::SignedBytes(line.delta()), Held(line.base_bytes, line.base_count),
                       Held(line.new_bytes, line.new_count), line.place});
    }
  }
  if (!table.empty())
    render::WriteTable(output.stream(), {"difference", base_name, new_name, "line"}, table, look);
  if (left_out > 0)
    output.stream() << "… " << render::Plural(left_out, "other difference") << " (--top)\n";
  if (same > 0) output.stream() << "and " << render::Plural(same, "line") << " unchanged\n";
  output.Finish();
}

}  // namespace oomdb::cli
