// The devices of a job side by side, on the same axes: the odd ones first, with the median of all.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "cli/page/context.h"
#include "cli/page/plot.h"
#include "render/scale.h"
#include "render/units.h"
#include "render/words.h"
#include "schema/query.h"

namespace oomdb::cli::page {
namespace {

constexpr double kHostsHeight = 58;
constexpr size_t kHostsMaxRows = 24;  // With a picture each; more are a heat strip.
constexpr size_t kMaxPoints = 200;    // Of one row.
constexpr size_t kStripColumns = 60, kStripCells = 8000;
constexpr double kStripRow = 6, kThinnest = 0.75;
constexpr double kStripHeight = 420;  // Of all rows together, where they are not thinnest.
constexpr size_t kMaxStrip = 1024;
constexpr size_t kMaxColumns = 8;  // Hosts in the table of calls.
constexpr size_t kHostsShades = 10;

struct Row {
  std::string host, module_name, odd_in;
  int64_t device = 0, capture_id = 0;
  std::optional<int64_t> device_id, capacity, first, last, growth, peak, failed;
  bool odd = false;
  std::vector<int64_t> starts;  // In use at the start of every execution, in order.
};

class Hosts {
 public:
  explicit Hosts(const Context& context) : context_(context), out_(context.out) {}

  bool Write() {
    Read();
    std::set<std::string> hosts;
    for (const Row& row : rows_) hosts.insert(row.host);
    if (rows_.size() < 2 || highest_ == 0) return false;
    const auto section = out_.In("section");
    WriteHead(out_, "In use at the start of every execution",
              fmt::format("{} on {}, same axes, the odd ones first. Grey: the median.",
                          render::Plural(static_cast<int64_t>(rows_.size()), "device"),
                          render::Plural(static_cast<int64_t>(hosts.size()), "host")),
              "measured");
    if (rows_.size() <= kHostsMaxRows) {
      for (const Row& row : rows_) Multiple(row);
      WriteNote(out_,
                fmt::format("Along: executions of {}, 1 to {}. Up: 0 to {}.",
                            rows_.front().module_name, longest_, render::HumanBytes(highest_)));
    } else {
      Strip();
    }
    Calls();
    return true;
  }

 private:
  void Read() {
    const ReportCapture& shown = context_.report.captures[context_.report.shown];
    if (shown.run.empty()) return;
    for (const schema::Record& record :
         schema::ReadView(context_.database, "host_comparison", {{"run", shown.run}},
                          "odd DESC, last_in_use_bytes DESC NULLS LAST, host, device")) {
      Row row{.host = record.Text("host"),
              .module_name = record.Text("module_name"),
              .odd_in = record.Text("odd_in"),
              .device = record.Integer("device"),
              .capture_id = record.Integer("capture_id"),
              .device_id = record.MaybeInteger("device_id"),
              .capacity = record.MaybeInteger("capacity_bytes"),
              .first = record.MaybeInteger("first_in_use_bytes"),
              .last = record.MaybeInteger("last_in_use_bytes"),
              .growth = record.MaybeInteger("growth_bytes"),
              .peak = record.MaybeInteger("peak_bytes"),
              .failed = record.MaybeInteger("failed_count"),
              .odd = record.Flag("odd"),
              .starts = {}};
      if (!row.device_id) continue;
      for (const schema::Record& e :
           schema::ReadView(context_.database, "executions", {{"device_id", *row.device_id}},
                            "start_ns, execution_id")) {
        const std::optional<int64_t> in_use = e.MaybeInteger("in_use_at_start_bytes");
        if (in_use && e.Text("module_name") == row.module_name) row.starts.push_back(*in_use);
      }
      if (row.starts.empty()) continue;
      for (const int64_t in_use : row.starts) highest_ = std::max(highest_, in_use);
      longest_ = std::max(longest_, row.starts.size());
      rows_.push_back(std::move(row));
    }
    for (size_t i = 0; i < longest_; ++i) {
      std::vector<int64_t> at;
      for (const Row& row : rows_) {
        if (i < row.starts.size()) at.push_back(row.starts[i]);
      }
      std::nth_element(at.begin(), at.begin() + static_cast<std::ptrdiff_t>((at.size() - 1) / 2),
                       at.end());
      median_.push_back(at[(at.size() - 1) / 2]);
    }
  }

  double Place(size_t i) const {
    return longest_ < 2 ? 0.5
                        : 0.01 + 0.98 * static_cast<double>(i) / static_cast<double>(longest_ - 1);
  }

