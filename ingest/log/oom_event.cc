#include "ingest/log/oom_event.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include "base/ascii.h"
#include "ingest/log/sizes.h"

namespace oomdb::ingest {
namespace {

constexpr std::array kByteFields = {
    Field::kRequested,  Field::kCapacity,       Field::kUsed,          Field::kExceeded,
    Field::kTotal,      Field::kReserved,       Field::kProgram,       Field::kArguments,
    Field::kTemp,       Field::kOutput,         Field::kAlias,         Field::kConstant,
    Field::kFree,       Field::kLargestFree,    Field::kFragmentation, Field::kTensorCore,
    Field::kSparseCore, Field::kDeviceFree,     Field::kDeviceMemory,  Field::kPool,
    Field::kPeak,       Field::kLargestRequest, Field::kTempUnpadded};

MaybeInt Number(std::string_view digits) {
  int64_t value = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || stop == digits.data()) return std::nullopt;
  return value;
}

void TakeUnknown(std::string& mine, std::string& other) {
  if (mine.empty()) mine = std::move(other);
}

// What stands between the quotes of key="…"; up to the end where the closing quote was cut off.
std::string_view Quoted(std::string_view text, std::string_view key) {
  size_t at = text.find(key);
  // op_name is not the end of deduplicated_op_name.
  while (at != std::string_view::npos && at > 0 && text[at - 1] != ' ' && text[at - 1] != '{')
    at = text.find(key, at + 1);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + key.size());
  if (!text.starts_with('"')) return {};
  text.remove_prefix(1);
  // A name may hold quotes of its own: its end is the quote before the next key, or the line's.
  size_t end = text.size();
  for (size_t quote = text.find('"'); quote != std::string_view::npos;
       quote = text.find('"', quote + 1)) {
    end = quote;
    const std::string_view after = text.substr(quote + 1);
    constexpr size_t kMaxKeyBytes = 32;
    const size_t equals = std::min(after.substr(0, kMaxKeyBytes).find('='), after.size());
    const bool key_follows =
        after.starts_with(' ') && equals > 1 && equals + 1 < after.size() &&
        std::all_of(after.begin() + 1, after.begin() + static_cast<std::ptrdiff_t>(equals),
                    [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; }) &&
        (after[equals + 1] == '"' || std::isdigit(static_cast<unsigned char>(after[equals + 1])));
    if (after.empty() || after.front() == '}' || key_follows) break;
  }
  return text.substr(0, end);
}

// Until 2023 JAX wrote an operation's parameters behind its name: `reduce_window[padding=((0, 0))]`.
// The name alone says which operation it is. A scope of the user's such as `block[3]` stays.
std::string WithoutParameters(std::string_view name) {
  std::string plain;
  while (!name.empty()) {
    const size_t open = std::min(name.find('['), name.size());
    plain += name.substr(0, open);
    name.remove_prefix(open);
    size_t depth = 0, end = 0;
    while (end < name.size()) {
      if (name[end] == '[') ++depth;
      if (name[end] == ']') --depth;
      ++end;
      if (depth == 0) break;
    }
    const std::string_view bracket = name.substr(0, end);
    if (bracket.find('=') == std::string_view::npos) plain += bracket;
    name.remove_prefix(end);
  }
  return plain;
}

}  // namespace

MaybeInt Bytes(std::string_view text) {
  const std::optional<Size> size = ParseSize(text);
  return size.has_value() ? MaybeInt(size->bytes) : std::nullopt;
}

std::string SpaceOfAllocator(std::string_view allocator) {
  const std::string lower = Lower(allocator);
  if (lower.find("host") != std::string::npos || lower.find("cpu") != std::string::npos)
    return "host";
  if (lower.find("gpu") != std::string::npos || lower.find("cuda") != std::string::npos)
    return "gpu";
  return "";
}

MaybeInt OrdinalInAllocator(std::string_view allocator) {
  if (SpaceOfAllocator(allocator) != "gpu") return std::nullopt;
  const size_t digit = allocator.find_first_of("0123456789");
  if (digit == std::string_view::npos || digit == 0 || allocator[digit - 1] != '_')
    return std::nullopt;
  return Number(allocator.substr(digit));
}

std::string SpaceName(std::string_view printed) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kSparseCore = {{
      {"0", "smem"},
      {"201", "tile_spmem"},
      {"202", "spmem"},
      {"203", "hbm"},
      {"204", "sflag"},
  }};
  for (const auto& [id, name] : kSparseCore) {
    if (printed == id) return std::string(name);
  }
  return Lower(printed);
}

void ReadOperator(std::string_view metadata, OomBufferFact* buffer) {
  buffer->op_name = WithoutParameters(Quoted(metadata, "op_name="));
  buffer->source_file = Quoted(metadata, "source_file=");
  constexpr std::string_view kLine = "source_line=";
  if (const size_t line = metadata.rfind(kLine); line != std::string_view::npos)
    buffer->source_line = Number(metadata.substr(line + kLine.size()));
}

