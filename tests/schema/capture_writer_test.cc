#include "schema/capture_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "queries/catalogue.h"
#include "tests/schema/sample_facts.h"

namespace oomdb::schema {
namespace {

using testing::HasSubstr;

// Every table that a capture fills.
int64_t RowsOfAllTables(Database& database) {
  int64_t rows = 0;
  for (const char* table :
       {"captures", "ingest_issues", "devices", "stored_plans", "stored_module_memory",
        "stored_plan_allocations", "stored_module_outputs", "stored_buffers", "stored_plan_parts",
        "stored_frames", "stored_modules", "allocators", "stored_executions", "stored_allocations",
        "stored_host_events", "strings", "run_labels"}) {
    rows += QueryInt(database, std::string("SELECT COUNT(*) FROM ") + table);
  }
  return rows;
}

class CaptureWriterTest : public testing::Test {
 protected:
  Database database_ = Database::Throwaway(queries::Catalogue::Get().views());
};

TEST_F(CaptureWriterTest, WritesEveryFactBehindItsView) {
  const CaptureSummary summary = WriteSample(database_, "a");
  EXPECT_EQ(summary.allocations, 100);
  EXPECT_EQ(summary.issue_count, 1);
  EXPECT_EQ(QueryText(database_, "SELECT host FROM captures"),
            "host");  // The path's wins over the recorded one.
  EXPECT_EQ(QueryInt(database_, "SELECT plan_bytes FROM modules WHERE name = 'jit_step'"), 40);
  EXPECT_EQ(QueryText(database_, "SELECT op_name FROM buffers WHERE at_peak = 1"),
            "jit(step)/jvp()/dot_general");
  EXPECT_EQ(
      QueryInt(database_, "SELECT buffer_id - module_id * 16777216 FROM buffers WHERE at_peak = 1"),
      1);
  EXPECT_EQ(QueryText(database_, "SELECT name FROM plan_parts WHERE kind = 'weights'"),
            "params['w']");
  EXPECT_EQ(QueryText(database_,
                      "SELECT copy_of || ' ' || copied_dtype || ' ' || reader || ' ' || hole_end "
                      "FROM plan_parts WHERE kind = 'activations'"),
            "p0 bf16 dot.3 dot.3");
  EXPECT_EQ(QueryInt(database_,
                     "SELECT 1000 * idle_from + 100 * idle_to + 10 * hole_bytes + schedule_length "
                     "FROM plan_parts WHERE kind = 'activations'"),
            1244);
  EXPECT_EQ(QueryInt(database_, "SELECT padded_to - padded_from FROM buffers WHERE at_peak = 1"),
            2);
  EXPECT_EQ(QueryText(database_, "SELECT function_name FROM frames"), "layer");
  EXPECT_EQ(
      QueryText(database_, "SELECT module_name FROM executions WHERE launched = 1 AND failed = 0"),
      "jit_step");
  EXPECT_EQ(
      QueryInt(database_,
               "SELECT COUNT(DISTINCT address) FROM allocations WHERE origin LIKE 'temp of%'"),
      100);
  EXPECT_EQ(
      QueryText(
          database_,
          "SELECT h.name FROM executions e JOIN host_events h ON h.event_id = e.launch_event_id"),
      "PjitFunction(step)");
  EXPECT_EQ(QueryInt(database_, "SELECT count FROM ingest_issues"), 12);
  EXPECT_TRUE(Query(database_, "SELECT * FROM pragma_foreign_key_check").rows.empty());
}

TEST_F(CaptureWriterTest, UnknownIsNull) {
  WriteSample(database_, "a");
  EXPECT_EQ(QueryInt(database_,
                     "SELECT COUNT(*) FROM allocators WHERE peak_bytes IS NULL AND "
                     "last_fragmentation IS NULL"),
            1);
  EXPECT_EQ(
      QueryInt(database_,
               "SELECT COUNT(*) FROM executions WHERE wait_evidence IS NULL AND thread IS NULL"),
      1);
  EXPECT_EQ(
      QueryInt(database_, "SELECT COUNT(*) FROM buffers WHERE role IS NULL AND role_via IS NULL"),
      1);
}

// A module from before its buffers were assigned: what is unknown is NULL, not 0.
TEST_F(CaptureWriterTest, WithoutABufferAssignmentThereAreNoSizes) {
  auto plan = std::make_shared<ingest::Plan>();
  plan->instruction_count = 3;
  ingest::ModuleFact module;
  module.name = "jit_early";
  module.hlo_hash = "early";
  module.plan = plan;
  ingest::CaptureFact capture;
  capture.kind = "hlo";
  CaptureWriter writer(database_, SampleSource("a"));
  writer.Add(module);
  EXPECT_FALSE(writer.has_plan());
  writer.Add(capture);
  writer.Commit({});
  EXPECT_EQ(QueryInt(database_,
                     "SELECT COUNT(*) FROM modules WHERE instruction_count = 3 AND plan_bytes IS "
                     "NULL AND temp_bytes IS NULL AND heap_peak_bytes IS NULL"),
            1);
}

TEST_F(CaptureWriterTest, RecordedHostCountsWhenThePathNamesNone) {
  CaptureSource source = SampleSource("a");
  source.host.reset();
  source.compression = "gzip";
  CaptureWriter writer(database_, source);
  AddSampleFacts(writer);
  writer.Commit({});
  EXPECT_EQ(QueryText(database_, "SELECT host FROM captures"), "recorded-host");
  EXPECT_EQ(QueryText(database_, "SELECT format_note FROM captures"), "gzip");
}

// What an importer may meet halfway: nothing of the capture may stay, and the next one must work.
TEST_F(CaptureWriterTest, LeavesNothingWithoutCommit) {
  const int64_t before = RowsOfAllTables(database_);
  EXPECT_THROW(
      {
        CaptureWriter writer(database_, SampleSource("a"));
        AddSampleFacts(writer, "plan-hash", 10000);
        throw std::runtime_error("the importer gave up");
      },
      std::runtime_error);
  EXPECT_EQ(RowsOfAllTables(database_), before);
  WriteSample(database_, "a");
  EXPECT_GT(RowsOfAllTables(database_), before);
}

TEST_F(CaptureWriterTest, StopsOnRequestAndLeavesNothing) {
  const int64_t before = RowsOfAllTables(database_);
  std::atomic<bool> stop = false;
  {
    CaptureWriter writer(database_, SampleSource("a"), &stop);
    AddSampleFacts(writer);
    stop = true;
    try {
      writer.Add(ingest::DeviceFact());
      FAIL() << "did not stop";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kInterrupted);
    }
  }
  EXPECT_EQ(RowsOfAllTables(database_), before);
}

TEST_F(CaptureWriterTest, PlansAreStoredOncePerContent) {
  WriteSample(database_, "a", "one");
  WriteSample(database_, "b", "one");
  EXPECT_EQ(QueryInt(database_, "SELECT COUNT(*) FROM stored_plans"), 1);
  EXPECT_EQ(QueryInt(database_, "SELECT COUNT(*) FROM buffers"), 4);
  WriteSample(database_, "c", "two");
  EXPECT_EQ(QueryInt(database_, "SELECT COUNT(*) FROM stored_plans"), 2);
  // Without a hash nothing is known to be equal.
  WriteSample(database_, "d", "");
  WriteSample(database_, "e", "");
  EXPECT_EQ(QueryInt(database_, "SELECT COUNT(*) FROM stored_plans"), 4);
}

TEST_F(CaptureWriterTest, SameContentAgainOnlyUpdatesNames) {
  const CaptureSummary first = WriteSample(database_, "a");
  const int64_t before = RowsOfAllTables(database_);
  {
    CaptureWriter writer(database_, SampleSource("a"));
    const std::vector<KnownCapture> known = writer.KnownCaptures();
    ASSERT_EQ(known.size(), 1u);
    EXPECT_EQ(known[0].capture_id, first.capture_id);
    EXPECT_EQ(known[0].run, "run1");
    const CaptureSummary again =
        writer.CommitKnown(known[0].capture_id, std::nullopt, "other-host", {{"batch", "8"}});
    EXPECT_TRUE(again.already_there);
    EXPECT_FALSE(again.run_changed);
    EXPECT_TRUE(again.host_changed);
    EXPECT_EQ(again.run, "run1");
  }
  EXPECT_EQ(RowsOfAllTables(database_), before + 1);  // The label.
  EXPECT_EQ(QueryText(database_, "SELECT host FROM captures WHERE run = 'run1'"), "other-host");
  EXPECT_EQ(
      QueryText(database_, "SELECT label FROM run_labels WHERE run = 'run1' AND name = 'batch'"),
      "8");
}

TEST_F(CaptureWriterTest, OneContentIsACaptureOfEachOfItsRuns) {
  WriteSample(database_, "a");
  const int64_t plans = QueryInt(database_, "SELECT COUNT(*) FROM stored_plans");
  CaptureSource source = SampleSource("a");
  source.run = "run2";
  int64_t second = 0;
  {
    CaptureWriter writer(database_, source);
    AddSampleFacts(writer);
    second = writer.Commit({}).capture_id;
  }
  EXPECT_EQ(QueryInt(database_, "SELECT COUNT(DISTINCT run) FROM captures"), 2);
  EXPECT_EQ(QueryInt(database_, "SELECT COUNT(*) FROM stored_plans"), plans);
  // Of one run once.
  EXPECT_ANY_THROW({
    CaptureWriter writer(database_, source);
    AddSampleFacts(writer);
    writer.Commit({});
  });
  CaptureWriter writer(database_, source);
  EXPECT_EQ(writer.KnownCaptures().size(), 2u);
  EXPECT_EQ(writer.KnownCaptures()[1].capture_id, second);
}

TEST_F(CaptureWriterTest, LabelsGoAlongWithTheLastCaptureOfARun) {
  const auto labels = [this] {
    return QueryText(database_,
                     "SELECT GROUP_CONCAT(t) FROM (SELECT run || ' ' || name || '=' || label AS t "
                     "FROM run_labels ORDER BY 1)");
  };
  const int64_t first = WriteSample(database_, "a").capture_id;
  const int64_t second = WriteSample(database_, "b").capture_id;
  {
    CaptureWriter writer(database_, SampleSource("a"));
    writer.CommitKnown(first, std::nullopt, std::nullopt, {{"batch", "8"}, {"seq", "1"}});
  }
  {
    CaptureWriter writer(database_, SampleSource("a"));
    const CaptureSummary moved = writer.CommitKnown(first, "run2", std::nullopt, {{"seq", "2"}});
    EXPECT_TRUE(moved.run_changed);
    EXPECT_EQ(moved.previous_run, "run1");
  }
  EXPECT_EQ(labels(), "run1 batch=8,run1 seq=1,run2 seq=2");
  {
    CaptureWriter writer(database_, SampleSource("b"));
    writer.CommitKnown(second, "run2", std::nullopt, {});
  }
  // What the new run says itself stays.
  EXPECT_EQ(labels(), "run2 batch=8,run2 seq=2");
}

TEST_F(CaptureWriterTest, RefusesReferencesToNothing) {
  CaptureWriter writer(database_, SampleSource("a"));
  AddSampleFacts(writer);
  ingest::AllocationFact allocation;
  allocation.allocator = 1;  // There is one, with index 0.
  writer.Add(allocation);
  try {
    writer.Commit({});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("allocator 1, of 1"));
  }
}

TEST_F(CaptureWriterTest, RefusesACaptureThatIsNotDescribed) {
  CaptureWriter writer(database_, SampleSource("a"));
  writer.Add(ingest::DeviceFact());
  EXPECT_THROW(writer.Commit({}), Error);
}

TEST_F(CaptureWriterTest, BytesThatAreNoTextAreReplaced) {
  {
    CaptureWriter writer(database_, SampleSource("a"));
    AddSampleFacts(writer);
    ingest::ModuleFact module;
    module.name = std::string("jit_\xff\0step", 10);
    writer.Add(module);
    ingest::HostEventFact event;
    event.thread = "t";
    event.name = "bad \xc3";
    writer.Add(event);
    writer.Commit({});
  }
  EXPECT_EQ(QueryText(database_, "SELECT name FROM modules WHERE program_id IS NULL"),
            "jit_\xef\xbf\xbd\xef\xbf\xbdstep");
  EXPECT_EQ(QueryText(database_, "SELECT name FROM host_events WHERE thread = 't'"),
            "bad \xef\xbf\xbd");
}

}  // namespace
}  // namespace oomdb::schema
