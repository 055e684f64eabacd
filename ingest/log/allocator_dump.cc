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
  Pattern alike{R"(([0-9]+) Chunks of size ([0-9]+) totalling)"};
  Pattern histogram{R"(([0-9]+), ([0-9]+)(?:$|,))"};
  Pattern in_use{R"(Sum Total of in-use chunks: {H})"};
  Pattern pool{R"(Total (?:bytes|size) in pool: {H} .*memory_limit_: {H})"};
  Pattern old_pool{R"(total_region_allocated_bytes_: {H} .*memory_limit_: {H})"};
  Pattern summary{R"(Allocator memory summary: (?:rounded request {H})?(.*))"};
  Pattern free{R"(total free in pool {H})"};
  Pattern largest{R"(largest free chunk usable by \w+ end {H})"};
  Pattern size{R"(pool size {H})"};
  Pattern limit{R"(pool limit {H})"};
  Pattern stat{R"((?:Stats: *)?(\w+): +(-?[0-9.]+ ?[KMGTPE]?i?B?)$)"};
  Pattern cuda{R"(Reported by CUDA: Free memory/Total memory: ([0-9]+)/([0-9]+))"};
  Pattern mempool{R"(CU_MEMPOOL_ATTR_(RESERVED|USED)_MEM_(CURRENT|HIGH): ([0-9]+))"};
  Pattern passed_over{
      R"(Bin \(|Bin for |Size: .*\| Requested Size: |Summary of in-use Chunks|[0-9]+ Chunks of size )"
      R"(|Stats: *$|[*x_]{20,}|If (?:the cause|this) is |Current allocation summary)"
      R"(|Spatial partitioning summary|Allocator region growth hint)"};
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

