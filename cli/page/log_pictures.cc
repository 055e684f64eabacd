// What an error log says: its buffers as tiles, with their padding hatched, and its numbers as bars.
#include <fmt/format.h>

#include <algorithm>

#include "cli/page/context.h"
#include "cli/page/plot.h"
#include "cli/page/tiles.h"
#include "render/scale.h"
#include "render/units.h"
#include "render/words.h"

namespace oomdb::cli::page {
namespace {

constexpr double kLogPicturesHeight = 320;
constexpr size_t kMaxTiles = 60;  // What is left is one tile.

// The first log that tells of a failure.
const ReportErrorLog* FailedLog(const Report& report) {
  for (const ReportErrorLog& log : report.logs) {
    if (log.failed && log.main) return &log;
  }
  return nullptr;
}

void WriteTile(render::Markup& out, const ReportGroup& g, const Tile& tile, bool words) {
  const auto svg =
      out.In("svg", {{"x", render::Percent(tile.x)},
                     {"y", render::Coordinate(tile.y * kLogPicturesHeight)},
                     {"width", render::Percent(tile.width)},
                     {"height", render::Coordinate(tile.height * kLogPicturesHeight)}});
  const std::string name = render::CountOf(g.count, g.shape);
  const std::string place = render::Place(g.source_file, g.source_line, g.function_name);
  const std::string op = render::ShortOp(g.op_name);
  const int64_t padding = g.padding_bytes.value_or(0);
  std::string title = name + ", " + render::HumanBytes(g.bytes);
  if (padding > 0) title += ", of these " + render::HumanBytes(padding) + " padding of the tiles";
  for (const std::string& more : {op, place})
    if (!more.empty()) title += ", " + more;
  out.Leaf("title", {}, title);
  out.Leaf("rect", {{"width", "100%"}, {"height", "100%"}, {"class", "cell f-forward"}});
  if (padding > 0 && g.bytes > 0) {
    const double share = static_cast<double>(padding) / static_cast<double>(g.bytes);
    out.Leaf("rect", {{"x", render::Percent(1 - share)},
                      {"width", render::Percent(share)},
                      {"height", "100%"},
                      {"class", "padding"}});
  }
  if (!words) return;
  out.Leaf("text", {{"x", "8"}, {"y", "18"}, {"class", "t-forward"}}, name);
  out.Leaf("text", {{"x", "8"}, {"y", "34"}, {"class", "s t-forward"}},
           render::HumanBytes(g.bytes) +
               (padding > 0 ? ", " + render::HumanBytes(padding) + " padding" : ""));
  if (tile.height * kLogPicturesHeight > 56)
    out.Leaf("text", {{"x", "8"}, {"y", "50"}, {"class", "s t-forward"}},
             op.empty() ? place : op + (place.empty() ? "" : "  " + place));
}

void WriteBufferTable(render::Markup& out, const std::vector<ReportGroup>& buffers) {
  const auto details = out.In("details");
  out.Leaf("summary", {}, "As a table");
  const auto frame = out.In("div", {{"class", "wide"}});
  const auto table = out.In("table", {{"class", "t"}});
  {
    const auto head = out.In("tr");
    for (const char* name : {"bytes", "padding", "count × shape", "operation", "line"})
      out.Leaf("th", {}, name);
  }
  for (size_t i = 0; i < std::min(buffers.size(), kMaxTiles); ++i) {
    const ReportGroup& g = buffers[i];
    const auto row = out.In("tr");
    out.Leaf("td", {{"class", "r"}}, render::HumanBytes(g.bytes));
    out.Leaf("td", {{"class", "r"}}, g.padding_bytes ? render::HumanBytes(*g.padding_bytes) : "–");
    const auto cell = [&](const std::string& text) { out.Leaf("td", {}, text); };
    cell(render::CountOf(g.count, g.shape));
    cell(render::ShortOp(g.op_name));
    cell(render::Place(g.source_file, g.source_line, g.function_name));
  }
}

}  // namespace

bool WriteLogBuffers(const Context& context) {
  const ReportErrorLog* const log = FailedLog(context.report);
  if (log == nullptr || log->buffers.empty()) return false;
  render::Markup& out = context.out;
  std::vector<ReportGroup> shown = log->buffers;
  if (shown.size() > kMaxTiles) {
    ReportGroup rest;
    rest.shape = "smaller ones";
    for (size_t i = kMaxTiles - 1; i < shown.size(); ++i) {
      rest.bytes =
          shown[i].bytes > INT64_MAX - rest.bytes ? INT64_MAX : rest.bytes + shown[i].bytes;
      rest.count += shown[i].count;
    }
    shown.resize(kMaxTiles - 1);
    shown.push_back(rest);
  }
  std::vector<int64_t> sizes;
  int64_t whole = 0;
  for (const ReportGroup& g : shown) {
    sizes.push_back(g.bytes);
    whole = g.bytes > INT64_MAX - whole ? INT64_MAX : whole + g.bytes;
  }
  if (whole <= 0) return false;
  const auto section = out.In("section");
  WriteHead(out, "The buffers that the error log lists",
            fmt::format("{} together; a tile is as large as its bytes, padding is hatched.",
                        render::HumanBytes(whole)),
            "read");
  {
    const auto svg = out.In("svg", {{"height", render::Coordinate(kLogPicturesHeight)},
                                    {"role", "img"},
                                    {"aria-label", "Buffers by size; the table below has them"}});
    {
      const auto defs = out.In("defs");
      WriteHatch(out, "padding", "hatch pale");
    }
    // Squares on a window of usual width.
    const std::vector<Tile> tiles = TilesOf(sizes, 1100 / kLogPicturesHeight);
    for (size_t i = 0; i < shown.size(); ++i)
      WriteTile(out, shown[i], tiles[i],
                tiles[i].width > 0.12 && tiles[i].height * kLogPicturesHeight > 40);
  }
  WriteBufferTable(out, shown);
  return true;
}

bool WriteLogNumbers(const Context& context) {
  const ReportErrorLog* const log = FailedLog(context.report);
  if (log == nullptr || log->numbers.empty()) return false;
  render::Markup& out = context.out;
  int64_t highest = 0;
  for (const ReportErrorNumber& n : log->numbers) highest = std::max(highest, n.bytes);
  const auto section = out.In("section");
  WriteHead(out, "What the error log says", "", "read");
  if (!log->events.empty()) {
    const ReportErrorEvent& event = log->events[*log->main];
    const auto pre = out.In("pre", {{"class", "said"}});
    out.Text((event.line ? fmt::format("{}: ", *event.line) : "") + event.message);
  }
  const auto table = out.In("table", {{"class", "t numbers"}});
  for (const ReportErrorNumber& n : log->numbers) {
    const auto row = out.In("tr");
    out.Leaf("td", {}, n.name);
    out.Leaf("td", {{"class", "r"}}, render::HumanBytes(n.bytes));
    {
      const auto cell = out.In("td", {{"class", "spark long"}});
      const auto svg = out.In("svg", {{"height", "14"}, {"aria-hidden", "true"}});
      const double share =
          highest > 0 ? static_cast<double>(n.bytes) / static_cast<double>(highest) : 0;
      out.Leaf("rect", {{"y", "2"},
                        {"height", "10"},
                        {"width", render::Percent(share)},
                        {"class", n.key == "capacity_bytes" ? "f-parameter" : "f-forward"}});
    }
    out.Leaf("td", {}, n.words);
  }
  return true;
}

}  // namespace oomdb::cli::page
