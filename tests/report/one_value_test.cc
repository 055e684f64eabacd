// One name a quantity: no report calls two numbers by one name, or says one number twice with two
// values. Looked for in the reports of all samples, and of captures made for what those lack.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "cli/open_captures.h"
#include "cli/report/model.h"
#include "cli/report/text.h"
#include "queries/catalogue.h"
#include "queries/materialize.h"
#include "schema/query.h"
#include "tests/rules/job_host.h"
#include "tests/support/gpu_story.h"

namespace oomdb::cli {
namespace {

namespace fs = std::filesystem;

using testing::IsEmpty;
using testing::SizeIs;

// A quantity, and how reports say it: the pattern's group is its value. Where a pattern has two
// groups the first is what it is of.
struct Quantity {
  const char* name;
  std::vector<const char*> patterns;
};

#define SIZE R"((\d[\d.]* (?:[KMGTPE]i)?B))"
const std::vector<Quantity>& Quantities() {
  static const std::vector<Quantity> quantities = {
      {"heap peak", {"heap peak (?:of )?" SIZE, "of the " SIZE " at the heap peak"}},
      {"temps", {"temps " SIZE "\\.", "\n  temps +" SIZE}},
      {"parameters", {"parameters " SIZE ", outputs", "\n  parameters +" SIZE}},
      {"plan", {"\n  total +" SIZE, "plan needs " SIZE, "does not fit: it needs " SIZE}},
      {"capacity",
       {"\n  capacity +" SIZE, "the pool holds " SIZE, "plan needs .* of " SIZE " \\(",
        "At this rate the " SIZE " run out", "peak in the capture +[^ ]+ [^ ]+ +of " SIZE}},
      {"rematerialized",
       {R"(rematerialized (\d+) instruction)",
        R"((\d+) of \d+ instructions are computed a second time)"}},
      {"older than the capture",
       {SIZE " +(?:\\d+ × )?allocated before the capture began(?!,)",
        "allocated before the capture began(?: \\(\\d+ live, | )" SIZE}},
      {"the same, besides parameters",
       {SIZE " +(?:\\d+ × )?allocated before the capture began, besides",
        "allocated before the capture began, besides its parameters(?: \\(\\d+ live, | )" SIZE}},
      {"growth",
       {"leaves " SIZE " behind", "grows by " SIZE " per execution", "delays it: " SIZE " more"}},
      {"in use at the first start", {"rose from " SIZE, "at the start of the first +" SIZE}},
      {"in use at the last start", {"rose from .* to " SIZE, "of the last +" SIZE}},
      {"short by", {"short by " SIZE, "Short by " SIZE}},
      {"longest wait", {R"(the longest (\d[\d.]* \w+))", R"(allocator waited (\d[\d.]* \w+) for)"}},
  };
  return quantities;
}

// Lines of a paragraph as one, so that a sentence can be found.
std::string Unwrapped(const std::string& text) {
  return std::regex_replace(text, std::regex(R"(\n {11}(?=\S))"), " ");
}

std::vector<std::string> Contradictions(const std::string& report) {
  // Of one module and device: what others have is said where there are others.
  const std::string text = Unwrapped(report);
  std::vector<std::string> found;
  for (const Quantity& quantity : Quantities()) {
    std::set<std::string> values;
    for (const char* pattern : quantity.patterns) {
      const std::regex expression(pattern);
      for (std::sregex_iterator i(text.begin(), text.end(), expression), end; i != end; ++i)
        values.insert((*i)[1]);
    }
    if (values.size() < 2) continue;
    std::string words = quantity.name + std::string(":");
    for (const std::string& value : values) words += " " + value;
    found.push_back(words);
  }
  return found;
}

// Within an incident a remedy saves the same, whichever finding offers it.
std::vector<std::string> RemedyContradictions(const std::string& json) {
  std::map<std::string, std::set<std::string>> savings;
  const nlohmann::json report = nlohmann::json::parse(json);
  for (const auto& finding : report.at("findings")) {
    for (const auto& remedy : finding.at("remedies")) {
      if (remedy.at("saving_bytes").is_null()) continue;
      savings[finding.at("incident_id").dump() + remedy.at("remedy").dump() +
              finding.at("device").dump()]
          .insert(remedy.at("saving_bytes").at("value").dump());
    }
  }
  std::vector<std::string> found;
  for (const auto& [what, values] : savings) {
    if (values.size() > 1) found.push_back(what);
  }
  return found;
}

void ExpectOneValueEach(const std::string& path) {
  ExitCode exit_code = ExitCode::kClean;
  schema::Database database = OpenCaptures({path}, "", {}, exit_code);
  queries::MaterializeRules(database, queries::Catalogue::Get());
  const Report report = ReadReport(database, {});
  const std::string text = ReportText(report, {});
  EXPECT_THAT(Contradictions(text), IsEmpty()) << path << "\n" << text;
  EXPECT_THAT(RemedyContradictions(ReportJson(report)), IsEmpty()) << path;
  // A report begins with its verdict.
  std::set<std::string> verdicts;
  for (const schema::Record& row : schema::ReadView(database, "verdict_kinds"))
    verdicts.insert(row.Text("verdict"));
  EXPECT_EQ(verdicts.count(VerdictOf(report).words), 1U) << path << "\n" << text;
}

TEST(OneValueTest, InTheReportsOfTheSamples) {
  size_t samples = 0;
  const fs::path room = fs::path(OOMDB_SOURCE_DIR) / "sample_dbs" / "captures";
  for (const auto& entry : fs::directory_iterator(room)) {
    for (const auto& inner : fs::directory_iterator(entry)) {
      // cpu and rocm are folders of samples.
      if (inner.is_directory() && inner.path().filename() != "plugins") {
        ExpectOneValueEach(inner.path().string());
        ++samples;
      }
    }
    ExpectOneValueEach(entry.path().string());
    ++samples;
  }
  EXPECT_GT(samples, 6U);
}

class MadeTest : public testing::Test {
 protected:
  MadeTest() : folder_(fs::temp_directory_path() / ("oomdb-one-" + std::to_string(getpid()))) {
    fs::create_directories(folder_ / "plugins" / "profile" / "run1");
  }
  ~MadeTest() override { fs::remove_all(folder_); }

