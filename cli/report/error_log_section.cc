#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/report/page.h"
#include "render/units.h"

namespace oomdb::cli {
namespace {

constexpr size_t kMaxLogs = 3;
constexpr size_t kMaxBuffers = 10;
constexpr size_t kMaxEvents = 6;
constexpr size_t kErrorLogWords = 42;

class ErrorLogSection : ReportPage {
 public:
  explicit ErrorLogSection(const ReportPage& page) : ReportPage(page) {}

  void Write() {
    for (size_t i = 0; i < std::min(report_.logs.size(), kMaxLogs); ++i) Log(report_.logs[i]);
    if (report_.logs.size() > kMaxLogs) {
      Line(fmt::format("  … {} more logs: SELECT * FROM oom_events",
                       report_.logs.size() - kMaxLogs));
    }
  }

 private:
  void Log(const ReportErrorLog& log) {
    std::string name = render::Safe(std::filesystem::path(log.path).filename().string());
    if (log.path == "-") name = "standard input";
    if (log.main && log.events[*log.main].line)
      name += fmt::format(" line {}", *log.events[*log.main].line);
    Section((log.failed ? "ERROR LOG  " : "LOG  ") + name, "read");
    if (log.main && !log.events[*log.main].message.empty())
      Indented(render::Truncate(render::Safe(log.events[*log.main].message), 3 * width_), 2);
    LogNumbers(log, log.numbers.size(), kErrorLogWords);
    if (!log.buffers.empty())
      Buffers(log.buffers, std::min(log.buffers.size(), kMaxBuffers), 36, 22);
    Others(log);
  }

  // What else the log says; advice is no failure.
  void Others(const ReportErrorLog& log) {
    size_t shown = 0, left = 0;
    for (size_t i = 0; i < log.events.size(); ++i) {
      const ReportErrorEvent& event = log.events[i];
      const bool is_main = log.main == i;
      if (is_main && event.repeat_count < 2) continue;
      if (is_main) {
        Line(render::Paint(render::Style::kDim,
                           fmt::format("  printed {} times", event.repeat_count), color_));
        continue;
      }
      if (shown == kMaxEvents) {
        ++left;
        continue;
      }
      ++shown;
      const char* const what = !event.fatal ? "" : *event.fatal ? "fatal" : "advice";
      std::string line =
          "  " + render::PadRight(event.line ? fmt::format("line {}", *event.line) : "", 12);
      line += render::PadRight(what, 8);
      if (event.repeat_count > 1) line += fmt::format("{} × ", event.repeat_count);
      line += render::Safe(event.message);
      Line(render::Paint(render::Style::kDim, render::Truncate(line, width_), color_));
    }
    if (left > 0)
      Line(fmt::format("  … {} more: SELECT line, kind, fatal, message FROM oom_events", left));
  }
};

}  // namespace

void WriteErrorLogSection(const ReportPage& page) { ErrorLogSection(page).Write(); }

}  // namespace oomdb::cli
