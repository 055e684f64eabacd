// Matching a line against the table of forms, and what a line says beside its figures.
#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "ingest/log/forms.h"
#include "ingest/log/patterns.h"
#include "ingest/log/sizes.h"

namespace oomdb::ingest {
namespace {

MaybeInt SumOrNone(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? MaybeInt() : sum;
}

using enum Verdict;

struct Compiled {
  const Form* form;
  Pattern pattern;
};

const std::vector<Compiled>& CompiledForms() {
  static const auto* const compiled = [] {
    auto* all = new std::vector<Compiled>();  // Never freed: threads may end after main.
    all->reserve(Forms().size());
    for (const Form& form : Forms()) all->push_back({&form, Pattern(form.pattern)});
    return all;
  }();
  return *compiled;
}

// The bytes of TensorFlow's `shape[3145728,2] and type float`; std::nullopt for a type unknown.
MaybeInt TensorBytes(std::string_view line) {
  static const Pattern tensor(R"(shape ?\[([0-9,]*)\] and type (\w+))");
  std::vector<std::string_view> groups;
  if (!tensor.Find(line, &groups)) return std::nullopt;
  constexpr std::pair<std::string_view, int64_t> kTypes[] = {
      {"float", 4},  {"half", 2},  {"bfloat16", 2}, {"double", 8},    {"int8", 1},
      {"uint8", 1},  {"bool", 1},  {"int16", 2},    {"uint16", 2},    {"int32", 4},
      {"uint32", 4}, {"int64", 8}, {"uint64", 8},   {"complex64", 8}, {"complex128", 16}};
  int64_t bytes = 0;
  for (const auto& [name, size] : kTypes) {
    if (groups[2] == name) bytes = size;
  }
  if (bytes == 0) return std::nullopt;
  std::string_view dimensions = groups[1];
  while (!dimensions.empty()) {
    const size_t comma = std::min(dimensions.find(','), dimensions.size());
    const std::optional<Size> size = ParseSize(dimensions.substr(0, comma));
    if (!size.has_value()) return std::nullopt;
    if (size->bytes != 0 && bytes > std::numeric_limits<int64_t>::max() / size->bytes)
      return std::nullopt;
    bytes *= size->bytes;
    dimensions.remove_prefix(std::min(comma + 1, dimensions.size()));
  }
  return bytes;
}

// The form of `line`, with its groups; null when it is of none.
const Form* Match(std::string_view line, std::vector<std::string_view>* groups) {
  for (const auto& [form, pattern] : CompiledForms()) {
    if (line.find(form->needle) == std::string_view::npos) continue;
    if (pattern.Find(line, groups)) return form;
  }
  return nullptr;
}

// What a form's figures imply.
void Derive(std::string_view line, OomEvent& event) {
  OomEventFact& fact = event.fact;
  // `(3.2/23.5 GiB)`: the unit stands once.
  if (fact.form == "Q1" && fact.capacity_bytes &&
      line.find("on startup") != std::string_view::npos) {
    static const Pattern in_gib(R"(\(([0-9.]+)/[0-9.]+ GiB\))");
    std::vector<std::string_view> groups;
    if (in_gib.Find(line, &groups)) event.Set(Field::kFree, std::string(groups[1]) + "GiB");
  }
  if (fact.form == "T5" && fact.tensor_core_bytes && fact.sparse_core_bytes)
    fact.requested_bytes = SumOrNone(*fact.tensor_core_bytes, *fact.sparse_core_bytes);
  if (fact.form == "S1" && fact.requested_bytes && fact.capacity_bytes)
    fact.exceeded_bytes = *fact.requested_bytes - *fact.capacity_bytes;
  // Slurm's: in KiB until 2018, in bytes since. Nobody limits a job to less than 1 GiB.
  if (fact.form == "C2" && line.find(" exceeded ") != std::string_view::npos &&
      line.find("emory limit (") != std::string_view::npos &&
      fact.capacity_bytes.value_or(0) < (int64_t{1} << 30)) {
    for (MaybeInt* bytes : {&fact.used_bytes, &fact.capacity_bytes}) {
      if (bytes->has_value()) **bytes *= 1024;
    }
  }
  if (fact.form == "G5") fact.requested_bytes = TensorBytes(line);
  if (fact.form == "SC1") {
    constexpr int64_t kWordBytes = 4;
    for (MaybeInt* bytes : {&fact.used_bytes, &fact.capacity_bytes, &fact.requested_bytes}) {
      if (bytes->has_value() && **bytes > std::numeric_limits<int64_t>::max() / kWordBytes)
        bytes->reset();
      if (bytes->has_value()) **bytes *= kWordBytes;
    }
  }
  // Only HBM is that large; a text that was cut before it names the space.
  constexpr int64_t kAboveOnChip = int64_t{4} << 30;
  if (fact.form == "T7" && fact.memory_space.empty() && fact.capacity_bytes > kAboveOnChip)
    fact.memory_space = "hbm";
  if (fact.form == "V2" && line.find("op_name=") != std::string_view::npos &&
      !event.buffers.empty())
    ReadOperator(line.substr(line.find("op_name=")), &event.buffers.front());
  if (!event.buffers.empty()) {
    event.buffers.front().bytes = fact.requested_bytes;
    if (fact.form == "V2" || line.find(", scoped,") != std::string_view::npos)
      event.buffers.front().allocation_type = "scoped";
  }
}

}  // namespace

const Form* FormOf(std::string_view line) {
  std::vector<std::string_view> groups;
  return Match(line, &groups);
}

std::optional<OomEvent> MatchForm(std::string_view line) {
  std::vector<std::string_view> groups;
  const Form* const form = Match(line, &groups);
  if (form == nullptr) return std::nullopt;
  OomEvent event;
  event.family = form->family;
  event.fact.form = form->id;
  if (form->verdict != kUnknown) event.fact.fatal = form->verdict == kFatal;
  for (size_t i = 1; i < groups.size() && i <= form->fields.size(); ++i)
    event.Set(form->fields[i - 1], groups[i]);
  Derive(line, event);
  OomEventFact& fact = event.fact;
  if (!fact.allocator.empty() && fact.memory_space.empty())
    fact.memory_space = SpaceOfAllocator(fact.allocator);
  constexpr int64_t kRounding = 255;  // `rounded to`: up, to 256 bytes.
  if (fact.form == "A2" && event.requested_slack == 0) event.requested_slack = kRounding;
  if (fact.form == "A2" || fact.form == "A1" || fact.form == "A9") {
    if (!fact.device.has_value()) fact.device = OrdinalInAllocator(fact.allocator);
  }
  if (fact.form == "G3" && SpaceOfAllocator(fact.allocator) == "host") fact.memory_space = "host";
  if (fact.memory_space.empty()) fact.memory_space = form->space;
  fact.error_code = ErrorCodeOf(line);
  if (fact.module_name.empty()) fact.module_name = ModuleNameOf(line);
  return event;
}

std::string ErrorCodeOf(std::string_view line) {
  static const Pattern code(R"(\b(E[0-9]{4}): \w+:)");
  static const Pattern status(
      R"(\b(RESOURCE_EXHAUSTED|Resource exhausted|INTERNAL|UNKNOWN|INVALID_ARGUMENT|ABORTED|)"
      R"(CANCELLED|UNAVAILABLE|FAILED_PRECONDITION|UNIMPLEMENTED|DEADLINE_EXCEEDED): )");
  std::vector<std::string_view> groups;
  if (code.Find(line, &groups)) return std::string(groups[1]);
  if (line.find("RESOURCE_EXHAUSTED") != std::string_view::npos) return "";
  if (status.Find(line, &groups) && groups[1] != "Resource exhausted")
    return std::string(groups[1]);
  return "";
}

std::string ModuleNameOf(std::string_view line) {
  static const Pattern name(
      R"re(executable_name='([^']+)'|HLO module:? '?([\w.<>-]*[\w<>])|program '([^']+)')re"
      R"re(|PjitFunction\(([^()\s]+)\)|XlaModule:.*?hlo_module=([\w.-]+))re");
  // Finding a letter sequence is much faster than matching, and hardly any line has one of these.
  constexpr std::string_view kSigns[] = {"executable_name='", "HLO module", "program '",
                                         "PjitFunction(", "hlo_module="};
  if (std::none_of(std::begin(kSigns), std::end(kSigns), [&](std::string_view sign) {
        return line.find(sign) != std::string_view::npos;
      })) {
    return "";
  }
  std::vector<std::string_view> groups;
  if (!name.Find(line, &groups)) return "";
  for (size_t i = 1; i < groups.size(); ++i) {
    if (!groups[i].empty()) return std::string(groups[i]);
  }
  return "";
}

}  // namespace oomdb::ingest
