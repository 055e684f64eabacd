// What an allocator prints of itself when a request fails: the best-fit allocator's bins, chunks
// and statistics, cudaMallocAsync's figures.
#include <algorithm>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "ingest/log/block.h"
#include "ingest/log/patterns.h"
#include "ingest/log/sizes.h"

namespace oomdb::ingest {
namespace {

struct DumpPatterns {
  Pattern head{R"(BFCAllocator dump for (\S+))"};
  Pattern region{R"(Next region of size ([0-9]+))"};
  Pattern chunk{R"((InUse|Free|Chunk)\s+at (?:0x)?([0-9a-f]+) of size ([0-9]+)(.*))"};
  Pattern holder{R"( by op (.*?) action_count)"};
  Pattern in_use{R"(Sum Total of in-use chunks: {H})"};
  Pattern pool{R"(Total (?:bytes|size) in pool: .*memory_limit_: {H})"};
  Pattern old_pool{R"(total_region_allocated_bytes_: .*memory_limit_: {H})"};
  Pattern summary{R"(Allocator memory summary: (?:rounded request {H})?(.*))"};
  Pattern free{R"(total free in pool {H})"};
  Pattern largest{R"(largest free chunk usable by \w+ end {H})"};
  Pattern limit{R"(pool limit {H})"};
  Pattern stat{R"((?:Stats: *)?(\w+): +(-?[0-9.]+ ?[KMGTPE]?i?B?)$)"};
  Pattern cuda{R"(Reported by CUDA: Free memory/Total memory: ([0-9]+)/([0-9]+))"};
  Pattern passed_over{
      R"(Bin \(|Bin for |Size: .*\| Requested Size: |Summary of in-use Chunks|[0-9]+ Chunks of size )"
      R"(|Stats: *$|[*x_]{20,}|If (?:the cause|this) is |Current allocation summary|Histogram of )"
      R"(|[0-9]+, [0-9]+(?:$|,)|Spatial partitioning summary|Allocator region growth hint)"};
};

const DumpPatterns& DumpForms() {
  static const auto* const patterns = new DumpPatterns();
  return *patterns;
}

// Above 0, or unknown: a limit of 0 is none, and old versions print 0 for the largest free block.
void SetPositive(MaybeInt& field, std::string_view text) {
  const MaybeInt bytes = Bytes(text);
  if (bytes > 0) field = bytes;
}

class AllocatorDump : public Block {
 public:
  bool Take(std::string_view line) override {
    if (line.empty()) return true;
    auto& g = groups_;
    if (DumpForms().chunk.Starts(line, &g)) {
      AddChunk();
    } else if (DumpForms().region.Starts(line, &g)) {
      ++region_;
    } else if (DumpForms().head.Starts(line, &g)) {
      // The next dump is another's.
      if (anything_) return false;
      event_.Set(Field::kAllocator, g[1]);
    } else if (DumpForms().in_use.Starts(line, &g)) {
      chunks_end_ = true;
      in_use_ = Bytes(g[1]);
    } else if (DumpForms().pool.Starts(line, &g) || DumpForms().old_pool.Starts(line, &g)) {
      chunks_end_ = true;
      SetPositive(limit_, g[1]);
    } else if (DumpForms().summary.Starts(line, &g)) {
      chunks_end_ = true;
      TakeSummary();
    } else if (DumpForms().cuda.Starts(line, &g)) {
      event_.Set(Field::kFree, g[1]);
      event_.Set(Field::kCapacity, g[2]);
    } else if (DumpForms().stat.Starts(line, &g)) {
      chunks_end_ = true;
      if (!TakeStat()) return false;
    } else if (DumpForms().passed_over.StartsWith(line) == 0) {
      return false;
    }
    anything_ = true;
    return true;
  }

  std::optional<OomEvent> Finish() override {
    OomEventFact& fact = event_.fact;
    if (!fact.capacity_bytes) fact.capacity_bytes = limit_;
    if (!fact.used_bytes) fact.used_bytes = in_use_;
    CountInUse();
    if (!fact.free_bytes && fact.capacity_bytes && fact.used_bytes)
      fact.free_bytes = *fact.capacity_bytes - *fact.used_bytes;
    if (!fact.largest_free_bytes && !event_.chunks.empty() && chunks_end_ && whole_) {
      int64_t largest = 0;
      for (const OomChunkFact& chunk : event_.chunks) {
        if (!chunk.in_use) largest = std::max(largest, chunk.bytes);
      }
      fact.largest_free_bytes = largest;
    }
    if (!fact.largest_free_bytes) fact.largest_free_bytes = printed_largest_;
    if (!fact.capacity_bytes && !fact.used_bytes && event_.chunks.empty()) return std::nullopt;
    fact.form = event_.chunks.empty() ? "A8" : "A6";
    fact.memory_space = SpaceOfAllocator(fact.allocator);
    // Of an allocator without a name: hosts' have one that says so.
    if (fact.memory_space.empty() && fact.allocator.empty()) fact.memory_space = "gpu";
    fact.device = OrdinalInAllocator(fact.allocator);
    event_.family = Family::kRequest;
    return std::move(event_);
  }

