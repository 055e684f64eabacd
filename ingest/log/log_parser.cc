#include "ingest/log/log_parser.h"

#include <array>
#include <utility>

#include "ingest/log/forms.h"
#include "ingest/log/sizes.h"
#include "ingest/log/tpu_report.h"
#include "ingest/log/wrapping.h"

namespace oomdb {
namespace {

// A line that belongs to a message stands at most this far below it.
constexpr int64_t kSameMessageLines = 5;
constexpr size_t kMaxMessageBytes = 500;
constexpr size_t kMaxKnownLines = 20000;

using BlockKinds = std::array<const BlockKind*, 7>;

const BlockKinds& Kinds() {
  static const BlockKinds kinds = {&TpuReportKind(), &BufferReportKind(),  &AllocatorDumpKind(),
                                   &UsageRowsKind(), &CompiledStatsKind(), &AllocatorStatsKind(),
                                   &PlanSizesKind()};
  return kinds;
}

const Pattern& Opener(size_t kind) {
  static const auto* const openers = [] {
    auto* all = new std::vector<Pattern>();
    for (const BlockKind* kind : Kinds()) all->emplace_back(kind->opener);
    return all;
  }();
  return (*openers)[kind];
}

constexpr std::string_view kCode = R"(\bE[0-9]{4}: [A-Z]\w+:)";

// The first bytes of a line, not cut within a character.
std::string Message(std::string_view line) {
  line = WithoutException(line);
  if (line.size() > kMaxMessageBytes) {
    size_t end = kMaxMessageBytes;
    while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) --end;
    line = line.substr(0, end);
  }
  return std::string(line);
}

bool IsStatistics(const OomEvent& event) { return event.fact.kind.starts_with('K'); }

}  // namespace

const Pattern& Prefilter() {
  static const Pattern* const prefilter = [] {
    std::vector<std::string_view> needles = {"RESOURCE_EXHAUSTED"};
    for (const Form& form : Forms()) needles.push_back(form.needle);
    std::string any = AnyOf(needles);
    for (const BlockKind* kind : Kinds()) any += "|" + std::string(kind->opener);
    return new Pattern(any + "|" + std::string(kCode));
  }();
  return *prefilter;
}

void LogParser::Take(int64_t number, std::string_view line) {
  if (quiet_lines_ < kQuietLines) ++quiet_lines_;
  std::string text = Unwrap(line);
  if (text.empty()) {
    if (block_ != nullptr) block_->Take({});
    return;
  }
  if (text.find("\\\"") != std::string::npos) text = UnescapeQuotes(text);
  if (code_.empty()) {
    if (const auto known = known_lines_.find(text); known != known_lines_.end()) {
      CloseBlock();
      groups_.Repeat(known->second, number);
      failure_ = known->second;
      failure_line_ = number;
      quiet_lines_ = 0;
      return;
    }
  }
  for (std::string_view part : SplitJoined(text)) TakePart(number, part);
}

void LogParser::TakePart(int64_t number, std::string_view line) {
  if (block_ != nullptr) {
    if (block_->Take(line)) {
      block_last_ = number;
      quiet_lines_ = 0;
      return;
    }
    if (number - block_last_ > kQuietLines) CloseBlock();
  }
  if (!code_.empty() && number - code_line_ > kSameMessageLines) FileCode();
  if (!Prefilter().Matches(line)) {
    if (OomEvent* const failure = FailureNear(number, kSameMessageLines);
        failure != nullptr && failure->fact.module_name.empty()) {
      failure->fact.module_name = ModuleNameOf(line);
    }
    return;
  }
  quiet_lines_ = 0;
  if (std::optional<OomEvent> event = MatchForm(line)) {
    TakeFailure(number, line, std::move(*event));
    return;
  }
  TakeCode(number, line);
  if (OpenBlock(number, line)) return;
  static const Pattern unknown(
      R"((?:RESOURCE_EXHAUSTED|Resource exhausted): .*(?i:\bmemory\b|\bOOM\b|alloc))");
  if (unknown.Matches(line) && code_line_ != number) {
    if (++unknown_lines_ == 1) first_unknown_line_ = number;
  }
}

