#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "cli/report_page.h"
#include "cli/units.h"

namespace oomdb {
namespace {

class ProfileSection : ReportPage {
 public:
  explicit ProfileSection(const ReportPage& page) : ReportPage(page), profile_(*report_.profile) {}

  void Write() {
    Section("WHO HOLDS THE MEMORY, BY PYTHON LINE", "measured");
    Line(fmt::format("  {} in {}, as of {}", HumanBytes(profile_.buffer_bytes),
                     Plural(profile_.buffer_count, "buffer"),
                     Safe(std::filesystem::path(profile_.path).filename().string())));
    std::set<std::string> devices;
    for (const ReportProfileLine& line : profile_.lines) devices.insert(line.device);
    for (const ReportProfileLine& line : profile_.lines) {
      std::string text = PadLeft(BytesOrDash(line.bytes), 14) + "  " +
                         PadLeft(Plural(line.count, "buffer"), 12) + "  ";
      const std::string place = Place(line.source_file, line.source_line, line.function_name);
      text += place.empty() ? "no line outside installed packages" : Safe(place);
      if (devices.size() > 1 && !line.device.empty()) text += " · " + Safe(line.device);
      Line(Truncate(text, width_));
    }
    if (profile_.more_lines > 0) {
      Line(PadLeft(HumanBytes(profile_.more_bytes), 14) +
           fmt::format("  {} more (--top)", Plural(profile_.more_lines, "line")));
    }
    if (profile_.executable_count > 0) {
      std::string text = "  and " + Plural(profile_.executable_count, "executable");
      // Backends that can't tell say 0.
      if (profile_.executable_bytes.value_or(0) > 0)
        text += fmt::format(", {} of code", HumanBytes(*profile_.executable_bytes));
      Line(text);
    }
  }

 private:
  const ReportProfile& profile_;
};

}  // namespace

void WriteProfileSection(const ReportPage& page) { ProfileSection(page).Write(); }

}  // namespace oomdb
