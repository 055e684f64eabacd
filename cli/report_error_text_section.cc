#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/report_page.h"
#include "cli/units.h"

namespace oomdb {
namespace {

constexpr size_t kMaxTexts = 3;
constexpr size_t kMaxBuffers = 10;
constexpr size_t kMaxEvents = 6;
constexpr size_t kWords = 42;

class ErrorTextSection : ReportPage {
 public:
  explicit ErrorTextSection(const ReportPage& page) : ReportPage(page) {}

  void Write() {
    for (size_t i = 0; i < std::min(report_.texts.size(), kMaxTexts); ++i) Text(report_.texts[i]);
    if (report_.texts.size() > kMaxTexts) {
      Line(fmt::format("  … {} more texts: SELECT * FROM oom_events",
                       report_.texts.size() - kMaxTexts));
    }
  }

 private:
  void Text(const ReportErrorText& text) {
    std::string name = Safe(std::filesystem::path(text.path).filename().string());
    if (text.path == "-") name = "standard input";
    if (text.main && text.events[*text.main].line)
      name += fmt::format(" line {}", *text.events[*text.main].line);
    Section((text.failed ? "ERROR TEXT  " : "TEXT  ") + name, "read");
    if (text.main && !text.events[*text.main].message.empty())
      Indented(Truncate(Safe(text.events[*text.main].message), 3 * width_), 2);
    Numbers(text);
    Buffers(text);
    Others(text);
  }

  void Numbers(const ReportErrorText& text) {
    int64_t whole = 0;
    for (const ReportErrorNumber& number : text.numbers) whole = std::max(whole, number.bytes);
    for (const ReportErrorNumber& number : text.numbers) {
      std::string line = "  " + PadRight(number.name, 12) + PadLeft(HumanBytes(number.bytes), 10) +
                         "   " + PadRight(Truncate(number.words, kWords), kWords) + " ";
      line += Bar(static_cast<double>(number.bytes), static_cast<double>(whole),
                  width_ - DisplayWidth(line) - 1);
      Line(line);
    }
  }

  void Buffers(const ReportErrorText& text) {
    if (text.buffers.empty()) return;
    const size_t listed = std::min(text.buffers.size(), kMaxBuffers);
    bool any_padding = false;
    size_t shape_width = 13, line_width = 4;
    for (size_t i = 0; i < listed; ++i) {
      const ReportGroup& g = text.buffers[i];
      any_padding = any_padding || text.padding[i].value_or(0) > 0;
      shape_width = std::max(shape_width, DisplayWidth(Shape(g)));
      line_width = std::max(line_width, DisplayWidth(PlaceOf(g)));
    }
    shape_width = std::min(shape_width, width_ * 36 / 100);
    line_width = std::min(line_width, width_ * 22 / 100);
    const size_t padding_width = any_padding ? 10 : 0;
    const size_t op_width = width_ - 11 - padding_width - shape_width - 1 - line_width - 1;
    Line(Paint(Style::kDim,
               PadLeft("bytes", 9) + PadLeft(any_padding ? "padding" : "", padding_width) + "  " +
                   PadRight("count × shape", shape_width) + " " + PadRight("op", op_width) +
                   " line",
               color_));
    for (size_t i = 0; i < listed; ++i) {
      const ReportGroup& g = text.buffers[i];
      const int64_t padding = text.padding[i].value_or(0);
      Line(PadLeft(HumanBytes(g.bytes), 9) +
           PadLeft(padding > 0 ? HumanBytes(padding) : "", padding_width) + "  " +
           PadRight(Truncate(Shape(g), shape_width), shape_width) + " " +
           PadRight(TruncateFront(Safe(ShortOp(g.op_name)), op_width), op_width) + " " +
           Truncate(PlaceOf(g), line_width));
    }
  }

  static std::string Shape(const ReportGroup& g) {
    return fmt::format("{} × {}", g.count, g.shape.empty() ? "(no shape)" : Safe(g.shape));
  }
  static std::string PlaceOf(const ReportGroup& g) {
    return Safe(Place(g.source_file, g.source_line, ""));
  }

  // What else the text says; advice is no failure.
  void Others(const ReportErrorText& text) {
    size_t shown = 0, left = 0;
    for (size_t i = 0; i < text.events.size(); ++i) {
      const ReportErrorEvent& event = text.events[i];
      const bool is_main = text.main == i;
      if (is_main && event.repeat_count < 2) continue;
      if (is_main) {
        Line(Paint(Style::kDim, fmt::format("  printed {} times", event.repeat_count), color_));
        continue;
      }
      if (shown == kMaxEvents) {
        ++left;
        continue;
      }
      ++shown;
      const char* const what = !event.fatal ? "" : *event.fatal ? "fatal" : "advice";
      std::string line = "  " + PadRight(event.line ? fmt::format("line {}", *event.line) : "", 12);
      line += PadRight(what, 8);
      if (event.repeat_count > 1) line += fmt::format("{} × ", event.repeat_count);
      line += Safe(event.message);
      Line(Paint(Style::kDim, Truncate(line, width_), color_));
    }
    if (left > 0)
      Line(fmt::format("  … {} more: SELECT line, kind, fatal, message FROM oom_events", left));
  }
};

}  // namespace

void WriteErrorTextSection(const ReportPage& page) { ErrorTextSection(page).Write(); }

}  // namespace oomdb
