#include "cli/page/plot.h"

#include <fmt/format.h>

#include <algorithm>

#include "render/scale.h"
#include "render/units.h"

namespace oomdb::cli::page {
namespace {

constexpr double kWide = 1000;  // Units of a stretched picture.

std::string Tick(int64_t bytes) {
  std::string text = render::HumanBytes(bytes);
  if (const size_t zeros = text.find(".00 "); zeros != std::string::npos) text.erase(zeros, 3);
  if (const size_t zero = text.find(".0 "); zero != std::string::npos) text.erase(zero, 2);
  return bytes == 0 ? "0" : text;
}

}  // namespace

double Plot::Y(int64_t bytes) const {
  const double share = highest > 0 ? static_cast<double>(bytes) / static_cast<double>(highest) : 0;
  return height - share * height;
}

std::string Plot::At(int64_t bytes) const { return render::Coordinate(Y(bytes)); }

void WriteSizes(render::Markup& out, const Plot& plot, size_t most) {
  const auto svg = out.In("svg", {{"class", "sizes"},
                                  {"height", render::Coordinate(plot.height + 4)},
                                  {"aria-hidden", "true"}});
  for (const int64_t tick : render::ByteTicks(plot.highest, most)) {
    out.Leaf("text",
             {{"x", "52"},
              {"y", render::Coordinate(std::max(plot.Y(tick) + 4, 9.0))},
              {"text-anchor", "end"},
              {"class", "s"}},
             Tick(tick));
  }
}

void WriteGrid(render::Markup& out, const Plot& plot, size_t most) {
  for (const int64_t tick : render::ByteTicks(plot.highest, most)) {
    const std::string y = plot.At(tick);
    out.Leaf("line", {{"x1", "0"},
                      {"x2", "100%"},
                      {"y1", y},
                      {"y2", y},
                      {"class", tick == 0 ? "axis" : "grid"}});
  }
}

void WriteStack(render::Markup& out, const Plot& plot, const std::vector<double>& places,
                const std::vector<Layer>& layers) {
  const auto svg = out.In("svg", {{"width", "100%"},
                                  {"height", render::Coordinate(plot.height)},
                                  {"viewBox", fmt::format("0 0 {} {}", kWide, plot.height)},
                                  {"preserveAspectRatio", "none"},
                                  {"aria-hidden", "true"}});
  std::vector<int64_t> low(places.size(), 0);
  for (const Layer& layer : layers) {
    std::string forth, back;
    bool any = false;
    for (size_t i = 0; i < places.size();) {
      // Points of equal height are one step.
      size_t end = i + 1;
      while (end < places.size() && layer.bytes[end] == layer.bytes[i] && low[end] == low[i]) ++end;
      const std::string from = render::Coordinate(kWide * places[i]);
      const std::string to = render::Coordinate(end < places.size() ? kWide * places[end] : kWide);
      const std::string top = plot.At(low[i] + layer.bytes[i]), bottom = plot.At(low[i]);
      forth += fmt::format("{}{} {}H{}", i == 0 ? "M" : "L", from, top, to);
      back.insert(0, fmt::format("L{} {}H{}", to, bottom, from));
      any = any || layer.bytes[i] > 0;
      i = end;
    }
    for (size_t i = 0; i < places.size(); ++i) low[i] += layer.bytes[i];
    if (any) out.Leaf("path", {{"d", forth + back + "Z"}, {"class", layer.css}});
  }
}

void WriteOutline(render::Markup& out, const Plot& plot, const std::vector<double>& places,
                  const Layer& layer) {
  std::string d;
  for (size_t i = 0; i < places.size(); ++i) {
    const double to = i + 1 < places.size() ? places[i + 1] : 1;
    d += fmt::format("{}{} {}H{}", i == 0 ? "M" : "L", render::Coordinate(kWide * places[i]),
                     plot.At(layer.bytes[i]), render::Coordinate(kWide * to));
  }
  const auto svg = out.In("svg", {{"width", "100%"},
                                  {"height", render::Coordinate(plot.height)},
                                  {"viewBox", fmt::format("0 0 {} {}", kWide, plot.height)},
                                  {"preserveAspectRatio", "none"}});
  out.Leaf("path", {{"d", d}, {"class", layer.css}, {"vector-effect", "non-scaling-stroke"}});
}

void WriteLevel(render::Markup& out, const Plot& plot, int64_t bytes, const std::string& css,
                const std::string& words, bool at_end) {
  const std::string y = plot.At(bytes);
  out.Leaf("line", {{"x1", "0"}, {"x2", "100%"}, {"y1", y}, {"y2", y}, {"class", css}});
  if (words.empty()) return;
  out.Leaf("text",
           {{"x", at_end ? "99.5%" : "4"},
            {"y", render::Coordinate(plot.Y(bytes) - 5)},
            {"text-anchor", at_end ? "end" : "start"},
            {"class", "b halo"}},
           words);
}

void WriteHatch(render::Markup& out, const std::string& id, const std::string& css) {
  const auto pattern = out.In("pattern", {{"id", id},
                                          {"width", "6"},
                                          {"height", "6"},
                                          {"patternUnits", "userSpaceOnUse"},
                                          {"patternTransform", "rotate(45)"}});
  out.Leaf("line", {{"x1", "0"}, {"x2", "0"}, {"y1", "0"}, {"y2", "6"}, {"class", css}});
}

}  // namespace oomdb::cli::page
