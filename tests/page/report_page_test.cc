// The page of a report: the same numbers as the report, nothing of a capture as markup, and no more
// than a browser can hold.
#include "cli/page/report_page.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>

#include "cli/open_captures.h"
#include "queries/catalogue.h"
#include "queries/materialize.h"
#include "render/markup.h"
#include "render/units.h"
#include "render/words.h"
#include "tests/support/gpu_story.h"
#include "tests/support/hlo_builder.h"
#include "tests/support/sizes.h"

namespace oomdb::cli::page {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

struct Page {
  Report report;
  std::string html;
  json data;  // What the script moves with.
};

Page PageOf(const std::string& path) {
  ExitCode exit_code = ExitCode::kClean;
  schema::Database database = OpenCaptures({path}, "", {}, exit_code);
  queries::MaterializeRules(database, queries::Catalogue::Get());
  Page page{ReadReport(database, {}), "", {}};
  page.html = ReportHtml(database, page.report, {});
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const size_t at = page.html.find(begin) + begin.size();
  page.data = json::parse(page.html.substr(at, page.html.find("</script>", at) - at));
  return page;
}

std::string Sample(const std::string& name) {
  return (fs::path(OOMDB_SOURCE_DIR) / "sample_dbs" / "captures" / name).string();
}

// The values of an attribute, in order.
std::vector<int64_t> Values(const std::string& html, const std::string& attribute) {
  std::vector<int64_t> values;
  const std::regex pattern(attribute + "=\"(\\d+)\"");
  for (std::sregex_iterator i(html.begin(), html.end(), pattern), end; i != end; ++i)
    values.push_back(std::stoll((*i)[1]));
  return values;
}

// Live bytes of a chart at its first point, and those that are listed one by one.
int64_t ListedAtFirst(const json& chart) {
  const int64_t at = chart["at"][chart["first"].get<size_t>()];
  int64_t sum = 0;
  for (const json& live : chart["live"]) {
    if (live[1] <= at && at < live[2]) sum += live[0].get<int64_t>();
  }
  return sum;
}

void ExpectSameNumbers(const std::string& path) {
  SCOPED_TRACE(path);
  const Page page = PageOf(path);
  const ReportVerdict verdict = VerdictOf(page.report);
  EXPECT_THAT(page.html, HasSubstr("id=\"verdict\">" +
                                   render::EscapeMarkup(render::Upper(verdict.words)) + "<"));
  std::string html = std::regex_replace(page.html, std::regex("\u00a0"), " ");
  EXPECT_THAT(html,
              HasSubstr("id=\"sentence\">" + render::EscapeMarkup(verdict.sentence) + "</h1>"));
  // The remedies of the verdict stand once, each with the report's own figure.
  if (verdict.finding != nullptr) {
    std::multiset<int64_t> known;
    for (const ReportRemedy& remedy : verdict.finding->remedies) {
      if (remedy.needs_bytes) known.insert(*remedy.needs_bytes);
    }
    for (const int64_t needs : Values(page.html, "data-needs")) EXPECT_TRUE(known.contains(needs));
    for (const int64_t needs : known) EXPECT_THAT(page.html, HasSubstr(render::HumanBytes(needs)));
  }
  if (page.data.contains("curve")) {
    const ReportPlan& plan = *page.report.plan;
    const json& curve = page.data["curve"];
    int64_t highest = 0;
    for (const json& total : curve["total"]) highest = std::max(highest, total.get<int64_t>());
    EXPECT_EQ(highest, plan.peak_bytes);
    EXPECT_EQ(curve["total"][curve["first"].get<size_t>()], plan.peak_bytes);
    EXPECT_LE(ListedAtFirst(curve), plan.peak_bytes);
    // The largest group of the report's table is the first of the list.
    ASSERT_FALSE(plan.groups.empty());
    EXPECT_THAT(html, HasSubstr("class=\"n\">" + render::HumanBytes(plan.groups[0].bytes)));
  }
  if (page.data.contains("heap") && page.report.run) {
    const ReportDevice& device = page.report.run->devices[page.report.run->shown];
    int64_t highest = 0;
    for (const json& total : page.data["heap"]["total"])
      highest = std::max(highest, total.get<int64_t>());
    EXPECT_EQ(highest, device.capture_peak_bytes.value_or(highest));
    // Circles are at the starts, exact.
    const size_t begin = page.html.find("<svg id=\"heap\"");
    const std::vector<int64_t> starts =
        Values(page.html.substr(begin, page.html.find("</div>", begin) - begin), "data-bytes");
    for (const int64_t start : device.in_use_at_starts)
      EXPECT_THAT(starts, testing::Contains(start));
  }
}

TEST(ReportPageTest, HasTheNumbersOfTheReport) {
  for (const auto& entry : fs::directory_iterator(Sample("")))
    ExpectSameNumbers(entry.path().string());
}

TEST(ReportPageTest, ThePictureFollowsTheCause) {
  const auto first = [](const std::string& name) {
    const std::string html = PageOf(Sample(name)).html;
    const size_t at = html.find("<h2>", html.find("<main"));
    return html.substr(at + 4, html.find("</h2>", at) - at - 4);
  };
  EXPECT_EQ(first("attention_oom"), "What it needs, and what would make it fit");
  EXPECT_EQ(first("tpu_compile_oom"), "What it needs, and what would make it fit");
  EXPECT_THAT(first("grad_leak_oom"), HasSubstr("In use over time"));
  EXPECT_THAT(first("fragmented_pool"), HasSubstr("The pool by address"));
  EXPECT_EQ(first("cpu"), "I can&#39;t tell");
}

TEST(ReportPageTest, NothingIsLoadedAndNothingIsWell) {
  const std::string html = PageOf(Sample("tpu_compile_oom")).html;
  EXPECT_THAT(html, HasSubstr("default-src &#39;none&#39;; script-src &#39;sha256-"));
  for (const char* way : {"http://", "https://", " src=", "@import", "<iframe", "<img",
                          " style=", " onclick=", "eval(", "innerHTML"}) {
    EXPECT_THAT(html, Not(HasSubstr(way)));
  }
  // The dump alone is no failure, but its program does not fit: never well.
  EXPECT_THAT(html, Not(HasSubstr(">well<")));
}

class MadePageTest : public testing::Test {
 protected:
  MadePageTest() : folder_(fs::temp_directory_path() / fmt::format("oomdb-page-{}", getpid())) {
    fs::create_directories(folder_ / "plugins" / "profile" / "run1");
  }
  ~MadePageTest() override { fs::remove_all(folder_); }