  void Capture(const std::string& host, const std::string& bytes) {
    std::ofstream(folder_ / "plugins" / "profile" / "run1" / (host + ".xplane.pb"),
                  std::ios::binary)
        << bytes;
  }

  const fs::path folder_;
};

TEST_F(MadeTest, InTheReportOfAJobWithALeak) {
  for (int host = 0; host < 4; ++host) {
    Capture(fmt::format("worker-{:02}", host),
            queries::Host(host, {.devices = 2, .leaking_devices = host == 2 ? 2 : 0}));
  }
  ExpectOneValueEach(folder_.string());
}

TEST_F(MadeTest, InTheReportOfAStepBesideOlderArrays) {
  HloBuilder hlo("jit_step");
  hlo.Parameter(128_MiB).Output(32_MiB);
  hlo.Temp(Value(200_MiB).Op("jit(step)/jvp()/dot_general"));
  GpuStory story;
  story.Pool(0, 512_MiB, {.in_use_before = 300_MiB}).Module(hlo, 7);
  story.Transfer(0, 16_MiB, "f32[1024,4096]");
  story.FailStep("jit_step");
  Capture("gpu-node-0", story.Bytes());
  ExpectOneValueEach(folder_.string());
}

TEST(OneValueTest, FindsWhatItIsThereFor) {
  EXPECT_THAT(Contradictions("At the heap peak of 2.84 GiB\nAT THE HEAP PEAK  3.03 GiB\n  temps   "
                             "2.86 GiB   heap peak 3.03 GiB"),
              SizeIs(1));
  EXPECT_THAT(Contradictions("1.28 GiB  allocated before the capture began\n1.12 GiB  allocated "
                             "before the capture began, besides its parameters"),
              IsEmpty());
  EXPECT_THAT(Contradictions("1.28 GiB  allocated before the capture began\n1.12 GiB  allocated "
                             "before the capture began\n"),
              SizeIs(1));
}

}  // namespace
}  // namespace oomdb::cli
