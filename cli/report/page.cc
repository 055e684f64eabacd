#include "cli/report/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "render/units.h"

namespace oomdb::cli {
namespace {

constexpr size_t kMinWidth = 80;

}  // namespace

ReportPage::ReportPage(const Report& report, const ReportStyle& style, std::string& out)
    : report_(report),
      width_(std::max(style.width, kMinWidth)),
      color_(style.color),
      top_(style.top),
      stack_(style.stack),
      out_(out) {}

void ReportPage::Line(std::string_view text) {
  const size_t last = text.find_last_not_of(' ');
  out_ += text.substr(0, last == std::string_view::npos ? 0 : last + 1);
  out_ += '\n';
}

void ReportPage::Spread(const std::string& left, const std::string& right,
                        std::optional<render::Style> style) {
  const size_t room = width_ - render::DisplayWidth(right) - (right.empty() ? 0 : 2);
  const std::string cut = render::Truncate(left, room);
  std::string line = style ? render::Paint(*style, cut, color_) : cut;
  if (!right.empty()) {
    line += std::string(width_ - render::DisplayWidth(cut) - render::DisplayWidth(right), ' ');
    line += render::Paint(render::Style::kDim, right, color_);
  }
  Line(line);
}

void ReportPage::Section(const std::string& title, const std::string& right) {
  Line("");
  Spread(title, right, render::Style::kBold);
}

void ReportPage::Indented(const std::string& text, size_t indent) {
  for (const std::string& part : render::Wrap(text, width_ - indent))
    Line(std::string(indent, ' ') + part);
}

void ReportPage::BarLine(const std::string& name, const std::string& size, const std::string& words,
                         size_t words_width, double part, double whole) {
  std::string line = "  " + render::PadRight(name, 12) + render::PadLeft(size, 10) + "   " +
                     render::PadRight(render::Truncate(words, words_width), words_width) + " ";
  if (whole > 0) line += render::Bar(part, whole, width_ - render::DisplayWidth(line) - 1);
  Line(line);
}

void ReportPage::LogNumbers(const ReportErrorLog& log, size_t most, size_t words_width) {
  int64_t whole = 0;
  for (const ReportErrorNumber& number : log.numbers) whole = std::max(whole, number.bytes);
  for (size_t i = 0; i < std::min(log.numbers.size(), most); ++i) {
    const ReportErrorNumber& number = log.numbers[i];
    BarLine(number.name, render::HumanBytes(number.bytes), number.words, words_width,
            static_cast<double>(number.bytes), static_cast<double>(whole));
  }
}

void ReportPage::Buffers(const std::vector<ReportGroup>& groups, size_t listed,
                         size_t shape_percent, size_t line_percent) {
  struct Cells {
    std::string bytes, padding, shape, role, op, line;
  };
  std::vector<Cells> rows = {{"bytes", "padding", "count × shape", "role", "op", "line"}};
  size_t shape_width = 13, line_width = 4, padding_width = 0, role_width = 0;
  for (size_t i = 0; i < listed; ++i) {
    const ReportGroup& g = groups[i];
    const bool padded = g.padding_bytes.value_or(0) > 0;
    rows.push_back(
        {render::HumanBytes(g.bytes), padded ? render::HumanBytes(*g.padding_bytes) : "",
         fmt::format("{} × {}", g.count, g.shape.empty() ? "(no shape)" : render::Safe(g.shape)),
         g.role + (g.rematerialized ? " remat" : ""), render::Safe(render::ShortOp(g.op_name)),
         render::Safe(render::Place(g.source_file, g.source_line, g.function_name))});
    shape_width = std::max(shape_width, render::DisplayWidth(rows.back().shape));
    line_width = std::max(line_width, render::DisplayWidth(rows.back().line));
    if (padded) padding_width = 10;
    if (!g.role.empty())
      role_width = std::max({role_width, size_t{8}, render::DisplayWidth(rows.back().role)});
  }
  shape_width = std::min(shape_width, width_ * shape_percent / 100);
  line_width = std::min(line_width, width_ * line_percent / 100);
  const size_t role_room = role_width == 0 ? 0 : role_width + 1;
  const size_t op_width = width_ - 13 - padding_width - shape_width - role_room - line_width;
  for (const Cells& row : rows) {
    std::string line = render::PadLeft(row.bytes, 9);
    if (padding_width > 0) line += render::PadLeft(row.padding, padding_width);
    line += "  " + render::PadRight(render::Truncate(row.shape, shape_width), shape_width) + " ";
    if (role_room > 0) line += render::PadRight(row.role, role_width) + " ";
    line += render::PadRight(render::TruncateFront(row.op, op_width), op_width) + " " +
            render::Truncate(row.line, line_width);
    Line(&row == &rows.front() ? render::Paint(render::Style::kDim, line, color_) : line);
    if (stack_ && &row != &rows.front()) Stack(groups[&row - &rows.front() - 1].stack);
  }
}

void ReportPage::Stack(const std::vector<std::string>& frames) {
  std::string calls;
  for (const std::string& frame : frames) {
    calls += (calls.empty() ? "" : " ← ") + render::Safe(frame);
  }
  if (!calls.empty()) Indented(calls, 11);
}

void ReportPage::Live(const std::vector<ReportLiveGroup>& groups, size_t most) {
  for (size_t i = 0; i < std::min(groups.size(), most); ++i) {
    const ReportLiveGroup& live = groups[i];
    Line(render::Truncate(render::PadLeft(render::HumanBytes(live.bytes), 14) + "  " +
                              (live.count > 1 ? fmt::format("{} × ", live.count) : "") +
                              render::Safe(live.origin.empty() ? "unknown" : live.origin),
                          width_));
  }
}

bool ReportPage::WantsDetail() const {
  return top_.has_value() || shown().failed_count > 0 ||
         std::any_of(report_.findings.begin(), report_.findings.end(),
                     [](const ReportFinding& f) { return f.severity != "info"; });
}

}  // namespace oomdb::cli
