#include "cli/whatif/module_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cli/ingest/capture_reader.h"
#include "cli/ingest/tasks.h"
#include "cli/nearest.h"
#include "ingest/plan/plan.h"

namespace oomdb::cli {
namespace {

// Keeps the module that was asked for, and what is said of the device.
class ModuleSink : public ingest::FactSink {
 public:
  explicit ModuleSink(std::string module) : module_(std::move(module)) {}

  void Add(const ingest::ModuleFact& fact) override {
    names_.insert(fact.name);
    if (!module_.empty() && fact.name != module_) return;
    if (fact.plan == nullptr || fact.hlo == nullptr) {
      if (fact.plan != nullptr) without_hlo_ = true;
      return;
    }
    if (chosen_.hlo != nullptr && fact.plan->plan_bytes <= plan_bytes_) return;
    plan_bytes_ = fact.plan->plan_bytes;
    chosen_.name = fact.name;
    chosen_.platform = fact.platform;
    chosen_.hlo = fact.hlo;
  }
  void Add(const ingest::DeviceFact& fact) override {
    if (device_kind_.empty()) device_kind_ = fact.kind;
  }
  void Add(const ingest::AllocatorFact& fact) override {
    if (!fact.device || !fact.capacity_bytes) return;
    // The smallest of the devices: the program has to fit on each.
    capacity_bytes_ =
        std::min(capacity_bytes_.value_or(*fact.capacity_bytes), *fact.capacity_bytes);
  }
  void Add(const ingest::IssueFact& fact) override {
    if (fact.severity == "error" && problem_.empty()) problem_ = fact.detail;
  }
  void Add(const ingest::CaptureFact&) override {}
  void Add(const ingest::ExecutionFact&) override {}
  void Add(const ingest::AllocationFact&) override {}
  void Add(const ingest::HostEventFact&) override {}
  void Add(const ingest::GapCallFact&) override {}
  void Add(const ingest::OomEventFact&) override {}
  void Add(const ingest::OomBufferFact&) override {}
  void Add(const ingest::OomChunkFact&) override {}
  void Add(const ingest::ProfileSampleFact&) override {}

  ChosenModule Take(const std::string& path) {
    if (chosen_.hlo == nullptr) {
      // Most problems name their file.
      const std::string why = WhyNone();
      throw Error(why.starts_with(path) ? why : path + ": " + why);
    }
    if (chosen_.platform.empty()) chosen_.platform = device_kind_;
    chosen_.capacity_bytes = capacity_bytes_;
    return std::move(chosen_);
  }
  void Problem(std::string text) {
    if (problem_.empty()) problem_ = std::move(text);
  }

 private:
  std::string WhyNone() const {
    if (!module_.empty() && !names_.contains(module_) && !names_.empty()) {
      return fmt::format("no module {}{}", module_,
                         DidYouMean(module_, {names_.begin(), names_.end()}));
    }
    if (without_hlo_) {
      return "its plan is a text, and a what-if needs the module's HLO proto (*.hlo.pb)";
    }
    if (!problem_.empty()) return problem_;
    return "no module with its HLO proto in it";
  }

  const std::string module_;
  ChosenModule chosen_;
  int64_t plan_bytes_ = 0;
  std::set<std::string> names_;
  std::string device_kind_;
  std::optional<int64_t> capacity_bytes_;
  std::string problem_;
  bool without_hlo_ = false;
};

}  // namespace

ChosenModule ReadModule(const std::string& path, const std::string& module) {
  if (path == "-") {
    throw Error("what-if reads files and folders, not standard input", ExitCode::kUsage);
  }
  IngestItem item;
  item.path = path;
  const std::vector<IngestTask> tasks = FindIngestTasks({item});
  ingest::ImportOptions options;
  options.events = ingest::EventSelection::kNone;
  options.keep_hlo = true;
  CaptureReader reader(tasks, options, /*threads=*/1, {}, nullptr);
  ModuleSink sink(module);
  for (size_t t = 0; t < tasks.size(); ++t) {
    if (!tasks[t].problem.empty()) sink.Problem(tasks[t].problem);
    if (!tasks[t].is_file()) continue;
    const ReadCapture capture = reader.Take(t);
    try {
      if (capture.error != nullptr) std::rethrow_exception(capture.error);
      if (!capture.opened() || (capture.importer == nullptr && !capture.dump)) continue;
      capture.HandOver(capture.importer, options, sink);
    } catch (const Error& error) {
      // One file of a folder that can't be read leaves the others.
      sink.Problem(error.what());
    }
  }
  return sink.Take(path);
}

}  // namespace oomdb::cli
