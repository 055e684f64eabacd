// The pool by address when a request failed: what is in use, the holes between, the request beside
// the largest of them.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/page/address_map.h"
#include "cli/page/context.h"
#include "cli/page/plot.h"
#include "render/scale.h"
#include "render/units.h"
#include "render/words.h"

namespace oomdb::cli::page {
namespace {

constexpr int kAddressesHeight = 64;
constexpr size_t kMaxPieces = 2000;  // In use; of more only the largest are drawn.
constexpr size_t kMaxHoles = 16;     // Of the histogram.

class Picture {
 public:
  Picture(const Context& context, AddressMap map) : out_(context.out), map_(std::move(map)) {
    for (const AddressRegion& region : map_.regions) {
      for (const AddressPiece& piece : region.pieces) {
        whole_ += piece.bytes;
        (piece.in_use ? used_ : holes_).push_back(&piece);
      }
    }
    const auto larger = [](const AddressPiece* a, const AddressPiece* b) {
      return a->bytes > b->bytes;
    };
    std::stable_sort(holes_.begin(), holes_.end(), larger);
    if (used_.size() <= kMaxPieces) return;
    std::vector<const AddressPiece*> sorted = used_;
    std::stable_sort(sorted.begin(), sorted.end(), larger);
    least_drawn_ = sorted[kMaxPieces]->bytes + 1;
  }

  void Write() {
    const auto section = out_.In("section");
    WriteHead(out_,
              map_.request ? "The pool by address, when the request failed"
                           : "The pool by address, at the end",
              map_.from_log ? "As the allocator printed it."
                            : "Between the addresses that the capture saw.",
              map_.from_log ? "read" : "measured");
    Drawn();
    {
      const auto keys = out_.In("div", {{"class", "caps"}});
      WriteKey(out_, "f-temp", "in use");
      WriteKey(out_, "f-free", "free");
      if (map_.request) WriteKey(out_, "f-ghost", "the request, to scale");
    }
    if (map_.pool_bytes && *map_.pool_bytes > whole_) {
      WriteNote(out_, fmt::format("{} of the pool's {} lie outside the addresses that the capture "
                                  "saw.",
                                  render::HumanBytes(*map_.pool_bytes - whole_),
                                  render::HumanBytes(*map_.pool_bytes)));
    }
    if (least_drawn_ > 0) {
      WriteNote(out_, fmt::format("Of what is in use, pieces of less than {} are not drawn.",
                                  render::HumanBytes(least_drawn_)));
    }
    if (map_.without_address > 0) {
      WriteNote(out_,
                fmt::format("{} more are in use and were allocated before the capture: nothing "
                            "says where, so a hole may be smaller than it is drawn.",
                            render::HumanBytes(map_.without_address)));
    }
    const auto two = out_.In("div", {{"class", "even"}});
    Holes();
    Pins();
  }

 private:
  // The widest: the map, or the request.
  double Share(int64_t bytes) const {
    return static_cast<double>(bytes) /
           static_cast<double>(std::max(whole_, map_.request.value_or(0)));
  }

  void Drawn() {
    const auto svg = out_.In(
        "svg", {{"height", std::to_string(kAddressesHeight + 50)},
                {"role", "img"},
                {"class", "map"},
                {"aria-label",
                 fmt::format("{} in use, {} in {}; the request: {}",
                             render::Plural(static_cast<int64_t>(used_.size()), "piece"), "free",
                             render::Plural(static_cast<int64_t>(holes_.size()), "hole"),
                             render::BytesOrDash(map_.request))}});
    int64_t x = 0;
    const AddressPiece* const largest = holes_.empty() ? nullptr : holes_.front();
    for (const AddressRegion& region : map_.regions) {
      const int64_t begin = x;
      for (const AddressPiece& piece : region.pieces) {
        if (&piece == largest) largest_at_ = x;
        x += piece.bytes;
      }
      out_.Leaf("rect", {{"x", render::Percent(Share(begin))},
                         {"y", "0"},
                         {"width", render::Percent(Share(x - begin))},
                         {"height", std::to_string(kAddressesHeight)},
                         {"class", "region f-free"}});
      Used(region, begin);
    }
    if (!map_.request) return;
    // Where it comes nearest to fitting.
    const double from = std::min(Share(largest_at_), 1 - Share(*map_.request));
    const std::string at = render::Percent(std::max(0.0, from));
    const bool left = from < 0.5;
    const std::string text =
        left ? at : render::Percent(std::max(0.0, from) + Share(*map_.request));
    out_.Leaf("rect", {{"x", at},
                       {"y", std::to_string(kAddressesHeight + 6)},
                       {"width", render::Percent(Share(*map_.request))},
                       {"height", "18"},
                       {"class", "ghost"}});
    out_.Leaf("text",
              {{"x", text},
               {"text-anchor", left ? "start" : "end"},
               {"y", std::to_string(kAddressesHeight + 42)},
               {"class", "bad"}},
              fmt::format("asked for {} in one piece{}", render::HumanBytes(*map_.request),
                          largest == nullptr ? ""
                                             : "; above it the largest hole that is seen, " +
                                                   render::HumanBytes(largest->bytes)));
  }

