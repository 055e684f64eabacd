#include "ingest/xplane/event_vocabulary.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace oomdb::ingest {
namespace {

enum class Where { kWhole, kPrefix, kSuffix };

struct NameRow {
  std::string_view text;
  Where where;
  EventRole role;
  std::string_view
      source;  // Which recorder emits it: measured on captures unless it says otherwise.
};

// First match wins, so longer names stand before the ones they contain. A "[N] " prefix is taken
// off first.
constexpr auto kNames = std::to_array<NameRow>({
    {"MemoryAllocation", Where::kWhole, EventRole::kAllocation, "BFC allocator"},
    {"MemoryDeallocation", Where::kWhole, EventRole::kDeallocation, "BFC allocator"},
    {"AllocatorRetry", Where::kPrefix, EventRole::kRetry, "BFC allocator, some builds"},
    {"DeviceMemAllocator::Alloc", Where::kWhole, EventRole::kPoolGrowth, "stream executor"},
    {"::ExecuteHelperOnSingleDevice", Where::kSuffix, EventRole::kExecute, "CommonPjRt, jax 0.10"},
    {"::ExecuteHelper", Where::kSuffix, EventRole::kExecute, "PjRtStreamExecutor, jax 0.4"},
    {"Build buffer allocations", Where::kWhole, EventRole::kAllocating, "GpuExecutable"},
    {"::ExecutePrepare", Where::kSuffix, EventRole::kPrepare, "CommonPjRt"},
    {"::ExecutePrepareWithOomRetries", Where::kSuffix, EventRole::kAllocating, "CommonPjRt, 2026"},
    {"KernelAndDeviceFunc::Run", Where::kWhole, EventRole::kAllocating, "TensorFlow eager"},
    {"GpuExecutable::ExecuteThunks", Where::kWhole, EventRole::kLaunch, "GpuExecutable"},
    {":XLA GPU module", Where::kSuffix, EventRole::kLaunch, "GpuExecutable"},
    {"::EnqueueExecution", Where::kSuffix, EventRole::kExecuteInner, "PjRtStreamExecutor"},
    {"PjRtStreamExecutorRawLoadedExecutable::Execute", Where::kWhole, EventRole::kExecuteInner,
     "CommonPjRt on GPU"},
    {"PjRtStreamExecutorLoadedExecutable::Execute", Where::kWhole, EventRole::kExecuteInner,
     "PjRtStreamExecutor"},
    {"PJRT_LoadedExecutable_Execute", Where::kWhole, EventRole::kExecuteInner, "PJRT C API"},
    {"PjRtCApiLoadedExecutable::Execute", Where::kWhole, EventRole::kExecuteInner, "PJRT C API"},
    {"CpuExecutable::ExecuteAsyncOnStream", Where::kWhole, EventRole::kExecuteInner,
     "TensorFlow XLA"},
    {"ThunkExecutor::Execute (wait for completion)", Where::kWhole, EventRole::kThunkWait,
     "CPU client"},
    {"BufferFromHostBuffer", Where::kPrefix, EventRole::kHostBuffer, "PjRt"},
    {"BufferFromHostLiteral", Where::kPrefix, EventRole::kHostBuffer, "PjRt"},
    {"DevicePut", Where::kPrefix, EventRole::kTransfer, "jaxlib"},
    {"EagerCopyToDevice", Where::kWhole, EventRole::kTransfer, "TensorFlow eager"},
    {"CopyToDevice", Where::kSuffix, EventRole::kTransfer, "PjRt"},
    {"::CopyToMemorySpace", Where::kSuffix, EventRole::kTransfer, "PjRt"},
    {"::CopyToDeviceHelper", Where::kSuffix, EventRole::kTransfer, "PjRtStreamExecutor"},
    {"::ToLiteral", Where::kSuffix, EventRole::kTransfer, "PjRt"},
    {"shard_args", Where::kWhole, EventRole::kTransfer, "jax"},
    {"cpp_pjit_shard_arg_fallback", Where::kWhole, EventRole::kTransfer, "jaxlib"},
    {"backend_compile", Where::kPrefix, EventRole::kCompile, "jax"},
    {"HloPassPipeline", Where::kPrefix, EventRole::kCompile, "XLA"},
    {"XlaCompile", Where::kPrefix, EventRole::kCompile, "XLA"},
    {"::Compile", Where::kSuffix, EventRole::kCompile, "PjRt"},
    {"::CompileAndLoad", Where::kSuffix, EventRole::kCompile, "PjRt"},
});

struct StatRow {
  std::string_view name;
  StatKey key;
};

constexpr auto kStats = std::to_array<StatRow>({
    {"allocator_name", StatKey::kAllocatorName},
    {"bytes_reserved", StatKey::kBytesReserved},
    {"bytes_allocated", StatKey::kBytesAllocated},
    {"bytes_available", StatKey::kBytesAvailable},
    {"fragmentation", StatKey::kFragmentation},
    {"peak_bytes_in_use", StatKey::kPeakBytesInUse},
    {"requested_bytes", StatKey::kRequestedBytes},
    {"allocation_bytes", StatKey::kAllocationBytes},
    {"addr", StatKey::kAddress},
    {"index_on_host", StatKey::kIndexOnHost},
    {"device_ordinal", StatKey::kDeviceOrdinal},
    {"run_id", StatKey::kRunId},
    {"hlo_module", StatKey::kHloModule},
    {"program_id", StatKey::kProgramId},
    {"module_name", StatKey::kModuleName},
    {"Hlo Proto", StatKey::kHloProto},
    {"hlo_proto", StatKey::kHloProto},
    {"correlation_id", StatKey::kCorrelationId},
});

bool Matches(std::string_view name, const NameRow& row) {
  switch (row.where) {
    case Where::kWhole:
      return name == row.text;
    case Where::kPrefix:
      return name.starts_with(row.text);
    case Where::kSuffix:
      return name.ends_with(row.text);
  }
  return false;
}

// Whether all of `text` is a number, and which.
bool ParseNumber(std::string_view text, int64_t* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty() &&
         text[0] != '-';
}

// As ParseNumber, for ids of all 64 bits, printed signed or unsigned.
bool ParseId(std::string_view text, int64_t* id) {
  const char* const limit = text.data() + text.size();
  const auto as_signed = std::from_chars(text.data(), limit, *id);
  if (as_signed.ec == std::errc()) return as_signed.ptr == limit;
  uint64_t bits = 0;
  const auto as_unsigned = std::from_chars(text.data(), limit, bits);
  *id = static_cast<int64_t>(bits);
  return as_unsigned.ec == std::errc() && as_unsigned.ptr == limit;
}

// "[3] name": takes the prefix off, says the number; -1 without one.
int32_t TakeDevicePrefix(std::string_view* name) {
  if (!name->starts_with('[')) return -1;
  const size_t close = name->find("] ");
  int64_t number;
  if (close == std::string_view::npos || !ParseNumber(name->substr(1, close - 1), &number) ||
      number > INT32_MAX) {
    return -1;
  }
  name->remove_prefix(close + 2);
  return static_cast<int32_t>(number);
}

// What JAX makes of a Python function's name in a module's name: jax/_src/interpreters/mlir.py
// replaces what is not a word character, a dot or a dash.
std::string SanitizedModuleName(std::string_view prefix, std::string_view function) {
  std::string name(prefix);
  for (const char c : function) {
    const bool keep = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                      c == '_' || c == '.' || c == '-' || static_cast<unsigned char>(c) >= 0x80;
    name += keep ? c : '_';
  }
  return name;
}

// "before(inner)" -> inner; empty when it isn't so.
std::string_view Bracketed(std::string_view name, std::string_view before) {
  if (!name.starts_with(before) || !name.ends_with(')')) return {};
  name.remove_prefix(before.size());
  name.remove_suffix(1);
  return name;
}

// Whose client an execution event is of, by its name.
Client ClientOf(EventRole role, std::string_view name) {
  const bool executes = role == EventRole::kExecute || role == EventRole::kExecuteInner ||
                        role == EventRole::kExecuteNamed || role == EventRole::kLaunch ||
                        role == EventRole::kAllocating || role == EventRole::kPrepare;
  if (!executes) return Client::kUnknown;
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (has("StreamExecutor") || has("Gpu") || has(":XLA GPU module")) return Client::kGpu;
  return has("Cpu") ? Client::kCpu : Client::kUnknown;
}

}  // namespace

