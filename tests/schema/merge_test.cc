#include "schema/merge.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "queries/catalogue.h"
#include "schema/merge_tables.h"
#include "tests/schema/sample_facts.h"

namespace oomdb::schema {
namespace {

using testing::HasSubstr;

// The rows of a database as a merge promises them: every id as (content hash, place in the
// capture), plans by their hash, texts as texts. Written out here, independent of what the merge
// knows of the tables.
constexpr const char* kCanonical[] = {
    "SELECT path, run, host, content_hash, bytes, kind, status, format_note, ingester_version FROM "
    "captures",
    "SELECT run, name, label FROM run_labels",
    "SELECT c.content_hash, i.severity, i.what, i.detail, i.count FROM ingest_issues i JOIN "
    "captures c USING (capture_id)",
    "SELECT c.content_hash, d.place, ordinal, local_ordinal, d.kind, name FROM {devices} d JOIN "
    "captures c USING (capture_id)",
    "SELECT c.content_hash, m.place, program_id, name, fingerprint, m.platform, execution_count, "
    "CASE WHEN p.hlo_hash LIKE 'unhashed:%' THEN 'unhashed' ELSE p.hlo_hash END, p.plan_bytes FROM "
    "{stored_modules} m JOIN captures c USING (capture_id) LEFT JOIN stored_plans p USING "
    "(plan_id)",
    "SELECT c.content_hash, a.place, d.place, a.name, a.capacity_bytes FROM {allocators} a JOIN "
    "captures c USING (capture_id) LEFT JOIN {devices} d USING (device_id)",
    "SELECT c.content_hash, e.place, d.place, m.place, n.content, sequence, e.start_ns, failed, "
    "t.content, h.place FROM {stored_executions} e JOIN captures c USING (capture_id) LEFT JOIN "
    "{devices} d USING (device_id) LEFT JOIN {stored_modules} m USING (module_id) LEFT JOIN "
    "strings "
    "n ON n.string_id = e.module_name_id LEFT JOIN strings t ON t.string_id = e.thread_id LEFT "
    "JOIN "
    "{stored_host_events} h ON h.event_id = e.launch_event_id",
    "SELECT c.content_hash, x.place, a.place, e.place, m.place, o.content, x.bytes, x.alloc_ns, "
    "h.place, f.place FROM {stored_allocations} x JOIN captures c USING (capture_id) LEFT JOIN "
    "{allocators} a USING (allocator_id) LEFT JOIN {stored_executions} e USING (execution_id) LEFT "
    "JOIN {stored_modules} m ON m.module_id = x.module_id LEFT JOIN strings o ON o.string_id = "
    "x.origin_id LEFT JOIN {stored_host_events} h ON h.event_id = x.alloc_event_id LEFT JOIN "
    "{stored_host_events} f ON f.event_id = x.free_event_id",
    "SELECT c.content_hash, h.place, t.content, n.content, h.start_ns, p.place, e.place FROM "
    "{stored_host_events} h JOIN captures c USING (capture_id) JOIN strings t ON t.string_id = "
    "h.thread_id JOIN strings n ON n.string_id = h.name_id LEFT JOIN {stored_host_events} p ON "
    "p.event_id = h.parent_id LEFT JOIN {stored_executions} e ON e.execution_id = h.execution_id",
    "SELECT p.hlo_hash, b.position, s.content, i.content, o.content, b.bytes, b.at_peak FROM "
    "stored_buffers b JOIN stored_plans p USING (plan_id) LEFT JOIN strings s ON s.string_id = "
    "b.shape_id LEFT JOIN strings i ON i.string_id = b.instruction_id LEFT JOIN strings o ON "
    "o.string_id = b.op_name_id WHERE p.hlo_hash NOT LIKE 'unhashed:%'",
    "SELECT p.hlo_hash, f.frame_id, s.content, f.source_line FROM stored_frames f JOIN "
    "stored_plans "
    "p USING (plan_id) LEFT JOIN strings s ON s.string_id = f.source_file_id WHERE p.hlo_hash NOT "
    "LIKE 'unhashed:%'",
    "SELECT c.content_hash, o.place, o.kind, b.position, b.label FROM {oom_events} o JOIN captures "
    "c "
    "USING (capture_id) LEFT JOIN oom_buffers b USING (oom_event_id)",
    "SELECT c.content_hash, p.kind, p.bytes FROM profile_samples p JOIN captures c USING "
    "(capture_id)",
    "SELECT COUNT(*) FROM stored_plans",
    "SELECT COUNT(*) FROM stored_buffers",
    "SELECT COUNT(*) FROM stored_module_memory",
    "SELECT COUNT(*) FROM stored_plan_allocations",
    "SELECT COUNT(*) FROM stored_module_outputs",
    "SELECT content FROM strings",
};

// "{table}" becomes the table with its rows' places within their captures.
std::string WithPlaces(std::string sql) {
  for (size_t open = sql.find('{'); open != std::string::npos; open = sql.find('{')) {
    const size_t close = sql.find('}', open);
    const std::string table = sql.substr(open + 1, close - open - 1);
    sql.replace(open, close - open + 1,
                fmt::format("(SELECT *, ROW_NUMBER() OVER (PARTITION BY capture_id ORDER BY rowid) "
                            "AS place FROM {})",
                            table));
  }
  return sql;
}

std::string Canonical(Database& database) {
  std::string all;
  for (const char* sql : kCanonical) {
    std::vector<std::string> lines;
    for (const Row& row : Query(database, WithPlaces(sql)).rows) {
      std::string line;
      for (const Value& value : row) {
        if (const auto* number = std::get_if<int64_t>(&value)) line += std::to_string(*number);
        if (const auto* text = std::get_if<std::string>(&value)) line += *text;
        line += '|';
      }
      lines.push_back(line);
    }
    std::sort(lines.begin(), lines.end());
    all += std::string(sql) + "\n";
    for (const std::string& line : lines) all += line + "\n";
  }
  return all;
}

struct Capture {
  std::string hash;
  std::string plan;
  std::string run = "run1";
  std::map<std::string, std::string> labels;
  int64_t more_events = 0;
};

// With references of every kind, and some rows that no importer fills yet.
void WriteCapture(Database& database, const Capture& capture) {
  CaptureSource source = SampleSource(capture.hash);
  source.path = "/logs/" + capture.hash + "/" + capture.run;
  source.run = capture.run;
  CaptureWriter writer(database, source);
  AddSampleFacts(writer, capture.plan, 3);
  ingest::ModuleFact module;
  module.name = "jit_" + capture.hash;
  module.hlo_hash = capture.plan + "2";
  module.plan = SamplePlan();
  writer.Add(module);
  ingest::AllocationFact allocation;
  allocation.bytes = 512;
  allocation.module = 1;
  allocation.origin = "origin of " + capture.hash;
  allocation.alloc_event = 1;
  allocation.free_event = 0;
  writer.Add(allocation);
  for (int64_t i = 0; i <= capture.more_events; ++i) {
    ingest::HostEventFact event;
    event.thread = "worker";
    event.name = "Allocate";
    event.start_ns = 950 + i;
    event.end_ns = 960 + i;
    event.parent = 0;
    event.execution = 0;
    writer.Add(event);
  }
  const int64_t id = writer.Commit(capture.labels).capture_id;
  SQLite::Database& connection = database.connection();
  connection.exec(fmt::format(
      "INSERT INTO oom_events (capture_id, kind) VALUES ({0}, 'tpu_memory_exceeded'), ({0}, "
      "'gpu_request_failed');"
      "INSERT INTO oom_buffers (oom_event_id, position, label) SELECT MAX(oom_event_id), 1, '{1}' "
      "FROM oom_events; INSERT INTO profile_samples (capture_id, kind, bytes) VALUES ({0}, "
      "'buffer', 7), ({0}, 'executable', 8)",
      id, capture.hash));
}

class MergeTest : public testing::Test {
 protected:
  static Database New() { return Database::Throwaway(queries::Catalogue::Get().views()); }

