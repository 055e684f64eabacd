#include "cli/check/gates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/plan/plan.h"
#include "queries/catalogue.h"
#include "schema/capture_writer.h"

namespace oomdb::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr int64_t kMiB = int64_t{1} << 20;

struct Module {
  std::string name;
  int64_t plan_bytes = 0;  // 0: its plan is not in the capture.
  int64_t executions = 1;
};

class GatesTest : public testing::Test {
 protected:
  void Store(const std::string& run, const std::vector<Module>& modules,
             const std::vector<int64_t>& in_use_at_starts = {}) {
    schema::CaptureSource source;
    source.path = "/logs/" + run;
    source.content_hash = run;
    source.run = run;
    source.host = "host<1>";
    schema::CaptureWriter writer(database_, source);
    ingest::DeviceFact device;
    device.kind = "gpu";
    device.ordinal = 3;
    writer.Add(device);
    ingest::AllocatorFact allocator;
    allocator.device = 0;
    allocator.name = "GPU_0_bfc";
    allocator.capacity_bytes = 1000 * kMiB;
    writer.Add(allocator);
    for (const Module& module : modules) {
      ingest::ModuleFact fact;
      fact.name = module.name;
      fact.execution_count = module.executions;
      if (module.plan_bytes > 0) {
        auto plan = std::make_shared<ingest::Plan>();
        plan->has_buffer_assignment = true;
        plan->plan_bytes = module.plan_bytes;
        plan->peak_bytes = module.plan_bytes;
        fact.plan = plan;
        fact.hlo_hash = run + module.name;
      }
      writer.Add(fact);
    }
    int64_t sequence = 0;
    for (const int64_t in_use : in_use_at_starts) {
      ingest::ExecutionFact execution;
      execution.device = 0;
      execution.module = 0;
      execution.sequence = ++sequence;
      execution.start_ns = 1000 * sequence;
      execution.end_ns = 1000 * sequence + 500;
      execution.launched = true;
      execution.in_use_at_start_bytes = in_use;
      writer.Add(execution);
    }
    ingest::CaptureFact capture;
    capture.kind = "xplane";
    writer.Add(capture);
    writer.Commit({});
  }

  std::vector<std::string> Failures(const GateLimits& limits) {
    std::vector<std::string> failures;
    for (const GateCase& one : RunGates(database_, limits).cases) {
      if (!one.failure.empty()) failures.push_back(one.failure);
    }
    return failures;
  }

  std::vector<std::string> Unchecked(const GateLimits& limits) {
    std::vector<std::string> gates;
    for (const GateCase& one : RunGates(database_, limits).unchecked) gates.push_back(one.gate);
    return gates;
  }

  static GateLimits Budget(int64_t bytes) {
    GateLimits limits;
    limits.budget_bytes = bytes;
    return limits;
  }

  static GateLimits MaxGrowth(int64_t bytes) {
    GateLimits limits;
    limits.max_growth_bytes = bytes;
    return limits;
  }

  static GateLimits Regression(const std::string& baseline, double percent) {
    GateLimits limits;
    limits.baseline = baseline;
    limits.max_regression_percent = percent;
    return limits;
  }

  schema::Database database_ = schema::Database::Throwaway(queries::Catalogue::Get().views());
};

TEST_F(GatesTest, TheBudgetIsForWhatRanAndForTheLargest) {
  Store("r", {{"jit_step", 300 * kMiB}, {"jit_init", 200 * kMiB, 0}, {"jit_eval", 100 * kMiB}});
  EXPECT_THAT(Failures(Budget(300 * kMiB)), IsEmpty());
  EXPECT_THAT(Failures(Budget(300 * kMiB - 1)),
              ElementsAre("jit_step of r needs 314572800 bytes (read); the budget is 314572799 "
                          "bytes"));
  // jit_init never ran, and is not the largest.
  EXPECT_THAT(Failures(Budget(150 * kMiB)), ElementsAre(HasSubstr("jit_step")));
  EXPECT_THAT(Failures(Budget(50 * kMiB)),
              ElementsAre(HasSubstr("jit_eval of r needs 100 MiB (read); the budget is 50.0 MiB"),
                          HasSubstr("jit_step")));
  Store("s", {{"jit_init", 400 * kMiB, 0}});
  EXPECT_THAT(Failures(Budget(300 * kMiB)), ElementsAre(HasSubstr("jit_init of s")));
}

