#include "ingest/dump/dump.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "ingest/base/wire.h"
#include "ingest/dump/text_importer.h"
#include "ingest/plan/hlo_importer.h"
#include "ingest/plan/plan.h"
#include "ingest/source/naming.h"
#include "ingest/source/source.h"

namespace oomdb::ingest {
namespace {

// HloProto.buffer_assignment (proto/hlo.proto).
constexpr uint64_t kBufferAssignmentField = 3;

// Whether a proto has a buffer assignment, by its outermost fields alone: a module of 100 MB costs
// two small reads.
// `cut`: set when the file ends within a message, or is not a message: what it held can't be known.
bool HasBufferAssignment(const Source& source, bool* cut) {
  constexpr uint64_t kHeadBytes = 20;  // A tag and a length.
  for (uint64_t position = 0; position < source.size();) {
    char head[kHeadBytes];
    const uint64_t bytes = std::min(kHeadBytes, source.size() - position);
    source.ReadAt(position, std::span(head).first(bytes));
    const char* at = head;
    uint64_t tag = 0;
    uint64_t length = 0;
    if (!DecodeVarint(&at, head + bytes, &tag) || (tag & 7) != uint64_t(WireType::kBytes) ||
        !DecodeVarint(&at, head + bytes, &length)) {
      *cut = true;
      return false;
    }
    position += static_cast<uint64_t>(at - head);
    if (length > source.size() - position) {
      *cut = true;
      return false;
    }
    if (tag >> 3 == kBufferAssignmentField) return length > 0;
    position += length;
  }
  return false;
}

std::string PathOf(const Dump& dump, const DumpFile& file) {
  return (std::filesystem::path(dump.path) / file.file_name).string();
}

class Chooser {
 public:
  explicit Chooser(const DumpFolder& folder) : folder_(folder) { dump_.path = folder.path; }

  Dump Choose() {
    for (auto file = folder_.files.begin(); file != folder_.files.end();) {
      const auto end = std::find_if(file, folder_.files.end(), [&](const DumpFile& other) {
        return other.name.module != file->name.module;
      });
      ChooseOf(std::span(file, end));
      file = end;
    }
    std::sort(hashed_.begin(), hashed_.end());
    std::string all;
    for (const std::string& line : hashed_) all += line + '\n';
    dump_.content_hash = HloHash(all);
    return std::move(dump_);
  }

 private:
  void ChooseOf(std::span<const DumpFile> files) {
    DumpModule module;
    module.module = files.front().name.module;
    module.module_name = files.front().name.module_name;
    for (const DumpFile& file : files) {
      if (file.name.kind == DumpFileKind::kFailureMark ||
          file.name.kind == DumpFileKind::kFailedProto) {
        module.failed = true;
        hashed_.emplace_back(WithoutCompressedSuffix(file.file_name));
      }
      if (file.name.kind == DumpFileKind::kFailureMark) continue;
      if (!module.files.empty() || IsGood(file)) module.files.push_back(file);
    }
    if (!module.files.empty()) {
      dump_.modules.push_back(std::move(module));
    } else if (module.failed) {
      dump_.failed_unnamed = true;
    }
  }

  // Opens the file, and when it is to be chosen counts it in.
  bool IsGood(const DumpFile& file) {
    try {
      const std::unique_ptr<Source> source = OpenSource(PathOf(dump_, file));
      bool cut = source->size() == 0;
      if (file.name.kind == DumpFileKind::kPlanProto && !HasBufferAssignment(*source, &cut)) {
        if (cut) {
          dump_.issues.push_back({"error", "dump_file_cut",
                                  source->path() +
                                      ": cut, or not an HLO proto: what comes next of this "
                                      "module's files is read instead",
                                  1});
        }
        return false;
      }
      if (cut) return false;
      hashed_.push_back(std::string(WithoutCompressedSuffix(file.file_name)) + ' ' +
                        ContentHash(*source));
      dump_.bytes += static_cast<int64_t>(source->size());
      if (dump_.compression.empty()) dump_.compression = source->compression();
      return true;
    } catch (const Error& error) {
      dump_.issues.push_back({"error", "dump_file_unreadable", error.what(), 1});
      return false;
    }
  }

  const DumpFolder& folder_;
  Dump dump_;
  std::vector<std::string> hashed_;
};

// The first of the module's files that can be read.
std::optional<ModuleFact> ReadModule(const Dump& dump, const DumpModule& module,
                                     const ImportOptions& options, std::vector<IssueFact>& issues) {
  for (const DumpFile& file : module.files) {
    try {
      const std::unique_ptr<Source> source = OpenSource(PathOf(dump, file));
      const bool text = file.name.kind == DumpFileKind::kAssignmentText ||
                        file.name.kind == DumpFileKind::kUsageReport;
      ModuleFact fact = text ? ReadTextModule(*source) : ReadHloModule(*source, options);
      if (!fact.program_id.has_value()) fact.program_id = file.name.module_id;
      issues.insert(issues.end(), fact.plan->issues.begin(), fact.plan->issues.end());
      return fact;
    } catch (const Error& error) {
      issues.push_back({"error", "dump_file_unreadable", error.what(), 1});
    }
  }
  return std::nullopt;
}

}  // namespace

Dump OpenDump(const DumpFolder& folder) { return Chooser(folder).Choose(); }

void ImportDump(const Dump& dump, const ImportOptions& options, FactSink& sink) {
  CaptureFact capture;
  capture.kind = "xla_dump";
  sink.Add(capture);
  for (const IssueFact& issue : dump.issues) sink.Add(issue);
  for (const DumpModule& module : dump.modules) {
    std::vector<IssueFact> issues;
    const std::optional<ModuleFact> fact = ReadModule(dump, module, options, issues);
    for (const IssueFact& issue : issues) sink.Add(issue);
    if (module.failed) {
      sink.Add(IssueFact{"info", "compile_failed",
                         (fact.has_value() ? fact->name : module.module_name) +
                             ": its compilation failed: the compiler left the files that it writes "
                             "when memory does not suffice"});
    }
    if (fact.has_value()) sink.Add(*fact);
  }
  const bool named = std::any_of(dump.modules.begin(), dump.modules.end(),
                                 [](const DumpModule& module) { return module.failed; });
  if (dump.failed_unnamed && !named) {
    sink.Add(IssueFact{"info", "compile_failed",
                       "a compilation failed: the compiler left the files that it writes when "
                       "memory does not suffice"});
  }
}

}  // namespace oomdb::ingest