MaybeInt* OomEvent::Bytes(Field field) {
  switch (field) {
    case Field::kRequested:
      return &fact.requested_bytes;
    case Field::kCapacity:
      return &fact.capacity_bytes;
    case Field::kUsed:
      return &fact.used_bytes;
    case Field::kExceeded:
      return &fact.exceeded_bytes;
    case Field::kTotal:
      return &fact.total_bytes;
    case Field::kReserved:
      return &fact.reserved_bytes;
    case Field::kProgram:
      return &fact.program_bytes;
    case Field::kArguments:
      return &fact.arguments_bytes;
    case Field::kTemp:
      return &fact.temp_bytes;
    case Field::kOutput:
      return &fact.output_bytes;
    case Field::kAlias:
      return &fact.alias_bytes;
    case Field::kConstant:
      return &fact.constant_bytes;
    case Field::kFree:
      return &fact.free_bytes;
    case Field::kLargestFree:
      return &fact.largest_free_bytes;
    case Field::kFragmentation:
      return &fact.fragmentation_bytes;
    case Field::kTensorCore:
      return &fact.tensor_core_bytes;
    case Field::kSparseCore:
      return &fact.sparse_core_bytes;
    case Field::kDeviceFree:
      return &fact.device_free_bytes;
    case Field::kDeviceMemory:
      return &fact.device_bytes;
    case Field::kPool:
      return &fact.pool_bytes;
    case Field::kPeak:
      return &fact.peak_bytes;
    case Field::kLargestRequest:
      return &fact.largest_request_bytes;
    case Field::kTempUnpadded:
      return &fact.temp_unpadded_bytes;
    default:
      return nullptr;
  }
}

int64_t OomEvent::known() {
  int64_t count = static_cast<int64_t>(buffers.size()) + fact.device.has_value() +
                  !fact.allocator.empty() + !fact.memory_space.empty();
  for (Field field : kByteFields) count += Bytes(field)->has_value();
  return count;
}

void OomEvent::Set(Field field, std::string_view text) {
  if (text.empty()) return;
  if (MaybeInt* const bytes = Bytes(field)) {
    const std::optional<Size> size = ParseSize(text);
    if (!size.has_value()) return;
    *bytes = size->bytes;
    if (field == Field::kRequested) requested_slack = size->slack;
    return;
  }
  switch (field) {
    case Field::kSpace:
      fact.memory_space = SpaceName(text);
      break;
    case Field::kAllocator:
      fact.allocator = text;
      break;
    case Field::kDevice:
      fact.device = Number(text);
      break;
    case Field::kModule:
      fact.module_name = text;
      break;
    case Field::kRank:
      fact.rank_name = text;
      break;
    case Field::kShape:
    case Field::kLabel:
    case Field::kOpName:
    case Field::kTag: {
      if (buffers.empty()) buffers.emplace_back().position = 1;
      OomBufferFact& buffer = buffers.front();
      if (field == Field::kShape) buffer.shape = text;
      if (field == Field::kOpName) buffer.op_name = text;
      if (field == Field::kLabel && !text.starts_with('<')) buffer.label = text;
      if (field == Field::kTag && buffer.label.empty()) buffer.label = text;
      break;
    }
    default:
      break;
  }
}

void OomEvent::SetRank(const std::string& rank) {
  constexpr size_t kMaxRanks = 10000;  // A text can't make us hold more.
  if (rank.empty() || ranks.size() == kMaxRanks) return;
  ranks.insert(rank);
  if (fact.rank_name.empty()) fact.rank_name = rank;
}

void OomEvent::Complete(OomEvent&& other) {
  for (Field field : kByteFields) {
    MaybeInt& mine = *Bytes(field);
    MaybeInt& theirs = *other.Bytes(field);
    // Of two figures for one request the exact one counts.
    const bool exacter = field == Field::kRequested && theirs.has_value() &&
                         (!mine.has_value() || other.requested_slack < requested_slack);
    if (!mine.has_value() || exacter) {
      mine = theirs;
      if (field == Field::kRequested) requested_slack = other.requested_slack;
    }
  }
  if (!fact.device.has_value()) fact.device = other.fact.device;
  TakeUnknown(fact.error_code, other.fact.error_code);
  TakeUnknown(fact.memory_space, other.fact.memory_space);
  TakeUnknown(fact.allocator, other.fact.allocator);
  TakeUnknown(fact.module_name, other.fact.module_name);
  TakeUnknown(fact.rank_name, other.fact.rank_name);
  if (buffers.size() < other.buffers.size()) buffers = std::move(other.buffers);
  if (chunks.size() < other.chunks.size()) chunks = std::move(other.chunks);
  last_line = std::max(last_line, other.last_line);
  ranks.merge(other.ranks);
}

}  // namespace oomdb::ingest
