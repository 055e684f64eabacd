// What programs print of memory without a failure: XLA's analysis of a compiled program, an
// allocator's statistics, the sizes that training programs log.
#include <string>
#include <utility>
#include <vector>

#include "ingest/log/block.h"
#include "ingest/log/patterns.h"
#include "ingest/log/sizes.h"

namespace oomdb::ingest {
namespace {

bool Never(const OomEvent&, const OomEvent&) { return false; }

// The next match of `pattern` in *text, which then begins behind it.
bool FindNext(const Pattern& pattern, std::string_view* text,
              std::vector<std::string_view>* groups) {
  if (!pattern.Find(*text, groups)) return false;
  const char* const end = (*groups)[0].data() + (*groups)[0].size();
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return true;
}

// CompiledMemoryStats(generated_code_size_in_bytes=…, …): also with a line for each.
class CompiledStats : public Block {
 public:
  bool Take(std::string_view line) override {
    static const Pattern value(R"((\w+)_in_bytes=(-?[0-9]+))");
    if (line.empty()) return true;
    const bool head = line.find("CompiledMemoryStats(") != std::string_view::npos;
    if (head && anything_) return false;
    bool found = head;
    for (std::string_view rest = line; FindNext(value, &rest, &groups_);) {
      Set(groups_[1], groups_[2]);
      found = true;
    }
    if (found) anything_ = true;
    return found || (anything_ && line == ")");
  }

  std::optional<OomEvent> Finish() override {
    const OomEventFact& fact = event_.fact;
    // All zero: this backend does not know.
    if (fact.arguments_bytes.value_or(0) == 0 && fact.output_bytes.value_or(0) == 0 &&
        fact.temp_bytes.value_or(0) == 0) {
      return std::nullopt;
    }
    event_.fact.form = "K1";
    event_.fact.fatal = false;
    return std::move(event_);
  }

 private:
  void Set(std::string_view name, std::string_view digits) {
    if (name == "argument_size") event_.Set(Field::kArguments, digits);
    if (name == "output_size") event_.Set(Field::kOutput, digits);
    if (name == "alias_size") event_.Set(Field::kAlias, digits);
    if (name == "temp_size") event_.Set(Field::kTemp, digits);
  }

  OomEvent event_;
  bool anything_ = false;
  std::vector<std::string_view> groups_;
};

// device.memory_stats() as a dict, and the block that Reactant prints of the same.
class AllocatorStats : public Block {
 public:
  bool Take(std::string_view line) override {
    static const Pattern entry(R"re(['"](\w+)['"]: ([0-9]+))re");
    static const Pattern row(
        R"((Num Allocs|In Use|Peak In Use|Largest Alloc Size|Limit|Reserved|Peak Reserved)"
        R"(|Reservable Limit|Largest Free Block|Pool): (.*))");
    if (line.empty()) return true;
    if (line == "AllocatorStats") return rows_ ? false : (rows_ = true);
    if (rows_ && line.find_first_not_of('-') == std::string_view::npos) return true;
    if (rows_ && row.Starts(line, &groups_)) {
      Set(groups_[1], groups_[2]);
      return true;
    }
    bool found = false;
    for (std::string_view rest = line; FindNext(entry, &rest, &groups_);) {
      // The dict of the next device.
      if (groups_[1] == "num_allocs" && event_.fact.used_bytes) return found;
      found = Set(groups_[1], groups_[2]) || found;
    }
    return found || (event_.fact.used_bytes && line == "}");
  }

  std::optional<OomEvent> Finish() override {
    OomEventFact& fact = event_.fact;
    if (!fact.used_bytes && !fact.capacity_bytes) return std::nullopt;
    if (fact.capacity_bytes == 0) fact.capacity_bytes.reset();
    if (fact.largest_free_bytes == 0) fact.largest_free_bytes.reset();
    if (fact.capacity_bytes && fact.used_bytes)
      fact.free_bytes = *fact.capacity_bytes - *fact.used_bytes - fact.reserved_bytes.value_or(0);
    fact.form = rows_ ? "K7" : "K3";
    fact.fatal = false;
    return std::move(event_);
  }

 private:
  bool Set(std::string_view name, std::string_view text) {
    if (name == "bytes_in_use" || name == "In Use") event_.Set(Field::kUsed, text);
    if (name == "bytes_limit" || name == "Limit") event_.Set(Field::kCapacity, text);
    if (name == "bytes_reserved" || name == "Reserved") event_.Set(Field::kReserved, text);
    if (name == "largest_free_block_bytes" || name == "Largest Free Block")
      event_.Set(Field::kLargestFree, text);
    return name.find("bytes") != std::string_view::npos ||
           name.find("alloc") != std::string_view::npos;
  }

  OomEvent event_;
  bool rows_ = false;
  std::vector<std::string_view> groups_;
};

// One line of MaxText's, or a few of AXLearn's and PyTorch/XLA's.
class PlanSizes : public Block {
 public:
  bool Take(std::string_view line) override {
    static const Pattern size(
        R"re((?i:(?:estimated )?(host temp|total(?: estimated)?|output|temp|argument|input|code|)re"
        R"re(aliased input|intermediate tensor|compiled program|graph input|graph output)?)re"
        R"re((?: hbm)?(?: memory)?(?: size)?): ([0-9.]+ ?[KMGT]i?B))re");
    static const Pattern head(
        R"((?i)(?:total|input|output|temp|code|host temp)[\w ]* memory|memory size: |)"
        R"(post compilation analysis|(?:graph|aliased) (?:in|out)put size: |)"
        R"((?:intermediate tensor|compiled program) size: )");
    if (line.empty()) return true;
    if (!head.Matches(line)) return false;
    // PyTorch/XLA says it before each line, or above all of them.
    const bool title = line.find("Post Compilation Analysis") != std::string_view::npos &&
                       line.find(" size: ") == std::string_view::npos;
    if (title && found_) return false;
    bool found = false;
    for (std::string_view rest = line; FindNext(size, &rest, &groups_);)
      found = Set(groups_[1], groups_[2]) || found;
    found_ = found_ || found;
    return found || title;
  }

