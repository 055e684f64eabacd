#include "ingest/plan/hlo_importer.h"

#include <xxhash.h>

#include <cctype>
#include <charconv>
#include <limits>
#include <memory>
#include <span>

#include "base/ascii.h"
#include "base/error.h"
#include "ingest/plan/plan.h"
#include "ingest/plan/plan_cache.h"
#include "ingest/plan/target.h"
#include "ingest/source/naming.h"

namespace oomdb::ingest {
namespace {

std::string_view BaseName(std::string_view path) {
  const size_t slash = path.find_last_of('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// The next run of letters and digits of `text` from *at on; empty at the end.
std::string_view NextWord(std::string_view text, size_t* at) {
  auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  while (*at < text.size() && !is_word(text[*at])) ++*at;
  const size_t begin = *at;
  while (*at < text.size() && is_word(text[*at])) ++*at;
  return text.substr(begin, *at - begin);
}

std::string_view PlatformOfWord(std::string_view word) {
  if (word == "gpu" || word == "cuda" || word == "rocm" || word == "sm" ||
      word.starts_with("gfx")) {
    return "gpu";
  }
  if (word == "tpu" || word == "cl") return "tpu";  // cl_N: the change that libtpu was built from.
  if (word == "cpu" || word == "host") return "cpu";
  return {};
}

}  // namespace

std::string HloHash(std::string_view bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (unsigned char byte : canonical.digest) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

MaybeInt ProgramIdOfName(std::string_view name) {
  if (!name.ends_with(')')) return std::nullopt;
  const size_t open = name.rfind('(');
  if (open == std::string_view::npos) return std::nullopt;
  const char* end = name.data() + name.size() - 1;
  uint64_t id = 0;
  auto [stop, error] = std::from_chars(name.data() + open + 1, end, id);
  if (error != std::errc() || stop != end) return std::nullopt;
  return static_cast<int64_t>(
      id);  // Ids are 64 bits; those of the upper half are stored as negative.
}

std::string PlatformOf(std::string_view device_type, std::string_view file_name,
                       std::string_view module_name) {
  const std::string type = Lower(device_type);
  size_t at = 0;
  for (std::string_view word = NextWord(type, &at); !word.empty(); word = NextWord(type, &at)) {
    if (std::string_view platform = PlatformOfWord(word); !platform.empty()) {
      return std::string(platform);
    }
  }
  // A function may be called jit_cpu_fallback: only what comes after the module's name counts.
  std::string_view rest = BaseName(file_name);
  if (const size_t name = rest.find(module_name);
      !module_name.empty() && name != std::string_view::npos) {
    rest.remove_prefix(name + module_name.size());
  }
  const std::string lower = Lower(rest);
  at = 0;
  for (std::string_view word = NextWord(lower, &at); !word.empty(); word = NextWord(lower, &at)) {
    if (std::string_view platform = PlatformOfWord(word); !platform.empty()) {
      return std::string(platform);
    }
  }
  return {};
}

bool ClaimsHlo(std::string_view file_name) {
  file_name = WithoutCompressedSuffix(file_name);
  return file_name.ends_with(".hlo.pb") || file_name.ends_with(".hlo_proto.pb");
}

ModuleFact ReadHloModule(const Source& source, const ImportOptions& options) {
  if (source.size() > std::numeric_limits<int>::max()) {
    throw Error(source.path() + ": more than 2 GiB, so not an HloProto: protobuf holds no more");
  }
  std::string bytes(source.size(), '\0');
  source.ReadAt(0, std::span<char>(bytes.data(), bytes.size()));
  auto plan = std::make_shared<Plan>();
  try {
    *plan = ReadPlan(bytes, options.replay_min_bytes);
  } catch (const Error& error) {
    throw Error(source.path() + ": " + error.what(), error.code());
  }

  ModuleFact module;
  // <module>(<program id>).hlo_proto.pb, maybe with a compression suffix.
  std::string_view name = BaseName(source.path());
  name = WithoutCompressedSuffix(name);
  for (std::string_view suffix : {".hlo_proto.pb", ".hlo.pb"}) {
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  }
  module.program_id = ProgramIdOfName(name);
  if (!module.program_id) module.program_id = plan->module_id;
  module.name = plan->module_name;
  module.hlo_hash = HloHash(bytes);
  module.platform = PlatformOf(plan->device_type, source.path(), plan->module_name);
  module.target = TargetOfFile(source.path(), plan->module_name);
  module.plan = std::move(plan);
  if (options.WantsChanges(module.plan->plan_bytes, std::nullopt)) {
    module.changes =
        options.plans != nullptr
            ? options.plans->ReadChanges(module.hlo_hash, bytes, module.platform)
            : std::make_shared<const PlanChanges>(ReadPlanChanges(bytes, module.platform));
  }
  return module;
}

void ImportHlo(const Source& source, const ImportOptions& options, FactSink& sink) {
  const ModuleFact module = ReadHloModule(source, options);
  CaptureFact capture;
  capture.kind = "hlo";
  sink.Add(capture);
  for (const IssueFact& issue : module.plan->issues) sink.Add(issue);
  sink.Add(module);
}

}  // namespace oomdb::ingest