  void Used(const AddressRegion& region, int64_t x) {
    for (const AddressPiece& piece : region.pieces) {
      if (piece.in_use && piece.bytes >= least_drawn_) {
        // What is narrower than a pixel is a pixel and a half.
        const auto svg =
            out_.In("svg", {{"x", render::Percent(Share(x))},
                            {"width", render::Percent(std::max(Share(piece.bytes), 0.0014))},
                            {"height", std::to_string(kAddressesHeight)}});
        out_.Leaf("title", {}, render::HumanBytes(piece.bytes) + " " + piece.name);
        out_.Leaf("rect", {{"width", "100%"}, {"height", "100%"}, {"class", "f-temp"}});
      }
      x += piece.bytes;
    }
  }

  void Holes() {
    const auto column = out_.In("div");
    out_.Leaf("h3", {}, fmt::format("Holes, largest first ({})", holes_.size()));
    const auto table = out_.In("table", {{"class", "t numbers"}});
    const auto row_of = [&](const std::string& name, int64_t bytes, const std::string& css) {
      const auto row = out_.In("tr");
      out_.Leaf("td", {}, name);
      out_.Leaf("td", {{"class", "r"}}, render::HumanBytes(bytes));
      const auto cell = out_.In("td", {{"class", "spark long"}});
      const auto svg = out_.In("svg", {{"height", "12"}, {"aria-hidden", "true"}});
      const auto most = std::max(map_.request.value_or(0), holes_.empty() ? 1 : holes_[0]->bytes);
      out_.Leaf("rect",
                {{"y", "1"},
                 {"height", "10"},
                 {"width", render::Percent(static_cast<double>(bytes) / static_cast<double>(most))},
                 {"class", css}});
    };
    if (map_.request) row_of("the request", *map_.request, "ghost");
    // Equal ones together.
    size_t rows = 0;
    for (size_t i = 0; i < holes_.size();) {
      size_t end = i + 1;
      int64_t sum = holes_[i]->bytes;
      for (; end < holes_.size() && (rows >= kMaxHoles || holes_[end]->bytes == holes_[i]->bytes);
           ++end)
        sum += holes_[end]->bytes;
      const auto count = static_cast<int64_t>(end - i);
      if (rows >= kMaxHoles) {
        row_of(render::Plural(count, "more hole"), sum, "f-free edge");
      } else {
        row_of(count == 1 ? "a hole" : fmt::format("{} holes of", count), holes_[i]->bytes,
               "f-free edge");
      }
      ++rows;
      i = end;
    }
    if (!map_.from_log && map_.largest_free_bytes) {
      const auto row = out_.In("tr");
      out_.Leaf("td", {{"colspan", "3"}, {"class", "cost"}},
                fmt::format("The allocator itself said: {} free, the largest block {}.",
                            render::BytesOrDash(map_.free_bytes),
                            render::HumanBytes(*map_.largest_free_bytes)));
    }
  }

  // What lies between the holes, equal things together.
  void Pins() {
    std::map<std::string, std::pair<int64_t, int64_t>> by_name;  // Bytes, count.
    for (const AddressPiece* piece : used_) {
      auto& [bytes, count] = by_name[piece->name.empty() ? "unknown" : piece->name];
      bytes += piece->bytes;
      ++count;
    }
    std::vector<std::pair<std::string, std::pair<int64_t, int64_t>>> sorted(by_name.begin(),
                                                                            by_name.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second.first > b.second.first; });
    const auto column = out_.In("div");
    out_.Leaf("h3", {}, fmt::format("In use between them ({})", used_.size()));
    const auto table = out_.In("table", {{"class", "t"}});
    for (size_t i = 0; i < std::min(sorted.size(), kMaxHoles); ++i) {
      const auto& [name, sum] = sorted[i];
      const auto row = out_.In("tr");
      out_.Leaf("td", {{"class", "r"}}, render::HumanBytes(sum.first));
      out_.Leaf("td", {}, render::CountOf(sum.second, name));
    }
    if (sorted.size() > kMaxHoles)
      WriteNote(out_, fmt::format("{} more kinds", sorted.size() - kMaxHoles));
  }

  render::Markup& out_;
  const AddressMap map_;
  std::vector<const AddressPiece*> used_, holes_;
  int64_t whole_ = 0, largest_at_ = 0;
  int64_t least_drawn_ = 0;  // Of what is in use.
};

}  // namespace

bool WriteAddresses(const Context& context) {
  if (!context.IsWanted("addresses")) return false;
  std::optional<AddressMap> map = ReadAddressMap(context.database, context.report);
  if (!map || map->regions.empty()) return false;
  Picture(context, std::move(*map)).Write();
  return true;
}

}  // namespace oomdb::cli::page
