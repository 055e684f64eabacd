#include "ingest/log/log_parser.h"

#include <algorithm>
#include <array>
#include <utility>

#include "ingest/log/forms.h"
#include "ingest/log/json_line.h"
#include "ingest/log/sizes.h"
#include "ingest/log/tpu_report.h"
#include "ingest/log/wrapping.h"

namespace oomdb::ingest {
namespace {

// A line that belongs to a message stands at most this far below it.
constexpr int64_t kSameMessageLines = 5;
// A message may be broken into as many lines.
constexpr int64_t kMaxBrokenLines = 4;
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

// A message of failure of which more must come: on this line, or on the next where it was broken.
constexpr std::string_view kUnfinished =
    R"((?:RESOURCE_EXHAUSTED|Resource exhausted)(?::|\W*(?m:$))|failed to alloc)";

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

bool IsStatistics(const OomEvent& event) { return event.fact.form.starts_with('K'); }

// What stands in every line that has a form, begins a report or tells of memory.
std::string Meanings() {
  std::vector<std::string_view> needles;
  std::string patterns;
  for (const Form& form : Forms()) {
    if (form.prefilter.empty()) {
      needles.push_back(form.needle);
    } else {
      patterns += "|" + std::string(form.prefilter);
    }
  }
  std::string any = AnyOf(needles) + patterns;
  for (const BlockKind* kind : Kinds()) any += "|" + std::string(kind->opener);
  // What journald writes of a line with colours: bytes, which may say anything.
  any += R"(|"MESSAGE" ?: ?\[[0-9])";
  return any + "|" + std::string(kCode) + "|" + std::string(kEngineMemoryLines);
}

bool MayMean(std::string_view line) {
  static const Pattern meanings(Meanings());
  return meanings.Matches(line);
}

// What there is in `line`, where it can be something at all: the table is long.
std::optional<OomEvent> EventIn(std::string_view line) {
  return MayMean(line) ? MatchForm(line) : std::nullopt;
}

}  // namespace

const Pattern& Prefilter() {
  static const Pattern* const prefilter =
      new Pattern(Meanings() + "|" + std::string(kUnfinished) + "|" + std::string(kCutLine));
  return *prefilter;
}

void LogParser::Take(int64_t number, std::string_view line) {
  last_taken_ = number;
  if (!partial_lines_.Take(&number, &line)) return;
  if (line.find('\r') != std::string_view::npos) line = LastRewrite(line, Prefilter());
  TakeText(number, line, Origin());
}

void LogParser::Switch(const Origin& origin) {
  constexpr size_t kMaxStreams = 4096;
  const auto known = streams_.find(origin.process);
  if (known != streams_.end()) {
    now_ = &known->second;
    return;
  }
  now_ = &streams_[streams_.size() < kMaxStreams ? origin.process : ""];
  if (streams_.size() <= kMaxStreams) now_->name = origin.name;
}

void LogParser::TakeText(int64_t number, std::string_view line, const Origin& around) {
  Origin origin = around;
  std::string text = Unwrap(line, labels_, &origin);
  constexpr size_t kMaxNesting = 200;  // Bytes of names: JSON within JSON has an end.
  if ((text.starts_with('{') || text.starts_with('"')) && origin.process.size() < kMaxNesting) {
    const std::vector<std::string> messages = JsonMessages(text, &origin);
    for (const std::string& message : messages) TakeText(number, message, origin);
    if (!messages.empty()) return;
  }
  if (quiet_lines_ < kQuietLines) ++quiet_lines_;
  // Some name the process in the first line of a message only.
  const bool goes_on = origin.process.empty() && number <= last_number_ + 1 &&
                       streams_[""].block == nullptr &&
                       (now_->block != nullptr || !now_->broken.empty());
  if (!goes_on) Switch(origin);
  last_number_ = number;
  if (text.empty()) {
    now_->broken.clear();
    if (now_->block != nullptr) now_->block->Take({});
    return;
  }
  if (text.find("\\\"") != std::string::npos) text = UnescapeQuotes(text);
  std::string_view once = text;
  now_->times = TakeRepeats(&once);
  text.resize(once.size());
  if (now_->code.empty()) {
    if (const auto known = known_lines_.find(text); known != known_lines_.end()) {
      CloseBlock();
      groups_.Repeat(known->second, number, now_->name, now_->times);
      now_->failure = known->second;
      now_->failure_line = number;
      quiet_lines_ = 0;
      return;
    }
  }
  for (std::string_view part : SplitJoined(text)) TakePart(number, part);
}

void LogParser::MayGoOn(int64_t number, std::string_view line, std::optional<size_t> failure) {
  now_->broken = line;
  now_->broken_first = now_->broken_last = number;
  now_->broken_failure = failure;
}

bool LogParser::TakeBroken(int64_t number, std::string_view line) {
  constexpr size_t kMaxBrokenBytes = 4096;
  const std::string before = std::exchange(now_->broken, "");
  if (number != now_->broken_last + 1 || number - now_->broken_first >= kMaxBrokenLines ||
      before.size() + line.size() > kMaxBrokenBytes) {
    return false;
  }
  const std::optional<size_t> failure = now_->broken_failure;
  std::optional<OomEvent> alone = EventIn(line);
  if (failure.has_value() && alone.has_value() && alone->fact.form != groups_[*failure].fact.form) {
    return false;
  }
  // It was broken between words, or at a terminal's edge within one.
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::array<std::string, 2> joined = {before + ' ' + std::string(line),
                                       before + std::string(line)};
  if (digit(before.back()) && digit(line.front())) std::swap(joined[0], joined[1]);
  for (const std::string& text : joined) {
    std::optional<OomEvent> event = EventIn(text);
    if (!event.has_value()) continue;
    const int64_t first = now_->broken_first;
    if (!failure.has_value()) {
      if (alone.has_value() && alone->known() >= event->known()) continue;
      TakeFailure(first, text, std::move(*event));
    } else {
      OomEvent& told = groups_[*failure];
      const bool advice =
          event->fact.fatal == false && told.fact.fatal == true && told.fact.repeat_count == 1;
      if (event->fact.form != told.fact.form ? !advice : event->known() <= told.known()) continue;
      if (alone.has_value() && event->known() <= alone->known()) continue;
      told.fact.form = event->fact.form;
      told.fact.fatal = event->fact.fatal;
      told.Complete(std::move(*event));
      MayGoOn(first, text, failure);
    }
    now_->broken_first = first;
    now_->broken_last = number;
    quiet_lines_ = 0;
    return true;
  }
  if (!failure.has_value() && !alone.has_value()) {
    now_->broken = before + ' ' + std::string(line);
    now_->broken_last = number;
  }
  return false;
}

void LogParser::TakePart(int64_t number, std::string_view line) {
  if (!now_->broken.empty() && TakeBroken(number, line)) return;
  if (now_->block != nullptr) {
    if (now_->block->Take(line)) {
      now_->block_last = number;
      quiet_lines_ = 0;
      return;
    }
    if (number - now_->block_last > kQuietLines) CloseBlock();
  }
  if (!now_->code.empty() && number - now_->code_line > kSameMessageLines) FileCode();
  const bool may_mean = MayMean(line);
  if (may_mean) {
    if (std::optional<OomEvent> event = MatchForm(line)) {
      quiet_lines_ = 0;
      TakeFailure(number, line, std::move(*event));
      return;
    }
    if (TakeMemory(number, line)) return;
    TakeCode(number, line);
    if (OpenBlock(number, line)) {
      quiet_lines_ = 0;
      return;
    }
    if (!now_->code.empty()) quiet_lines_ = 0;
  }
  if (OomEvent* const failure = FailureNear(number, kSameMessageLines);
      failure != nullptr && failure->fact.module_name.empty()) {
    failure->fact.module_name = ModuleNameOf(line);
  }
  static const Pattern unfinished(kUnfinished);
  if (!unfinished.Matches(line)) return;
  MayGoOn(number, line, std::nullopt);
  // What is nothing more than a word of failure is no reason to read on for long.
  quiet_lines_ = std::min(quiet_lines_, kQuietLines - kMaxBrokenLines);
  static const Pattern unknown(
      R"((?:RESOURCE_EXHAUSTED|Resource exhausted): .*(?i:\bmemory\b|\bOOM\b|alloc))");
  if (unknown.Matches(line) && now_->code_line != number) {
    if (++unknown_lines_ == 1) first_unknown_line_ = number;
  }
}

void LogParser::TakeFailure(int64_t number, std::string_view line, OomEvent&& event) {
  // Advice may come from another thread amid a report.
  const bool advice = event.fact.fatal == false;
  if (!advice) CloseBlock();
  event.fact.line = number;
  // A launcher's line may name a rank that isn't its own.
  event.SetRank(event.fact.rank_name.empty() ? now_->name : event.fact.rank_name);
  event.fact.message = Message(line);
  event.fact.repeat_count = now_->times;
  if (!now_->code.empty() && !advice) {
    if (event.fact.error_code.empty()) event.fact.error_code = now_->code;
    now_->code.clear();
  }
  // The kernel tells of one kill in several lines, with what it looked at between them.
  if (OomEvent* const kill = FailureNear(number, EventGroups::kNearLines);
      kill != nullptr && kill->fact.form == "C2" && event.fact.form == "C2" &&
      (!kill->fact.used_bytes || kill->fact.capacity_bytes) && event.fact.used_bytes &&
      !event.fact.capacity_bytes) {
    kill->Complete(std::move(event));
    now_->failure_line = number;
    return;
  }
  OomEvent* const before = FailureNear(number, kSameMessageLines);
  if (before != nullptr && before->fact.form == event.fact.form &&
      (event.family == Family::kTpuCompile || event.fact.form == "C2") &&
      !before->fact.capacity_bytes && event.fact.capacity_bytes) {
    before->Complete(std::move(event));  // The rest of a line that was broken.
    return;
  }
  AddMemory(&event);
  const bool keep = event.family != Family::kBackOff;
  found_failure_ = true;
  const std::optional<size_t> index = groups_.Add(std::move(event));
  if (!index.has_value()) return;
  if (keep) MayGoOn(number, line, index);
  if (keep && known_lines_.size() < kMaxKnownLines) known_lines_.emplace(line, *index);
  if (advice) return;
  now_->failure = index;
  now_->failure_line = number;
}

bool LogParser::OpenBlock(int64_t number, std::string_view line) {
  for (size_t i = 0; i < Kinds().size(); ++i) {
    if (!Opener(i).Matches(line)) continue;
    std::unique_ptr<Block> block = Kinds()[i]->make();
    if (!block->Take(line)) continue;
    CloseBlock();
    now_->block = std::move(block);
    now_->block_kind = Kinds()[i];
    now_->block_first = now_->block_last = number;
    now_->block_message = Message(line);
    now_->block_failure =
        FailureNear(number, EventGroups::kNearLines) != nullptr ? now_->failure : std::nullopt;
    if (i >= 4)
      ambiguous_units_ += IsAmbiguousUnit(line.substr(0, line.find_last_not_of("., ") + 1));
    return true;
  }
  return false;
}

void LogParser::CloseBlock() {
  if (now_->block == nullptr) return;
  std::optional<OomEvent> report = std::exchange(now_->block, nullptr)->Finish();
  if (!report.has_value()) return;
  report->last_line = now_->block_last;
  report->SetRank(now_->name);
  if (now_->block_failure.has_value() &&
      now_->block_kind->belongs(groups_[*now_->block_failure], *report)) {
    OomEvent& failure = groups_[*now_->block_failure];
    failure.Complete(std::move(*report));
    ForgetUnchargedArguments(&failure);
    now_->failure_line =
        now_->block_last;  // What comes below the report is near the failure still.
    return;
  }
  report->fact.line = now_->block_first;
  report->fact.message = std::move(now_->block_message);
  if (!IsStatistics(*report)) found_failure_ = true;
  groups_.Add(std::move(*report));
}

OomEvent* LogParser::FailureNear(int64_t number, int64_t lines) {
  if (!now_->failure.has_value() || number - now_->failure_line > lines) return nullptr;
  return &groups_[*now_->failure];
}

bool LogParser::TakeMemory(int64_t number, std::string_view line) {
  std::optional<EngineMemory> memory = ReadEngineMemory(line);
  if (!memory.has_value()) return false;
  memory->line = number;
  memory->message = Message(line);
  (memory->host ? now_->host : now_->device).Take(std::move(*memory));
  return true;
}

void LogParser::AddMemory(OomEvent* event) const {
  const std::string& space = event->fact.memory_space;
  // A compiler compares what it wants with a limit of its own.
  if (event->family == Family::kTpuCompile || event->family == Family::kUnverifiedPlan ||
      event->fact.fatal == false) {
    return;
  }
  if (space != "host" && space != "hbm" && space != "gpu") return;
  const auto of = [&](const Stream& stream) -> const EngineMemory& {
    return space == "host" ? stream.host : stream.device;
  };
  const EngineMemory* memory = &of(*now_);
  for (const auto& [process, stream] : streams_) {
    // Another process of the program may have said it.
    if (of(*now_).line == 0 && of(stream).line > memory->line) memory = &of(stream);
  }
  event->known_used = memory->used;
  event->known_capacity = memory->capacity;
}

void LogParser::FileMemory() {
  for (EngineMemory* memory : {&now_->device, &now_->host}) {
    if (memory->line == 0) continue;
    OomEvent event;
    event.fact.form = memory->form;
    event.fact.fatal = false;
    event.fact.memory_space = memory->host ? "host" : "";
    event.fact.device = memory->device;
    event.fact.used_bytes = memory->used;
    event.fact.capacity_bytes = memory->capacity;
    event.fact.line = memory->line;
    event.fact.message = memory->message;
    event.SetRank(now_->name);
    groups_.Add(std::move(event));
  }
}

void LogParser::TakeCode(int64_t number, std::string_view line) {
  static const Pattern code(kCode);
  if (!code.Matches(line)) return;
  FileCode();
  now_->code = ErrorCodeOf(line);
  now_->code_line = number;
  now_->code_message = Message(line);
}

void LogParser::FileCode() {
  const std::string code = std::exchange(now_->code, "");
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kMemoryCodes = {
      {{"E0100", "hbm"}, {"E0101", "hbm"}, {"E1000", "hbm"}, {"E1001", "vmem"}, {"E3000", ""}}};
  for (const auto& [name, space] : kMemoryCodes) {
    if (code != name) continue;
    OomEvent event;
    event.fact.form = event.fact.error_code = code;
    event.fact.fatal = true;
    event.fact.memory_space = space;
    event.fact.line = now_->code_line;
    event.fact.message = now_->code_message;
    event.SetRank(now_->name);
    AddMemory(&event);
    found_failure_ = true;
    groups_.Add(std::move(event));
  }
}

std::vector<OomEvent> LogParser::Finish() {
  for (const auto& [number, text] : partial_lines_.TakeRest()) TakeText(number, text, Origin());
  for (auto& [process, stream] : streams_) {
    now_ = &stream;
    CloseBlock();
    FileCode();
    FileMemory();
  }
  return groups_.Take();
}

}  // namespace oomdb::ingest
