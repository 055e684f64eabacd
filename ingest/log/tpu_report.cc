#include "ingest/log/tpu_report.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ingest/log/block.h"
#include "ingest/log/patterns.h"

namespace oomdb::ingest {
namespace {

struct ReportPatterns {
  Pattern used{R"(Used {H} of {H} (\w+))"};
  Pattern exceeded{R"(Exceeded (\w+) capacity by {H})"};
  Pattern total{R"(Total (\w+) usage >= ?{H})"};
  Pattern part{R"((reserved|program|arguments|output)(?:\([^)]*\))?\s+(?:{U}|unknown size))"};
  Pattern output{
      R"((?:.*\d[KMGTPE]?B?)?Output size (?:{H}(?: \([^)]*\))?(?:; shares {H} with arguments)?|unknown))"};
  Pattern program{R"(Program (\w+) requirement (?:{H}|unknown))"};
  Pattern kind{R"(([A-Za-z][A-Za-z ]*?)\s+{U}(?: \(.*?% fragmentation \({H}\))?)"};
  Pattern largest{R"(Largest program allocations in (\w+))"};
  Pattern size{R"([0-9]+\. Size: {H})"};
  Pattern operation{R"(Operator: (.*))"};
  Pattern shape{R"(Shape: (.*))"};
  Pattern unpadded{R"(Unpadded size: {H})"};
  Pattern padding{R"(Extra memory due to padding: {H})"};
  Pattern label{R"(XLA label: (.*))"};
  Pattern type{R"(Allocation type: (.*))"};
  Pattern passed_over{R"(={6,}|Tag: |See https://openxla)"};
  // What stood below a program that could not be loaded, until 2020.
  Pattern hbm{R"(HBM capacity {U}:)"};
  Pattern exact{R"((Currently allocated|Program requirement):\s+{U} +\( *([0-9,]+) bytes\))"};
  Pattern max_free{R"(Max free chunk\s+{U})"};
};

const ReportPatterns& ReportForms() {
  static const auto* const patterns = new ReportPatterns();
  return *patterns;
}

class TpuReport : public Block {
 public:
  bool Take(std::string_view line) override {
    if (line.empty()) return true;
    if (TakeTotals(line) || TakeAllocation(line) || TakeLoading(line)) return true;
    if (section_ == Section::kProgram) return TakeKind(line);
    return TakeRestOfOperator(line);
  }

  std::optional<OomEvent> Finish() override {
    TakeOperator();
    if (!anything_) return std::nullopt;
    event_.fact.form = event_.fact.total_bytes ? "T2" : program_seen_ ? "T3" : "T4";
    if (event_.fact.memory_space == "vmem") event_.fact.form = "V1";
    event_.family = Family::kTpuCompile;
    ForgetUnchargedArguments(&event_);
    return std::move(event_);
  }

 private:
  enum class Section { kTotals, kProgram, kAllocations };

  bool TakeTotals(std::string_view line) {
    auto& g = groups_;
    if (ReportForms().total.Starts(line, &g)) {
      Space(g[1]);
      // Printed once more, it may be cut within the number.
      if (!event_.fact.total_bytes) event_.Set(Field::kTotal, g[2]);
      section_ = Section::kTotals;
    } else if (section_ == Section::kTotals && ReportForms().part.Starts(line, &g)) {
      event_.Set(g[1] == "reserved"  ? Field::kReserved
                 : g[1] == "program" ? Field::kProgram
                 : g[1] == "output"  ? Field::kOutput
                                     : Field::kArguments,
                 g[2]);
      // `arguments 0BOutput size 0B; shares …`: lines may be joined.
      if (const size_t next = line.find("Output size"); next != std::string_view::npos)
        TakeTotals(line.substr(next));
    } else if (ReportForms().output.Starts(line, &g)) {
      event_.Set(Field::kOutput, g[1]);
      event_.Set(Field::kAlias, g[2]);
    } else if (ReportForms().program.Starts(line, &g)) {
      Space(g[1]);
      if (!event_.fact.program_bytes) event_.Set(Field::kProgram, g[2]);
      section_ = Section::kProgram;
      program_seen_ = true;
    } else if (ReportForms().largest.Starts(line, &g)) {
      Space(g[1]);
      section_ = Section::kAllocations;
    } else if (ReportForms().exceeded.Starts(line, &g)) {
      Space(g[1]);
      event_.Set(Field::kExceeded, g[2]);
    } else if (ReportForms().used.Starts(line, &g)) {
      event_.Set(Field::kUsed, g[1]);
      event_.Set(Field::kCapacity, g[2]);
      Space(g[3]);
      if (ReportForms().exceeded.Find(line, &g)) event_.Set(Field::kExceeded, g[2]);
    } else {
      return false;
    }
    TakeOperator();
    anything_ = true;
    return true;
  }