  std::optional<OomEvent> Finish() override {
    const OomEventFact& fact = event_.fact;
    if (!fact.total_bytes && !(fact.arguments_bytes && fact.output_bytes)) return std::nullopt;
    event_.fact.form = maxtext_ ? "K5" : "K6";
    event_.fact.fatal = false;
    return std::move(event_);
  }

 private:
  bool Set(std::string_view printed, std::string_view text) {
    std::string name(printed);
    for (char& c : name) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    Field field = Field::kNone;
    if (name.starts_with("total")) field = Field::kTotal;
    if (name == "output" || name == "graph output") field = Field::kOutput;
    if (name == "temp" || name == "intermediate tensor") field = Field::kTemp;
    if (name == "argument" || name == "input" || name == "graph input") field = Field::kArguments;
    if (name == "aliased input") field = Field::kAlias;
    maxtext_ = maxtext_ || name == "argument";
    if (MaybeInt* const bytes = event_.Bytes(field); bytes != nullptr && !bytes->has_value())
      event_.Set(field, text);
    return true;
  }

  OomEvent event_;
  bool found_ = false;
  bool maxtext_ = false;
  std::vector<std::string_view> groups_;
};

}  // namespace

const BlockKind& CompiledStatsKind() {
  static constexpr BlockKind kKind = {
      R"(CompiledMemoryStats\(|argument_size_in_bytes=)",
      []() -> std::unique_ptr<Block> { return std::make_unique<CompiledStats>(); }, Never};
  return kKind;
}

const BlockKind& AllocatorStatsKind() {
  static constexpr BlockKind kKind = {
      R"re(AllocatorStats|['"]bytes_in_use['"]: |['"]bytes_limit['"]: )re",
      []() -> std::unique_ptr<Block> { return std::make_unique<AllocatorStats>(); }, Never};
  return kKind;
}

const BlockKind& PlanSizesKind() {
  static constexpr BlockKind kKind = {
      R"(otal (?:estimated )?memory size: [0-9]|Total HBM memory: |Input memory: [0-9])"
      R"(|Post Compilation Analysis|Graph (?:in|out)put size: [0-9])",
      []() -> std::unique_ptr<Block> { return std::make_unique<PlanSizes>(); }, Never};
  return kKind;
}

}  // namespace oomdb::ingest
