// The temps at the heap peak: by Python line, then operation, then buffer, as wide as their bytes.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/page/context.h"
#include "cli/page/plan_memory.h"
#include "render/scale.h"
#include "render/terminal.h"
#include "render/units.h"
#include "render/words.h"
#include "schema/query.h"

namespace oomdb::cli::page {
namespace {

constexpr int kRow = 40, kGap = 3;
constexpr double kCharacters = 170;  // About so many stand beside one another in a wide window.
// What is narrower than this share of the picture is drawn together, as one tile.
constexpr double kNarrowest = 0.002;

class Icicle {
 public:
  Icicle(const Context& context, const PlanMemory& memory)
      : context_(context), out_(context.out), memory_(memory) {
    const auto at = static_cast<int64_t>(memory.peak);
    for (const PlanStretch& s : memory.stretches) {
      if (s.from > at || at >= s.to) continue;
      const PlanBuffer& buffer = memory.buffers[s.buffer];
      lines_[buffer.Place()].bytes += buffer.bytes;
      Op& op = lines_[buffer.Place()].ops[{buffer.role, render::ShortOp(buffer.op_name)}];
      op.bytes += buffer.bytes;
      op.buffers.push_back(&buffer);
      whole_ += buffer.bytes;
    }
  }

  void Write() {
    const auto section = out_.In("section");
    WriteHead(out_, "Who makes what lives at the peak",
              fmt::format("{} of temps, by Python line, then operation, then buffer.",
                          render::HumanBytes(whole_)),
              "read · roles inferred");
    {
      const auto svg = out_.In("svg", {{"class", "ice"},
                                       {"height", std::to_string(3 * kRow + 2 * kGap)},
                                       {"role", "img"},
                                       {"aria-label", Summary()}});
      int64_t small = 0, count = 0;
      for (const auto& [place, line] : Sorted(lines_)) {
        if (Share(line->bytes) >= kNarrowest) {
          Line(*place, *line);
        } else {
          small += line->bytes;
          ++count;
        }
      }
      Rest(x_, 0, small, count, "line", "other");
    }
    const auto details = out_.In("details");
    out_.Leaf("summary", {}, "As a table, with who calls these lines");
    Table();
  }

 private:
  struct Op {
    int64_t bytes = 0;
    std::vector<const PlanBuffer*> buffers;
  };
  struct Lined {
    int64_t bytes = 0;
    std::map<std::pair<size_t, std::string>, Op> ops;  // By role and operation.
  };

  // Largest first.
  template <typename Key, typename Value>
  static std::vector<std::pair<const Key*, const Value*>> Sorted(const std::map<Key, Value>& from) {
    std::vector<std::pair<const Key*, const Value*>> sorted;
    for (const auto& [key, value] : from) sorted.emplace_back(&key, &value);
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
      return a.second->bytes > b.second->bytes;
    });
    return sorted;
  }

  static std::string NameOf(const std::string& place) {
    return place.empty() ? "no line in the plan" : place;
  }

  std::string Summary() const {
    std::string words = "Bytes at the peak by line:";
    size_t named = 0;
    for (const auto& [place, line] : Sorted(lines_)) {
      if (++named > 5) break;
      words += " " + NameOf(*place) + " " + render::HumanBytes(line->bytes) + ";";
    }
    return words;
  }

  double Share(int64_t bytes) const {
    return static_cast<double>(bytes) / static_cast<double>(whole_);
  }

  void Tile(int64_t x, int row, int64_t bytes, const std::string& css, const std::string& name,
            const std::string& title) {
    const auto svg = out_.In("svg", {{"x", render::Percent(Share(x))},
                                     {"y", std::to_string(row * (kRow + kGap))},
                                     {"width", render::Percent(Share(bytes))},
                                     {"height", std::to_string(kRow)}});
    out_.Leaf("title", {}, title);
    out_.Leaf("rect",
              {{"width", "100%"}, {"height", std::to_string(kRow)}, {"class", "cell f-" + css}});
    // Words that have no room are left to the title.
    if (Share(bytes) < 0.045) return;
    const std::string where = (Share(bytes) < 0.16 ? "roomy t-" : "t-") + css;
    out_.Leaf(
        "text", {{"x", "7"}, {"y", "17"}, {"class", where}},
        render::Truncate(render::Safe(name), static_cast<size_t>(Share(bytes) * kCharacters) - 1));
    out_.Leaf("text", {{"x", "7"}, {"y", "32"}, {"class", "s " + where}},
              render::HumanBytes(bytes));
  }

