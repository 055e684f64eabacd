// Rows of XLA's memory usage report, printed into a log: one a slot, which several values use one
// after another.
#include <string>
#include <utility>
#include <vector>

#include "ingest/log/block.h"
#include "ingest/log/patterns.h"

namespace oomdb::ingest {
namespace {

struct RowPatterns {
  // cumulative size (percent); size; offset; used by n values; shapes
  Pattern row{R"([0-9.]+[KMGTPE]?i?B\( ?[0-9]+%\); +{U}; +[0-9]+; +[0-9]+; (\S.*))"};
  Pattern total{R"(Total bytes(?: used)?: ([0-9]+))"};
  Pattern head{R"(Memory Space: |Allocations sorted by size|cumulative_size; |The rest [0-9]+ )"};
  // A row of a whole allocation, and one that was cut off.
  Pattern other{R"([0-9.]+[KMGTPE]?i?B\( ?[0-9]+%\);)"};
};

const RowPatterns& RowForms() {
  static const auto* const patterns = new RowPatterns();
  return *patterns;
}

class UsageRows : public Block {
 public:
  bool Take(std::string_view line) override {
    if (line.empty()) return true;
    std::vector<std::string_view>& g = groups_;
    if (RowForms().row.Starts(line, &g)) {
      Add(Bytes(g[1]), g[2]);
      return true;
    }
    if (RowForms().total.Starts(line, &g)) {
      // Of the first memory space: the device's own.
      if (!event_.fact.total_bytes) event_.Set(Field::kTotal, g[1]);
      return true;
    }
    return RowForms().head.StartsWith(line) > 0 || RowForms().other.StartsWith(line) > 0;
  }

  std::optional<OomEvent> Finish() override {
    if (event_.buffers.empty()) return std::nullopt;
    event_.fact.form = "D4";
    event_.family = Family::kUnverifiedPlan;
    return std::move(event_);
  }

 private:
  void Add(MaybeInt bytes, std::string_view shapes) {
    if (!event_.buffers.empty()) {
      OomBufferFact& last = event_.buffers.back();
      if (last.bytes == bytes && last.shape == shapes) {
        ++last.count;
        return;
      }
    }
    if (event_.buffers.size() == kMaxBuffersPerEvent) return;
    OomBufferFact& buffer = event_.buffers.emplace_back();
    buffer.position = static_cast<int64_t>(event_.buffers.size());
    buffer.bytes = bytes;
    buffer.shape = shapes;
  }

  OomEvent event_;
  std::vector<std::string_view> groups_;
};

}  // namespace

const BlockKind& UsageRowsKind() {
  static constexpr BlockKind kKind = {
      R"(%\); +[0-9.]+[KMGTPE]?i?B; +[0-9]+; |Total bytes used: [0-9]|cumulative_size; )",
      []() -> std::unique_ptr<Block> { return std::make_unique<UsageRows>(); },
      [](const OomEvent&, const OomEvent&) { return false; }};
  return kKind;
}

}  // namespace oomdb::ingest
