#include <fmt/format.h>

#include "cli/report_page.h"
#include "cli/units.h"

namespace oomdb {
namespace {

class AllocatorsSection : ReportPage {
 public:
  explicit AllocatorsSection(const ReportPage& page) : ReportPage(page) {}

  void Write() {
    if (report_.allocators.empty()) return;
    Section("ALLOCATORS", "measured");
    Line(Paint(Style::kDim, "    capacity         peak  last in use  allocations  name", color_));
    for (const ReportAllocator& a : report_.allocators) {
      Line(Truncate(PadLeft(BytesOrDash(a.capacity_bytes), 12) +
                        PadLeft(BytesOrDash(a.capture_peak_bytes), 13) +
                        PadLeft(BytesOrDash(a.in_use_last_bytes), 13) +
                        fmt::format("{:>13}  ", a.allocation_count) + Safe(a.name),
                    width_));
      if (!a.live.empty()) Line("  live at the end, by origin");
      for (const ReportLiveGroup& live : a.live) {
        Line(Truncate(PadLeft(HumanBytes(live.bytes), 14) + "  " +
                          (live.count > 1 ? fmt::format("{} × ", live.count) : "") +
                          Safe(live.origin.empty() ? "unknown" : live.origin),
                      width_));
      }
    }
  }
};

}  // namespace

void WriteAllocatorsSection(const ReportPage& page) { AllocatorsSection(page).Write(); }

}  // namespace oomdb