TEST_F(GatesTest, GrowthIsPerExecutionOfADevice) {
  Store("steady", {{"jit_step", kMiB}}, {kMiB, kMiB, kMiB, kMiB});
  EXPECT_THAT(Failures(MaxGrowth(0)), IsEmpty());
  Store("leak", {{"jit_step", kMiB}}, {kMiB, 3 * kMiB, 5 * kMiB, 7 * kMiB});
  EXPECT_THAT(Failures(MaxGrowth(2 * kMiB)), IsEmpty());
  EXPECT_THAT(Failures(MaxGrowth(kMiB)),
              ElementsAre("jit_step of leak / host<1> device 3 leaves 2.00 MiB behind per "
                          "execution (measured); the limit is 1.00 MiB"));
  // --run looks at one alone.
  GateLimits limits = MaxGrowth(kMiB);
  limits.run = "steady";
  EXPECT_THAT(Failures(limits), IsEmpty());
}

TEST_F(GatesTest, LimitsBelowWhatRulesSpeakOfAreSeen) {
  EXPECT_TRUE(GateSettings(Budget(1)).empty());
  EXPECT_TRUE(GateSettings(MaxGrowth(kMiB)).empty());
  EXPECT_EQ(GateSettings(MaxGrowth(1000)).at("growth_min_bytes"), 1001);
  database_ =
      schema::Database::Throwaway(queries::Catalogue::Get().views(), GateSettings(MaxGrowth(1000)));
  Store("leak", {{"jit_step", kMiB}}, {0, 1100, 2200, 3300});
  EXPECT_THAT(Failures(MaxGrowth(1000)), ElementsAre(HasSubstr("leaves 1.07 KiB behind")));
}

TEST_F(GatesTest, RegressionsAreByName) {
  Store("base", {{"jit_step", 100 * kMiB}, {"jit_eval", 50 * kMiB}});
  Store("new", {{"jit_step", 103 * kMiB}, {"jit_eval", 40 * kMiB}, {"jit_other", 900 * kMiB}});
  EXPECT_THAT(Failures(Regression("base", 3)), IsEmpty());
  EXPECT_THAT(Failures(Regression("base", 2.5)),
              ElementsAre("jit_step of new peaks at 103 MiB (read), 3 % above the 100 MiB of base; "
                          "the limit is 2.5 %"));
  EXPECT_EQ(RunGates(database_, Regression("base", 3)).cases.size(), 2u);
  try {
    RunGates(database_, Regression("bas", 3));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("--baseline: no run bas; did you mean base?"));
  }
}

TEST_F(GatesTest, FindingsFailBySeverity) {
  GateLimits limits;
  limits.fail_on = "error";
  Store("leak", {{"jit_step", kMiB}}, {kMiB, 3 * kMiB, 5 * kMiB, 7 * kMiB, 9 * kMiB});
  EXPECT_THAT(Failures(limits), IsEmpty());
  limits.fail_on = "warning";
  EXPECT_THAT(Failures(limits),
              ElementsAre(AllOf(HasSubstr("warning grows_per_execution of leak / host<1>: "),
                                HasSubstr("2.00 MiB"))));
}

// A capture without the numbers must not be the best of all.
TEST_F(GatesTest, NothingToLookAtIsNoPass) {
  Store("r", {{"jit_step"}}, {kMiB, kMiB});
  EXPECT_THAT(Unchecked(Budget(1)), ElementsAre("budget"));
  EXPECT_THAT(Unchecked(MaxGrowth(1)), ElementsAre("max-growth"));
  EXPECT_THAT(Unchecked(Regression("r", 1)), ElementsAre("max-regression"));
}

TEST_F(GatesTest, JUnitIsEscapedAndCounted) {
  Store("a&b \"c\"\x01\xef\xbf\xbf", {{"jit_step", 300 * kMiB}});
  GateLimits limits = Budget(kMiB);
  limits.max_growth_bytes = 1;
  const std::string xml = JUnitXml(RunGates(database_, limits));
  EXPECT_THAT(xml, HasSubstr("<testsuites tests=\"2\" failures=\"1\" errors=\"1\">"));
  EXPECT_THAT(xml, HasSubstr("<testcase classname=\"oomdb.budget\" name=\"jit_step (a&amp;b "
                             "&quot;c&quot;\\x01\xef\xbf\xbd)\"><failure type=\"budget\""));
  EXPECT_THAT(xml,
              HasSubstr("<testcase classname=\"oomdb.max-growth\" name=\"max-growth\"><error"));
  EXPECT_THAT(xml, Not(HasSubstr("\x01")));
}

TEST(ParsePercentTest, TakesWhatPeopleWrite) {
  EXPECT_EQ(ParsePercent("2%", "x"), 2);
  EXPECT_EQ(ParsePercent("0.5 %", "x"), 0.5);
  EXPECT_EQ(ParsePercent("0", "x"), 0);
  for (const char* wrong : {"", "%", "two", "-1%", "nan", "inf", "2%%", "1e999", "2 MiB"})
    EXPECT_THROW(ParsePercent(wrong, "x"), Error) << wrong;
}

}  // namespace
}  // namespace oomdb::cli
