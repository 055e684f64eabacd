#include "ingest/log/forms.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "ingest/log/patterns.h"
#include "ingest/log/sizes.h"

namespace oomdb {
namespace {

using enum Field;
using enum Family;
using enum Verdict;

// Ids as in the design's table of message forms. {H}: a size.
constexpr Form kForms[] = {
    // TPU, while compiling.
    {"V2",
     kTpuCompile,
     kFatal,
     "vmem",
     "Scoped allocation with size",
     R"((?:memory space (\w+) while allocating on stack for %?([\w.-]+)(?: = (\S+))?.*?)?)"
     R"(Scoped allocation with size {H} and limit {H} exceeded scoped \w+ limit by {H})",
     {kSpace, kLabel, kShape, kRequested, kCapacity, kExceeded}},
    {"V2",
     kTpuCompile,
     kFatal,
     "vmem",
     "while allocating on stack for",
     R"(memory space (\w+) while allocating on stack for %?([\w.-]+)(?: = (\S+))?)",
     {kSpace, kLabel, kShape}},
    {"T1",
     kTpuCompile,
     kFatal,
     "",
     "Ran out of memory in memory space",
     R"(Ran out of memory in memory space (\w+)(?:\W.{0,80}?Used {H} of {H} \w+)"
     R"((?:\W.{0,60}?Exceeded \w+ capacity by {H})?)?)",
     {kSpace, kUsed, kCapacity, kExceeded}},
    {"T8",
     kTpuCompile,
     kFatal,
     "hbm",
     "memory required for HLO temporaries",
     R"((?:Ran out of memory on (\w+), the total )?memory required for HLO temporaries \({H}\) )"
     R"(exceeds available \w+ \({H}\))",
     {kSpace, kUsed, kCapacity}},
    {"T5",
     kTpuCompile,
     kFatal,
     "hbm",
     "TensorCore Hbm usage",
     R"(TensorCore Hbm usage:? {H}, SparseCore Hbm usage:? {H}, exceeding available bytes:? {H})",
     {kTensorCore, kSparseCore, kCapacity}},
    {"T6",
     kTpuCompile,
     kFatal,
     "hbm",
     "Aborting compilation early",
     R"(Aborting compilation early because it.{0,6}s unlikely to have enough (?:\w+ )?memory\.? )"
     R"(Requires {H}, has {H} available)",
     {kRequested, kCapacity}},
    {"T7",
     kTpuCompile,
     kFatal,
     "",
     "would exceed memory (size=",
     R"(Allocation \(size=(\w+)\) would exceed memory \(size=(\w+)\))"
     R"((?: ?:: ?#allocation\w* \[shape = '([^']*)'(?:, space=(\w+)(?:[^\]]*?tag = '([^']*)')?)?)?)"
     R"((?:.*\] ?:: ?(\S+))?)",
     {kRequested, kCapacity, kShape, kSpace, kTag, kLabel}},
    {"T9", kUnverifiedPlan, kFatal, "hbm", "Failed to verify buffer assignment",
     "Failed to verify buffer assignment"},
    // In words of 4 bytes: Set() takes them as bytes, MatchForm multiplies.
    {"SC1",
     kOther,
     kFatal,
     "",
     "'memref.alloca' op current allocation offset",
     R"('memref\.alloca' op current allocation offset upper bound \(([0-9]+) words\) exceeds the )"
     R"(legitimate user allocatable offset upper bound \(([0-9]+) words\) in memory space (\d+) )"
     R"(when allocating ([0-9]+) words)",
     {kUsed, kCapacity, kSpace, kRequested}},
    // TPU, while running.
    {"R1",
     kOther,
     kFatal,
     "hbm",
     "Attempting to allocate",
     R"(Attempting to allocate {H}\. That was not possible\. There are {H} free\.?)"
     R"((?:;? ?(?:Due to fragmentation, )?[Tt]he largest contiguous region of free memory is {H})?)"
     R"((?:.*?\((\w+x\w+x\w+_HBM\d+)\))?)",
     {kRequested, kFree, kLargestFree, kAllocator}},
    {"R2",
     kOther,
     kFatal,
     "hbm",
     "at the bottom of memory",
     R"(Attempting to reserve {H} at the bottom of memory\. That was not possible\. )"
     R"(There are {H} free, {H} reserved, and {H} reservable)",
     {kRequested, kFree, kReserved, kLargestFree}},
    {"R3",
     kOther,
     kFatal,
     "hbm",
     "bytes allocatable",
     R"(Could not allocate ([0-9]+) bytes in memory (\S+?); ([0-9]+) bytes allocatable, )"
     R"(([0-9]+) bytes available)",
     {kRequested, kAllocator, kLargestFree, kFree}},
    // Allocators of GPUs and of pinned host memory.
    {"A1",
     kOther,
     kAdvice,
     "",
     "with freed_by_count=",
     R"(Allocator \((\S+?)\) ran out of memory trying to allocate {H})"
     R"((?: \(rounded to ([0-9]+)\))?.*with freed_by_count=)",
     {kAllocator, kRequested, kRequested}},
    {"A2",
     kRequest,
     kFatal,
     "",
     "ran out of memory trying to allocate",
     R"(Allocator \((\S+?)\) ran out of memory trying to allocate {H})"
     R"((?: \(rounded to ([0-9]+)\))?)",
     {kAllocator, kRequested, kRequested}},
    {"A9",
     kRequest,
     kFatal,
     "gpu",
     "cuMemAllocAsync failed to allocate",
     R"((?:(\S+) )?cuMemAllocAsync failed to allocate {H})",
     {kAllocator, kRequested}},
    {"H1",
     kRequest,
     kFatal,
     "host",
     "Out of host memory",
     R"(Out of host memory(?: while)? trying to allocate {H})"
     R"((?: with allocator (\S+) on device (\d+))?)"
     R"((?:.*larger host memory than the default ([0-9.]+ ?[KMGT]i?B))?)",
     {kRequested, kAllocator, kNone, kCapacity}},
    {"H1",
     kOther,
     kUnknown,
     "host",
     "could not allocate pinned host memory",
     R"(could not allocate pinned host memory of size: {H})",
     {kRequested}},
    {"H1",
     kBackOff,
     kAdvice,
     "host",
     "on host:",
     R"(failed to alloc(?:ate)? {H}(?: \(([0-9]+) bytes\))? on host: (?:.*)(?:CUDA|HIP)_ERROR)",
     {kRequested, kRequested}},
    {"G3",
     kRequest,
     kFatal,
     "gpu",
     "Out of memory while trying to allocate",
     R"(Out of memory while trying to allocate {H} with allocator (\S+) on device (\d+))",
     {kRequested, kAllocator, kDevice}},
    {"G1",
     kRequest,
     kFatal,
     "gpu",
     "Out of memory while trying to allocate",
     R"(Out of memory while trying to allocate ([0-9]+)(?: bytes|\.?$|\. ))",
     {kRequested}},
    {"G1n",
     kRequest,
     kFatal,
     "gpu",
     "Out of memory while trying to allocate",
     R"(Out of memory while trying to allocate {H})",
     {kRequested}},
    {"G2",
     kRequest,
     kFatal,
     "gpu",
     "Failed to allocate request for",
     R"(Failed to allocate request for {H} \(([0-9]+)B?\) on device ordinal (\d+))",
     {kRequested, kRequested, kDevice}},
    {"G4",
     kOther,
     kFatal,
     "gpu",
     "for new constant",
     R"(Failed to allocate {H} for new constant)",
     {kRequested}},
    {"G5",
     kRequest,
     kFatal,
     "",
     "OOM when allocating tensor with shape",
     R"(OOM when allocating tensor with shape ?\[[0-9,]*\] and type \w+)"
     R"((?: on \S*?(?:[A-Z]+:(\d+))?)?(?: by allocator (\w+))?)",
     {kDevice, kAllocator}},
    {"S1",
     kOther,
     kFatal,
     "gpu_shared",
     "Shared memory size limit exceeded",
     R"(Shared memory size limit exceeded: requested ([0-9]+), available: ([0-9]+))",
     {kRequested, kCapacity}},
    {"S1",
     kOther,
     kFatal,
     "gpu_shared",
     "out of resource: shared memory",
     R"(out of resource: shared memory, Required: ([0-9]+), Hardware limit: ([0-9]+))",
     {kRequested, kCapacity}},
    // Drivers.
    {"D1",
     kBackOff,
     kAdvice,
     "gpu",
     "from device:",
     R"(failed to alloc(?:ate)? {H}(?: \(([0-9]+) bytes\))? from device: .*CUDA_ERROR)",
     {kRequested, kRequested}},
    {"D2",
     kBackOff,
     kAdvice,
     "gpu",
     "from device:",
     R"(failed to alloc(?:ate)? {H}(?: \(([0-9]+) bytes\))? from device: .*(?:HIP_ERROR|hipError))",
     {kRequested, kRequested}},
    {"D1",
     kBackOff,
     kAdvice,
     "gpu",
     "unified memory; result:",
     R"(failed to alloc(?:ate)? {H}(?: \(([0-9]+) bytes\))? unified memory; result: )",
     {kRequested, kRequested}},
    // Advice of the compiler.
    {"M1",
     kOther,
     kAdvice,
     "",
     "reduce memory use below",
     R"(reduce memory use below {H}(?: \((-?[0-9]+) bytes\))? by rematerialization)"
     R"((?:; only reduced to {H}(?: \((-?[0-9]+) bytes\))?)"
     R"((?:, down from {H}(?: \((-?[0-9]+) bytes\))?)?)?)",
     {kCapacity, kCapacity, kUsed, kUsed, kTotal, kTotal}},
    {"M2",
     kOther,
     kAdvice,
     "gpu",
     "byte size of input/output arguments",
     R"(byte size of input/output arguments \(([0-9]+)\) exceeds the base limit \(([0-9]+)\))",
     {kArguments, kCapacity}},
    // The host.
    {"C1",
     kRequest,
     kFatal,
     "host",
     "Out of memory allocating",
     R"(Out of memory allocating {H})",
     {kRequested}},
    {"C1", kOther, kFatal, "host", "std::bad_alloc", R"(std::bad_alloc\b)"},
    {"C1", kOther, kFatal, "host", "Cannot allocate memory",
     R"(JIT session error: Cannot allocate memory)"},
    {"C1", kOther, kFatal, "host", "LLVM ERROR: out of memory", R"(LLVM ERROR: out of memory)"},
    {"C2",
     kOther,
     kFatal,
     "host",
     "Out of memory: Kill",
     R"(Out of memory: Kill(?:ed)? process \d+(?:.*anon-rss:([0-9]+kB))?)",
     {kUsed}},
    {"C3",
     kOther,
     kFatal,
     "host",
     "Unable to allocate",
     R"(Unable to allocate {H} for an array with shape)",
     {kRequested}},
    // Driver memory outside of any pool; the status makes it a failure.
    {"D4x", kOther, kFatal, "gpu", "_ERROR_OUT_OF_MEMORY",
     R"((?:INTERNAL|UNKNOWN|RESOURCE_EXHAUSTED|Internal): .*CUDA_ERROR_OUT_OF_MEMORY)"},
    {"D4x", kOther, kFatal, "gpu", "OutOfMemory",
     R"((?:INTERNAL|UNKNOWN|RESOURCE_EXHAUSTED|Internal): .*(?:HIP_ERROR_OutOfMemory|hipErrorOutOfMemory))"},
    {"D4x", kOther, kUnknown, "gpu", "CUDA_ERROR_OUT_OF_MEMORY", "CUDA_ERROR_OUT_OF_MEMORY"},
    {"D4x", kOther, kUnknown, "gpu", "HIP_ERROR_OutOfMemory", "HIP_ERROR_OutOfMemory"},
    {"D4x", kOther, kUnknown, "gpu", "hipErrorOutOfMemory", "hipErrorOutOfMemory"},
    {"N1", kOther, kFatal, "gpu", "convolution algorithm for",
     R"(Failed to determine best cudnn convolution algorithm for.*(?i:out of memory|exhausted))"},
    {"N1", kOther, kFatal, "gpu", "Autotuning failed for HLO",
     R"(Autotuning failed for HLO.*(?i:out of memory|exhausted))"},
    {"X1", kOther, kUnknown, "gpu", "Insufficient Memory (",
     R"(Insufficient Memory \((?:IOAF code 8|00000008))"},
};

struct Compiled {
  const Form* form;
  Pattern pattern;
};

const std::vector<Compiled>& CompiledForms() {
  static const auto* const compiled = [] {
    auto* all = new std::vector<Compiled>();  // Never freed: threads may end after main.
    all->reserve(std::size(kForms));
    for (const Form& form : kForms) all->push_back({&form, Pattern(form.pattern)});
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

// What a form's figures imply.
void Derive(std::string_view line, OomEvent& event) {
  OomEventFact& fact = event.fact;
  if (fact.kind == "T5" && fact.tensor_core_bytes && fact.sparse_core_bytes)
    fact.requested_bytes = *fact.tensor_core_bytes + *fact.sparse_core_bytes;
  if (fact.kind == "S1" && fact.requested_bytes && fact.capacity_bytes)
    fact.exceeded_bytes = *fact.requested_bytes - *fact.capacity_bytes;
  if (fact.kind == "G5") fact.requested_bytes = TensorBytes(line);
  if (fact.kind == "SC1") {
    constexpr int64_t kWordBytes = 4;
    for (MaybeInt* bytes : {&fact.used_bytes, &fact.capacity_bytes, &fact.requested_bytes}) {
      if (bytes->has_value() && **bytes > std::numeric_limits<int64_t>::max() / kWordBytes)
        bytes->reset();
      if (bytes->has_value()) **bytes *= kWordBytes;
    }
  }
  // Only HBM is that large; a text that was cut before it names the space.
  constexpr int64_t kAboveOnChip = int64_t{4} << 30;
  if (fact.kind == "T7" && fact.memory_space.empty() && fact.capacity_bytes > kAboveOnChip)
    fact.memory_space = "hbm";
  if (fact.kind == "V2" && line.find("op_name=") != std::string_view::npos &&
      !event.buffers.empty())
    ReadOperator(line.substr(line.find("op_name=")), &event.buffers.front());
  if (!event.buffers.empty()) {
    event.buffers.front().bytes = fact.requested_bytes;
    if (fact.kind == "V2" || line.find(", scoped,") != std::string_view::npos)
      event.buffers.front().allocation_type = "scoped";
  }
}

}  // namespace

std::span<const Form> Forms() { return kForms; }

std::optional<OomEvent> MatchForm(std::string_view line) {
  std::vector<std::string_view> groups;
  for (const auto& [form, pattern] : CompiledForms()) {
    if (line.find(form->needle) == std::string_view::npos) continue;
    if (!pattern.Find(line, &groups)) continue;
    OomEvent event;
    event.family = form->family;
    event.fact.kind = form->id;
    if (form->verdict != kUnknown) event.fact.fatal = form->verdict == kFatal;
    for (size_t i = 1; i < groups.size() && i <= form->fields.size(); ++i)
      event.Set(form->fields[i - 1], groups[i]);
    Derive(line, event);
    OomEventFact& fact = event.fact;
    if (!fact.allocator.empty() && fact.memory_space.empty())
      fact.memory_space = SpaceOfAllocator(fact.allocator);
    constexpr int64_t kRounding = 255;  // `rounded to`: up, to 256 bytes.
    if (fact.kind == "A2" && event.requested_slack == 0) event.requested_slack = kRounding;
    if (fact.kind == "A2" || fact.kind == "A1" || fact.kind == "A9") {
      if (!fact.device.has_value()) fact.device = OrdinalInAllocator(fact.allocator);
    }
    if (fact.kind == "G3" && SpaceOfAllocator(fact.allocator) == "host") fact.memory_space = "host";
    if (fact.memory_space.empty()) fact.memory_space = form->space;
    fact.error_code = ErrorCodeOf(line);
    if (fact.module_name.empty()) fact.module_name = ModuleNameOf(line);
    return event;
  }
  return std::nullopt;
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

}  // namespace oomdb
