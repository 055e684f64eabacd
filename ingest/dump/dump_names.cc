#include "ingest/dump/dump_names.h"

#include <cctype>
#include <charconv>
#include <system_error>

#include "base/ascii.h"
#include "ingest/source/naming.h"

namespace oomdb::ingest {
namespace {

constexpr std::string_view kAssignment = "-buffer-assignment.txt";
constexpr std::string_view kUsage = "-memory-usage-report.txt";
constexpr std::string_view kProto = ".hlo.pb";
constexpr std::string_view kOptimized = "after_optimizations";

bool AllDigits(std::string_view text) {
  for (const char c : text) {
    if (!IsDigit(c)) return false;
  }
  return !text.empty();
}

// Takes the digits at the front of `text`; std::nullopt when there are none or too many.
std::optional<uint64_t> TakeNumber(std::string_view* text) {
  uint64_t number = 0;
  const auto [stop, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || stop == text->data()) return std::nullopt;
  text->remove_prefix(static_cast<size_t>(stop - text->data()));
  return number;
}

bool RemovePrefix(std::string_view* text, std::string_view prefix) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

// What comes before the stage, without the words that name the target of the compilation:
// `jit_f.sm_8.0_gpu_` and `jit_f.cl_788670714.` are both of jit_f.
std::string_view WithoutTarget(std::string_view head) {
  while (head.ends_with('.') || head.ends_with('_')) head.remove_suffix(1);
  // The target is the last part behind a dot, `sm_8.0_gpu` the last two.
  for (const std::string_view platform : {"gpu", "cpu", "tpu"}) {
    if (head.ends_with("." + std::string(platform))) {
      return head.substr(0, head.size() - platform.size() - 1);
    }
  }
  for (const std::string_view target : {".sm_", ".gfx", ".cl_"}) {
    const size_t at = head.rfind(target);
    if (at == std::string_view::npos) continue;
    std::string_view rest = head.substr(at + target.size());
    if (target == ".cl_" ? AllDigits(rest) : rest.ends_with("_gpu")) return head.substr(0, at);
  }
  return head;
}

// The stage's place in what follows `module_<id>.`, or npos.
size_t FindStage(std::string_view rest, DumpFileKind kind) {
  if (kind == DumpFileKind::kFailedProto || kind == DumpFileKind::kFailureMark) {
    return rest.rfind("oom_");
  }
  return rest.rfind(kOptimized);
}

// The names that only a failed compilation's files have.
bool TellsOfFailure(std::string_view rest) {
  return rest.find("oom_intermediate_module") != std::string_view::npos ||
         rest.find("oom_top_memory_consuming_instructions") != std::string_view::npos;
}

DumpFileKind KindOf(std::string_view rest) {
  const DumpFileKind text = TextPlanKind(rest);
  if (text != DumpFileKind::kOther) return text;
  if (TellsOfFailure(rest)) {
    return rest.ends_with(kProto) ? DumpFileKind::kFailedProto : DumpFileKind::kFailureMark;
  }
  if (!rest.ends_with(kProto) || rest.find("before_optimizations") != std::string_view::npos) {
    return DumpFileKind::kOther;
  }
  const size_t stage = rest.rfind(kOptimized);
  if (stage == std::string_view::npos) return DumpFileKind::kOther;
  // A module may be named so itself; and buffers are not yet assigned in some stages.
  const std::string_view after = rest.substr(stage + kOptimized.size());
  return after == kProto || after.starts_with("_after_buffer_assignment") ? DumpFileKind::kPlanProto
                                                                          : DumpFileKind::kOther;
}

}  // namespace

DumpFileKind TextPlanKind(std::string_view file_name) {
  file_name = WithoutCompressedSuffix(file_name);
  if (file_name.ends_with(kAssignment)) return DumpFileKind::kAssignmentText;
  if (file_name.ends_with(kUsage)) return DumpFileKind::kUsageReport;
  return DumpFileKind::kOther;
}

std::optional<DumpFileName> ParseDumpFileName(std::string_view file_name) {
  std::string_view rest = WithoutCompressedSuffix(file_name);
  DumpFileName name;
  if (!rest.empty() && IsDigit(rest.front())) {
    const std::optional<uint64_t> time = TakeNumber(&rest);
    if (!time.has_value() || !RemovePrefix(&rest, ".")) return std::nullopt;
    name.time = *time;
    if (rest.starts_with("peak_memory_tensors")) {
      name.kind = DumpFileKind::kFailureMark;
      return name;
    }
  }
  const std::string_view module = rest;
  if (!RemovePrefix(&rest, "module_")) return std::nullopt;
  const std::optional<uint64_t> id = TakeNumber(&rest);
  if (!id.has_value() || !RemovePrefix(&rest, ".")) return std::nullopt;
  name.module_id = static_cast<int64_t>(*id);
  name.kind = KindOf(rest);
  size_t end = FindStage(rest, name.kind);
  if (end == std::string_view::npos) {
    // Some are named `module_0000.fast-buffer-assignment.txt`; of the others the module's name
    // doesn't matter.
    end = rest.rfind('-');
    if (name.kind == DumpFileKind::kAssignmentText) end = rest.size() - kAssignment.size();
    if (name.kind == DumpFileKind::kUsageReport) end = rest.size() - kUsage.size();
    if (end == std::string_view::npos) end = rest.size();
  }
  const std::string_view head = WithoutTarget(rest.substr(0, end));
  name.module_name = head;
  name.module = module.substr(0, module.size() - rest.size() + head.size());
  return name;
}

}  // namespace oomdb::ingest
