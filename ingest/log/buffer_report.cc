// "BufferAssignment OOM Debugging": what XLA printed below a failed GPU allocation until 2025.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ingest/log/block.h"
#include "ingest/log/patterns.h"

namespace oomdb::ingest {
namespace {

struct BufferPatterns {
  Pattern head{R"(BufferAssignment (?:OOM Debugging|stats)|Peak buffers:)"};
  Pattern part{R"((parameter|constant|maybe_live_out|preallocated temp|total) allocation:\s+{H})"};
  Pattern fragmentation{R"((preallocated temp|total) fragmentation:\s+{H})"};
  Pattern buffer{R"(Buffer [0-9]+:)"};
  Pattern size{R"(Size: {H})"};
  Pattern operation{R"(Operator: (.*))"};
  Pattern label{R"(XLA [Ll]abel: (.*))"};
  Pattern shape{R"((Entry Parameter Subsh|Sh)ape: (.*))"};
  Pattern element_type{R"(\(*[a-z]+[0-9a-z]*\[)"};
  Pattern passed_over{R"(={6,})"};
};

const BufferPatterns& BufferForms() {
  static const auto* const patterns = new BufferPatterns();
  return *patterns;
}

Field FieldOf(std::string_view part) {
  if (part == "parameter") return Field::kArguments;
  if (part == "constant") return Field::kConstant;
  if (part == "maybe_live_out") return Field::kOutput;
  return part == "total" ? Field::kTotal : Field::kTemp;
}

class BufferReport : public Block {
 public:
  bool Take(std::string_view line) override {
    if (line.empty()) return true;
    auto& g = groups_;
    if (BufferForms().part.Starts(line, &g)) {
      event_.Set(FieldOf(g[1]), g[2]);
      stats_ = true;
    } else if (BufferForms().fragmentation.Starts(line, &g)) {
      // That of the temps; the total's counts the same bytes again.
      if (g[1] != "total") event_.Set(Field::kFragmentation, g[2]);
      stats_ = true;
    } else if (BufferForms().head.StartsWith(line) > 0) {
      head_ = true;
    } else if (BufferForms().buffer.StartsWith(line) > 0) {
      buffer_ = false;  // The next line that says something of it begins it.
    } else {
      return TakeBuffer(line);
    }
    EndOperator();
    return true;
  }

  std::optional<OomEvent> Finish() override {
    EndOperator();
    if (!head_ && !stats_ && !described_) return std::nullopt;
    event_.fact.form = head_ || stats_ ? "B1" : "B2";
    event_.fact.fatal = true;  // Nothing prints it but a failure.
    event_.fact.memory_space = "gpu";
    event_.family = Family::kRequest;
    return std::move(event_);
  }

 private:
  bool TakeBuffer(std::string_view line) {
    auto& g = groups_;
    if (BufferForms().size.Starts(line, &g)) {
      EndOperator();
      buffer_ = false;
      Buffer().bytes = Bytes(g[1]);
    } else if (BufferForms().operation.Starts(line, &g)) {
      Buffer();
      operator_ = g[1];
      described_ = true;
      return true;
    } else if (BufferForms().label.Starts(line, &g)) {
      Buffer().label = g[1];
      described_ = true;
    } else if (BufferForms().shape.Starts(line, &g)) {
      Buffer().shape = g[2];
      if (g[1] != "Sh") Buffer().allocation_type = "entry parameter";
      // A replay buffer has a shape too, but not XLA's.
      described_ = described_ || BufferForms().element_type.StartsWith(g[2]) > 0;
    } else if (BufferForms().passed_over.StartsWith(line) > 0) {
      EndOperator();
      buffer_ = false;
      return true;
    } else {
      return TakeRestOfOperator(line);
    }
    EndOperator();
    return true;
  }

  // A wide op name goes on in the next line where it was copied from a terminal.
  bool TakeRestOfOperator(std::string_view line) {
    constexpr size_t kMaxOperatorBytes = 8192;
    if (operator_.empty() || std::count(operator_.begin(), operator_.end(), '"') % 2 == 0 ||
        operator_.size() + line.size() > kMaxOperatorBytes) {
      return false;
    }
    operator_ += line;
    return true;
  }

  void EndOperator() {
    if (!operator_.empty() && buffer_) ReadOperator(operator_, &event_.buffers.back());
    operator_.clear();
  }

  // The one being read; a new one where none is.
  OomBufferFact& Buffer() {
    if (!buffer_ && event_.buffers.size() < kMaxBuffersPerEvent) {
      event_.buffers.emplace_back();
      event_.buffers.back().position = static_cast<int64_t>(event_.buffers.size());
    }
    buffer_ = true;
    return event_.buffers.back();
  }

  OomEvent event_;
  bool head_ = false;
  bool stats_ = false;
  bool described_ = false;  // Some buffer has more than a size, which any text might have.
  bool buffer_ = false;     // The last of the buffers is being read.
  std::string operator_;
  std::vector<std::string_view> groups_;
};

}  // namespace

const BlockKind& BufferReportKind() {
  static constexpr BlockKind kKind = {
      R"(BufferAssignment (?:OOM|stats)|(?:maybe_live_out|preallocated temp) allocation:)"
      R"(|Peak buffers:|Buffer [0-9]+:|XLA Label: )",
      []() -> std::unique_ptr<Block> { return std::make_unique<BufferReport>(); },
      [](const OomEvent& failure, const OomEvent&) {
        return failure.family == Family::kRequest && failure.fact.memory_space != "host";
      }};
  return kKind;
}

}  // namespace oomdb::ingest