int64_t SlackOf(std::string_view text) {
  const std::optional<Size> size = ParseSize(text);
  return size.has_value() ? size->slack : 0;
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
    } else if (DumpForms().alike.Starts(line, &g)) {
      AddAlike(g[1], g[2]);
    } else if (line.starts_with("Histogram of ")) {
      histogram_ = true;
    } else if (histogram_ && DumpForms().histogram.Starts(line, &g)) {
      AddAlike(g[2], g[1]);
    } else if (DumpForms().in_use.Starts(line, &g)) {
      chunks_end_ = true;
      in_use_ = Bytes(g[1]);
      sum_slack_ = SlackOf(g[1]);
    } else if (DumpForms().pool.Starts(line, &g) || DumpForms().old_pool.Starts(line, &g)) {
      chunks_end_ = true;
      event_.Set(Field::kPool, g[1]);
      pool_slack_ = SlackOf(g[1]);
      TakeLimit(g[2]);
    } else if (DumpForms().summary.Starts(line, &g)) {
      chunks_end_ = true;
      TakeSummary();
    } else if (DumpForms().cuda.Starts(line, &g)) {
      event_.Set(Field::kDeviceFree, g[1]);
      event_.Set(Field::kDeviceMemory, g[2]);
    } else if (DumpForms().mempool.Starts(line, &g)) {
      chunks_end_ = true;
      TakeMempool();
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
    if (!fact.capacity_bytes) {
      fact.capacity_bytes = limit_;
      capacity_slack_ = limit_slack_;
    }
    if (!fact.used_bytes) {
      fact.used_bytes = in_use_;
      in_use_slack_ = sum_slack_;
    }
    const bool listed = !event_.chunks.empty();
    if (!listed) event_.chunks = std::move(alike_);
    CountInUse();
    if (listed) CountChunks();
    // What cudaMallocAsync's pool holds is free in it; beyond that the device has to give more.
    if (!fact.free_bytes && mempool_ && fact.pool_bytes && fact.used_bytes &&
        *fact.pool_bytes >= *fact.used_bytes) {
      fact.free_bytes = *fact.pool_bytes - *fact.used_bytes;
    }
    if (!fact.free_bytes && fact.capacity_bytes && fact.used_bytes)
      fact.free_bytes = *fact.capacity_bytes - *fact.used_bytes;
    if (!fact.largest_free_bytes) fact.largest_free_bytes = printed_largest_;
    // A pool without a limit may take all of the device.
    if (!fact.capacity_bytes) fact.capacity_bytes = fact.device_bytes;
    if (!fact.free_bytes) fact.free_bytes = fact.device_free_bytes;
    if (!fact.capacity_bytes && !fact.used_bytes && event_.chunks.empty()) return std::nullopt;
    fact.form = listed ? "A6" : "A8";
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

  // Where the summary is rounded (8.77GiB), the chunks say it to the byte.
  void CountChunks() {
    if (!chunks_end_ || !whole_) return;
    OomEventFact& fact = event_.fact;
    int64_t all = 0, used = 0, free = 0, largest = 0;
    for (const OomChunkFact& chunk : event_.chunks) {
      if (__builtin_add_overflow(all, chunk.bytes, &all)) return;
      (chunk.in_use ? used : free) += chunk.bytes;
      if (!chunk.in_use) largest = std::max(largest, chunk.bytes);
    }
    const auto near = [](MaybeInt bytes, int64_t counted, int64_t slack) {
      return bytes && *bytes <= counted + slack && *bytes >= counted - slack;
    };
    // People quote a part of the list.
    if (fact.used_bytes && !near(fact.used_bytes, used, in_use_slack_)) return;
    if (!fact.largest_free_bytes || near(fact.largest_free_bytes, largest, largest_slack_))
      fact.largest_free_bytes = largest;
    if (near(fact.free_bytes, free, free_slack_)) fact.free_bytes = free;
    if (!fact.pool_bytes || near(fact.pool_bytes, all, pool_slack_)) fact.pool_bytes = all;
    if (capacity_slack_ > 0 && near(fact.capacity_bytes, all, capacity_slack_))
      fact.capacity_bytes = all;
  }

  void TakeMempool() {
    const bool reserved = groups_[1] == "RESERVED";
    if (groups_[2] == "HIGH") {
      if (!reserved) event_.Set(Field::kPeak, groups_[3]);
    } else if (reserved) {
      mempool_ = true;
      SetPositive(event_.fact.pool_bytes, groups_[3]);
    } else {
      event_.Set(Field::kUsed, groups_[3]);
    }
  }

  // The summary says how many of each size are in use: all that is left where the list was cut off,
  // and all that cudaMallocAsync prints.
  void AddAlike(std::string_view count_text, std::string_view size_text) {
    const MaybeInt count = Bytes(count_text), bytes = Bytes(size_text);
    constexpr int64_t kMaxAlike = 100000;
    if (!count || !bytes || *count > kMaxAlike - static_cast<int64_t>(alike_.size())) return;
    for (int64_t i = 0; i < *count; ++i) {
      OomChunkFact& chunk = alike_.emplace_back();
      chunk.position = static_cast<int64_t>(alike_.size());
      chunk.region = 1;
      chunk.bytes = *bytes;
      chunk.in_use = true;
    }
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
    if (DumpForms().free.Find(rest, &groups_)) {
      event_.Set(Field::kFree, groups_[1]);
      free_slack_ = SlackOf(groups_[1]);
    }
    if (DumpForms().largest.Find(rest, &groups_)) {
      event_.Set(Field::kLargestFree, groups_[1]);
      largest_slack_ = SlackOf(groups_[1]);
    }
    if (DumpForms().size.Find(rest, &groups_)) {
      event_.Set(Field::kPool, groups_[1]);
      pool_slack_ = SlackOf(groups_[1]);
    }
    if (DumpForms().limit.Find(rest, &groups_)) TakeLimit(groups_[1]);
  }

  void TakeLimit(std::string_view text) {
    SetPositive(limit_, text);
    limit_slack_ = SlackOf(text);
  }

  bool TakeStat() {
    const std::string_view name = groups_[1];
    if (name == "Limit") {
      SetPositive(event_.fact.capacity_bytes, groups_[2]);
      capacity_slack_ = SlackOf(groups_[2]);
    } else if (name == "InUse") {
      event_.Set(Field::kUsed, groups_[2]);
      in_use_slack_ = SlackOf(groups_[2]);
    } else if (name == "MaxInUse") {
      SetPositive(event_.fact.peak_bytes, groups_[2]);
    } else if (name == "MaxAllocSize") {
      SetPositive(event_.fact.largest_request_bytes, groups_[2]);
    } else if (name == "LargestFreeBlock") {
      SetPositive(printed_largest_, groups_[2]);
    } else {
      if (name == "Reserved") SetPositive(event_.fact.reserved_bytes, groups_[2]);
      return name == "NumAllocs" || name == "Reserved" || name == "PeakReserved";
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
  bool histogram_ = false;  // Its head was seen.
  bool mempool_ = false;    // The pool is cudaMallocAsync's.
  // How far the true figure may be from the printed one.
  int64_t limit_slack_ = 0;
  int64_t capacity_slack_ = 0;
  int64_t in_use_slack_ = 0;
  int64_t sum_slack_ = 0;
  int64_t pool_slack_ = 0;
  int64_t free_slack_ = 0;
  int64_t largest_slack_ = 0;
  MaybeInt printed_largest_;
  std::vector<OomChunkFact> alike_;  // In use, by the summary.
  std::vector<std::string_view> groups_;
};

}  // namespace

const BlockKind& AllocatorDumpKind() {
  static constexpr BlockKind kKind = {
      R"(BFCAllocator dump for|Bin \([0-9]+\):|Bin for [0-9]|Next region of size|InUse at )"
      R"(|Free  at |Chunks of size [0-9]|Sum Total of in-use|memory_limit_: )"
      R"(|Allocator memory summary: |MaxInUse: |LargestFreeBlock: |Limit: {10})"
      R"(|Reported by CUDA: Free memory|CU_MEMPOOL_ATTR_|Chunk at 0x)",
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
