#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/report/page.h"
#include "render/units.h"

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
      Line(fmt::format("  … {} more logs: SELECT * FROM oom_events",
                       report_.texts.size() - kMaxTexts));
    }
  }

 private:
  void Text(const ReportErrorText& text) {
    std::string name = Safe(std::filesystem::path(text.path).filename().string());
    if (text.path == "-") name = "standard input";
    if (text.main && text.events[*text.main].line)
      name += fmt::format(" line {}", *text.events[*text.main].line);
    Section((text.failed ? "ERROR LOG  " : "LOG  ") + name, "read");
    if (text.main && !text.events[*text.main].message.empty())
      Indented(Truncate(Safe(text.events[*text.main].message), 3 * width_), 2);
    Numbers(text);
    if (!text.buffers.empty())
      Buffers(text.buffers, std::min(text.buffers.size(), kMaxBuffers), 36, 22);
    Others(text);
  }

  void Numbers(const ReportErrorText& text) {
    int64_t whole = 0;
    for (const ReportErrorNumber& number : text.numbers) whole = std::max(whole, number.bytes);
    for (const ReportErrorNumber& number : text.numbers) {
      BarLine(number.name, HumanBytes(number.bytes), number.words, kWords,
              static_cast<double>(number.bytes), static_cast<double>(whole));
    }
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