void LogParser::TakeFailure(int64_t number, std::string_view line, OomEvent&& event) {
  // Advice may come from another thread amid a report.
  const bool advice = event.fact.fatal == false;
  if (!advice) CloseBlock();
  event.fact.line = number;
  event.fact.message = Message(line);
  if (!code_.empty() && !advice) {
    if (event.fact.error_code.empty()) event.fact.error_code = code_;
    code_.clear();
  }
  OomEvent* const before = FailureNear(number, kSameMessageLines);
  if (before != nullptr && before->fact.kind == event.fact.kind &&
      event.family == Family::kTpuCompile && !before->fact.capacity_bytes &&
      event.fact.capacity_bytes) {
    before->Complete(std::move(event));  // The rest of a line that was broken.
    return;
  }
  const bool keep = event.family != Family::kBackOff;
  found_failure_ = true;
  const std::optional<size_t> index = groups_.Add(std::move(event));
  if (!index.has_value()) return;
  if (keep && known_lines_.size() < kMaxKnownLines) known_lines_.emplace(line, *index);
  if (advice) return;
  failure_ = index;
  failure_line_ = number;
}

bool LogParser::OpenBlock(int64_t number, std::string_view line) {
  for (size_t i = 0; i < Kinds().size(); ++i) {
    if (!Opener(i).Matches(line)) continue;
    std::unique_ptr<Block> block = Kinds()[i]->make();
    if (!block->Take(line)) continue;
    CloseBlock();
    block_ = std::move(block);
    block_kind_ = Kinds()[i];
    block_first_ = block_last_ = number;
    block_message_ = Message(line);
    block_failure_ =
        FailureNear(number, EventGroups::kNearLines) != nullptr ? failure_ : std::nullopt;
    if (i >= 4)
      ambiguous_units_ += IsAmbiguousUnit(line.substr(0, line.find_last_not_of("., ") + 1));
    return true;
  }
  return false;
}

void LogParser::CloseBlock() {
  if (block_ == nullptr) return;
  std::optional<OomEvent> report = std::exchange(block_, nullptr)->Finish();
  if (!report.has_value()) return;
  report->last_line = block_last_;
  if (block_failure_.has_value() && block_kind_->belongs(groups_[*block_failure_], *report)) {
    OomEvent& failure = groups_[*block_failure_];
    failure.Complete(std::move(*report));
    ForgetUnchargedArguments(&failure);
    failure_line_ = block_last_;  // What comes below the report is near the failure still.
    return;
  }
  report->fact.line = block_first_;
  report->fact.message = std::move(block_message_);
  if (!IsStatistics(*report)) found_failure_ = true;
  groups_.Add(std::move(*report));
}

OomEvent* LogParser::FailureNear(int64_t number, int64_t lines) {
  if (!failure_.has_value() || number - failure_line_ > lines) return nullptr;
  return &groups_[*failure_];
}

void LogParser::TakeCode(int64_t number, std::string_view line) {
  static const Pattern code(kCode);
  if (!code.Matches(line)) return;
  FileCode();
  code_ = ErrorCodeOf(line);
  code_line_ = number;
  code_message_ = Message(line);
}

void LogParser::FileCode() {
  const std::string code = std::exchange(code_, "");
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kMemoryCodes = {
      {{"E0100", "hbm"}, {"E0101", "hbm"}, {"E1000", "hbm"}, {"E1001", "vmem"}, {"E3000", ""}}};
  for (const auto& [name, space] : kMemoryCodes) {
    if (code != name) continue;
    OomEvent event;
    event.fact.kind = event.fact.error_code = code;
    event.fact.fatal = true;
    event.fact.memory_space = space;
    event.fact.line = code_line_;
    event.fact.message = code_message_;
    found_failure_ = true;
    groups_.Add(std::move(event));
  }
}

std::vector<OomEvent> LogParser::Finish() {
  CloseBlock();
  FileCode();
  return groups_.Take();
}

}  // namespace oomdb
