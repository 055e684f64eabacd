// host_skew: one host of a job beside the others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/rules/job_host.h"
#include "tests/rules/rule_database.h"

namespace oomdb::queries {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::vector<std::string> OddHosts(RuleDatabase& database) {
  std::vector<std::string> hosts;
  for (const Finding& finding : database.Findings("host_skew")) {
    hosts.push_back(finding.title.substr(0, finding.title.find(" stands out")));
  }
  return hosts;
}

TEST(HostSkewTest, TheHostThatLeaksIsNamed) {
  RuleDatabase database;
  for (int i = 0; i < 4; ++i) {
    database.Ingest(Host(i, {.devices = 2, .leaking_devices = i == 2 ? 2 : 0}), "job");
  }
  const std::vector<Finding> found = database.Findings("host_skew");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "warning");
  EXPECT_EQ(found[0].bytes, 32_MiB);
  EXPECT_EQ(found[0].device, std::nullopt);
  EXPECT_EQ(found[0].module_name, "jit_step");
  EXPECT_THAT(
      found[0].title,
      HasSubstr("worker-02 stands out: it grows by 33554432 bytes per execution of jit_step,"
                " the median of 4 hosts is 0 bytes"));
  EXPECT_THAT(found[0].detail, HasSubstr("2 of 2 devices of the host stand out"));
  EXPECT_THAT(found[0].detail, HasSubstr("in use when execution 8 of jit_step starts"));
  const std::vector<Item> items = database.Items(found[0]);
  ASSERT_THAT(items, SizeIs(6));
  EXPECT_EQ(items[0].label, "worker-02 device 0");
  EXPECT_EQ(items[0].bytes, 32_MiB);
  EXPECT_EQ(items[2].label, "median of 4 peers");
  const std::vector<Remedy> remedies = database.Remedies(found[0]);
  ASSERT_THAT(remedies, SizeIs(1));
  EXPECT_EQ(remedies[0].saving_bytes, 7 * 32_MiB);
}

// Every host logs, one keeps what it logs.
TEST(HostSkewTest, WhatOnlyTheLeakingHostCalledIsTheSuspect) {
  RuleDatabase database;
  for (int i = 0; i < 4; ++i) {
    database.Ingest(Host(i, {.leaking_devices = i == 2 ? 1 : 0,
                             .calls = "train.py:61 log_metrics",
                             .calls_inside = i == 2 ? "builtins append" : nullptr}),
                    "job");
  }
  const std::vector<Finding> found = database.Findings("host_skew");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].detail, HasSubstr("only this host called $builtins append at train.py:61 "
                                         "log_metrics, in 7 of 7 gaps"));
  const std::vector<Finding> growth = database.Findings("grows_per_execution");
  ASSERT_THAT(growth, SizeIs(1));
  EXPECT_THAT(growth[0].detail, HasSubstr("no other host of the job did"));
}

// A call that all hosts make tells nothing, nor does one where the others recorded no Python.
TEST(HostSkewTest, NoSuspectWhereNoneIsTold) {
  for (const bool others_record : {true, false}) {
    RuleDatabase database;
    for (int i = 0; i < 4; ++i) {
      const bool records = others_record || i == 2;
      database.Ingest(Host(i, {.leaking_devices = i == 2 ? 1 : 0,
                               .calls = records ? "train.py:61 log_metrics" : nullptr}),
                      "job");
    }
    const std::vector<Finding> found = database.Findings("host_skew");
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_THAT(found[0].detail, Not(HasSubstr("only this host called")));
    const std::vector<Finding> growth = database.Findings("grows_per_execution");
    ASSERT_THAT(growth, SizeIs(1));
    EXPECT_THAT(growth[0].detail, Not(HasSubstr("no other host")));
  }
}

TEST(HostSkewTest, ASmallerPoolAndALeakInALargerJob) {
  RuleDatabase database;
  for (int i = 0; i < 6; ++i) {
    HostOptions options{.devices = 4, .steps = 5};
    if (i == 1) options.limit_bytes = 3_GiB;
    if (i == 4) options.leaking_devices = 4;
    database.Ingest(Host(i, options), "job");
  }
  EXPECT_THAT(OddHosts(database), testing::UnorderedElementsAre("worker-01", "worker-04"));
  for (const Finding& finding : database.Findings("host_skew")) {
    if (finding.title.starts_with("worker-01")) {
      EXPECT_THAT(finding.title, HasSubstr("has a pool of 3221225472 bytes, the median of 6 hosts "
                                           "is 4294967296 bytes"));
      EXPECT_EQ(finding.bytes, 1_GiB);
      EXPECT_THAT(database.Remedies(finding)[0].fix, HasSubstr("memory fraction"));
    } else {
      EXPECT_THAT(finding.title, HasSubstr("grows by 33554432 bytes"));
    }
  }
  EXPECT_EQ(database.Integer("SELECT COUNT(*) FROM host_comparison WHERE odd = 1"), 8);
  EXPECT_EQ(database.Integer("SELECT COUNT(*) FROM host_comparison WHERE odd_in = 'capacity'"), 4);
}