EventMeaning MeaningOf(std::string_view name) {
  EventMeaning meaning;
  meaning.device_ordinal = TakeDevicePrefix(&name);
  if (name.starts_with('$')) {
    meaning.role = EventRole::kPythonFrame;
    return meaning;
  }
  if (const auto f = Bracketed(name, "PjitFunction("); !f.empty()) {
    meaning.role = EventRole::kPjit;
    meaning.module_name = SanitizedModuleName("jit_", f);
    return meaning;
  }
  if (const auto f = Bracketed(name, "PmapFunction("); !f.empty()) {
    meaning.role = EventRole::kPjit;
    meaning.module_name = SanitizedModuleName("pmap_", f);
    return meaning;
  }
  for (const NameRow& row : kNames) {
    if (!Matches(name, row)) continue;
    meaning.role = row.role;
    meaning.client = ClientOf(meaning.role, name);
    if (row.role == EventRole::kLaunch && row.where == Where::kSuffix) {
      meaning.module_name = name.substr(0, name.size() - row.text.size());
    }
    return meaning;
  }
  // CommonPjRtLoadedExecutable::Execute (jit_f)
  if (const size_t at = name.find("::Execute ("); at != std::string_view::npos) {
    const std::string_view module = Bracketed(name.substr(at), "::Execute (");
    if (module.empty()) return meaning;
    meaning.role = EventRole::kExecuteNamed;
    meaning.client = ClientOf(meaning.role, name);
    meaning.module_name = module;
  }
  return meaning;
}

