// oomdb self-test: a built-in capture through the whole path, so that a user knows that this
// program works here.
#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/ingest/job.h"
#include "cli/self_test_capture.h"
#include "cli/verbs.h"
#include "queries/catalogue.h"
#include "render/words.h"
#include "schema/query.h"

namespace oomdb::cli {
namespace {

namespace fs = std::filesystem;

// A folder of its own below $TMPDIR, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "oomdb-self-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw Error(fmt::format("{}: can't make a folder here", name));
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

class Reasons : public IngestObserver {
 public:
  void Stored(const std::string&, const schema::CaptureSummary&) override {}
  void Rejected(const std::string&, const std::string& reason) override { text += reason + "; "; }
  void PassedOver(const std::string&, const std::string& reason) override { text += reason + "; "; }
  std::string text;
};

struct Check {
  std::string what;
  std::string columns, rows;  // As after SELECT and after FROM.
  schema::Row expected;
};

std::vector<Check> Checks() {
  using Truth = SelfTestTruth;
  const std::string text = "jit_step";
  return {
      {"the capture is whole",
       "run, host, kind, status",
       "captures",
       {std::string("run1"), std::string("built-in"), std::string("xplane"),
        std::string("complete")}},
      {"the plan is read",
       "name, program_id, parameter_bytes, output_bytes, temp_bytes, plan_bytes",
       "modules",
       {text, int64_t{7}, Truth::kParameterBytes, Truth::kOutputBytes, Truth::kTempBytes,
        Truth::kPlanBytes}},
      {"the heap is replayed",
       "heap_peak_bytes, peak_bytes",
       "modules",
       {Truth::kTempBytes, Truth::kPlanBytes}},
      {"the allocator is measured",
       "name, capacity_bytes, capture_peak_bytes, reconciliation_breaks",
       "allocators",
       {std::string("GPU_0_bfc"), Truth::kCapacityBytes,
        Truth::kParameterBytes + Truth::kOutputBytes, int64_t{0}}},
      {"the failed execution is recognised",
       "module_name, launched, failed",
       "executions",
       {text, int64_t{0}, int64_t{1}}},
      {"the cause is found",
       "severity, module_name, bytes",
       fmt::format("findings WHERE bytes = {}", Truth::kPlanBytes),
       {std::string("error"), text, Truth::kPlanBytes}},
      {"the database is sound", "COUNT(*)", "ingest_issues WHERE severity = 'error'", {int64_t{0}}},
  };
}

std::string Describe(const schema::Row& row) {
  std::string text;
  for (const schema::Value& value : row) {
    if (!text.empty()) text += ", ";
    if (const auto* number = std::get_if<int64_t>(&value)) {
      text += std::to_string(*number);
    } else if (const auto* real = std::get_if<double>(&value)) {
      text += fmt::format("{}", *real);
    } else if (const auto* word = std::get_if<std::string>(&value)) {
      text += *word;
    } else {
      text += "NULL";
    }
  }
  return text;
}

// What a check's query gives: "a, b" for its one row, else how many there are; "" when that is as
// expected.
std::string Difference(schema::Database& database, const Check& check) {
  std::vector<schema::Row> rows;
  schema::QueryInSandbox(
      database, fmt::format("SELECT {} FROM {}", check.columns, check.rows), {}, {},
      {[](std::vector<std::string>) {}, [&](schema::Row row) { rows.push_back(std::move(row)); }});
  if (rows.size() == 1 && rows[0] == check.expected) return "";
  return rows.size() == 1 ? Describe(rows[0]) : fmt::format("{} rows", rows.size());
}

ExitCode Run() {
  const TemporaryFolder folder;
  const fs::path capture = folder.path() / "plugins" / "profile" / "run1" / "built-in.xplane.pb";
  fs::create_directories(capture.parent_path());
  std::ofstream(capture, std::ios::binary) << SelfTestCapture();
  const std::string path = (folder.path() / "oom.db").string();
  int failures = 0;
  const auto report = [&](const std::string& what, const std::string& problem) {
    std::cout << (problem.empty() ? "ok      " : "FAILED  ") << what
              << (problem.empty() ? "" : ": " + problem) << "\n";
    failures += !problem.empty();
  };
  {
    schema::Database database =
        schema::Database::OpenForIngest(path, queries::Catalogue::Get().views());
    IngestRequest request;
    request.paths = {folder.path().string()};
    Reasons reasons;
    const IngestTotals first = IngestPaths(database, request, reasons);
    report("a capture of 1 GPU is ingested",
           first.stored == 1 && first.rejected == 0 ? "" : reasons.text + "not stored");
    const IngestTotals again = IngestPaths(database, request, reasons);
    report("the same again changes nothing",
           again.already_there == 1 ? "" : reasons.text + "stored twice");
  }
  for (const Check& check : Checks()) {
    // The sandbox stays on a connection: one each.
    schema::Database database =
        schema::Database::OpenReadOnly(path, queries::Catalogue::Get().views());
    const std::string got = Difference(database, check);
    report(check.what,
           got.empty() ? "" : fmt::format("expected {}, got {}", Describe(check.expected), got));
  }
  std::cout << (failures == 0 ? "all is well" : render::Plural(failures, "check") + " failed")
            << "\n";
  return failures == 0 ? ExitCode::kClean : ExitCode::kFailed;
}

}  // namespace

void RegisterSelfTest(Verbs& verbs, ExitCode& exit_code) {
  Verb verb = verbs.Add("self-test", "Check this program on a built-in capture");
  verb.Footer("Reads and writes in a temporary folder only.\nExample: oomdb self-test");
  verb.Run([&exit_code] { exit_code = Run(); });
}

}  // namespace oomdb::cli