TEST(HostSkewTest, OneDeviceOfAHost) {
  RuleDatabase database;
  for (int i = 0; i < 3; ++i) {
    database.Ingest(Host(i, {.devices = 2, .leaking_devices = i == 0 ? 1 : 0}), "job");
  }
  const std::vector<Finding> found = database.Findings("host_skew");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].device, 0);
  EXPECT_THAT(found[0].title, HasSubstr("Device 0 of worker-00 stands out"));
}

TEST(HostSkewTest, OneDeviceOfAJobOfOneHost) {
  RuleDatabase database;
  database.Ingest(Host(0, {.devices = 4, .leaking_devices = 1}), "job");
  const std::vector<Finding> found = database.Findings("host_skew");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].device, 0);
  EXPECT_THAT(found[0].title, HasSubstr("the median of 4 devices is 0 bytes"));
}

TEST(HostSkewTest, OfTwoHostsTheWorseIsNamed) {
  RuleDatabase database;
  database.Ingest(Host(0, {.in_use_before = 1_GiB}), "job");
  database.Ingest(Host(1, {}), "job");
  const std::vector<Finding> found = database.Findings("host_skew");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].title, HasSubstr("worker-00 stands out"));
  EXPECT_EQ(found[0].bytes, 1_GiB - 128_MiB);
}

TEST(HostSkewTest, AWaitOfOneHost) {
  RuleDatabase database;
  for (int i = 0; i < 3; ++i) database.Ingest(Host(i, {.wait_ns = i == 1 ? 4_s : 0}), "job");
  const std::vector<Finding> found = database.Findings("host_skew");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].title, HasSubstr("worker-01 stands out: it waited 4000000000 ns"));
  EXPECT_EQ(found[0].bytes, std::nullopt);
  EXPECT_EQ(database.Items(found[0])[0].bytes, std::nullopt);
}

TEST(HostSkewTest, ItIsAnErrorWhereAnExecutionFailed) {
  RuleDatabase database;
  for (int i = 0; i < 2; ++i) database.Ingest(Host(i, {}), "job");
  GpuStory story(GpuStory::Dialect::kNew, "worker-02");
  HloBuilder step("jit_step");
  step.Parameter(128_MiB).Output(32_MiB);
  step.Temp(100_MiB);
  story.Pool(0, 512_MiB, {.in_use_before = 128_MiB}).Module(step, 7);
  for (int i = 0; i < 8; ++i) story.Step("jit_step");
  story.FailStep("jit_step");
  database.Ingest(story.Bytes(), "job");
  const std::vector<Finding> found = database.Findings("host_skew");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "error");
  EXPECT_THAT(found[0].detail, HasSubstr("1 execution there failed before launch"));
  EXPECT_THAT(found[0].detail, HasSubstr("It also has a pool of 536870912 bytes"));
}

TEST(HostSkewTest, QuietForEqualHosts) {
  for (const int hosts : {1, 2, 3, 6}) {
    RuleDatabase database;
    // Also where all leak, and on every host the first device holds more.
    for (int i = 0; i < hosts; ++i) {
      database.Ingest(Host(i, {.devices = 2, .leaking_devices = 1}), "job");
    }
    EXPECT_THAT(database.Findings("host_skew"), IsEmpty()) << hosts << " hosts";
    EXPECT_EQ(database.Integer("SELECT COUNT(*) FROM host_comparison"), 2 * hosts);
  }
}

TEST(HostSkewTest, QuietForSmallDifferencesAndForHalfOfTheHosts) {
  RuleDatabase small;
  for (int i = 0; i < 4; ++i) small.Ingest(Host(i, {.in_use_before = 128_MiB + i * 1_MiB}), "job");
  EXPECT_THAT(small.Findings("host_skew"), IsEmpty());
  RuleDatabase half;
  for (int i = 0; i < 4; ++i) {
    half.Ingest(Host(i, {.in_use_before = i < 2 ? 128_MiB : 1_GiB}), "job");
  }
  EXPECT_THAT(half.Findings("host_skew"), IsEmpty());
}

TEST(HostSkewTest, QuietWhenTheCapturesAreNotHostsOfOneJob) {
  RuleDatabase runs;
  runs.Ingest(Host(0, {}), "run1");
  runs.Ingest(Host(1, {.leaking_devices = 1}), "run2");
  EXPECT_THAT(runs.Findings("host_skew"), IsEmpty());
  // Two recordings of one host and another one under a name that they share by chance.
  RuleDatabase names;
  names.Ingest(Host(0, {}), "run1");
  names.Ingest(Host(0, {.steps = 9}), "run1");
  names.Ingest(Host(1, {.leaking_devices = 1}), "run1");
  EXPECT_THAT(names.Findings("host_skew"), IsEmpty());
}

TEST(HostSkewTest, ThresholdsAreSettings) {
  RuleDatabase database({{"skew_min_hosts", 5}});
  for (int i = 0; i < 4; ++i) database.Ingest(Host(i, {.leaking_devices = i == 2 ? 1 : 0}), "job");
  EXPECT_THAT(database.Findings("host_skew"), IsEmpty());
}

}  // namespace
}  // namespace oomdb::queries