  void Line(const Plot& plot, const std::vector<int64_t>& values, const std::string& css) {
    std::vector<double> places;
    for (size_t i = 0; i < values.size(); ++i) places.push_back(Place(i));
    std::string d;
    for (const size_t i : render::PointsToDraw(places, values, kMaxPoints / 4, {}))
      d += fmt::format("{}{} {}", d.empty() ? "M" : "L", render::Coordinate(1000 * places[i]),
                       plot.At(values[i]));
    const auto svg = out_.In("svg", {{"width", "100%"},
                                     {"height", render::Coordinate(plot.height)},
                                     {"viewBox", fmt::format("0 0 1000 {}", plot.height)},
                                     {"preserveAspectRatio", "none"}});
    out_.Leaf("path", {{"d", d}, {"class", css}, {"vector-effect", "non-scaling-stroke"}});
  }

  void Multiple(const Row& row) {
    const auto div = out_.In("div", {{"class", row.odd ? "host odd" : "host"}});
    {
      const auto name = out_.In("div", {{"class", "hl"}});
      out_.Leaf("b", {}, row.host);
      out_.Leaf(
          "div", {{"class", "cost"}},
          fmt::format("device {}{}", row.device, row.odd ? " · stands out: " + row.odd_in : ""));
    }
    {
      const auto cell = out_.In("div", {{"class", "hc"}});
      const Plot plot{kHostsHeight, highest_ + highest_ / 10};
      const auto svg =
          out_.In("svg", {{"height", render::Coordinate(kHostsHeight + 2)},
                          {"role", "img"},
                          {"aria-label", fmt::format("{} device {}: {} to {}", row.host, row.device,
                                                     render::BytesOrDash(row.first),
                                                     render::BytesOrDash(row.last))}});
      WriteGrid(out_, plot, 2);
      Line(plot, median_, "median");
      Line(plot, row.starts, row.odd ? "series odd" : "series");
      if (row.starts.size() <= 40) {
        for (size_t i = 0; i < row.starts.size(); ++i) {
          const auto circle = out_.In("circle", {{"cx", render::Percent(Place(i))},
                                                 {"cy", plot.At(row.starts[i])},
                                                 {"r", row.odd ? "3" : "2"},
                                                 {"class", row.odd ? "start odd" : "start"}});
          out_.Leaf("title", {},
                    fmt::format("execution {}: {}", i + 1, render::HumanBytes(row.starts[i])));
        }
      }
    }
    const auto numbers = out_.In("div", {{"class", "hn"}});
    out_.Leaf("span", {}, render::BytesOrDash(row.first) + " → " + render::BytesOrDash(row.last));
    out_.Leaf(
        "b", {{"class", row.odd ? "no" : ""}},
        row.growth ? (*row.growth == 0 ? "0 B" : render::SignedBytes(*row.growth)) + " each" : "");
    out_.Leaf("span", {{"class", "cost"}}, "peak " + render::BytesOrDash(row.peak));
  }

  // One thin row a device: the darker, the more is in use.
  void Strip() {
    const size_t rows = std::min(rows_.size(), kMaxStrip);
    const auto odd = static_cast<double>(
        std::count_if(rows_.begin(), rows_.end(), [](const Row& row) { return row.odd; }));
    const double thin = std::clamp(kStripHeight / static_cast<double>(rows), kThinnest, kStripRow);
    const double height = odd * kStripRow + (static_cast<double>(rows) - odd) * thin;
    {
      const auto svg =
          out_.In("svg", {{"height", render::Coordinate(height)},
                          {"role", "img"},
                          {"aria-label", "A row a device, by what is in use at its starts"}});
      double y = 0;
      for (size_t r = 0; r < rows; ++r) {
        StripRow(rows_[r], y, rows_[r].odd ? kStripRow : thin);
        y += rows_[r].odd ? kStripRow : thin;
      }
    }
    WriteNote(out_, fmt::format(
                        "A row a device, along: executions 1 to {}; darker: more in use, up to {}. "
                        "Red: stands out.{}",
                        longest_, render::HumanBytes(highest_),
                        rows < rows_.size() ? fmt::format(" {} more devices.", rows_.size() - rows)
                                            : ""));
    const auto table = out_.In("table", {{"class", "t"}});
    size_t listed = 0;
    for (const Row& row : rows_) {
      if (!row.odd || ++listed > 20) break;
      const auto line = out_.In("tr");
      out_.Leaf("td", {}, fmt::format("{} device {}", row.host, row.device));
      out_.Leaf("td", {}, row.odd_in);
      out_.Leaf("td", {{"class", "r"}},
                render::BytesOrDash(row.first) + " → " + render::BytesOrDash(row.last));
    }
  }