 private:
  // Where the statistics are rounded (64.00MiB), the chunks say it to the byte.
  void CountInUse() {
    MaybeInt& used = event_.fact.used_bytes;
    if (!used || in_use_slack_ == 0 || event_.chunks.empty() || !whole_) return;
    int64_t sum = 0;
    for (const OomChunkFact& chunk : event_.chunks) {
      if (chunk.in_use && chunk.bytes <= *used + in_use_slack_ - sum) sum += chunk.bytes;
    }
    if (sum >= *used - in_use_slack_) used = sum;
  }

  void AddChunk() {
    if (event_.chunks.size() == kMaxChunksPerEvent) {
      whole_ = false;
      return;
    }
    const MaybeInt bytes = Bytes(groups_[3]);
    if (!bytes.has_value()) return;
    OomChunkFact& chunk = event_.chunks.emplace_back();
    chunk.position = static_cast<int64_t>(event_.chunks.size());
    chunk.region = std::max<int64_t>(region_, 1);  // The text may begin within one.
    uint64_t address = 0;
    const std::string_view hex = groups_[2];
    if (std::from_chars(hex.data(), hex.data() + hex.size(), address, 16).ec == std::errc())
      chunk.address = static_cast<int64_t>(address);
    chunk.bytes = *bytes;
    chunk.in_use = groups_[1] != "Free";
    std::vector<std::string_view> holder;
    if (DumpForms().holder.Find(groups_[4], &holder)) chunk.op_name = holder[1];
  }

  void TakeSummary() {
    event_.Set(Field::kRequested, groups_[1]);
    const std::string_view rest = groups_[2];
    if (DumpForms().free.Find(rest, &groups_)) event_.Set(Field::kFree, groups_[1]);
    if (DumpForms().largest.Find(rest, &groups_)) event_.Set(Field::kLargestFree, groups_[1]);
    if (DumpForms().limit.Find(rest, &groups_)) SetPositive(limit_, groups_[1]);
  }

  bool TakeStat() {
    const std::string_view name = groups_[1];
    if (name == "Limit") {
      SetPositive(event_.fact.capacity_bytes, groups_[2]);
    } else if (name == "InUse") {
      event_.Set(Field::kUsed, groups_[2]);
      if (const auto size = ParseSize(groups_[2])) in_use_slack_ = size->slack;
    } else if (name == "LargestFreeBlock") {
      SetPositive(printed_largest_, groups_[2]);
    } else {
      if (name == "Reserved") SetPositive(event_.fact.reserved_bytes, groups_[2]);
      return name == "MaxInUse" || name == "NumAllocs" || name == "MaxAllocSize" ||
             name == "Reserved" || name == "PeakReserved";
    }
    return true;
  }

  OomEvent event_;
  bool anything_ = false;
  bool chunks_end_ = false;  // What follows the list of chunks was seen.
  bool whole_ = true;        // The list, as far as it is held.
  int64_t region_ = 0;
  MaybeInt limit_;
  MaybeInt in_use_;
  int64_t in_use_slack_ = 0;
  MaybeInt printed_largest_;
  std::vector<std::string_view> groups_;
};

}  // namespace

const BlockKind& AllocatorDumpKind() {
  static constexpr BlockKind kKind = {
      R"(BFCAllocator dump for|Bin \([0-9]+\):|Bin for [0-9]|Next region of size|InUse at )"
      R"(|Free  at |Chunks of size [0-9]|Sum Total of in-use|memory_limit_: )"
      R"(|Allocator memory summary: |MaxInUse: |LargestFreeBlock: |Limit: {10})"
      R"(|Reported by CUDA: Free memory|Chunk at 0x)",
      []() -> std::unique_ptr<Block> { return std::make_unique<AllocatorDump>(); },
      [](const OomEvent& failure, const OomEvent& dump) {
        const std::string& form = failure.fact.form;
        // libtpu prints its statistics below, without the allocator's name.
        if (form == "R1") return dump.fact.allocator.empty() && dump.chunks.empty();
        return (form == "A2" || form == "A9") &&
               (dump.fact.allocator.empty() || dump.fact.allocator == failure.fact.allocator);
      }};
  return kKind;
}

}  // namespace oomdb::ingest