  Page Made(const std::string& host, const std::string& bytes) {
    std::ofstream(folder_ / "plugins" / "profile" / "run1" / (host + ".xplane.pb"),
                  std::ios::binary)
        << bytes;
    return PageOf(folder_.string());
  }

  const fs::path folder_;
};

// Names come from who wrote the capture.
TEST_F(MadePageTest, NamesAreNoMarkup) {
  const std::string hostile = "</script><script>alert(1)</script><img src=x>\u202e\x1b[31m";
  HloBuilder hlo("jit_step");
  hlo.Parameter(16_MiB);
  hlo.Temp(Value(600_MiB).Op("jit(f)/jvp()/" + hostile).At(hostile + ".py", 3, hostile));
  GpuStory story;
  story.Pool(0, 512_MiB).Module(hlo, 7);
  story.Transfer(0, 16_MiB, hostile);
  story.FailStep("jit_step");
  const std::string html = Made("host", story.Bytes()).html;
  EXPECT_THAT(html, HasSubstr("alert(1)"));  // It is shown,
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_THAT(html, Not(HasSubstr("\u202e")));
  EXPECT_THAT(html, Not(HasSubstr("\x1b")));
  // as text: the two scripts are ours.
  size_t scripts = 0;
  for (size_t at = 0; (at = html.find("</script", at)) != std::string::npos; ++at) ++scripts;
  EXPECT_EQ(scripts, 2U);
}

// 45,000 temps, each with a name of its own.
TEST_F(MadePageTest, AHugePlanFitsAPage) {
  constexpr int kTemps = 45'000;
  HloBuilder hlo("jit_step");
  hlo.Parameter(1_MiB);
  std::vector<int> live;
  for (int i = 0; i < kTemps; ++i) {
    live.push_back(hlo.Temp(Value(4096 + 4 * i)
                                .Op(fmt::format("jit(f)/jvp()/block_{}/dot_general", i))
                                .At("model.py", i, fmt::format("layer_{}", i))));
    if (live.size() > 200) {
      hlo.Free(live.front());
      live.erase(live.begin());
    }
  }
  GpuStory story;
  story.Pool(0, 64_MiB).Module(hlo, 7);
  story.Step("jit_step");
  const Page page = Made("host", story.Bytes());
  EXPECT_LT(page.html.size(), 2'000'000U);
  int64_t highest = 0;
  for (const json& total : page.data["curve"]["total"])
    highest = std::max(highest, total.get<int64_t>());
  EXPECT_EQ(highest, page.report.plan->peak_bytes);
}

// Sizes of exabytes are drawn to scale: no place is negative.
TEST_F(MadePageTest, ExabytesHavePlaces) {
  std::ofstream(folder_ / "train.log")
      << "RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 8388607.50T of 15.75G "
         "hbm. Exceeded hbm capacity by 8388607.48T.\n";
  const Page page = PageOf(folder_.string());
  EXPECT_THAT(page.html, HasSubstr("class=\"need\""));
  EXPECT_THAT(page.html, Not(HasSubstr("=\"-")));
}

// 8,000 lines that all live at the peak: what is too small for a tile is one tile.
TEST_F(MadePageTest, ManyLinesAtThePeakFitAPage) {
  HloBuilder hlo("jit_step");
  hlo.Parameter(1_MiB);
  for (int i = 0; i < 8000; ++i) {
    hlo.Temp(Value(4096 + 4 * i)
                 .Op(fmt::format("jit(f)/jvp()/block_{}/dot_general", i))
                 .At("model.py", i, fmt::format("layer_{}", i)));
  }
  GpuStory story;
  story.Pool(0, 512_MiB).Module(hlo, 7);
  story.Step("jit_step");
  const Page page = Made("host", story.Bytes());
  EXPECT_LT(page.html.size(), 2'000'000U);
  EXPECT_THAT(page.html, HasSubstr("8000 smaller lines"));
}

// Buffers that share memory count once.
TEST_F(MadePageTest, SharedMemoryCountsOnce) {
  HloBuilder hlo("jit_step");
  hlo.Parameter(1_MiB);
  const int first = hlo.Temp(Value(64_MiB).Op("jit(f)/jvp()/while"));
  hlo.SharedTemp(first, Value(64_MiB).Op("jit(f)/jvp()/while/body"));
  hlo.Temp(Value(8_MiB).Op("jit(f)/jvp()/mul"));
  GpuStory story;
  story.Pool(0, 512_MiB).Module(hlo, 7);
  story.Step("jit_step");
  const Page page = Made("host", story.Bytes());
  EXPECT_EQ(page.data["curve"]["total"][page.data["curve"]["first"].get<size_t>()],
            page.report.plan->peak_bytes);
  EXPECT_EQ(ListedAtFirst(page.data["curve"]), page.report.plan->peak_bytes);
}

}  // namespace
}  // namespace oomdb::cli::page
