#include <fmt/format.h>

#include <algorithm>

#include "cli/report/page.h"
#include "render/units.h"
#include "render/words.h"

namespace oomdb::cli {
namespace {

constexpr size_t kNameWidth = 16;
constexpr size_t kAnatomyWords = 44;
constexpr size_t kWasteLines = 3;
constexpr int64_t kWasteParts = 20;  // Less than a twentieth of the plan is not worth a line.

// optimizer_state: optimizer state
std::string Spaced(std::string text) {
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

// train.py:17 of /home/me/train.py:17
std::string FileName(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  const bool is_file = path.find(".py:") != std::string::npos;
  return is_file && slash != std::string::npos ? path.substr(slash + 1) : path;
}

class AnatomySection : ReportPage {
 public:
  explicit AnatomySection(const ReportPage& page) : ReportPage(page) {}

  void Write() {
    Kinds();
    Waste();
    Neighbours();
  }

 private:
  void Kinds() {
    const ReportPlan& plan = *report_.plan;
    int64_t small_bytes = 0;
    int64_t small_count = 0;
    bool begun = false;
    for (const ReportKind& kind : plan.anatomy) {
      if (kind.memory_space != 0 || plan.anatomy.front().kind == "other") continue;
      if (!begun) Section("WHAT THE PEAK IS FOR", "inferred");
      begun = true;
      if (kind.percent == 0) {
        small_bytes += kind.bytes;
        ++small_count;
        continue;
      }
      KindLine(Spaced(kind.kind), kind.bytes, WordsOf(kind));
    }
    if (small_count > 0) {
      KindLine("the rest", small_bytes, render::Plural(small_count, "kind") + ", under 1 % each");
    }
  }

  void KindLine(const std::string& name, int64_t bytes, const std::string& words) {
    std::string line =
        "  " + render::PadRight(name, kNameWidth) + render::PadLeft(render::HumanBytes(bytes), 10) +
        "   " + render::PadRight(render::Truncate(words, kAnatomyWords), kAnatomyWords) + " ";
    line += render::Bar(static_cast<double>(bytes), static_cast<double>(report_.plan->peak_bytes),
                        width_ - render::DisplayWidth(line) - 1);
    Line(line);
  }

  std::string WordsOf(const ReportKind& kind) const {
    std::string words = std::to_string(kind.count);
    if (kind.largest_name.empty()) return words;
    words += kind.count == 1 ? ": "
                             : fmt::format(", largest {} ", render::HumanBytes(kind.largest_bytes));
    return words + render::TruncateFront(render::Safe(render::ShortOp(kind.largest_name)),
                                         kAnatomyWords - render::DisplayWidth(words));
  }

  void Waste() {
    const ReportPlan& plan = *report_.plan;
    size_t lines = 0;
    for (const ReportWaste& waste : plan.waste) {
      if (lines == kWasteLines) break;
      if (kWasteParts * waste.weight_bytes < plan.plan_bytes) continue;
      if (lines++ == 0) Section("WHAT DOES LITTLE AT THE PEAK", "oomdb show waste");
      Line(render::PadLeft(render::HumanBytes(waste.bytes), 10) + "  " + Story(waste));
    }
  }

  std::string Story(const ReportWaste& waste) const {
    std::string what = waste.count > 1 ? fmt::format("{} × ", waste.count) : "";
    what += waste.shape.empty() ? "a value" : render::Safe(waste.shape);
    const std::string made_by = render::Safe(FileName(waste.made_by));
    const std::string partner = render::Safe(FileName(waste.partner));
    if (!made_by.empty()) what += " of " + made_by;
    std::string text = Spaced(waste.kind) + ": " + what;
    if (waste.kind == "padding" && waste.padded_to) {
      text += fmt::format(", dimension {} padded from {} to {}", waste.dimension.value_or(0),
                          waste.padded_from.value_or(0), *waste.padded_to);
    } else if (waste.kind == "dead_weight") {
      text = fmt::format("{} wait{} through {} % of the schedule for {}", what,
                         waste.count > 1 ? "" : "s", waste.idle_percent.value_or(0), partner);
    } else if (waste.kind == "fragmentation") {
      text = "a hole above " + what + (partner.empty() ? "" : ", below " + partner);
    } else if (!partner.empty()) {
      text += ", the values of " + partner;
    }
    return render::Truncate(text, width_ - 12);
  }

  // The one that needs most beside it, where that may not fit.
  void Neighbours() {
    for (const ReportNeighbour& other : report_.plan->neighbours) {
      if (other.fits == true || !other.capacity_bytes) continue;
      Section("BESIDE " + render::Safe(other.name), "inferred");
      std::string needs = render::HumanBytes(other.needs_high_bytes);
      if (other.needs_low_bytes && *other.needs_low_bytes < other.needs_high_bytes) {
        needs = other.shared == true
                    ? render::HumanBytes(*other.needs_low_bytes)
                    : render::HumanBytes(*other.needs_low_bytes) + " (the same parameters) to " +
                          needs + " (a copy of them)";
      }
      Indented(fmt::format("together they need {}; the device may use {}", needs,
                           render::HumanBytes(*other.capacity_bytes)),
               2);
      return;
    }
  }
};

}  // namespace

void WriteAnatomySection(const ReportPage& page) { AnatomySection(page).Write(); }

}  // namespace oomdb::cli
