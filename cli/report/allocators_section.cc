#include <fmt/format.h>

#include "cli/report/page.h"
#include "render/units.h"

namespace oomdb::cli {
namespace {

constexpr size_t kAllocatorsMaxLive = 6;

class AllocatorsSection : ReportPage {
 public:
  explicit AllocatorsSection(const ReportPage& page) : ReportPage(page) {}

  void Write() {
    if (report_.allocators.empty()) return;
    Section("ALLOCATORS", "measured");
    Line(render::Paint(render::Style::kDim,
                       "    capacity         peak  last in use  allocations  name", color_));
    for (const ReportAllocator& a : report_.allocators) {
      Line(render::Truncate(render::PadLeft(render::BytesOrDash(a.capacity_bytes), 12) +
                                render::PadLeft(render::BytesOrDash(a.capture_peak_bytes), 13) +
                                render::PadLeft(render::BytesOrDash(a.in_use_last_bytes), 13) +
                                fmt::format("{:>13}  ", a.allocation_count) + render::Safe(a.name),
                            width_));
      if (!a.live.empty()) Line("  live at the end, by origin");
      Live(a.live, kAllocatorsMaxLive);
    }
  }
};

}  // namespace

void WriteAllocatorsSection(const ReportPage& page) { AllocatorsSection(page).Write(); }

}  // namespace oomdb::cli