  void StripRow(const Row& row, double y, double height) {
    const size_t columns =
        std::min({longest_, kStripColumns, std::max<size_t>(4, kStripCells / rows_.size())});
    const auto line = out_.In("g");
    out_.Leaf(
        "title", {},
        fmt::format("{} device {}: {} → {}{}", row.host, row.device, render::BytesOrDash(row.first),
                    render::BytesOrDash(row.last), row.odd ? ", stands out: " + row.odd_in : ""));
    for (size_t c = 0; c < columns;) {
      const size_t shade = Shade(row, c, columns);
      size_t end = c + 1;
      while (end < columns && Shade(row, end, columns) == shade) ++end;
      const auto part = [&](size_t column) {
        return static_cast<double>(column) / static_cast<double>(columns);
      };
      out_.Leaf("rect", {{"x", render::Percent(part(c))},
                         {"y", render::Coordinate(y)},
                         {"width", render::Percent(part(end) - part(c))},
                         {"height", render::Coordinate(height)},
                         {"class", fmt::format("{}-{}", row.odd ? "heat-odd" : "heat", shade)}});
      c = end;
    }
  }

  size_t Shade(const Row& row, size_t column, size_t columns) const {
    const size_t i = column * longest_ / columns;
    const int64_t value = i < row.starts.size() ? row.starts[i] : row.starts.back();
    return std::min(kHostsShades - 1,
                    static_cast<size_t>(static_cast<double>(value) / static_cast<double>(highest_) *
                                        kHostsShades));
  }

  // What the launching threads called between the last two executions, and on which hosts.
  void Calls() {
    std::vector<std::string> hosts;
    std::map<std::string, std::set<std::string>> by_event;
    for (const Row& row : rows_) {
      if (std::find(hosts.begin(), hosts.end(), row.host) == hosts.end()) hosts.push_back(row.host);
      for (const schema::Record& event : schema::ReadView(
               context_.database, "launch_gap_events", {{"device_id", *row.device_id}}, "position"))
        by_event[event.Text("event")].insert(row.host);
    }
    std::vector<const std::pair<const std::string, std::set<std::string>>*> differ, same;
    for (const auto& entry : by_event)
      (entry.second.size() < hosts.size() ? differ : same).push_back(&entry);
    if (differ.empty()) return;
    std::stable_sort(differ.begin(), differ.end(), [](const auto* a, const auto* b) {
      return a->second.size() < b->second.size();
    });
    out_.Leaf("h3", {}, "What not all hosts called between their last two executions");
    const auto frame = out_.In("div", {{"class", "wide"}});
    const auto table = out_.In("table", {{"class", "t"}});
    const bool columns = hosts.size() <= kMaxColumns;
    {
      const auto head = out_.In("tr");
      out_.Leaf("th", {}, "called by the launching thread");
      if (columns) {
        for (const std::string& host : hosts) out_.Leaf("th", {}, host);
      } else {
        out_.Leaf("th", {}, "on");
      }
    }
    size_t listed = 0;
    for (const auto* entry : differ) {
      if (++listed > 20) break;
      const auto row = out_.In("tr");
      out_.Leaf("td", {}, entry->first);
      if (!columns) {
        std::string on = fmt::format("{} of {} hosts: ", entry->second.size(), hosts.size());
        size_t named = 0;
        for (const std::string& host : entry->second) {
          if (++named > 6) break;
          on += (named == 1 ? "" : ", ") + host;
        }
        out_.Leaf("td", {}, on + (named > 6 ? ", …" : ""));
        continue;
      }
      for (const std::string& host : hosts) {
        const bool called = entry->second.contains(host);
        out_.Leaf("td", {{"class", called ? "called" : "idle"}}, called ? "● yes" : "– no");
      }
    }
    if (!same.empty())
      WriteNote(out_, fmt::format("{} on all hosts.",
                                  render::Plural(static_cast<int64_t>(same.size()), "other call")));
  }

  const Context& context_;
  render::Markup& out_;
  std::vector<Row> rows_;
  std::vector<int64_t> median_;
  int64_t highest_ = 0;
  size_t longest_ = 0;
};

}  // namespace

bool WriteHosts(const Context& context) { return Hosts(context).Write(); }

}  // namespace oomdb::cli::page