StatKey StatKeyOf(std::string_view stat_name) {
  for (const StatRow& row : kStats) {
    if (stat_name == row.name) return row.key;
  }
  return StatKey::kNone;
}

SplitName SplitProgramId(std::string_view name) {
  const size_t open = name.rfind('(');
  int64_t id;
  if (!name.ends_with(')') || open == std::string_view::npos || open == 0 ||
      !ParseId(name.substr(open + 1, name.size() - open - 2), &id)) {
    return {name, std::nullopt};
  }
  return {name.substr(0, open), id};
}

AllocatorDevice DeviceOfAllocator(std::string_view allocator_name) {
  for (const auto& [prefix, kind] :
       {std::pair<std::string_view, std::string_view>{"GPU_", "gpu"},
        std::pair<std::string_view, std::string_view>{"TPU_", "tpu"}}) {
    if (!allocator_name.starts_with(prefix)) continue;
    const std::string_view rest = allocator_name.substr(prefix.size());
    int64_t ordinal;
    if (ParseNumber(rest.substr(0, rest.find('_')), &ordinal)) return {kind, ordinal};
  }
  return {};
}

bool IsContainerCall(std::string_view name) {
  if (!name.starts_with('$')) return false;
  const size_t space = name.rfind(' ');
  if (space == std::string_view::npos) return false;
  constexpr auto kCalls = std::to_array<std::string_view>(
      {"append", "appendleft", "extend", "add", "insert", "setdefault", "update"});
  return std::find(kCalls.begin(), kCalls.end(), name.substr(space + 1)) != kCalls.end();
}

bool IsDerivedLine(std::string_view line_name) {
  constexpr auto kDerived = std::to_array<std::string_view>(
      {"Steps", "XLA Modules", "XLA Ops", "Framework Ops", "Framework Name Scope", "Source code",
       "Launch Stats", "XLA TraceMe", "Async XLA Ops"});
  for (const std::string_view name : kDerived) {
    if (line_name == name) return true;
  }
  return false;
}

}  // namespace oomdb::ingest