  std::string Make(const std::string& name, const std::vector<Capture>& captures) {
    Database database =
        Database::OpenForIngest(folder_.File(name), queries::Catalogue::Get().views());
    for (const Capture& capture : captures) WriteCapture(database, capture);
    return folder_.File(name);
  }

  static MergeSummary MergeFile(Database& out, const std::string& path) {
    Database in = Database::OpenReadOnly(path, {});
    return MergeDatabase(out, in);
  }

  static std::string Merged(const std::vector<std::string>& paths) {
    Database out = New();
    for (const std::string& path : paths) MergeFile(out, path);
    EXPECT_TRUE(Query(out, "SELECT * FROM pragma_foreign_key_check").rows.empty());
    return Canonical(out);
  }

  TestFolder folder_;
};

const Capture kA = {"aaaa", "shared", "run1", {{"batch", "8"}}};
const Capture kB = {"bbbb", "own", "run2", {{"batch", "16"}}};
const Capture kC = {"cccc", "shared"};
const Capture kD = {"dddd", "other", "run3"};

TEST_F(MergeTest, AnyOrderGivesTheOneCallDatabase) {
  const std::string first = Make("1.db", {kA, kB});
  const std::string second = Make("2.db", {kC});
  const std::string third = Make("3.db", {kD, kA});
  Database one_call = New();
  for (const Capture& capture : {kA, kB, kC, kD}) WriteCapture(one_call, capture);
  const std::string expected = Canonical(one_call);
  EXPECT_EQ(Merged({first, second, third}), expected);
  EXPECT_EQ(Merged({third, second, first}), expected);
  EXPECT_EQ(Merged({second, first, third}), expected);
}

TEST_F(MergeTest, TwiceIsTheSameAsOnce) {
  const std::string first = Make("1.db", {kA, kB});
  const std::string second = Make("2.db", {kC});
  Database out = New();
  EXPECT_EQ(MergeFile(out, first).added, 2);
  EXPECT_EQ(MergeFile(out, second).added, 1);
  const std::string once = Canonical(out);
  const MergeSummary again = MergeFile(out, first);
  EXPECT_EQ(again.added, 0);
  EXPECT_EQ(again.already_there, 2);
  EXPECT_EQ(again.labels_differ, 0);
  EXPECT_EQ(Canonical(out), once);
}

TEST_F(MergeTest, AMergeOfMergesIsTheSame) {
  const std::string first = Make("1.db", {kA, kB});
  const std::string second = Make("2.db", {kC});
  const std::string third = Make("3.db", {kD});
  {
    Database half =
        Database::OpenForIngest(folder_.File("half.db"), queries::Catalogue::Get().views());
    MergeFile(half, third);
    MergeFile(half, second);
  }
  EXPECT_EQ(Merged({folder_.File("half.db"), first}), Merged({first, second, third}));
}

TEST_F(MergeTest, PlansAreStoredOncePerHash) {
  const std::string first = Make("1.db", {kA});
  const std::string second = Make("2.db", {kC});
  Database out = New();
  MergeFile(out, first);
  MergeFile(out, second);
  EXPECT_EQ(QueryInt(out, "SELECT COUNT(*) FROM captures"), 2);
  EXPECT_EQ(QueryInt(out, "SELECT COUNT(*) FROM stored_plans"), 2);
  EXPECT_EQ(QueryInt(out, "SELECT COUNT(*) FROM stored_modules"), 4);
}

TEST_F(MergeTest, PlansWithoutAHashAreNotTakenForOneAnother) {
  const std::string first = Make("1.db", {{"aaaa", ""}});
  const std::string second = Make("2.db", {{"bbbb", ""}});
  Database out = New();
  MergeFile(out, first);
  MergeFile(out, second);
  EXPECT_EQ(QueryInt(out,
                     "SELECT COUNT(*) FROM stored_plans WHERE hlo_hash = 'unhashed:' || "
                     "plan_id"),
            2);
}

// One content under two names: the lesser path's words, whoever comes first.
TEST_F(MergeTest, WordsOfOneContentDontDependOnTheOrder) {
  const std::string first = Make("1.db", {{"aaaa", "p", "x", {{"batch", "8"}}}});
  const std::string second = Make("2.db", {{"aaaa", "p", "a", {{"batch", "4"}}}});
  EXPECT_EQ(Merged({first, second}), Merged({second, first}));
  Database out = New();
  MergeFile(out, first);
  MergeFile(out, second);
  EXPECT_EQ(QueryText(out, "SELECT run FROM captures"), "a");
  // The other run's label stays, as after an ingest that renames.
  EXPECT_EQ(QueryInt(out, "SELECT COUNT(*) FROM run_labels"), 2);
}

TEST_F(MergeTest, LabelsThatDifferAreSettledAndCounted) {
  const std::string first = Make("1.db", {{"aaaa", "p", "run1", {{"batch", "8"}}}});
  const std::string second = Make("2.db", {{"bbbb", "p", "run1", {{"batch", "4"}}}});
  EXPECT_EQ(Merged({first, second}), Merged({second, first}));
  Database out = New();
  EXPECT_EQ(MergeFile(out, first).labels_differ, 0);
  EXPECT_EQ(MergeFile(out, second).labels_differ, 1);
  EXPECT_EQ(QueryText(out, "SELECT label FROM run_labels"), "4");
}

// --events all on one host, not on the other: the richer rows, whoever comes first.
TEST_F(MergeTest, TheRicherRowsOfOneContentWin) {
  const std::string poor = Make("1.db", {{"aaaa", "p", "a", {{"batch", "4"}}}});
  const std::string rich = Make("2.db", {{"aaaa", "p", "x", {}, 5}});
  const std::string other = Make("3.db", {kB});
  EXPECT_EQ(Merged({poor, other, rich}), Merged({rich, poor, other}));
  Database out = New();
  MergeFile(out, poor);
  MergeFile(out, rich);
  EXPECT_EQ(QueryInt(out, "SELECT COUNT(*) FROM stored_host_events"), 7);
  EXPECT_EQ(QueryText(out, "SELECT run FROM captures"), "a");
  EXPECT_EQ(QueryText(out, "SELECT label FROM run_labels WHERE run = 'a'"), "4");
}

TEST_F(MergeTest, NothingOfADamagedDatabaseIsKept) {
  const std::string damaged = Make("1.db", {kA, kB});
  SQLite::Database(damaged, SQLite::OPEN_READWRITE)
      .exec("UPDATE stored_allocations SET origin_id = 4711 WHERE allocation_id = 5");
  Database out = New();
  WriteCapture(out, kC);
  const std::string before = Canonical(out);
  try {
    MergeFile(out, damaged);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kFailed);
    EXPECT_THAT(error.what(), HasSubstr("1.db: damaged: a row refers to text 4711"));
  }
  EXPECT_EQ(Canonical(out), before);
}

TEST_F(MergeTest, TablesThatPeopleAddedAreLeftAlone) {
  const std::string first = Make("1.db", {kA});
  SQLite::Database(first, SQLite::OPEN_READWRITE).exec("CREATE TABLE notes (text TEXT)");
  Database out = New();
  out.connection().exec("CREATE TABLE own_notes (note_id INTEGER, text TEXT)");
  EXPECT_EQ(MergeFile(out, first).added, 1);
}

TEST_F(MergeTest, AnInterruptedMergeLeavesWhatWas) {
  const std::string first = Make("1.db", {kA});
  {
    Database database = Database::OpenForIngest(first, queries::Catalogue::Get().views());
    CaptureWriter writer(database, SampleSource("many"));
    AddSampleFacts(writer, "many", 2000);
    writer.Commit({});
  }
  Database out = New();
  Database in = Database::OpenReadOnly(first, {});
  const std::atomic<bool> stop = true;
  try {
    MergeDatabase(out, in, &stop);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kInterrupted);
  }
  EXPECT_EQ(QueryInt(out, "SELECT COUNT(*) FROM captures"), 0);
  EXPECT_EQ(MergeDatabase(out, in).added, 2);
}

TEST(IdMapTest, FindsWhatWasAddedAndNothingElse) {
  MergedIds ids;
  ids.Add(3, 10);
  ids.Add(4, 11);
  ids.Add(7, 12);
  ids.Add(INT64_MAX, 13);
  EXPECT_EQ(ids.Find(3), 10);
  EXPECT_EQ(ids.Find(4), 11);
  EXPECT_EQ(ids.Find(7), 12);
  EXPECT_EQ(ids.Find(INT64_MAX), 13);
  for (const int64_t missing : {INT64_MIN, int64_t{-1}, int64_t{2}, int64_t{5}, int64_t{8}})
    EXPECT_EQ(ids.Find(missing), std::nullopt) << missing;
}

}  // namespace
}  // namespace oomdb::schema
