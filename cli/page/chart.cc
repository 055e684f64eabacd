#include "cli/page/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "render/scale.h"
#include "render/terminal.h"
#include "render/units.h"
#include "render/words.h"

namespace oomdb::cli::page {
namespace {

constexpr size_t kMaxLive = 4000;  // About 100 kB.
constexpr size_t kMaxWords = 120;  // Columns of a name.
constexpr size_t kListed = 10;     // As many as page.js lists.

struct Sum {
  size_t group = 0;
  int64_t bytes = 0, count = 0;
  int64_t from = INT64_MAX, to = 0;  // When the first of them begins to live, and the last ends.
};

// Where a value of the axis is drawn: between the points that are.
double PlaceOf(const Chart& chart, int64_t at) {
  const auto after = std::upper_bound(chart.at.begin(), chart.at.end(), at);
  if (after == chart.at.begin()) return chart.places.front();
  if (after == chart.at.end()) return 1;
  const auto i = static_cast<size_t>(after - chart.at.begin());
  const double part = static_cast<double>(at - chart.at[i - 1]) /
                      static_cast<double>(chart.at[i] - chart.at[i - 1]);
  return chart.places[i - 1] + part * (chart.places[i] - chart.places[i - 1]);
}

// From when to when something lives, on the axis of the picture.
void WriteLifetime(render::Markup& out, const Chart& chart, const Sum& sum) {
  const auto cell = out.In("td", {{"class", "l"}});
  const auto svg = out.In("svg", {{"height", "10"}, {"aria-hidden", "true"}});
  const double from = PlaceOf(chart, sum.from), to = PlaceOf(chart, sum.to);
  const std::string here = render::Percent(chart.places[chart.first]);
  out.Leaf("line", {{"x1", "0"}, {"x2", "100%"}, {"y1", "5"}, {"y2", "5"}, {"class", "grid"}});
  out.Leaf("rect", {{"x", render::Percent(from)},
                    {"width", render::Percent(std::max(to - from, 0.015))},
                    {"y", "3"},
                    {"height", "4"},
                    {"class", chart.groups[sum.group].css}});
  out.Leaf("line", {{"x1", here}, {"x2", here}, {"y1", "0"}, {"y2", "10"}, {"class", "here"}});
}

}  // namespace

void KeepLargest(Chart* chart) {
  if (chart->live.size() > kMaxLive) {
    std::stable_sort(chart->live.begin(), chart->live.end(),
                     [](const Chart::Live& a, const Chart::Live& b) { return a.bytes > b.bytes; });
    chart->live.resize(kMaxLive);
  }
  std::map<size_t, size_t> kept;
  std::vector<Chart::Group> groups;
  for (Chart::Live& live : chart->live) {
    const auto [entry, added] = kept.emplace(live.group, groups.size());
    if (added) groups.push_back(std::move(chart->groups[live.group]));
    live.group = entry->second;
  }
  for (Chart::Group& group : groups) {
    group.name = render::Truncate(render::Safe(group.name), kMaxWords);
    group.what = render::Truncate(render::Safe(group.what), kMaxWords);
  }
  chart->groups = std::move(groups);
}

void WriteCursor(const Context& context, const Chart& chart, double height) {
  const std::string x = render::Percent(chart.places[chart.first]);
  context.out.Leaf(
      "line",
      {{"x1", x}, {"x2", x}, {"y1", "0"}, {"y2", render::Coordinate(height)}, {"class", "cursor"}});
}

void WriteLive(const Context& context, const Chart& chart) {
  render::Markup& out = context.out;
  const int64_t at = chart.at[chart.first];
  std::map<size_t, Sum> sums;
  int64_t listed = 0;
  for (const Chart::Live& live : chart.live) {
    if (live.from > at || at >= live.to) continue;
    Sum& sum = sums[live.group];
    sum.group = live.group;
    sum.bytes += live.bytes;
    ++sum.count;
    sum.from = std::min(sum.from, live.from);
    sum.to = std::max(sum.to, live.to);
  }
  std::vector<Sum> order;
  for (const auto& [group, sum] : sums) order.push_back(sum);
  std::sort(order.begin(), order.end(), [](const Sum& a, const Sum& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.group < b.group;
  });
  const auto panel =
      out.In("div", {{"class", "panel"}, {"id", chart.id + "-live"}, {"aria-live", "polite"}});
  {
    const auto head = out.In("h3");
    out.Leaf("span", {}, "Live: " + chart.say[chart.first]);
    out.Leaf("span", {}, render::HumanBytes(chart.total[chart.first]));
  }
  {
    const auto table = out.In("table", {{"class", "live"}});
    const auto body = out.In("tbody");
    for (size_t i = 0; i < std::min(order.size(), kListed); ++i) {
      const Chart::Group& group = chart.groups[order[i].group];
      const auto row = out.In("tr");
      {
        const auto cell = out.In("td", {{"class", "k"}});
        out.Leaf("span", {{"class", "sw " + group.css}});
      }
      out.Leaf("td", {{"class", "n"}}, render::HumanBytes(order[i].bytes));
      {
        const auto cell = out.In("td", {{"class", "w"}});
        out.Leaf("span", {{"class", "mono"}}, render::CountOf(order[i].count, group.name));
        if (!group.what.empty()) out.Leaf("small", {}, group.what);
      }
      WriteLifetime(out, chart, order[i]);
      listed += order[i].bytes;
    }
    if (chart.total[chart.first] > listed) {
      const auto row = out.In("tr", {{"class", "more"}});
      out.Leaf("td");
      out.Leaf("td", {{"class", "n"}}, render::HumanBytes(chart.total[chart.first] - listed));
      out.Leaf("td", {{"class", "w"}}, "the rest");
    }
  }
  Json json;
  Json live = Json::array();
  for (const Chart::Live& l : chart.live) live.push_back({l.bytes, l.from, l.to, l.group});
  Json places = Json::array();
  for (const double place : chart.places)
    places.push_back(static_cast<int64_t>(place * 100000 + 0.5));
  json["at"] = chart.at;
  json["x"] = std::move(places);
  json["total"] = chart.total;
  json["say"] = chart.say;
  json["live"] = std::move(live);
  json["groups"] = List(chart.groups, [](const Chart::Group& g) {
    return Json::array({g.css, g.name, g.what});
  });
  json["first"] = chart.first;
  json["listed"] = kListed;
  context.charts[chart.id] = std::move(json);
}

}  // namespace oomdb::cli::page
