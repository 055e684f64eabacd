#include "ingest/dump/text_importer.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "ingest/dump/assignment_text.h"
#include "ingest/dump/dump_names.h"
#include "ingest/dump/usage_report.h"
#include "ingest/plan/anatomy.h"
#include "ingest/plan/hlo_importer.h"
#include "ingest/plan/plan.h"
#include "ingest/plan/target.h"
#include "ingest/source/naming.h"

namespace oomdb::ingest {
namespace {

// The largest real ones are of some 100 MB.
constexpr uint64_t kMaxTextBytes = uint64_t{2} << 30;
constexpr uint64_t kHeadBytes = 64;

std::string Read(const Source& source, uint64_t bytes) {
  std::string text(std::min(source.size(), bytes), '\0');
  source.ReadAt(0, std::span<char>(text.data(), text.size()));
  return text;
}

}  // namespace

ModuleFact ReadTextModule(const Source& source) {
  const std::string head = Read(source, kHeadBytes);
  const bool assignment = IsAssignmentText(head);
  if (!assignment && !IsUsageReport(head)) {
    throw Error(
        source.path() +
        ": not a buffer assignment as XLA prints it: it should begin with BufferAssignment:, "
        "Memory Space: or Total bytes used:");
  }
  if (source.size() > kMaxTextBytes)
    throw Error(source.path() + ": more than 2 GiB of text; name the module's .hlo.pb instead");
  const std::string text = Read(source, kMaxTextBytes);
  auto plan = std::make_shared<Plan>(assignment ? ReadAssignmentText(text) : ReadUsageReport(text));
  ReadAnatomyOfText(plan.get());

  if (plan->allocations.empty() && assignment)
    throw Error(source.path() + ": a buffer assignment without any allocation: it is cut");
  if (!text.ends_with('\n') || source.ended_early()) {
    plan->issues.push_back({"error", "plan_text_cut",
                            source.path() +
                                ": ends within a line: what the plan needs is more than "
                                "what is read of it",
                            1});
  }

  const std::string_view path = source.path();
  const std::string_view file_name = path.substr(path.rfind('/') + 1);
  ModuleFact module;
  module.name = WithoutCompressedSuffix(file_name);
  if (std::optional<DumpFileName> name = ParseDumpFileName(file_name)) {
    module.name = name->module_name;
    module.program_id = name->module_id;
  }
  plan->module_name = module.name;
  module.hlo_hash = HloHash(text);
  module.platform = PlatformOf("", file_name, module.name);
  module.target = TargetOfFile(file_name, module.name);
  module.plan = std::move(plan);
  return module;
}

bool ClaimsPlanText(std::string_view file_name) {
  return TextPlanKind(file_name) != DumpFileKind::kOther;
}

void ImportPlanText(const Source& source, const ImportOptions&, FactSink& sink) {
  const ModuleFact module = ReadTextModule(source);
  CaptureFact capture;
  capture.kind = "xla_dump";
  capture.truncated =
      std::any_of(module.plan->issues.begin(), module.plan->issues.end(),
                  [](const IssueFact& issue) { return issue.what == "plan_text_cut"; });
  sink.Add(capture);
  for (const IssueFact& issue : module.plan->issues) sink.Add(issue);
  sink.Add(module);
}

}  // namespace oomdb::ingest
