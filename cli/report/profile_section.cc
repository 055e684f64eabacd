#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "cli/report/page.h"
#include "render/units.h"

namespace oomdb::cli {
namespace {

constexpr size_t kLines = 10;

class ProfileSection : ReportPage {
 public:
  explicit ProfileSection(const ReportPage& page) : ReportPage(page), profile_(*report_.profile) {}

  void Write() {
    Section("WHO HOLDS THE MEMORY, BY PYTHON LINE", "measured");
    Line(fmt::format("  {} in {}, as of {}", render::HumanBytes(profile_.buffer_bytes),
                     render::Plural(profile_.buffer_count, "buffer"),
                     render::Safe(std::filesystem::path(profile_.path).filename().string())));
    const size_t listed = std::min(profile_.lines.size(), Top(kLines));
    std::set<std::string> devices;
    for (size_t i = 0; i < listed; ++i) devices.insert(profile_.lines[i].device);
    for (size_t i = 0; i < listed; ++i) {
      const ReportProfileLine& line = profile_.lines[i];
      std::string text = render::PadLeft(render::BytesOrDash(line.bytes), 14) + "  " +
                         render::PadLeft(render::Plural(line.count, "buffer"), 12) + "  ";
      const std::string place =
          render::Place(line.source_file, line.source_line, line.function_name);
      text += place.empty() ? "no line outside installed packages" : render::Safe(place);
      if (devices.size() > 1 && !line.device.empty()) text += " · " + render::Safe(line.device);
      Line(render::Truncate(text, width_));
    }
    if (listed < profile_.lines.size()) {
      int64_t bytes = 0;
      for (size_t i = listed; i < profile_.lines.size(); ++i)
        bytes += profile_.lines[i].bytes.value_or(0);
      const auto left = static_cast<int64_t>(profile_.lines.size() - listed);
      Line(render::PadLeft(render::HumanBytes(bytes), 14) +
           fmt::format("  {} more (--top)", render::Plural(left, "line")));
    }
    if (profile_.executable_count > 0) {
      std::string text = "  and " + render::Plural(profile_.executable_count, "executable");
      // Backends that can't tell say 0.
      if (profile_.executable_bytes.value_or(0) > 0)
        text += fmt::format(", {} of code", render::HumanBytes(*profile_.executable_bytes));
      Line(text);
    }
  }

 private:
  const ReportProfile& profile_;
};

}  // namespace

void WriteProfileSection(const ReportPage& page) { ProfileSection(page).Write(); }

}  // namespace oomdb::cli