  void Line(const std::string& place, const Lined& line) {
    int64_t x = x_;
    Tile(x, 0, line.bytes, "line", NameOf(place),
         NameOf(place) + "\xc2\xa0" + render::HumanBytes(line.bytes));
    int64_t small = 0, count = 0;
    for (const auto& [key, op] : Sorted(line.ops)) {
      if (Share(op->bytes) < kNarrowest) {
        small += op->bytes;
        ++count;
        continue;
      }
      const std::string css(kRoles[key->first]);
      const std::string& name = key->second;
      const std::string last = name.substr(name.rfind('/') + 1);
      Tile(x, 1, op->bytes, css, last.empty() ? "no operation" : last,
           fmt::format("{}, {}: {}", name.empty() ? "no operation" : name, css,
                       render::HumanBytes(op->bytes)));
      Buffers(x, *op, css);
      x += op->bytes;
    }
    Rest(x, 1, small, count, "operation", "other");
    x_ += line.bytes;
  }

  // What is too narrow for a tile of its own, from a row down.
  void Rest(int64_t x, int row, int64_t bytes, int64_t count, const std::string& what,
            const std::string& css) {
    if (count == 0) return;
    const std::string title =
        fmt::format("{}, {}", render::Plural(count, "smaller " + what), render::HumanBytes(bytes));
    for (; row < 3; ++row) Tile(x, row, bytes, row == 0 ? "line" : css, "smaller ones", title);
  }

  void Buffers(int64_t x, const Op& op, const std::string& css) {
    std::vector<const PlanBuffer*> sorted = op.buffers;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const PlanBuffer* a, const PlanBuffer* b) { return a->bytes > b->bytes; });
    int64_t small = 0, count = 0;
    for (const PlanBuffer* buffer : sorted) {
      if (Share(buffer->bytes) < kNarrowest) {
        small += buffer->bytes;
        ++count;
        continue;
      }
      Tile(x, 2, buffer->bytes, css, buffer->shape,
           fmt::format("{} {} {}", buffer->shape, render::HumanBytes(buffer->bytes),
                       buffer->instruction));
      x += buffer->bytes;
    }
    Rest(x, 2, small, count, "buffer", css);
  }

  // The callers of the line's largest buffer, nearest first.
  std::string Callers(const Lined& line) const {
    const PlanBuffer* largest = nullptr;
    for (const auto& [key, op] : line.ops) {
      for (const PlanBuffer* b : op.buffers) {
        if (largest == nullptr || b->bytes > largest->bytes) largest = b;
      }
    }
    std::string text;
    std::optional<int64_t> frame = largest == nullptr ? std::nullopt : largest->frame_id;
    constexpr int kDeepest = 12;
    for (int depth = 0; frame && depth < kDeepest; ++depth) {
      const std::vector<schema::Record> rows =
          schema::ReadView(context_.database, "frames",
                           {{"module_id", context_.report.plan->module_id}, {"frame_id", *frame}});
      if (rows.empty()) break;
      if (depth > 0) {
        text += (text.empty() ? "" : " ← ") + render::Place(rows[0].Text("source_file"),
                                                            rows[0].MaybeInteger("source_line"),
                                                            rows[0].Text("function_name"));
      }
      frame = rows[0].MaybeInteger("parent_frame_id");
    }
    return text;
  }

  void Table() {
    const auto table = out_.In("table", {{"class", "t"}});
    {
      const auto head = out_.In("tr");
      out_.Leaf("th", {{"class", "r"}}, "bytes");
      for (const char* name : {"line", "called from"}) out_.Leaf("th", {}, name);
    }
    size_t rows = 0;
    for (const auto& [place, line] : Sorted(lines_)) {
      if (++rows > 20) break;
      const auto row = out_.In("tr");
      out_.Leaf("td", {{"class", "r"}}, render::HumanBytes(line->bytes));
      out_.Leaf("td", {}, NameOf(*place));
      out_.Leaf("td", {}, Callers(*line));
    }
  }

  const Context& context_;
  render::Markup& out_;
  const PlanMemory& memory_;
  std::map<std::string, Lined> lines_;
  int64_t whole_ = 0;
  int64_t x_ = 0;
};

}  // namespace

bool WriteIcicle(const Context& context) {
  const PlanMemory* const memory = context.plan_memory;
  if (memory == nullptr || memory->temps[memory->peak] <= 0) return false;
  Icicle(context, *memory).Write();
  return true;
}

}  // namespace oomdb::cli::page
