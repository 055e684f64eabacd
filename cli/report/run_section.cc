#include <fmt/format.h>

#include <algorithm>

#include "cli/report/page.h"
#include "render/units.h"

namespace oomdb::cli {
namespace {

constexpr size_t kMaxDevices = 8;
constexpr size_t kRunMaxLive = 6;
constexpr size_t kMaxBetween = 5;

class RunSection : ReportPage {
 public:
  explicit RunSection(const ReportPage& page) : ReportPage(page) {}

  void Write() { Run(); }

 private:
  // In-use at the starts as a small picture: eight heights from 0 to the highest.
  static std::string Staircase(const std::vector<int64_t>& values, size_t width) {
    const int64_t most = *std::max_element(values.begin(), values.end());
    std::string picture;
    const size_t columns = std::min(values.size(), width);
    for (size_t i = 0; i < columns; ++i) {
      const int64_t value =
          values[columns == 1 ? values.size() - 1 : i * (values.size() - 1) / (columns - 1)];
      picture += render::HeightBar(value, most, /*always=*/true);
    }
    return picture;
  }

  void RunLine(const std::string& what, const std::string& size, const std::string& words) {
    const std::string line =
        "  " + render::PadRight(what, 34) + render::PadLeft(size, 10) + "   " + words;
    Line(render::Truncate(line, width_));
  }

  void Run() {
    const ReportRun& run = *report_.run;
    const ReportDevice& device = run.devices[run.shown];
    const std::string kind = render::Upper(device.kind);
    std::string name =
        kind.empty() ? "" : kind + (device.ordinal ? fmt::format(" {}", *device.ordinal) : "");
    Section("RUN  " + render::Safe(report_.plan->Label()) + (name.empty() ? "" : " on " + name),
            shown().has_allocators ? "measured" : "");
    if (run.devices.size() > 1) Devices();
    const auto& starts = device.in_use_at_starts;
    RunLine("executions", std::to_string(device.execution_count), LaunchWords(device));
    if (!starts.empty()) {
      RunLine(fmt::format("in use at the start of {}", starts.size() == 1 ? "it" : "the first"),
              render::HumanBytes(starts.front()), "");
      if (starts.size() > 1)
        RunLine("                    of the last", render::HumanBytes(starts.back()),
                Staircase(starts, 40));
    } else {
      RunLine("in use at the starts", "–", "no allocator events in the capture");
    }
    if (device.capture_peak_bytes) {
      std::string words;
      if (device.capacity_bytes) {
        words = fmt::format("of {}", render::HumanBytes(*device.capacity_bytes));
        if (device.memory_bytes && *device.memory_bytes > 0 &&
            *device.memory_bytes != *device.capacity_bytes) {
          words += fmt::format(" ({} of the device's {})",
                               render::HumanPercent(*device.capacity_bytes, *device.memory_bytes),
                               render::HumanBytes(*device.memory_bytes));
        }
      }
      RunLine("peak in the capture", render::HumanBytes(*device.capture_peak_bytes), words);
      if (device.peak_bytes && *device.peak_bytes > *device.capture_peak_bytes) {
        RunLine("peak before it began", render::HumanBytes(*device.peak_bytes),
                "start-up, compiling, tuning");
      }
    }
    if (device.wait_count > 0) {
      RunLine("waits for memory", std::to_string(device.wait_count),
              "the longest " + render::HumanNanoseconds(device.longest_wait_ns) + ", " +
                  device.wait_evidence);
    }
    if (!run.live.empty()) {
      Line("  live at the start of the last one, by origin");
      Live(run.live, kRunMaxLive);
      if (run.live.size() > kRunMaxLive) {
        int64_t bytes = 0;
        for (size_t i = kRunMaxLive; i < run.live.size(); ++i) bytes += run.live[i].bytes;
        Line(render::PadLeft(render::HumanBytes(bytes), 14) +
             fmt::format(
                 "  {} more",
                 render::Plural(static_cast<int64_t>(run.live.size() - kRunMaxLive), "origin")));
      }
    }
    if (!run.between.empty() && WantsDetail()) {
      std::string events;
      for (size_t i = 0; i < std::min(run.between.size(), kMaxBetween); ++i)
        events += (i == 0 ? "" : " · ") + WordsOf(run.between[i]);
      bool first = true;
      for (const std::string& part : render::Wrap(events, width_ - 32)) {
        Line(render::PadRight(first ? "  called between" : "", 32) + part);
        first = false;
      }
    }
  }

  static std::string WordsOf(const ReportGapCall& call) {
    std::string words = render::Safe(call.event);
    if (!call.caller.empty()) words += " at " + render::Safe(call.caller);
    if (call.gaps < call.all_gaps) words += fmt::format(" ({} of {})", call.gaps, call.all_gaps);
    return words;
  }

  static std::string LaunchWords(const ReportDevice& device) {
    if (device.failed_count == 0) return "";
    std::string words = device.failed_count == 1 ? "execution" : "executions";
    for (size_t i = 0; i < std::min<size_t>(device.failed_sequences.size(), 5); ++i) {
      words += fmt::format("{} {}", i == 0 ? "" : ",", device.failed_sequences[i]);
    }
    if (device.failed_sequences.size() > 5)
      words += fmt::format(" and {} more", device.failed_sequences.size() - 5);
    return words + " failed before launch";
  }

  void Devices() {
    const ReportRun& run = *report_.run;
    Line(render::Paint(
        render::Style::kDim,
        "  device   executions  failed  first start   last start         peak     capacity  waits",
        color_));
    for (size_t i = 0; i < std::min(run.devices.size(), kMaxDevices); ++i) {
      const ReportDevice& d = run.devices[i];
      const auto& starts = d.in_use_at_starts;
      Line(fmt::format(
          "{}{}{:>11}{:>8}{}{}{}{}{:>7}", i == run.shown ? "▸ " : "  ",
          render::PadRight(d.ordinal ? std::to_string(*d.ordinal) : "–", 8), d.execution_count,
          d.failed_count,
          render::PadLeft(starts.empty() ? "–" : render::HumanBytes(starts.front()), 13),
          render::PadLeft(starts.empty() ? "–" : render::HumanBytes(starts.back()), 13),
          render::PadLeft(render::BytesOrDash(d.capture_peak_bytes), 13),
          render::PadLeft(render::BytesOrDash(d.capacity_bytes), 13), d.wait_count));
    }
    if (run.devices.size() > kMaxDevices)
      Line(fmt::format("  … {} more devices", run.devices.size() - kMaxDevices));
  }
};

}  // namespace

void WriteRunSection(const ReportPage& page) { RunSection(page).Write(); }

}  // namespace oomdb::cli