  bool TakeLoading(std::string_view line) {
    auto& g = groups_;
    if (ReportForms().hbm.Starts(line, &g)) {
      event_.Set(Field::kCapacity, g[1]);
      Space("hbm");
    } else if (ReportForms().exact.Starts(line, &g)) {
      std::string digits(g[3]);
      std::erase(digits, ',');
      event_.Set(g[1].starts_with('C') ? Field::kUsed : Field::kRequested, digits);
    } else if (ReportForms().max_free.Starts(line, &g)) {
      event_.Set(Field::kLargestFree, g[1]);
    } else {
      return false;
    }
    anything_ = true;
    return true;
  }

  bool TakeKind(std::string_view line) {
    auto& g = groups_;
    if (!ReportForms().kind.Starts(line, &g)) return false;
    if (g[1] == "HLO temp") {
      event_.Set(Field::kTemp, g[2]);
      event_.Set(Field::kFragmentation, g[3]);
    } else if (g[1] == "constants") {
      event_.Set(Field::kConstant, g[2]);
    }
    anything_ = program_seen_ = true;
    return true;
  }

  bool TakeAllocation(std::string_view line) {
    auto& g = groups_;
    if (section_ == Section::kTotals && line.starts_with("HLO temp ")) {
      section_ = Section::kProgram;  // The text begins within it.
      return TakeKind(line);
    }
    if (ReportForms().size.Starts(line, &g)) {
      TakeOperator();
      section_ = Section::kAllocations;
      if (event_.buffers.size() < kMaxBuffersPerEvent) {
        OomBufferFact& buffer = event_.buffers.emplace_back();
        buffer.position = static_cast<int64_t>(event_.buffers.size());
        buffer.bytes = Bytes(g[1]);
      }
      anything_ = true;
      return true;
    }
    if (event_.buffers.empty()) return false;
    OomBufferFact& buffer = event_.buffers.back();
    if (ReportForms().operation.Starts(line, &g)) {
      operator_ = g[1];
      return true;
    }
    if (ReportForms().shape.Starts(line, &g)) {
      buffer.shape = g[1];
    } else if (ReportForms().unpadded.Starts(line, &g)) {
      buffer.unpadded_bytes = Bytes(g[1]);
    } else if (ReportForms().padding.Starts(line, &g)) {
      buffer.padding_bytes = Bytes(g[1]);
    } else if (ReportForms().label.Starts(line, &g)) {
      buffer.label = g[1];
    } else if (ReportForms().type.Starts(line, &g)) {
      buffer.allocation_type = g[1];
    } else if (ReportForms().passed_over.StartsWith(line) == 0) {
      return false;
    }
    TakeOperator();
    return true;
  }

  // An op name that is wider than the terminal it was copied from goes on in the next line.
  bool TakeRestOfOperator(std::string_view line) {
    if (operator_.empty()) return false;
    const bool open = std::count(operator_.begin(), operator_.end(), '"') % 2 == 1;
    constexpr size_t kMaxOperatorBytes = 8192;
    if (!open || operator_.size() + line.size() > kMaxOperatorBytes) return false;
    operator_ += line;
    return true;
  }

  void TakeOperator() {
    if (!operator_.empty() && !event_.buffers.empty())
      ReadOperator(operator_, &event_.buffers.back());
    operator_.clear();
  }

  void Space(std::string_view name) {
    if (event_.fact.memory_space.empty()) event_.Set(Field::kSpace, name);
  }

  OomEvent event_;
  Section section_ = Section::kTotals;
  bool anything_ = false;
  bool program_seen_ = false;
  std::string operator_;
  std::vector<std::string_view> groups_;
};

}  // namespace

void ForgetUnchargedArguments(OomEvent* event) {
  OomEventFact& fact = event->fact;
  if (fact.arguments_bytes != 0) return;
  const bool no_output = fact.output_bytes.value_or(0) == 0;
  const bool gave_up =
      fact.program_bytes && fact.capacity_bytes && *fact.program_bytes > *fact.capacity_bytes;
  if (!no_output && !gave_up) return;
  fact.arguments_bytes.reset();
  fact.alias_bytes.reset();
  if (no_output) fact.output_bytes.reset();
}

const BlockKind& TpuReportKind() {
  static constexpr BlockKind kKind = {
      R"(Total \w+ usage (?:>|&gt;|\\u003e)=|Program \w+ requirement [0-9]|Largest program allocations in)"
      R"(|[0-9]\. Size: [0-9]|HLO temp {2}|Exceeded \w+ capacity by|HBM capacity [0-9.]+[A-Z]+:)",
      []() -> std::unique_ptr<Block> { return std::make_unique<TpuReport>(); },
      [](const OomEvent& failure, const OomEvent& report) {
        // A program that could not be loaded was reported on as well.
        return (failure.family == Family::kTpuCompile || failure.fact.form == "R2") &&
               (report.fact.memory_space.empty() || failure.fact.memory_space.empty() ||
                report.fact.memory_space == failure.fact.memory_space);
      }};
  return kKind;
}

}  // namespace oomdb::ingest
